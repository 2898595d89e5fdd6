"""Worlds: simulated counts of the paper's 22 models, in which a conclusion holds or does not.

A world is a table of parameters with one row per model. In *paper* every conclusion holds. In
*null* all models are the same, no load changes the effect of another, and the needle ratio has no
effect. Each other world is a critic: it breaks some conclusions and keeps what might be taken for
them. Every model keeps its number of answers. The outcomes of a world say which words are right;
they were written down before the rules of the verdicts.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import expit

import cogniload_repro as cl
from cogniload_repro.models import MODELS

LEADERS = ["gpt-5-2025-08-07", "o3-2025-04-16"]
GEMINI = ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"]
CELLS = cl.load_cells()
GRID = CELLS.drop_duplicates(["N", "d", "ratio_pct"])
#: Loads are measured from their means over the grid, where products and curves are zero.
MEANS = GRID[["d", "log10_N", "rho"]].mean()
SUMS = CELLS.groupby("model")[["correct", "total"]].sum()
#: The models, the most accurate in the paper first.
STRONGEST = list(SUMS.eval("correct / total").sort_values(ascending=False).index)
TIERS = pd.Series({model.name: model.tier for model in MODELS})[STRONGEST]
#: How the wrong answers that are not valid and misplaced divide.
OTHER_ERRORS = {"poi_logic": 0.4, "last_logic": 0.4, "other": 0.2}
ERRORS = ["ctx", "valid_logic", *OTHER_ERRORS]

#: Parameters where a world does not set them. The first block is in log-odds per unit of a load.
DEFAULTS = {
    "level": 0.0,
    "d": -0.15,
    "N": -1.23,  # over the tested range accuracy falls as much with N as with d
    "early": 0.0,  # more loss from N = 20 to 50
    "late": 0.0,  # more loss from N = 100 to 250
    "curvature": 0.0,
    "trough": 0.4,
    "hinge": 0.0,  # flat up to rho = 50%, then a rise
    "dN": 0.0,
    "drho": 0.0,
    "Nrho": 0.0,
    "dNrho": 0.0,
    "deepening": 0.0,  # of the curve with d
    "flattening": 0.0,  # of the curve with N
    # shares of the answers that run out of context
    "loops": 0.0,  # in every puzzle
    "budget": 0.0,  # at N = 250 and mean d; half as often at N = 100 and d = 10
    "needles": 0.0,  # at N = 250 and rho = 100%, in proportion to rho
    # shares of answers, and of wrong ones that finished
    "shortcut": 0.0,
    "valid_logic": 0.75,
    "drift": 0.0,  # from valid to misplaced answers, per factor of ten in N
}


def draw_world(name: str, seed: int) -> pd.DataFrame:
    """Return the cells of a build in one draw of a world, as scored answers."""
    return draw_counts(expect_outcomes(WORLDS[name]()), seed)


def expect_outcomes(world: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the probabilities of a correct answer and of an overflow."""
    own = world.loc[CELLS["model"]].reset_index(drop=True)
    tracked = expit(find_log_odds(own))
    repeats = (
        own["shortcut"] * (CELLS["d"] < 10) / 0.8
    )  # its mean over five levels of d
    answered = repeats * score_shortcut() + (1 - repeats) * tracked
    overflow = find_overflows(own)
    drift = own["drift"] * (CELLS["log10_N"] - MEANS["log10_N"])
    return CELLS.assign(
        p=(1 - overflow) * answered,
        q=overflow,
        valid=(own["valid_logic"] - drift).clip(0, 1),
    )


