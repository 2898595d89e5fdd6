"""How a number or a word of the paper's prose is read, and whether what was found agrees with it.

A statement is a number ("0.62", "7.18e-5"), a bound (">0.3"), a range ("25-50") or a word ("most"). About several
models or conditions a number, a bound or a range holds if it holds for each of them.
"""

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pandas as pd

from cogniload_repro import formats
from cogniload_repro.fidelity.results import NotComputableError
from cogniload_repro.published import ABOUT_NONE, ALPHA

Number = int | float | Fraction


class Share(NamedTuple):
    """How many of so many models or cells something holds for."""

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
    "not significant": (pd.Interval(ALPHA, 1, "both"), ".3g", False),
    "a few percent": (pd.Interval(0, 5, "both"), ".0f", True),
    "mid-20000s": (pd.Interval(24_000, 27_000, "left"), ".0f", True),
}

#: Words about a share, as the least share that they stand for and whether it is enough itself. "nearly all": nine in
#: ten, for 22 models all but two, the number that section 3.1.2 itself excepts when it says "except for two models".
SHARES = {"most": (Fraction(1, 2), False), "nearly all": (Fraction(9, 10), True)}

#: How quantities, or all that begin so, are printed.
_FORMS: dict[str, Callable[[float], str]] = {
    "p_lr": formats.format_p_lr,
    "ecl50": formats.format_ecl50,
    "p": formats.format_p,
    "beta": formats.format_beta,
}
_NUMBER = r"\d+(?:\.\d+)?"
_ENDS = {">": "neither", ">=": "left", "<": "neither", "<=": "right"}


def judge_claim(published: str, found: Share | Sequence[Number], quantity: str = "", most: bool = False) -> Judgement:
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
        inside = pd.Interval(*((limit, math.inf) if sign[0] == ">" else (-math.inf, limit)), _ENDS[sign])
        kind = quantity if quantity in _FORMS else quantity.partition("_")[0]
        printed = [_FORMS.get(kind, "{:+.3f}".format)(x) for x in compared]
    elif ends := re.fullmatch(rf"({_NUMBER})-({_NUMBER})", published):
        printed = [print_like(ends[1], x) for x in found]
        inside, compared = pd.Interval(*sorted(map(float, ends.groups())), "both"), list(map(float, printed))
    else:
        _require_number(published)
        printed = [print_like(published, x) for x in found]
        worst = max((judge(published, text) for text in printed), key=["exact", "unit", "differs"].index)
        return Judgement(_single(found), _span(found, printed), worst)
    hits = Share(sum(x in inside for x in compared), len(compared))
    if most:
        return _judge_share("most", hits)
    return Judgement(_single(found), _span(found, printed), "exact" if hits.count == hits.of else "differs")


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
    return Judgement(float(found.count), f"{found.count} of {found.of}", "exact" if holds else "differs")


def _require_number(published: str) -> None:
    if not re.fullmatch(rf"[+-]?{_NUMBER}(e[+-]?\d+)?K?", published):
        raise NotComputableError(f"{published!r} is no number, bound, range or known word")


def _single(found: Sequence[Number]) -> float:
    return float(found[0]) if len(set(found)) == 1 else math.nan


def _span(found: Sequence[Number], printed: list[str]) -> str:
    """Return the least and the greatest number in print, or the one if they print alike."""
    low, high = (printed[found.index(end)] for end in (min(found), max(found)))
    return low if low == high else f"{low} to {high}"
