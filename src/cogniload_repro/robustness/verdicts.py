"""Words of verdicts on the paper's claims, computed from tests of its models; a missing test is unknown, never a no."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from scipy.stats import binomtest

from cogniload_repro.published import ALPHA

SUPPORTED, PARTLY, NOT_SUPPORTED = "supported", "supported in part", "not supported"
UNKNOWN = "not tested in this build"


class Verdict(NamedTuple):
    """A verdict and the count that it follows from."""

    word: str
    evidence: str = ""


def single(holds: object, evidence: str = "") -> Verdict:
    """Judge one statement: True, False, or missing (None, NaN)."""
    if pd.isna(holds):
        return Verdict(UNKNOWN, evidence)
    return Verdict(SUPPORTED if holds else NOT_SUPPORTED, evidence)


def each(holds: Iterable[object], what: str = "models") -> Verdict:
    """Judge "every X is Y": supported if it holds for all, in part if for some, not supported if for none."""
    holds = list(holds)
    return counted(holds, len(holds), what)


def counted(holds: Iterable[object], stated: int, what: str = "models") -> Verdict:
    """Judge "in 17 models": supported if it holds for that many, in part if for another number, not if for none."""
    known, unknown = _known(holds)
    evidence = f"{sum(known)} of {len(known) + unknown} {what}" + (
        f", {unknown} unknown" if unknown else ""
    )
    if not known:
        return Verdict(UNKNOWN, evidence)
    if sum(known) == stated and not unknown:
        return Verdict(SUPPORTED, evidence)
    return Verdict(PARTLY if any(known) else NOT_SUPPORTED, evidence)


def most(agree: Iterable[object], disagree: Iterable[object], what: str = "models") -> Verdict:
    """Judge a statement on models in general by a sign test over those whose own test is significant.

    Supported if significantly more agree than disagree, not supported if more disagree, else in part.
    """
    (yes, unknown), (no, _) = _known(agree), _known(disagree)
    n_yes, n_no = sum(yes), sum(no)
    of = f"{n_yes} of {len(yes) + unknown} {what} agree"
    evidence = f"{of}, {n_no} disagree" + (f", {unknown} unknown" if unknown else "")
    if not yes:
        return Verdict(UNKNOWN, evidence)
    if n_no > n_yes:
        return Verdict(NOT_SUPPORTED, evidence)
    significant = n_yes + n_no > 0 and binomtest(n_yes, n_yes + n_no).pvalue < ALPHA
    return Verdict(SUPPORTED if significant else PARTLY, evidence)


def all_parts(**parts: Verdict) -> Verdict:
    """Judge a statement of several parts: supported if each part is, not supported if none is, else in part.

    A part that could not be tested leaves the whole statement untested.
    """
    evidence = "; ".join(f"{name}: {part.evidence}" for name, part in parts.items())
    words = {part.word for part in parts.values()}
    if UNKNOWN in words:
        return Verdict(UNKNOWN, evidence)
    if len(words) == 1:
        return Verdict(words.pop(), evidence)
    return Verdict(PARTLY, evidence)


def _known(holds: Iterable[object]) -> tuple[list[bool], int]:
    """Return the tests that have a result, and the number of those that have none."""
    values = list(holds)
    known = [bool(value) for value in values if not pd.isna(value)]
    return known, len(values) - len(known)
