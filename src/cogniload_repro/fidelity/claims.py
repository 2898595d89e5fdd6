"""Every number and statement of the paper's prose, recomputed from a build's results.

A statement is a number ("0.62", "7.18e-5"), a bound (">0.3"), a range ("25-50") or a word ("most"). About several
models or conditions a number, a bound or a range holds if it holds for each of them.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro import formats
from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.fidelity.results import NotComputableError, ResultLookup, Results, cells_at
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.published import ABOUT_NONE, ERRORS, INTERVAL_ALPHA, STARRED, load_claims
from cogniload_repro.reconstruction.printed import uses_table2
from cogniload_repro.reconstruction.prose import CURVES, PROSE_RATIOS, STRONGEST, prose_along_rho

Number = int | float | Fraction


class Share(NamedTuple):
    """Count of models (or cells) that satisfy a condition, and their number."""

    count: int  # type: ignore[assignment]  # the tuple's own count is of no use here
    of: int


class Judgement(NamedTuple):
    """A claim's recomputed number (NaN if it is none or several), the same in print, and the verdict."""

    recomputed: float
    shown: str
    verdict: str


NOT_COMPUTABLE = Judgement(math.nan, "", "not_computable")

#: Words about numbers: the interval that they stand for, the format, and whether more than half of the numbers inside
#: will do. ~0: see `published.ABOUT_NONE`. A few percent: at most five, and "typically". Mid-20000s: whole thousands 24
#: to 26, as 24 to 26 is the mid-twenties, and "frequently".
WORDS = {
    "~0": (pd.Interval(-ABOUT_NONE, ABOUT_NONE, "both"), "+.3f", False),
    "not significant": (pd.Interval(STARRED, 1, "both"), ".3g", False),
    "a few percent": (pd.Interval(0, 5, "both"), ".0f", True),
    "mid-20000s": (pd.Interval(24_000, 27_000, "left"), ".0f", True),
}

#: Words about a share, as the least share that they stand for and whether it is enough itself. "nearly all": nine in
#: ten, for 22 models all but two, the number that section 3.1.2 itself excepts when it says "except for two models".
SHARES = {"most": (Fraction(1, 2), False), "nearly all": (Fraction(9, 10), True)}

#: How quantities, or all that begin so, are printed.
_FORMS: dict[str, Callable[[float], str]] = {
    "p_lr": formats.format_thousandths,
    "ecl50": formats.format_ecl50,
    "p": formats.format_p,
    "beta": formats.format_beta,
}
_NUMBER = r"\d+(?:\.\d+)?"
_ENDS = {">": "neither", ">=": "left", "<": "neither", "<=": "right"}

#: Claims about the scorer and the intervals, which no outputs bear on.
CONSTANTS: dict[str, Number] = {
    "C007": CONTEXT_TOKENS,
    "C008": CONTEXT_TOKENS,
    "C009": RESERVED_TOKENS,
    "C149": float(norm.ppf(1 - INTERVAL_ALPHA / 2)),
}
#: Conditions that end so speak of most of the numbers: "typically", "cluster around", "approach", "most models".
HEDGED = re.compile(r", (most models|typically)$")

OPEN = tuple(model.name for model in MODELS if model.puzzles_per_cell == 100)
API = tuple(name for name in NAMES if name not in OPEN)
#: Section 3 names Gemini-2.5, gpt-5 and DeepSeek-R1-0528; o3 and o4-mini it does not.
API_NAMED = tuple(
    name for name in API if name.startswith(("gemini-2.5", "gpt-5", "DeepSeek-R1-0528"))
)
OPENAI_LATEST = tuple(name for name in NAMES if name.startswith(("o3", "gpt-5")))
GEMINI = ("gemini-2.5-pro", "gemini-2.5-flash")
#: "Smaller or distilled": the open-weights models but QwQ-32B, which is neither.
SMALLER = tuple(name for name in OPEN if name != "QwQ-32B")
#: "The weakest ones": as many as section 3.1.4 lists as low-capacity models.
WEAKEST = 4
#: "About 14000 puzzles": at most one in a hundred more or fewer.
ABOUT = Fraction(1, 100)

_TOKENS = ("prompt_mean", "prompt_p90", "output_mean", "output_p90")
_LEVELS_N, _LEVELS_D = (
    tuple(sorted({getattr(cell, key) for cell in PAPER_GRID})) for key in ("N", "d")
)
_RATIOS = tuple(sorted({cell.ratio_pct for cell in PAPER_GRID}))
_TABLE2 = r"(beta|p)_(0|d|N|rho2?)\b|(ecl|nt|id)50"
_TABLE3 = r"(beta|p)_(dN|drho|Nrho|dNrho)\b"
_ALONG_RHO = r"rho:|over rho|rho of"


