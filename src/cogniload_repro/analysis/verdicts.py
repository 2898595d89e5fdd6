"""Verdicts on the paper's statements, each from tests of its models.

The words are the same in all chapters. A test that is missing makes a statement untested, never
false.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from scipy.stats import binomtest

from cogniload_repro.published import ALPHA

SUPPORTED = "supported"
PARTLY = "supported in part"
NOT_SUPPORTED = "not supported"
#: Whether a statement holds is not identified among finished answers.
DEPENDS = "depends on the overflows"
DEFINITION = "a matter of definition"
UNKNOWN = "not tested in this build"
#: All words, in the order in which chapter 10 shows them.
VERDICT_WORDS = (NOT_SUPPORTED, DEPENDS, PARTLY, SUPPORTED, DEFINITION, UNKNOWN)


class Judgement(NamedTuple):
    """A verdict and the count that it follows from."""

    word: str
    evidence: str = ""


def single(holds: object, evidence: str = "") -> Judgement:
    """Judge one statement: True, False, or missing (None, NaN)."""
    if pd.isna(holds):
        return Judgement(UNKNOWN, evidence)
    return Judgement(SUPPORTED if holds else NOT_SUPPORTED, evidence)


def each(holds: Iterable[object], what: str = "models") -> Judgement:
    """Judge "every X is Y": supported if it holds for all, in part for some, not for none."""
    holds = list(holds)
    return counted(holds, len(holds), what)


def counted(holds: Iterable[object], stated: int, what: str = "models") -> Judgement:
    """Judge "in 17 models": supported if it holds for 17, in part for others, not for none."""
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
    agree: Iterable[object], disagree: Iterable[object], what: str = "models"
) -> Judgement:
    """Judge a statement on models in general by a sign test over significant models.

    Supported if significantly more agree than disagree, not supported if more disagree, else in
    part.
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

    For each it takes whether the effect is also significant among finished answers, in every table
    that was searched. One that is refutes the statement; if there is none, it depends on the
    overflows. Without any significant effect the statement is supported.
    """
    survivals = list(survivals)
    if not survivals:
        return Judgement(SUPPORTED)
    return Judgement(NOT_SUPPORTED if any(survivals) else DEPENDS)


def all_parts(**parts: Judgement) -> Judgement:
    """Judge a statement of several parts: as its parts if these agree, else supported in part.

    A part that could not be tested leaves the whole statement untested.
    """
    evidence = "; ".join(f"{name}: {part.evidence}" for name, part in parts.items())
    words = {part.word for part in parts.values()}
    if UNKNOWN in words:
        return Judgement(UNKNOWN, evidence)
    if len(words) == 1:
        return Judgement(words.pop(), evidence)
    return Judgement(PARTLY, evidence)


def _known(holds: Iterable[object]) -> tuple[list[bool], int]:
    """Return the tests that have a result, and the number of those that have none."""
    values = list(holds)
    known = [bool(value) for value in values if not pd.isna(value)]
    return known, len(values) - len(known)
