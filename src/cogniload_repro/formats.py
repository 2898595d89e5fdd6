"""Numbers as the paper prints them, for our tables and for the comparison with the printed ones."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from cogniload_repro.models import short_names
from cogniload_repro.published import STAR_LEVELS

#: Printed where a threshold does not exist (paper, Table 2) or a value is unknown.
NONE = "--"


def format_name(model: str) -> str:
    """Return a model's name, which may be untrusted text, as one line of printable characters."""
    printable = "".join(sign if sign.isprintable() else " " for sign in model)
    return " ".join(printable.split()) or "unnamed"


def display_names(models: Iterable[str]) -> dict[str, str]:
    """Return the printable name of each model on pages and terminals; see `models.short_names`."""
    return {model: format_name(name) for model, name in short_names(models).items()}


def format_beta(beta: float) -> str:
    """Return a coefficient (log-odds) with two decimals, as in Tables 2 and 3.

    A small negative one stays "-0.00".
    """
    return f"{_finite(beta):.2f}"


def format_number(number: float, decimals: int) -> str:
    """Return a number with this number of decimals, or with one digit if all would be zero.

    An unknown number is "--", an infinite one "no limit"; from a million on, in powers of ten.
    """
    if pd.isna(number):
        return NONE
    if math.isinf(number):
        return "no limit"
    if abs(number) >= 1e6:
        return f"{number:.1e}"
    if 0 < abs(number) <= 0.5 * 10**-decimals:
        return f"{number:.0e}"
    return f"{number:,.{decimals}f}"


def format_range(low: float, high: float, decimals: int) -> str:
    """Return an interval such as "1.2 to no limit"; "--" if it is unknown."""
    if pd.isna(low):
        return NONE
    return f"{format_number(low, decimals)} to {format_number(high, decimals)}"


def format_estimate(
    estimate: float,
    low: float,
    high: float,
    decimals: int,
    least: float = -math.inf,
) -> str:
    """Return an estimate with its interval, such as "1.2 (0.9 to 1.5)"; "--" if it is unknown.

    A number below ``least`` is shown as "< least".
    """
    if not _is_known(estimate):
        return NONE
    texts = []
    for number in (estimate, low, high):
        text = f"< {least:g}" if number < least else format_number(number, decimals)
        texts.append(text)
    return "{} ({} to {})".format(*texts)


def format_points(difference: float, low: float, high: float) -> str:
    """Return a difference of accuracies in points, such as "+5.0 (-1.2 to +11.3)"."""
    if pd.isna(difference):
        return NONE
    return f"{100 * difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def format_ecl50(statements: float) -> str:
    """Return ECL50 (statements) with one decimal; from a million on, in powers of ten (Table 2)."""
    if not _is_known(statements):
        return NONE
    return f"{statements:.1f}" if abs(statements) < 1e6 else f"{statements:.1e}"


def format_point(number: float) -> str:
    """Return NT50 or ID50 with two decimals but no trailing zeros, such as "4.1" (Table 2)."""
    return str(round(float(number), 2)) if _is_known(number) else NONE


def format_p(p: float) -> str:
    """Return a p-value with three significant digits, such as "3.41e-05" and "0.89" (Table 3)."""
    return f"{_finite(p):.3g}"


def describe_p(p: float, digits: int = 1) -> str:
    """Return a p-value for a sentence, such as "p = 0.015" and "p < 0.001".

    Below 0.1 it has two significant digits. A larger one has ``digits``, by default one: the
    printed tables do not identify the p-value of a product of loads more precisely.
    """
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.2g}" if p < 0.1 else f"p = {p:.{digits}g}"


def format_thousandths(number: float) -> str:
    """Return a p-value or an AIC with three decimals (Table 6)."""
    return f"{_finite(number):.3f}"


def format_count(count: float) -> str:
    """Return a whole number of puzzles or percent (Tables 4, 5)."""
    return f"{count:.0f}"


def format_tokens(
    prompt_mean: float,
    prompt_p90: float,
    output_mean: float,
    output_p90: float,
) -> str:
    """Return a cell of Tables 7 to 10, such as "P400[424]—O4135[6756]".

    An unknown number is "?", a cell without any number "--".
    """
    lengths = (prompt_mean, prompt_p90, output_mean, output_p90)
    texts = [format_count(length) if _is_known(length) else "?" for length in lengths]
    if set(texts) == {"?"}:
        return NONE
    return "P{}[{}]—O{}[{}]".format(*texts)


def format_known(number: float | None, form: str) -> str:
    """Return a number in a format such as ".1f"; "--" where there is none."""
    return f"{number:{form}}" if _is_known(number) else NONE


def format_frame(
    frame: pd.DataFrame,
    columns: Mapping[str | tuple[str, ...], tuple[str, Callable[..., str] | str | int]],
) -> pd.DataFrame:
    """Return columns of a frame as text, in the order of the mapping; unknown numbers are "--".

    The mapping assigns a heading and a form to a column, or to several whose values make one text.
    The form is a function of the values; the number of decimals of a number, or of the two ends of
    a range; or a format such as ".2g".

    >>> frame = pd.DataFrame({"model": ["QwQ-32B"], "low": [44.9], "high": [51.2]})
    >>> format_frame(frame, {"model": ("Model", str), ("low", "high"): ("95% interval", 1)})
         Model  95% interval
    0  QwQ-32B  44.9 to 51.2
    """
    texts = {}
    for names, (heading, form) in columns.items():
        several = [names] if isinstance(names, str) else names
        values = zip(*(frame[name] for name in several), strict=True)
        texts[heading] = [_format_cell(row, form) for row in values]
    return pd.DataFrame(texts, index=frame.index, dtype="str")


def _format_cell(values: tuple, form: Callable[..., str] | str | int) -> str:
    if callable(form):
        return form(*values)
    if isinstance(form, int):
        if len(values) == 1:
            return format_number(values[0], form)
        low, high = values
        return format_range(low, high, form)
    return NONE if pd.isna(values[0]) else format(values[0], form)


def stars(p: float) -> str:
    """Return the stars of a p-value: one below 0.05, two below 0.01, three below 0.001."""
    return "*" * sum(_finite(p) < level for level in STAR_LEVELS)


def _is_known(number: Any) -> bool:
    return not pd.isna(number) and math.isfinite(number)


def _finite(number: float) -> float:
    if not _is_known(number):
        remedy = "a fit without numbers must carry a status other than 'ok'"
        raise ValueError(f"a number of a fit is {number!r}; {remedy}")
    return number