def find_log_odds(own: pd.DataFrame) -> pd.Series:
    """Return the log-odds of a correct answer where a model tracks the puzzle."""
    d = CELLS["d"] - MEANS["d"]
    N = CELLS["log10_N"] - MEANS["log10_N"]
    rho = CELLS["rho"] - MEANS["rho"]
    curve = centre((CELLS["rho"] - own["trough"]) ** 2)
    line = own["level"] + own["d"] * d + own["N"] * N
    line += own["early"] * centre(CELLS["N"] == 20)
    line -= own["late"] * centre(CELLS["N"] == 250)
    line += own["curvature"] * curve
    line += own["hinge"] * centre((CELLS["rho"] - 0.5).clip(lower=0))
    line += own["dN"] * d * N
    line += own["drho"] * d * rho
    line += own["Nrho"] * N * rho
    line += own["dNrho"] * d * N * rho
    line += own["deepening"] * d * curve
    line -= own["flattening"] * N * centre(rho**2)
    return line


def find_overflows(own: pd.DataFrame) -> pd.Series:
    """Return the share of answers that run out of context."""
    length = CELLS["N"].map({20: 0.0, 50: 0.0, 100: 0.25, 250: 1.0})
    share = own["loops"] + own["budget"] * length * CELLS["d"] / MEANS["d"]
    share += own["needles"] * CELLS["rho"] * (CELLS["N"] == 250)
    return share.clip(upper=0.95)


def centre(curve: pd.Series) -> pd.Series:
    """Return a curve less its mean over the cells of its model."""
    return curve - curve.groupby(CELLS["model"]).transform("mean")


def score_shortcut() -> pd.Series:
    """Return how often the last-clause shortcut is right in each cell, rounded."""
    easy = {5: 0.36, 10: 0.56, 25: 0.84, 50: 0.96, 75: 0.98, 90: 0.99, 95: 0.99}
    is_easy = CELLS["d"] == 1
    return CELLS["rho"].mask(is_easy, CELLS["ratio_pct"].map(easy))