def evaluate_claims(
    results: Results, claims: pd.DataFrame | None = None, others: Iterable[pd.DataFrame] = ()
) -> pd.DataFrame:
    """Recompute claims of the paper's prose; ``others`` are reconstructions, in place of the results' cells.

    recomputed is NaN if there are several numbers or none; shown is as the paper prints it, several as "low to high", a
    share as "20 of 22"; a claim is not_computable if the results lack what it takes, if it is unknown, or if the
    published tables do not identify it (reason says which).
    """
    here = ResultLookup(results)
    others = [ResultLookup(replace(results, cells=cells)) for cells in others]
    rows = []
    for claim in (load_claims() if claims is None else claims).to_dict("records"):
        judged, reason, evidence = (
            _judge(claim, here),
            "",
            evidence_of(claim, results.reconstructed),
        )
        if evidence == "not identified" and judged != NOT_COMPUTABLE:
            holds = sum(_judge(claim, other).verdict == "exact" for other in others)
            judged, reason = (
                NOT_COMPUTABLE,
                f"not identified: holds in {holds} of {len(others)} reconstructions",
            )
        worth = {
            "kind": kind_of(claim, results.reconstructed),
            "evidence": evidence,
            "reason": reason,
        }
        rows.append(claim | judged._asdict() | {"published": claim["value"]} | worth)
    return pd.DataFrame(rows).drop(columns=["value", "check"])


def evidence_of(claim: dict[str, str], reconstructed: bool) -> str:
    """Return whether the published tables identify or bound what a claim says, or neither; "" for real outputs.

    A bound that the published sums set decides; where reconstructions differ, a claim is not judged.
    """
    if not reconstructed:
        return ""
    if claim["condition"] in CURVES.values():
        return "bounded"
    along_rho = re.search(_ALONG_RHO, f"{claim['quantity']} {claim['condition']}")
    return "not identified" if along_rho and not _is_constraint(claim) else "identified"


def kind_of(claim: dict[str, str], reconstructed: bool) -> str:
    """Return what agreement with a claim is worth: input, constraint, derived or independent (see `ledger`).

    Constants of the scorer and the grid are input whatever the outputs are. On reconstructed data the rest goes by the
    table that a claim rests on; along rho what the prose states of single models are constraints.
    """
    model, about = claim["model"], f"{claim['quantity']} {claim['condition']}"
    if claim["id"] in CONSTANTS or claim["quantity"] == "samples expected":
        return "input"
    if not reconstructed:
        return "independent"
    if "p_lr" in about:  # of the two AICs, which are inputs
        return "input"
    if re.search(_TABLE3, about) or _is_constraint(claim):
        return "constraint"
    if re.search(_TABLE2, about):
        return "constraint" if model in BY_NAME and uses_table2(model) else "derived"
    return "derived" if re.search(_ALONG_RHO, about) else "input"


def _is_constraint(claim: dict[str, str]) -> bool:
    """Return whether the reconstruction had to meet a claim along rho (`prose.prose_windows`)."""
    return (
        claim["condition"] in CURVES.values()
        or claim["id"] in prose_along_rho(claim["model"])["id"].to_numpy()
    )


def _judge(claim: dict[str, str], lookup: ResultLookup) -> Judgement:
    try:
        condition, hedges = HEDGED.subn("", claim["condition"])
        found = _find(claim["id"], claim["model"], claim["quantity"], condition, lookup)
        return judge_claim(claim["value"], found, claim["quantity"], bool(hedges))
    except NotComputableError:
        return NOT_COMPUTABLE


def _find(
    number: str, model: str, quantity: str, condition: str, lookup: ResultLookup
) -> Share | Sequence[Number]:
    """Return the count or the numbers that a claim speaks of."""
    if number in CONSTANTS:
        return [CONSTANTS[number]]
    if model:
        return [_find_of_model(model, quantity, condition, lookup)]
    if quantity == "models" and condition in _OF_MODELS:
        return Share(sum(_OF_MODELS[condition](lookup, name) for name in NAMES), len(NAMES))
    if known := _OVER_MODELS.get((quantity, condition)):
        return known(lookup)
    levels = _levels(condition)
    if quantity in _TOKENS and set(levels) == {"N", "d"}:
        return _tokens(lookup, quantity, NAMES, levels["N"], [levels["d"]])
    raise NotComputableError(f"no reading of a claim on {quantity} with condition {condition!r}")


