"""The numbers of the paper's prose, recomputed from a build's results.

A row of ``claims.csv`` states what a number refers to: a quantity, for a model or each model in one
of `GROUPS`, at levels of N, d and rho ("1 minus 3" is a difference). The column ``stated`` says how
the value relates to these numbers: it is each of them, most of them, their least or largest, or
the count of those that pass a test. Statements without a number are judged in the chapters.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import pandas as pd
from scipy.stats import norm

from cogniload_repro import formats
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.ledger.columns import COLUMNS
from cogniload_repro.ledger.precision import Number, format_like, judge
from cogniload_repro.ledger.results import (
    NotComputableError,
    ResultLookup,
    Results,
)
from cogniload_repro.models import NAMES
from cogniload_repro.paths import ICLR2026
from cogniload_repro.published import INTERVAL_ALPHA
from cogniload_repro.reconstruction.printed import uses_table2
from cogniload_repro.reconstruction.prose import (
    EACH_RATIO,
    PROSE_RATIOS,
    prose_along_rho,
)
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS, RESERVED_TOKENS

#: A row of ``claims.csv``.
Claim = dict[str, str]


class JudgedClaim(NamedTuple):
    """A claim's recomputed number (NaN if none or several), as formatted, and the verdict.

    If there is no number, ``reason`` says why.
    """

    recomputed: float
    shown: str
    verdict: str
    reason: str = ""


#: The models of the groups to which the prose refers: one row per group and model.
GROUPS = pd.read_csv(ICLR2026 / "claim_groups.csv")
#: Constants of the scorer and the intervals, whatever the responses are.
CONSTANTS: dict[str, Number] = {
    "context_tokens": CONTEXT_TOKENS,
    "reserved_tokens": RESERVED_TOKENS,
    "z": float(norm.ppf(1 - INTERVAL_ALPHA / 2)),
}
#: The ratio (%) at which the mean accuracy of the models is lowest.
LOWEST = "ratio_of_lowest_accuracy"

#: The quantities of Tables 2 and 3, p-values included.
_OF_TABLE2 = {column.quantity for column in COLUMNS["table2"].values()}
_OF_TABLE3 = {column.quantity for column in COLUMNS["table3"].values()}
_RATIOS = sorted({int(cell.ratio_pct) for cell in PAPER_GRID})
_NUMBER = r"\d+(?:\.\d+)?"
_BOUND = re.compile(rf"([<>]=?)(-?{_NUMBER})")
_BOUND_LIST = re.compile(rf"{_BOUND.pattern}( {_BOUND.pattern})*")
_RANGE = re.compile(rf"({_NUMBER})-({_NUMBER})")
_BOUND_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: Formats of numbers that are compared with a bound, by the prefix of their quantity.
_FORMS: dict[str, Callable[[float], str]] = {
    "p_lr": formats.format_thousandths,
    "p_": formats.format_p,
    "beta_": formats.format_beta,
    "ecl50": formats.format_ecl50,
    "": "{:+.3f}".format,
}


def evaluate_claims(
    claims: pd.DataFrame, results: Results, others: Iterable[pd.DataFrame] = ()
) -> pd.DataFrame:
    """Recompute the numbers of the paper's prose from the results of a build.

    Parameters
    ----------
    claims : DataFrame
        Rows of ``claims.csv`` (`published.load_claims`).
    results : Results
    others : iterable of DataFrame
        Other reconstructions of the cells. A claim that the published tables do not identify is
        not judged; the reconstructions in which it holds are counted.

    Returns
    -------
    DataFrame
        One row per claim: id, location, claim, model, quantity, condition, published, recomputed
        (NaN if there are several numbers or none), shown (in the paper's format; several numbers as
        "low to high", a count as "20 of 22"), verdict, kind, evidence and reason. A claim is
        not_computable if the results do not determine it, or if the published tables do not
        identify it.
    """
    lookup = ResultLookup(results)
    other_lookups = [ResultLookup(replace(results, cells=cells)) for cells in others]
    rows = []
    for claim in claims.to_dict("records"):
        judged = _judge_claim(claim, lookup)
        evidence = evidence_of(claim, results.reconstructed)
        if evidence == "not identified" and not judged.reason:
            verdicts = [_judge_claim(claim, other).verdict for other in other_lookups]
            count = verdicts.count("exact")
            holds = f"holds in {count} of {len(verdicts)}"
            judged = _not_computable(f"not identified: {holds} reconstructions")
        rows.append(
            {
                "id": claim["id"],
                "location": claim["location"],
                "claim": claim["claim"],
                "model": claim["model"],
                "quantity": claim["quantity"],
                "condition": describe_condition(claim),
                "published": claim["value"],
                **judged._asdict(),
                "kind": kind_of(claim, results.reconstructed),
                "evidence": evidence,
            }
        )
    return pd.DataFrame(rows)


def describe_condition(claim: Claim) -> str:
    """Return the levels, group and test of a claim, such as "N=250 d=1" and "p_lr: >=0.05"."""
    parts = [f"{load}={claim[load]}" for load in ("N", "d") if claim[load]]
    if claim["rho"]:
        parts.append(f"rho: {claim['rho']}")
    if claim["stated"] == "count":
        parts.append(claim["test"])
    if claim["p"]:
        parts.append(f"p {claim['p']}")
    if claim["group"]:
        parts.append(f"({claim['group']})")
    return " ".join(parts)


def evidence_of(claim: Claim, reconstructed: bool) -> str:
    """Return "identified", "bounded" or "not identified" (by the published tables).

    It is "" for scored responses. Identified and bounded claims are judged; a claim that is not
    identified may differ between reconstructions, and is not.
    """
    if not reconstructed:
        return ""
    if claim["rho"] == EACH_RATIO:
        return "bounded"
    along_rho = claim["rho"] and not _is_constraint(claim)
    if along_rho or claim["quantity"] == LOWEST:
        return "not identified"
    return "identified"


def kind_of(claim: Claim, reconstructed: bool) -> str:
    """Return the kind of a claim: input, constraint, derived or independent (see `ledger.entries`).

    Constants of the scorer and the grid are always input. On reconstructed data, other claims have
    the kind of the table on which they depend; claims on a single model along rho are constraints.
    """
    quantity = claim["quantity"]
    if quantity in CONSTANTS or quantity == "samples_expected":
        return "input"
    if not reconstructed:
        return "independent"
    if quantity in _OF_TABLE3 or _is_constraint(claim):
        return "constraint"
    if quantity in _OF_TABLE2:
        model = claim["model"]
        return "constraint" if model and uses_table2(model) else "derived"
    return "derived" if claim["rho"] or quantity == LOWEST else "input"


def _is_constraint(claim: Claim) -> bool:
    """Return whether a claim was a constraint on the reconstruction (`prose.prose_windows`)."""
    along_rho = prose_along_rho(claim["model"])["id"].to_numpy()
    return claim["rho"] == EACH_RATIO or claim["id"] in along_rho


# ---- the numbers that a claim is about ----
def find_numbers(claim: Claim, lookup: ResultLookup) -> list[Number]:
    """Return a claim's quantity for each of its models, at each of its levels."""
    if claim["quantity"] in CONSTANTS:
        return [CONSTANTS[claim["quantity"]]]
    for load in ("d", "rho"):
        first, minus, second = claim[load].partition(" minus ")
        if minus:
            numbers = find_numbers(claim | {load: first}, lookup)
            subtracted = find_numbers(claim | {load: second}, lookup)
            return list(map(operator.sub, numbers, subtracted))
    models = _list_models(claim)
    numbers = []
    for levels in _read_levels(claim):
        if claim["quantity"] == LOWEST:
            numbers += _find_troughs(lookup, models, levels)
            continue
        for model in models:
            number = _find(lookup, model, claim["quantity"], levels)
            numbers.append(number)
    return numbers