def draw_counts(expected: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return cells with counts drawn from the probabilities of their outcomes."""
    wrong = 1 - expected["p"] - expected["q"]
    shares = {
        "correct": expected["p"],
        "ctx": expected["q"],
        "valid_logic": wrong * expected["valid"],
    }
    for error, share in OTHER_ERRORS.items():
        shares[error] = wrong * (1 - expected["valid"]) * share
    outcomes = np.column_stack(list(shares.values())).clip(0, 1)
    rng = np.random.default_rng(seed)
    cells = expected.drop(columns=["p", "q", "valid", "log10_N"])
    cells[list(shares)] = rng.multinomial(expected["total"].to_numpy(), outcomes)
    return cells.assign(provenance="scored")


def spread(**values: object) -> pd.DataFrame:
    """Return the parameters of a world: defaults, and the given values of all models."""
    return pd.DataFrame(DEFAULTS | values, index=STRONGEST)


def paper() -> pd.DataFrame:
    """All conclusions of the paper hold."""
    world = spread(d=-0.13, dN=-0.17, deepening=1.2, flattening=5.0)
    # the large models of the frontier class are ahead at N = 20 and lose most
    slope = TIERS.map({"frontier": -4.5, "mid": -1.9, "low": -0.4, "": -0.8})
    world["N"] = slope * np.linspace(1.2, 0.7, len(world))
    world.loc[GEMINI, "N"] = [-4.0, -4.0, -0.5]
    world.loc[TIERS == "frontier", "d"] = -0.07
    world["curvature"] = np.resize([5.0, 12.0], len(world))
    world["trough"] = np.linspace(0.4, 0.5, len(world))
    # without interactions, far ahead
    world.loc[LEADERS, "N"] = -5.0
    world.loc[LEADERS, "d"] = -0.12
    world.loc[LEADERS, ["dN", "deepening"]] = 0.0
    # three classes of ECL50, and a gap between them
    length = TIERS.map({"frontier": 230.0, "mid": 17.0, "low": 5.0, "": 25.0})
    length *= 0.94 ** (np.arange(len(world)) % 7)
    length[LEADERS] = [620.0, 600.0]
    length["gemini-2.5-flash"] = 70.0
    world["level"] = -world["N"] * (np.log10(length) - MEANS["log10_N"])
    world["early"] = -0.6 * world["N"]
    world.loc[LEADERS, "early"] = 0.0
    world.loc[TIERS == "low", "level"] = -1.4
    world.loc[TIERS == "low", "early"] = 0.3
    world.loc[["EXAONE-Deep-32B", "gemini-2.5-flash-lite"], "level"] = -0.8
    # two regimes of N x rho
    world.loc["gemini-2.5-pro", "Nrho"] = -9.0
    world.loc["DeepSeek-R1-Distill-Qwen-7B", "Nrho"] = -3.0
    world.loc[["Qwen3-32B", "QwQ-32B"], "Nrho"] = 3.0
    world.loc[GEMINI, "budget"] = [0.4, 0.3, 0.1]
    world.loc[TIERS == "low", "drift"] = 0.2
    return world


def null() -> pd.DataFrame:
    """All models are the same; nothing depends on rho, no load on another; 2% overflow."""
    return spread(loops=0.02, valid_logic=0.25)


def continuum() -> pd.DataFrame:
    """Abilities are evenly spaced and slopes of d differ most; some slopes of N are zero."""
    world = spread(N=-0.9, late=0.6, curvature=5.0)
    world["level"] = np.linspace(2.0, -1.5, len(world))
    world.loc["gpt-5-mini-2025-08-07", "level"] = 2.0
    world["d"] = -0.35 + 0.3 * np.resize([-1, 0, 1], len(world))
    world.loc[STRONGEST[4::5], ["N", "late"]] = 0.0
    return world


def hinge() -> pd.DataFrame:
    """Along rho accuracy is flat up to 50% and rises from there: it never falls."""
    return spread(hinge=3.0)


def late_trough() -> pd.DataFrame:
    """Accuracy is U-shaped in rho and lowest at 70%."""
    return spread(curvature=6.0, trough=0.7)


def tilt() -> pd.DataFrame:
    """Curves tilt down to the right with d and up with N, by one slope, and do not deepen.

    Formats drift in all but the weakest models.
    """
    world = spread(curvature=3.0, trough=0.5, drho=-0.17, Nrho=1.5, drift=0.2)
    world["level"] = np.linspace(3.0, -1.5, len(world))
    world.loc[LEADERS, ["dN", "drho"]] = -0.6
    world.loc[TIERS == "low", "drift"] = 0.0
    return world


def slopes_by_length() -> pd.DataFrame:
    """The slope d x rho depends on N alone: -0.34 at N = 20, none at N = 250."""
    world = spread(curvature=3.0, trough=0.5, drho=-0.17, dNrho=0.31)
    world["level"] = np.linspace(3.0, -1.5, len(world))
    return world


def budget() -> pd.DataFrame:
    """Finished answers do not depend on d; overflows at great N and d make the interaction."""
    return spread(level=0.8, d=0.0, budget=0.35)


def needles() -> pd.DataFrame:
    """Finished answers show no N x rho; Gemini's overflows at N = 250 grow with rho."""
    world = spread(level=0.8)
    world.loc[GEMINI, "needles"] = 0.9
    return world


def loops() -> pd.DataFrame:
    """Answers run out of context equally often in all puzzles, Gemini's most; d has no effect."""
    world = spread(loops=0.02, d=0.0)
    world.loc[GEMINI, "loops"] = 0.15
    return world


def shortcut() -> pd.DataFrame:
    """All models take 72% of their answers from the shortcut: 90% up to d = 7, none at d = 10.

    What they track themselves they lose as d grows.
    """
    return spread(d=-0.8, shortcut=0.72)


_WORLDS = (
    paper,
    null,
    continuum,
    hinge,
    late_trough,
    tilt,
    slopes_by_length,
    budget,
    needles,
    loops,
    shortcut,
)
WORLDS: dict[str, Callable[[], pd.DataFrame]] = {
    world.__name__: world for world in _WORLDS
}