def _find_of_model(model: str, quantity: str, condition: str, lookup: ResultLookup) -> Number:  # noqa: PLR0911
    low, minus, high = condition.partition(" minus ")
    if quantity == "accuracy difference" and minus:
        high, _, common = high.partition(" at ")
        first, second = (
            lookup.accuracy(model, **(_levels(end) | _levels(common))) for end in (low, high)
        )
        return first - second
    if condition == "no star":  # a statement about the coefficient's p-value
        return lookup.fit(model, quantity.replace("beta_", "p_"))
    levels = _levels(condition)
    if quantity == "accuracy":
        return lookup.accuracy(model, **levels)
    if quantity == "samples expected" and model in BY_NAME:
        return BY_NAME[model].puzzles_per_cell * len(cells_at(**levels))
    if quantity in ("samples", *ERRORS) and len(levels) == 1:
        return lookup.count(model, quantity, *levels.popitem())
    if quantity in _TOKENS and set(levels) == {"N", "d"}:
        return lookup.tokens(model, quantity, **levels)
    if not levels:
        return lookup.fit(model, quantity)
    raise NotComputableError(
        f"no reading of a claim on {quantity} of {model} with condition {condition!r}"
    )


def _levels(condition: str) -> dict[str, int]:
    """Read "N=250 d=1", "rho: low end" or nothing as levels of the grid."""
    if condition in PROSE_RATIOS:
        return {"ratio_pct": PROSE_RATIOS[condition]}
    if not re.fullmatch(r"((N|d)=\d+\s*)*", condition.strip()):
        raise NotComputableError(f"the condition {condition!r} cannot be read")
    return {key: int(level) for key, level in re.findall(r"(N|d)=(\d+)", condition)}


def _falls(numbers: Iterable[Number]) -> bool:
    return all([one > two for one, two in pairwise(numbers)])


def _troughs(
    lookup: ResultLookup, conditions: Iterable[dict[str, int]] = ({},)
) -> Sequence[Number]:
    """Return, for each condition, the ratios (%) at which the mean accuracy of the models is lowest."""
    troughs = []
    for levels in conditions:
        total = {
            r: sum([lookup.accuracy(name, **levels, ratio_pct=r) for name in NAMES])
            for r in _RATIOS
        }
        troughs += [ratio for ratio in _RATIOS if total[ratio] == min(total.values())]
    return troughs


def _loses_most_at_first(lookup: ResultLookup, name: str) -> bool:
    """Return whether a model loses most, in accuracy and not per statement, from N = 20 to N = 50."""
    drops = [
        lookup.accuracy(name, N=a) - lookup.accuracy(name, N=b) for a, b in pairwise(_LEVELS_N)
    ]
    return drops[0] == max(drops)


def _tokens(
    lookup: ResultLookup,
    quantity: str,
    models: Iterable[str],
    N: int,
    levels: Iterable[int] = _LEVELS_D,
) -> list[Number]:
    return [lookup.tokens(name, quantity, N, d) for name in models for d in levels]


def _distances_from_median(lookup: ResultLookup) -> Sequence[Number]:
    """Return how far each model's mean prompt is from the median of the models at its (N, d), in percent."""
    distances: list[Number] = []
    for N, d in product(_LEVELS_N, _LEVELS_D):
        lengths = np.array([_prompt_length(lookup, name, N, d) for name in NAMES])
        known = lengths[np.isfinite(lengths)]
        if len(known):
            median = np.median(known)
            distances += (100 * np.abs(known - median) / median).tolist()
    return distances


def _prompt_length(lookup: ResultLookup, model: str, N: int, d: int) -> float:
    """Return a model's mean prompt; NaN where the printed one is not legible."""
    lookup.require(model, N=N, d=d)
    try:
        return lookup.tokens(model, "prompt_mean", N, d)
    except NotComputableError:
        return math.nan


def _usual_puzzles(lookup: ResultLookup, models: Iterable[str]) -> Sequence[Number]:
    """Return each model's usual number of puzzles per cell: six puzzles of the paper's are missing."""
    return [Counter(lookup.puzzles(name)).most_common(1)[0][0] for name in models]


def _along_rho(lookup: ResultLookup) -> list[Fraction]:
    return [
        lookup.accuracy(name, N=100, ratio_pct=ratio) for name in STRONGEST for ratio in _RATIOS
    ]


