"""The prose claims about several models: how many do this, what a group of them has in common."""

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from cogniload_repro.fidelity.evidence import Evidence, UnsettledError
from cogniload_repro.fidelity.wording import Number, Share
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.published import ALPHA
from cogniload_repro.reconstruction.constraints import CURVES, STRONGEST

OPEN = tuple(model.name for model in MODELS if model.puzzles_per_cell == 100)
API = tuple(name for name in NAMES if name not in OPEN)
#: Section 3 names Gemini-2.5, gpt-5 and DeepSeek-R1-0528; o3 and o4-mini it does not.
API_NAMED = tuple(name for name in API if name.startswith(("gemini-2.5", "gpt-5", "DeepSeek-R1-0528")))
OPENAI_LATEST = tuple(name for name in NAMES if name.startswith(("o3", "gpt-5")))
GEMINI = ("gemini-2.5-pro", "gemini-2.5-flash")
#: "Smaller or distilled": the open-weights models but QwQ-32B, which is neither.
SMALLER = tuple(name for name in OPEN if name != "QwQ-32B")
#: "The weakest ones": as many as section 3.1.4 lists as low-capacity models.
WEAKEST = 4
#: "About 14000 puzzles": at most one in a hundred more or fewer.
ABOUT = Fraction(1, 100)

TOKENS = ("prompt_mean", "prompt_p90", "output_mean", "output_p90")
LEVELS_N = tuple(sorted({cell.N for cell in PAPER_GRID}))
LEVELS_D = tuple(sorted({cell.d for cell in PAPER_GRID}))
RATIOS = tuple(sorted({cell.ratio_pct for cell in PAPER_GRID}))

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def find_over_models(quantity: str, condition: str, evidence: Evidence) -> Share | Sequence[Number]:
    """Return the count or the numbers that a claim about several models speaks of.

    Raises
    ------
    UnsettledError
        If the claim is none of those known here, or the results do not cover what it is about.
    """
    if known := _CLAIMS.get((quantity, condition)):
        return known(evidence)
    if quantity == "models":
        return count_models(read_condition(condition, evidence))
    levels = re.fullmatch(r"N=(\d+) d=(\d+)", condition)
    if levels and quantity in TOKENS:
        return _tokens(evidence, quantity, NAMES, int(levels[1]), [int(levels[2])])
    raise UnsettledError(f"no reading of a claim on {quantity} with condition {condition!r}")


def count_models(holds: Callable[[str], bool]) -> Share:
    """Count the paper's models for which something holds."""
    return Share(sum(holds(name) for name in NAMES), len(NAMES))


def read_condition(condition: str, evidence: Evidence) -> Callable[[str], bool]:
    """Return the test of one model that a condition states.

    Read are a course ("acc falls over d=1,3,5") and comparisons ("p_dN < 0.01 and beta_dN < 0",
    "aic_quadratic < aic_linear", "accuracy < 0.50 at d=5"), also with stars ("beta_rho without a star").
    """
    if course := re.fullmatch(r"(\w+) (falls|rises) over (N|d)=(\d+(?:,\d+)*)", condition):
        quantity, direction, key, levels = course.groups()
        compare = _COMPARE[">" if direction == "falls" else "<"]

        def value(model: str, level: int) -> Number:
            if quantity == "acc":
                return evidence.accuracy(model, **{key: level})
            return evidence.count(model, quantity, key, level)

        steps = list(pairwise(int(level) for level in levels.split(",")))
        return lambda model: all([compare(value(model, a), value(model, b)) for a, b in steps])
    starred = re.sub(r"beta_(\w+) (.*)with a star", rf"beta_\1 \2and p_\1 < {ALPHA}", condition)
    starred = re.sub(r"beta_(\w+) without a star", rf"p_\1 >= {ALPHA}", starred)
    tests = [_read_comparison(part, evidence) for part in starred.split(" and ")]
    return lambda model: all([test(model) for test in tests])


def _read_comparison(text: str, evidence: Evidence) -> Callable[[str], bool]:
    parts = re.fullmatch(r"(\w+) ([<>]=?) (?:(-?\d+(?:\.\d+)?)|(\w+))(?: at (N|d)=(\d+))?", text)
    if parts is None:
        raise UnsettledError(f"the condition {text!r} cannot be read")
    left, sign, number, right, key, level = parts.groups()
    levels = {key: int(level)} if key else {}

    def value(model: str, quantity: str) -> Number:
        return evidence.accuracy(model, **levels) if quantity == "accuracy" else evidence.fit(model, quantity)

    return lambda model: _COMPARE[sign](value(model, left), Fraction(number) if number else value(model, right))


def _puzzles_per_cell(evidence: Evidence, models: Iterable[str]) -> Sequence[Number]:
    """Return each model's usual number of puzzles a cell: six puzzles of the paper's are missing."""
    return [Counter(evidence.puzzles(name)).most_common(1)[0][0] for name in models]