def _list_models(claim: Claim) -> Sequence[str]:
    """Return the models that a claim is about; without a model or group, all 22."""
    if claim["model"]:
        return [claim["model"]]
    if claim["group"]:
        return list(GROUPS.loc[GROUPS["group"] == claim["group"], "model"])
    return NAMES


def _read_levels(claim: Claim) -> list[dict[str, int]]:
    """Return all combinations of a claim's levels of N, d and ratio_pct."""
    levels = {load: list(map(int, claim[load].split())) for load in ("N", "d")}
    if claim["rho"] == EACH_RATIO:
        levels["ratio_pct"] = _RATIOS
    elif claim["rho"]:
        levels["ratio_pct"] = [PROSE_RATIOS[claim["rho"]]]
    named = [load for load in levels if levels[load]]
    places = product(*[levels[load] for load in named])
    return [dict(zip(named, place, strict=True)) for place in places]


def _find(
    lookup: ResultLookup, model: str, quantity: str, levels: dict[str, int]
) -> Number:
    """Return a quantity of one model at some levels."""
    number = lookup.number(model, quantity, **levels)
    if math.isnan(number):
        raise NotComputableError(f"{model} has no {quantity}")
    return number


def _find_troughs(
    lookup: ResultLookup, models: Sequence[str], levels: dict[str, int]
) -> list[Number]:
    """Return the ratios (%) at which the mean accuracy of the models is lowest."""
    sums: dict[float, Fraction] = {}
    for ratio in _RATIOS:
        accuracies = [
            lookup.accuracy(model, **levels, ratio_pct=ratio) for model in models
        ]
        sums[ratio] = sum(accuracies, Fraction(0))
    return [ratio for ratio, total in sums.items() if total == min(sums.values())]