#: What a condition asks of one model. Every number is looked up, with & and not `and`: one that is unknown is refused.
_OF_MODELS: dict[str, Callable[[ResultLookup, str], bool]] = {
    "": lambda e, m: sum(e.puzzles(m)) > 0,
    "about 14000 puzzles each": lambda e, m: abs(sum(e.puzzles(m)) - 14_000) <= 14_000 * ABOUT,
    "largest accuracy drop between neighbouring N": _loses_most_at_first,
    "acc falls over d=1,3,5,7,10": lambda e, m: _falls([e.accuracy(m, d=d) for d in _LEVELS_D]),
    "valid_logic rises over d=1,3,5,7,10": lambda e, m: _falls(
        [-e.count(m, "valid_logic", "d", d) for d in _LEVELS_D]
    ),
    "accuracy < 0.50 at d=5": lambda e, m: e.accuracy(m, d=5) < Fraction(1, 2),
    "accuracy > 0.50 at N=250": lambda e, m: e.accuracy(m, N=250) > Fraction(1, 2),
    "aic_quadratic < aic_linear": lambda e, m: e.fit(m, "aic_quadratic") < e.fit(m, "aic_linear"),
    "beta_d < 0 with a star": lambda e, m: (e.fit(m, "beta_d") < 0) & (e.fit(m, "p_d") < STARRED),
    "beta_N < 0 with a star": lambda e, m: (e.fit(m, "beta_N") < 0) & (e.fit(m, "p_N") < STARRED),
    "beta_rho2 without a star": lambda e, m: e.fit(m, "p_rho2") >= STARRED,
    "beta_rho without a star": lambda e, m: e.fit(m, "p_rho") >= STARRED,
    "id50 < 0": lambda e, m: e.fit(m, "id50") < 0,
    "p_dN < 0.01 and beta_dN < 0": lambda e, m: (
        (e.fit(m, "p_dN") < 0.01) & (e.fit(m, "beta_dN") < 0)
    ),
    "p_drho < 0.05 and beta_drho < 0": lambda e, m: (
        (e.fit(m, "p_drho") < 0.05) & (e.fit(m, "beta_drho") < 0)
    ),
    "p_drho <= 0.01 and beta_drho < 0": lambda e, m: (
        (e.fit(m, "p_drho") <= 0.01) & (e.fit(m, "beta_drho") < 0)
    ),
    "p_dNrho < 0.05 and beta_dNrho > 0": lambda e, m: (
        (e.fit(m, "p_dNrho") < 0.05) & (e.fit(m, "beta_dNrho") > 0)
    ),
    "p_Nrho < 0.05": lambda e, m: e.fit(m, "p_Nrho") < 0.05,
    "p_lr >= 0.05": lambda e, m: e.fit(m, "p_lr") >= 0.05,
}
_TWO_GEMINI, _FAMILY = (
    "N=250, d=3, 5, 7, gemini-2.5-pro and gemini-2.5-flash",
    "N=250, o3 and gpt-5 family",
)
_OVER_MODELS: dict[tuple[str, str], Callable[[ResultLookup], Share | Sequence[Number]]] = {
    ("puzzles per (d, N, rho)", "open weights"): lambda e: _usual_puzzles(e, OPEN),
    ("puzzles per (d, N, rho)", "API models"): lambda e: _usual_puzzles(e, API),
    ("samples", "open weights"): lambda e: [sum(e.puzzles(name)) for name in OPEN],
    ("samples", "API models named (o3 and o4-mini are not)"): lambda e: [sum(e.puzzles(name)) for name in API_NAMED],
    ("accuracy drop", "d=1 to d=3"): lambda e: [e.accuracy(name, d=1) - e.accuracy(name, d=3) for name in SMALLER],
    ("accuracy", "d=10, weakest models"): lambda e: sorted(e.accuracy(name, d=10) for name in NAMES)[:WEAKEST],
    ("accuracy", "N=250"): lambda e: [e.accuracy(name, N=250) for name in NAMES],
    ("rho of lowest accuracy (%)", ""): _troughs,
    ("rho of lowest accuracy (%)", "d=1, 5, 10"): lambda e: _troughs(e, [{"d": 1}, {"d": 5}, {"d": 10}]),
    ("rho of lowest accuracy (%)", "N=20"): lambda e: _troughs(e, [{"N": 20}]),
    ("accuracy", CURVES["lowest"]): lambda e: [min(_along_rho(e))],
    ("accuracy", CURVES["highest"]): lambda e: [max(_along_rho(e))],
    ("prompt_mean spread (%)", "fixed (N, d)"): _distances_from_median,
    **{(f"{what}_p90", _TWO_GEMINI): partial(_tokens, quantity=f"{what}_p90", models=GEMINI, N=250, levels=(3, 5, 7))
       for what in ("output", "prompt")},
    **{(f"{what}_p90", _FAMILY): partial(_tokens, quantity=f"{what}_p90", models=OPENAI_LATEST, N=250)
       for what in ("output", "prompt")},
}  # fmt: skip


