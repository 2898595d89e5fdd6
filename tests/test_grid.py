"""The grid of configurations and the rounding of needles."""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import PAPER_GRID, Cell, count_needles, grid_cells

SIZES = st.integers(1, 10**6)
RATIOS = st.integers(0, 100) | st.decimals(0, 100, places=2).map(float)


def test_paper_grid_is_140_cells_in_chain_order():
    """N is outermost, then the ratio, then d."""
    assert len(PAPER_GRID) == 140
    points = [(cell.N, cell.ratio_pct, cell.d) for cell in PAPER_GRID]
    assert points[4:6] == [(20, 5, 10), (20, 10, 1)]
    assert points == sorted(points)


@given(SIZES, RATIOS)
def test_paper_rounding_takes_decimal_halves_up(N, ratio_pct):
    """The paper's rule is decimal rounding of halves up, for ratios with decimals too."""
    share = (N * Decimal(str(ratio_pct)) / 100).quantize(Decimal(1), ROUND_HALF_UP)
    assert count_needles(N, ratio_pct) == max(1, min(N, int(share)))


@given(SIZES, RATIOS)
def test_port_rounding_is_the_released_expression(N, ratio_pct):
    """The port's rule is Python's own expression, product first."""
    expression = max(1, min(N, round(N * ratio_pct / 100)))
    assert count_needles(N, ratio_pct, "half-even") == expression


@pytest.mark.parametrize(
    "arguments",
    [
        (0, 5, 1),
        (-1, 5, 1),
        (1_000_001, 5, 1),
        (2.5, 5, 1),
        ("20", 5, 1),
        (True, 5, 1),
        (20, 5, 0),
        (20, 5, 13),
        (20, 5, 1.0),
        (20, -1, 1),
        (20, 101, 1),
        (20, float("nan"), 1),
        (20, "5", 1),
        (20, None, 1),
        (20, 5, 1, "half"),
    ],
)
def test_no_cell_has_a_value_out_of_range(arguments):
    """A size, ratio, difficulty or rounding that cannot be is refused with the values that can."""
    with pytest.raises(ValueError, match=r"give a|choose one of"):
        Cell(*arguments)


@pytest.mark.parametrize(
    "grid",
    [
        "N=20,50 ratio=5,2.5 d=3",
        "N=20:50,ratio=5:2.5,d=3",
        "d=3; ratio=5;2.5; N = 20 50",
    ],
)
def test_a_written_grid_is_the_product_of_its_axes(grid):
    """Spaces, commas, colons and semicolons separate values, which keep their order."""
    expected = (
        Cell(20, 5, 3),
        Cell(20, 2.5, 3),
        Cell(50, 5, 3),
        Cell(50, 2.5, 3),
    )
    assert grid_cells(grid) == expected


@pytest.mark.parametrize(
    "grid",
    [
        "",
        "papers",
        "N=20 d=1",
        "20 N=5 ratio=5 d=1",
        "N=20 ratio=5 d=1 d=2",
        "N=20 ratio=5 d=",
        "N=20 ratio=5 d=1 M=2",
        "N=2x ratio=5 d=1",
        "N=-2 ratio=5 d=1",
        "N=20,20 ratio=5 d=1",
        "N=² ratio=5 d=1",
        f"N={'9' * 5000} ratio=5 d=1",
        "N=20 ratio=5,5.0 d=1",
    ],
)
def test_a_grid_that_cannot_be_read_is_refused_with_an_example(grid):
    """The sentence has the text of the grid and how to write one."""
    with pytest.raises(ValueError, match=r"^grid '.*; write"):
        grid_cells(grid)
