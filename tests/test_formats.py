"""Numbers in printed form."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro import formats
from cogniload_repro.published import load_printed, load_table

PRINTED = [
    *(("table2", f"beta_{term}", formats.format_beta) for term in ("0", "d", "N", "rho", "rho2")),
    ("table2", "ecl50", formats.format_ecl50),
    ("table2", "nt50", formats.format_point),
    ("table2", "id50", formats.format_point),
    *(("table3", f"beta_{term}", formats.format_beta) for term in ("dN", "drho", "Nrho", "dNrho")),
    *(("table3", f"p_{term}", formats.format_p) for term in ("dN", "drho", "Nrho", "dNrho")),
    *(("table4", column, formats.format_count) for column in ("samples", "acc_pct", "ctx")),
    *(("table6", column, formats.format_thousandths) for column in ("p_lr", "aic_linear", "aic_quadratic")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "column", "form"), PRINTED, ids=lambda part: getattr(part, "__name__", part)
)
def test_printed_numbers_are_fixed_points(table, column, form):
    """Every string that the paper prints in this column comes back from its number."""
    printed = load_printed(table)[column].replace("", formats.NONE)
    assert [form(number) for number in load_table(table)[column]] == printed.tolist()


def test_token_cells_are_fixed_points():
    """Every cell of Tables 7 to 10 in good order comes back as printed."""
    tokens = load_table("tokens")
    clean = tokens[~tokens["flag"].str.contains("repaired|doubtful|missing")]
    columns = ["prompt_mean", "prompt_p90", "output_mean", "output_p90"]
    assert [formats.format_tokens(*row) for row in clean[columns].to_numpy()] == clean[
        "raw"
    ].tolist()
    assert len(clean) > 400


def test_special_numbers():
    """A p-value equal to a level earns no star; negative zero keeps its sign; what is unknown prints as dashes or ?."""
    assert [formats.stars(p) for p in (0.05, 0.0499, 0.01, 0.001, 0.00099)] == [
        "",
        "*",
        "*",
        "**",
        "***",
    ]
    assert formats.format_beta(-0.001) == "-0.00"
    assert formats.format_point(1.0) == "1.0"
    assert formats.format_ecl50(2.5e17) == "2.5e+17"
    assert {
        formats.format_ecl50(math.inf),
        formats.format_point(math.nan),
        formats.format_point(None),
    } == {"--"}
    assert formats.format_tokens(20.0, 25.0, None, 31.0) == "P20[25]—O?[31]"
    assert formats.format_tokens(None, None, math.nan, None) == "--"


@pytest.mark.parametrize("form", [formats.format_beta, formats.format_thousandths, formats.stars])
def test_wrong_numbers_are_refused(form):
    """A failed fit shows its status instead."""
    with pytest.raises(ValueError, match="status"):
        form(math.nan)


@given(st.floats(-1e5, 1e5), st.floats(1e-300, 1))
def test_printing_twice_changes_nothing(number, p):
    """A printed number, read back, prints the same, and lies within half a unit of its last digit."""
    for form, unit in (
        (formats.format_beta, 0.01),
        (formats.format_point, 0.01),
        (formats.format_thousandths, 0.001),
    ):
        shown = form(number)
        assert form(float(shown)) == shown
        assert abs(float(shown) - number) <= unit / 2 + 1e-9
    shown = formats.format_p(p)
    assert formats.format_p(float(shown)) == shown
    assert float(shown) == pytest.approx(p, rel=0.005)


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 3))
def test_numbers_keep_a_digit(number, decimals):
    """A number that is not zero is not printed as zero; the unknown and the infinite are words."""
    text = formats.format_number(number, decimals)
    if math.isfinite(number) and number != 0:
        assert float(text.replace(",", "")) != 0
    else:
        assert text in (formats.NONE, "no limit", *(f"{zero:.{decimals}f}" for zero in (0.0, -0.0)))