def judge_claim(
    published: str, found: Share | Sequence[Number], quantity: str = "", most: bool = False
) -> Judgement:
    """Compare what was found with what the prose says; `NotComputableError` if it cannot be read or nothing was found.

    ``found`` is a count, or the number of each model or cell that the statement is about; ``most`` if the statement is
    made of most of them; ``quantity`` decides how a number is printed that is compared with a bound.
    """
    if isinstance(found, Share):
        return _judge_share(published, found)
    if len(found) == 0:
        raise NotComputableError("there is nothing to compare the statement with")
    compared = [float(x) for x in found]
    if published in WORDS:
        inside, form, most = WORDS[published]
        printed = [format(x, form) for x in compared]
    elif bound := re.fullmatch(rf"([<>]=?)({_NUMBER})", published):
        sign, limit = bound[1], float(bound[2])
        inside = pd.Interval(
            *((limit, math.inf) if sign[0] == ">" else (-math.inf, limit)), _ENDS[sign]
        )
        kind = quantity if quantity in _FORMS else quantity.partition("_")[0]
        printed = [_FORMS.get(kind, "{:+.3f}".format)(x) for x in compared]
    elif ends := re.fullmatch(rf"({_NUMBER})-({_NUMBER})", published):
        printed = [print_like(ends[1], x) for x in found]
        inside, compared = (
            pd.Interval(*sorted(map(float, ends.groups())), "both"),
            list(map(float, printed)),
        )
    else:
        _require_number(published)
        printed = [print_like(published, x) for x in found]
        worst = max(
            (judge(published, text) for text in printed), key=["exact", "unit", "differs"].index
        )
        return Judgement(_single(found), _span(found, printed), worst)
    hits = Share(sum(x in inside for x in compared), len(compared))
    if most:
        return _judge_share("most", hits)
    return Judgement(
        _single(found), _span(found, printed), "exact" if hits.count == hits.of else "differs"
    )


def judge(published: str, shown: str) -> str:
    """Return the verdict on two printed strings: exact, unit (one unit of the last printed digit apart) or differs."""
    if shown == published:
        return "exact"
    try:
        printed, computed = (Decimal(text.removesuffix("K")) for text in (published, shown))
    except ArithmeticError:  # "--", stars
        return "differs"
    unit = Decimal(1).scaleb(min(int(number.as_tuple().exponent) for number in (printed, computed)))
    return "unit" if abs(printed - computed) <= unit else "differs"


def print_like(published: str, number: Number) -> str:
    """Return a number with the decimals, sign and exponent of a published one, as Python formats a float."""
    mantissa, exponent, _ = published.partition("e")
    if mantissa.endswith("K"):
        return print_like(mantissa[:-1], number / 1024) + "K"
    decimals = len(mantissa.partition(".")[2])
    if exponent:
        digits, power = f"{float(number):.{decimals}e}".split("e")
        return f"{digits}e{int(power)}"
    return f"{float(number):{'+' if published.startswith('+') else ''}.{decimals}f}"


def _judge_share(published: str, found: Share) -> Judgement:
    if published not in SHARES:
        _require_number(published)
        shown = str(found.count)
        return Judgement(float(found.count), shown, judge(published, shown))
    least, itself = SHARES[published]
    share = Fraction(found.count, found.of)
    holds = share > least or (itself and share == least)
    return Judgement(
        float(found.count), f"{found.count} of {found.of}", "exact" if holds else "differs"
    )


def _require_number(published: str) -> None:
    if not re.fullmatch(rf"[+-]?{_NUMBER}(e[+-]?\d+)?K?", published):
        raise NotComputableError(f"{published!r} is no number, bound, range or known word")


def _single(found: Sequence[Number]) -> float:
    return float(found[0]) if len(set(found)) == 1 else math.nan


def _span(found: Sequence[Number], printed: list[str]) -> str:
    """Return the least and the greatest number in print, or the one if they print alike."""
    low, high = (printed[found.index(end)] for end in (min(found), max(found)))
    return low if low == high else f"{low} to {high}"
