"""Verdicts on the paper's statements, derived from tests of its models.

All chapters use the same words. If a test is missing, a statement is untested, never false.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from scipy.stats import binomtest

from cogniload_repro.paths import DATA
from cogniload_repro.published import ALPHA

#: How often each verdict is right in simulated worlds: conclusion, world, right (the word that is
#: true there), draws, hits, low, high (95% limits of the share), and the words that were drawn.
RATES = DATA / "verdict_rates.csv"
#: What other simulations show: case, quantity, mean, least, most, draws.
SIMULATIONS = DATA / "simulations.csv"

SUPPORTED = "supported"
PARTLY = "supported in part"
NOT_SUPPORTED = "not supported"
#: The printed tables do not identify whether a statement holds among finished answers.
DEPENDS = "depends on the overflows"
#: The printed tables agree with counts in which a statement holds and with others.
OPEN = "left open by the tables"
UNKNOWN = "not tested"
#: All words on statements, in the order in which chapter 10 shows them.
VERDICT_WORDS = (SUPPORTED, PARTLY, DEPENDS, OPEN, NOT_SUPPORTED, UNKNOWN)
#: Words on a printed number that can be counted again.
AGREES = "agrees"
DISAGREES = "does not agree"


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
    known, unknown, evidence = _count(holds, what)
    if not known:
        return Judgement(UNKNOWN, evidence)
    if all(known) and not unknown:
        return Judgement(SUPPORTED, evidence)
    return Judgement(PARTLY if any(known) else NOT_SUPPORTED, evidence)


def counted(holds: Iterable[object], stated: int, what: str = "models") -> Judgement:
    """Judge a printed number of models, such as "in 17 models": it agrees or it does not."""
    known, unknown, evidence = _count(holds, what)
    if unknown or not known:
        return Judgement(UNKNOWN, evidence)
    return Judgement(AGREES if sum(known) == stated else DISAGREES, evidence)


def most(
    agree: Iterable[object],
    disagree: Iterable[object],
    what: str = "models",
) -> Judgement:
    """Judge a statement on models in general, each of which has a test of its own.

    Supported if more than half of all models are shown to agree, or significantly more agree than
    disagree (sign test over the significant ones). Not supported if none agrees, or more disagree
    than agree. Otherwise supported in part.
    """
    agreeing, unknown, _ = _count(agree, what)
    disagreeing, _, _ = _count(disagree, what)
    yes = sum(agreeing)
    no = sum(disagreeing)
    evidence = f"{yes} of {len(agreeing) + unknown} {what} agree, {no} disagree"
    if unknown:
        evidence += f", {unknown} unknown"
    if not agreeing:
        return Judgement(UNKNOWN, evidence)
    if not yes or no > yes:
        return Judgement(NOT_SUPPORTED, evidence)
    is_majority = yes > (len(agreeing) + unknown) / 2
    is_significant = binomtest(yes, yes + no).pvalue < ALPHA
    return Judgement(SUPPORTED if is_majority or is_significant else PARTLY, evidence)


def resting_on(main: object, *others: object) -> Judgement:
    """Judge a statement whose other parts mean nothing without the main one.

    Not supported if the main part does not hold, supported if all do, otherwise in part.
    """
    if pd.isna(main):
        return Judgement(UNKNOWN)
    if not main:
        return Judgement(NOT_SUPPORTED)
    return Judgement(SUPPORTED if all(others) else PARTLY)


def effect(
    counted: Iterable[object],
    finished: Iterable[object],
    what: str = "levels",
) -> Judgement:
    """Judge an effect at several levels, with overflows as failures and among finished answers.

    Not supported if it is at no level. It depends on the overflows if no level has it both ways,
    and is supported if all levels have it both ways.
    """
    both = []
    found = [bool(holds) for holds in counted]
    for is_counted, is_finished in zip(found, finished, strict=True):
        both.append(is_counted and bool(is_finished))
    evidence = (
        f"{sum(found)} of {len(found)} {what}, {sum(both)} among finished answers"
    )
    if not any(found):
        return Judgement(NOT_SUPPORTED, evidence)
    if not any(both):
        return Judgement(DEPENDS, evidence)
    return Judgement(SUPPORTED if all(both) else PARTLY, evidence)


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


def without_assumption(free: Judgement, assuming: Judgement) -> Judgement:
    """Judge by a test that assumes no curve, beside one that does.

    What only the assumption supports is left open: the tables agree with other curves, too.
    """
    if free.word == NOT_SUPPORTED and assuming.word in (SUPPORTED, PARTLY):
        return Judgement(OPEN, assuming.evidence)
    return free


def _count(holds: Iterable[object], what: str) -> tuple[list[bool], int, str]:
    """Return the results of the tests that have one, the number without, and both in words."""
    values = list(holds)
    known = [bool(value) for value in values if not pd.isna(value)]
    unknown = len(values) - len(known)
    evidence = f"{sum(known)} of {len(values)} {what}"
    if unknown:
        evidence += f", {unknown} unknown"
    return known, unknown, evidence