# ---- the verdict ----
def _judge_claim(claim: Claim, lookup: ResultLookup) -> JudgedClaim:
    try:
        numbers = find_numbers(claim, lookup)
        if claim["stated"] != "count":
            return judge_numbers(claim, numbers)
        passes = [_is_within(number, claim["test"]) for number in numbers]
        if claim["p"]:
            quantity = claim["quantity"].replace("beta_", "p_")
            p_values = find_numbers(claim | {"quantity": quantity}, lookup)
            is_significant = [_is_within(p, claim["p"]) for p in p_values]
            passes = list(map(operator.and_, passes, is_significant))
        count = str(sum(passes))
        return JudgedClaim(float(count), count, judge(claim["value"], count))
    except NotComputableError as error:
        return _not_computable(str(error))


def _not_computable(reason: str) -> JudgedClaim:
    return JudgedClaim(math.nan, "", "not_computable", reason)


def judge_numbers(claim: Claim, numbers: Sequence[Number]) -> JudgedClaim:
    """Compare recomputed numbers with what a claim states about them.

    Bounds are compared with unrounded numbers; stated numbers and ranges with rounded ones.
    """
    value = claim["value"]
    if claim["stated"] == "least":
        numbers = [min(numbers)]
    elif claim["stated"] == "largest":
        numbers = [max(numbers)]
    bounds = claim["test"] or value
    if _BOUND_LIST.fullmatch(bounds):
        printed = _format_numbers(claim["quantity"], numbers)
        passes = [_is_within(number, bounds) for number in numbers]
    elif ends := _RANGE.fullmatch(value):
        printed = [format_like(ends[1], number) for number in numbers]
        passes = [float(ends[1]) <= float(text) <= float(ends[2]) for text in printed]
    else:
        printed = [format_like(value, number) for number in numbers]
        verdicts = [judge(value, text) for text in printed]
        worst = max(verdicts, key=("exact", "unit", "differs").index)
        return JudgedClaim(_single(numbers), _span(numbers, printed), worst)
    if claim["stated"] == "most":
        count = sum(passes)
        verdict = "exact" if 2 * count > len(passes) else "differs"
        return JudgedClaim(float(count), f"{count} of {len(passes)}", verdict)
    verdict = "exact" if all(passes) else "differs"
    return JudgedClaim(_single(numbers), _span(numbers, printed), verdict)


def _format_numbers(quantity: str, numbers: Sequence[Number]) -> list[str]:
    """Return numbers in the paper's format for this quantity."""
    start = next(start for start in _FORMS if quantity.startswith(start))
    return [_FORMS[start](float(number)) for number in numbers]


def _is_within(number: Number, bounds: str) -> bool:
    """Return whether a number meets bounds such as "<0.5" and ">=13860 <=14140"."""
    for sign, limit in _BOUND.findall(bounds):
        meets = _BOUND_SIGNS[sign]
        if not meets(number, Fraction(limit)):
            return False
    return True


def _single(numbers: Sequence[Number]) -> float:
    """Return the number if all are equal, else NaN."""
    return float(numbers[0]) if len(set(numbers)) == 1 else math.nan


def _span(numbers: Sequence[Number], printed: Sequence[str]) -> str:
    """Return "low to high" of formatted numbers, or a single one if both look the same."""
    low = printed[numbers.index(min(numbers))]
    high = printed[numbers.index(max(numbers))]
    return low if low == high else f"{low} to {high}"