def _samples(evidence: Evidence, models: Iterable[str]) -> Sequence[Number]:
    return [sum(evidence.puzzles(name)) for name in models]


def _has_about_14000(evidence: Evidence) -> Share:
    return count_models(lambda name: abs(sum(evidence.puzzles(name)) - 14_000) <= 14_000 * ABOUT)


def _drops_d1_to_d3(evidence: Evidence) -> Sequence[Number]:
    return [evidence.accuracy(name, d=1) - evidence.accuracy(name, d=3) for name in SMALLER]


def _steepest_at_first(evidence: Evidence) -> Share:
    """Count the models that lose most, in accuracy and not per statement, from N = 20 to N = 50."""

    def is_first(name: str) -> bool:
        drops = [evidence.accuracy(name, N=a) - evidence.accuracy(name, N=b) for a, b in pairwise(LEVELS_N)]
        return drops[0] == max(drops)

    return count_models(is_first)


def _troughs(evidence: Evidence, conditions: Iterable[dict[str, int]] = ({},)) -> Sequence[Number]:
    """Return, for each condition, the ratios (%) at which the mean accuracy of the models is lowest."""
    troughs = []
    for levels in conditions:
        total = {r: sum([evidence.accuracy(name, **levels, ratio_pct=r) for name in NAMES]) for r in RATIOS}
        troughs += [ratio for ratio in RATIOS if total[ratio] == min(total.values())]
    return troughs


def _strongest_along_rho(evidence: Evidence) -> Sequence[Number]:
    return [evidence.accuracy(name, N=100, ratio_pct=ratio) for name in STRONGEST for ratio in RATIOS]


def _tokens(
    evidence: Evidence, quantity: str, models: Iterable[str], N: int, levels: Iterable[int] = LEVELS_D
) -> Sequence[Number]:
    return [evidence.tokens(name, quantity, N, d) for name in models for d in levels]


def _prompt_spread(evidence: Evidence) -> Sequence[Number]:
    """Return, for each (N, d), the range of the models' mean prompt length in percent of their median."""
    lengths = [np.array(_tokens(evidence, "prompt_mean", NAMES, N, [d]), float) for N in LEVELS_N for d in LEVELS_D]
    return [float(100 * np.ptp(tokens) / np.median(tokens)) for tokens in lengths]


_CLAIMS: dict[tuple[str, str], Callable[[Evidence], Share | Sequence[Number]]] = {
    ("models", ""): lambda e: count_models(lambda name: sum(e.puzzles(name)) > 0),
    ("models", "about 14000 puzzles each"): _has_about_14000,
    ("models", "largest accuracy drop between neighbouring N"): _steepest_at_first,
    ("puzzles per (d, N, rho)", "open weights"): lambda e: _puzzles_per_cell(e, OPEN),
    ("puzzles per (d, N, rho)", "API models"): lambda e: _puzzles_per_cell(e, API),
    ("samples", "open weights"): lambda e: _samples(e, OPEN),
    ("samples", "API models named (o3 and o4-mini are not)"): lambda e: _samples(e, API_NAMED),
    ("accuracy drop", "d=1 to d=3"): _drops_d1_to_d3,
    ("accuracy", "d=10, weakest models"): lambda e: sorted(e.accuracy(name, d=10) for name in NAMES)[:WEAKEST],
    ("accuracy", "N=250, most models"): lambda e: [e.accuracy(name, N=250) for name in NAMES],
    ("rho of lowest accuracy (%)", ""): _troughs,
    ("rho of lowest accuracy (%)", "d=1, 5, 10"): lambda e: _troughs(e, [{"d": 1}, {"d": 5}, {"d": 10}]),
    ("rho of lowest accuracy (%)", "N=20"): lambda e: _troughs(e, [{"N": 20}]),
    ("accuracy", CURVES["lowest"]): lambda e: [min(_strongest_along_rho(e))],
    ("accuracy", CURVES["highest"]): lambda e: [max(_strongest_along_rho(e))],
    ("prompt_mean spread (%)", "fixed (N, d)"): _prompt_spread,
    ("output_p90", "N=250, d=3, 5, 7, gemini-2.5-pro and gemini-2.5-flash"): lambda e: _tokens(
        e, "output_p90", GEMINI, 250, (3, 5, 7)
    ),
    ("prompt_p90", "N=250, d=3, 5, 7, gemini-2.5-pro and gemini-2.5-flash"): lambda e: _tokens(
        e, "prompt_p90", GEMINI, 250, (3, 5, 7)
    ),
    ("output_p90", "N=250, o3 and gpt-5 family"): lambda e: _tokens(e, "output_p90", OPENAI_LATEST, 250),
    ("prompt_p90", "N=250, o3 and gpt-5 family"): lambda e: _tokens(e, "prompt_p90", OPENAI_LATEST, 250),
}
