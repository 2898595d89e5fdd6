"""Verdicts on the paper's statements, derived from tests of its models.

All chapters use the same words. If a test is missing, a statement is untested, never false.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from scipy.stats import binomtest

from cogniload_repro.published import ALPHA

SUPPORTED = "supported"
PARTLY = "supported in part"
NOT_SUPPORTED = "not supported"
#: The printed tables do not identify whether a statement holds among finished answers.
DEPENDS = "depends on the overflows"
DEFINITION = "a matter of definition"
UNKNOWN = "not tested"
#: All words, in the order in which chapter 10 shows them.
VERDICT_WORDS = (NOT_SUPPORTED, DEPENDS, PARTLY, SUPPORTED, DEFINITION, UNKNOWN)


class Judgement(NamedTuple):
    """A verdict and the count on which it is based."""

    word: str
    evidence: str = ""


def single(holds: object, evidence: str = "") -> Judgement:
    """Judge one statement: True, False, or missing (None, NaN)."""
    if pd.isna(holds):
        return Judgement(UNKNOWN, evidence)
    return Judgement(SUPPORTED if holds else NOT_SUPPORTED, evidence)


def each(holds: Iterable[object], what: str = "models") -> Judgement:
    """Judge "every X is Y": supported if true of all, in part if of some, not if of none."""
    holds = list(holds)
    return counted(holds, len(holds), what)


def counted(
    holds: Iterable[object],
    stated: int,
    what: str = "models",
) -> Judgement:
    """Judge "in 17 models": supported if true of 17, in part if of others, not if of none."""
    known, unknown = _known(holds)
    evidence = f"{sum(known)} of {len(known) + unknown} {what}"
    if unknown:
        evidence += f", {unknown} unknown"
    if not known:
        return Judgement(UNKNOWN, evidence)
    if sum(known) == stated and not unknown:
        return Judgement(SUPPORTED, evidence)
    return Judgement(PARTLY if any(known) else NOT_SUPPORTED, evidence)


def most(
    agree: Iterable[object],
    disagree: Iterable[object],
    what: str = "models",
) -> Judgement:
    """Judge a statement on models in general by a sign test over the significant models.

    Supported if significantly more models agree than disagree, not supported if more disagree than
    agree, otherwise supported in part.
    """
    agreeing, unknown = _known(agree)
    disagreeing, _ = _known(disagree)
    yes = sum(agreeing)
    no = sum(disagreeing)
    evidence = f"{yes} of {len(agreeing) + unknown} {what} agree, {no} disagree"
    if unknown:
        evidence += f", {unknown} unknown"
    if not agreeing:
        return Judgement(UNKNOWN, evidence)
    if no > yes:
        return Judgement(NOT_SUPPORTED, evidence)
    is_significant = yes > 0 and binomtest(yes, yes + no).pvalue < ALPHA
    return Judgement(SUPPORTED if is_significant else PARTLY, evidence)


def no_effect(survivals: Iterable[object]) -> Judgement:
    """Judge "there is no effect" by the effects that are significant with overflows as failures.

    ``survivals`` has one value per such effect: whether it is significant among finished answers,
    too, in every table that was searched. If any is, the statement is not supported; if none is,
    it depends on the overflows. If there is no significant effect at all, it is supported.
    """
    survivals = list(survivals)
    if not survivals:
        return Judgement(SUPPORTED)
    return Judgement(NOT_SUPPORTED if any(survivals) else DEPENDS)


def all_parts(**parts: Judgement) -> Judgement:
    """Judge a statement of several parts: their verdict if they agree, else supported in part.

    If a part could not be tested, the statement is untested.
    """
    evidence = "; ".join(f"{name}: {part.evidence}" for name, part in parts.items())
    words = {part.word for part in parts.values()}
    if UNKNOWN in words:
        return Judgement(UNKNOWN, evidence)
    if len(words) == 1:
        return Judgement(words.pop(), evidence)
    return Judgement(PARTLY, evidence)


def _known(holds: Iterable[object]) -> tuple[list[bool], int]:
    """Return the results of the tests that have one, and the number of tests without."""
    values = list(holds)
    known = [bool(value) for value in values if not pd.isna(value)]
    return known, len(values) - len(known)
