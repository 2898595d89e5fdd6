"""Compare numbers at the precision at which the paper prints them."""

from decimal import Decimal
from fractions import Fraction

Number = int | float | Fraction


def judge(published: str, recomputed: str) -> str:
    """Return how a recomputed number, formatted like the published one, compares.

    "exact", "unit" (at most one unit of the last digit apart) or "differs".
    """
    if recomputed == published:
        return "exact"
    try:
        printed = Decimal(published.removesuffix("K"))
        computed = Decimal(recomputed.removesuffix("K"))
    except ArithmeticError:  # "--", stars
        return "differs"
    last_place = min(_last_place(printed), _last_place(computed))
    unit = Decimal(1).scaleb(last_place)
    return "unit" if abs(printed - computed) <= unit else "differs"


def _last_place(number: Decimal) -> int:
    """Return the exponent of ten of a number's last digit."""
    return int(number.as_tuple().exponent)


def format_like(published: str, number: Number) -> str:
    """Return a number formatted like a published one.

    It has its decimals, sign, exponent and K (1024); Python's formatting rounds it.
    """
    if published.endswith("K"):
        return format_like(published[:-1], number / 1024) + "K"
    mantissa, _, exponent = published.partition("e")
    decimals = len(mantissa.partition(".")[2])
    if exponent:
        digits, power = f"{float(number):.{decimals}e}".split("e")
        return f"{digits}e{int(power)}"
    sign = "+" if published.startswith("+") else ""
    return f"{float(number):{sign}.{decimals}f}"
