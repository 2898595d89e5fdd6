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
DIFFICULTY = CELLS["d"] - MEANS["d"]
LENGTH = CELLS["log10_N"] - MEANS["log10_N"]
RATIO = CELLS["rho"] - MEANS["rho"]
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
    world = WORLDS[name]()
    return draw_counts(expect_outcomes(world), seed)


def expect_outcomes(world: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the probabilities of a correct answer and of an overflow."""
    own = world.loc[CELLS["model"]]
    own = own.reset_index(drop=True)
    tracked = expit(find_log_odds(own))
    # its mean over the five levels of d
    repeats = own["shortcut"] / 0.8
    repeats = repeats.where(CELLS["d"] < 10, 0)
    guided = repeats * score_shortcut()
    answered = guided + (1 - repeats) * tracked
    overflow = find_overflows(own)
    drift = own["drift"] * LENGTH
    valid = own["valid_logic"] - drift
    return CELLS.assign(
        p=(1 - overflow) * answered,
        q=overflow,
        valid=valid.clip(0, 1),
    )


def find_log_odds(own: pd.DataFrame) -> pd.Series:
    """Return the log-odds of a correct answer where a model tracks the puzzle."""
    distance = CELLS["rho"] - own["trough"]
    curve = centre(distance**2)
    is_shortest = CELLS["N"] == 20
    is_longest = CELLS["N"] == 250
    above_half = CELLS["rho"] - 0.5
    bend = above_half.clip(lower=0)
    line = own["level"]
    line = line + own["d"] * DIFFICULTY
    line += own["N"] * LENGTH
    line += own["early"] * centre(is_shortest)
    line -= own["late"] * centre(is_longest)
    line += own["curvature"] * curve
    line += own["hinge"] * centre(bend)
    line += own["dN"] * DIFFICULTY * LENGTH
    line += own["drho"] * DIFFICULTY * RATIO
    line += own["Nrho"] * LENGTH * RATIO
    triple = DIFFICULTY * LENGTH * RATIO
    line += own["dNrho"] * triple
    deeper = DIFFICULTY * curve
    line += own["deepening"] * deeper
    flatter = LENGTH * centre(RATIO**2)
    line -= own["flattening"] * flatter
    return line


def find_overflows(own: pd.DataFrame) -> pd.Series:
    """Return the share of answers that run out of context."""
    length = CELLS["N"].map(
        {
            20: 0.0,
            50: 0.0,
            100: 0.25,
            250: 1.0,
        }
    )
    difficulty = CELLS["d"] / MEANS["d"]
    is_longest = CELLS["N"] == 250
    share = own["loops"]
    share = share + own["budget"] * length * difficulty
    share += own["needles"] * CELLS["rho"] * is_longest
    return share.clip(upper=0.95)


def centre(curve: pd.Series) -> pd.Series:
    """Return a curve less its mean over the cells of its model."""
    by_model = curve.groupby(CELLS["model"])
    return curve - by_model.transform("mean")


def score_shortcut() -> pd.Series:
    """Return how often the last-clause shortcut is right in each cell, rounded."""
    easy = {
        5: 0.36,
        10: 0.56,
        25: 0.84,
        50: 0.96,
        75: 0.98,
        90: 0.99,
        95: 0.99,
    }
    is_easy = CELLS["d"] == 1
    at_ratio = CELLS["ratio_pct"].map(easy)
    return CELLS["rho"].mask(is_easy, at_ratio)


def draw_counts(expected: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return cells with counts drawn from the probabilities of their outcomes."""
    wrong = 1 - expected["p"] - expected["q"]
    invalid = wrong * (1 - expected["valid"])
    shares = {
        "correct": expected["p"],
        "ctx": expected["q"],
        "valid_logic": wrong - invalid,
    }
    for error, share in OTHER_ERRORS.items():
        shares[error] = invalid * share
    outcomes = np.column_stack(list(shares.values()))
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(
        expected["total"].to_numpy(),
        outcomes.clip(0, 1),
    )
    cells = expected.drop(
        columns=["p", "q", "valid", "log10_N"],
    )
    cells[list(shares)] = counts
    return cells.assign(provenance="scored")


def spread(**values: float) -> pd.DataFrame:
    """Return the parameters of a world: defaults, and the given values of all models."""
    return pd.DataFrame(DEFAULTS | values, index=STRONGEST)


def give(world: pd.DataFrame, models: object, **values: object) -> None:
    """Set parameters of some models of a world."""
    for name, value in values.items():
        world.loc[models, name] = value


def paper() -> pd.DataFrame:
    """All conclusions of the paper hold."""
    world = spread(
        d=-0.13,
        dN=-0.17,
        deepening=1.2,
        flattening=5.0,
    )
    # the large models of the frontier class are ahead at N = 20 and lose most
    slope = TIERS.map(
        {
            "frontier": -4.5,
            "mid": -1.9,
            "low": -0.4,
            "": -0.8,
        }
    )
    world["N"] = slope * np.linspace(1.2, 0.7, len(world))
    world["curvature"] = np.resize([5.0, 12.0], len(world))
    world["trough"] = np.linspace(0.4, 0.5, len(world))
    give(world, TIERS == "frontier", d=-0.07)
    give(world, TIERS == "low", drift=0.2)
    # two leaders without interactions
    give(
        world,
        LEADERS,
        N=-5.0,
        d=-0.12,
        dN=0.0,
        deepening=0.0,
    )
    give(
        world,
        GEMINI,
        N=[-4.0, -4.0, -0.5],
        budget=[0.4, 0.3, 0.1],
    )
    # two regimes of N x rho
    give(world, "gemini-2.5-pro", Nrho=-9.0)
    give(world, "DeepSeek-R1-Distill-Qwen-7B", Nrho=-3.0)
    give(world, ["Qwen3-32B", "QwQ-32B"], Nrho=3.0)
    return place_classes(world)


def place_classes(world: pd.DataFrame) -> pd.DataFrame:
    """Give the models ECL50 in three classes with gaps between them, and two leaders far ahead."""
    length = TIERS.map(
        {
            "frontier": 230.0,
            "mid": 17.0,
            "low": 5.0,
            "": 25.0,
        }
    )
    place = np.arange(len(world)) % 7
    length *= 0.94**place
    length[LEADERS] = [620.0, 600.0]
    length["gemini-2.5-flash"] = 70.0
    from_mean = np.log10(length) - MEANS["log10_N"]
    world["level"] = -world["N"] * from_mean
    world["early"] = -0.6 * world["N"]
    give(world, LEADERS, early=0.0)
    give(
        world,
        TIERS == "low",
        level=-1.4,
        early=0.3,
    )
    give(world, "EXAONE-Deep-32B", level=-0.8)
    give(world, "gemini-2.5-flash-lite", level=-0.8)
    return world


def null() -> pd.DataFrame:
    """All models are the same; nothing depends on rho, no load on another; 2% overflow."""
    return spread(loops=0.02, valid_logic=0.25)


def continuum() -> pd.DataFrame:
    """Abilities are evenly spaced and slopes of d differ most; some slopes of N are zero."""
    world = spread(
        N=-0.9,
        late=0.6,
        curvature=5.0,
    )
    world["level"] = np.linspace(2.0, -1.5, len(world))
    step = np.resize([-1, 0, 1], len(world))
    world["d"] = -0.35 + 0.3 * step
    give(world, "gpt-5-mini-2025-08-07", level=2.0)
    flat = STRONGEST[4::5]
    give(world, flat, N=0.0, late=0.0)
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
    world = spread(
        curvature=3.0,
        trough=0.5,
        drho=-0.17,
        Nrho=1.5,
        drift=0.2,
    )
    world["level"] = np.linspace(3.0, -1.5, len(world))
    give(world, LEADERS, dN=-0.6, drho=-0.6)
    give(world, TIERS == "low", drift=0.0)
    return world


def slopes_by_length() -> pd.DataFrame:
    """The slope d x rho depends on N alone: -0.34 at N = 20, none at N = 250."""
    world = spread(
        curvature=3.0,
        trough=0.5,
        drho=-0.17,
        dNrho=0.31,
    )
    world["level"] = np.linspace(3.0, -1.5, len(world))
    return world


def budget() -> pd.DataFrame:
    """Finished answers do not depend on d; overflows at great N and d make the interaction."""
    return spread(
        level=0.8,
        d=0.0,
        budget=0.35,
    )


def needles() -> pd.DataFrame:
    """Finished answers show no N x rho; Gemini's overflows at N = 250 grow with rho."""
    world = spread(level=0.8)
    give(world, GEMINI, needles=0.9)
    return world


def loops() -> pd.DataFrame:
    """Answers run out of context equally often in all puzzles, Gemini's most; d has no effect."""
    world = spread(loops=0.02, d=0.0)
    give(world, GEMINI, loops=0.15)
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
