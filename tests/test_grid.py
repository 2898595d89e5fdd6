from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import MINI_GRID, PAPER_GRID, Cell, count_needles, grid_cells

SIZES = st.integers(1, 10**6)
RATIOS = st.integers(0, 100) | st.decimals(0, 100, places=2).map(float)


def test_paper_grid_is_140_cells_in_chain_order():
    """N is outermost, then the ratio, then d."""
    assert len(PAPER_GRID) == 140
    assert [(cell.N, cell.ratio_pct, cell.d) for cell in PAPER_GRID[4:6]] == [
        (20, 5, 10),
        (20, 10, 1),
    ]
    assert sorted(PAPER_GRID, key=lambda cell: (cell.N, cell.ratio_pct, cell.d)) == list(PAPER_GRID)
    assert set(MINI_GRID) < set(PAPER_GRID)
    assert len(MINI_GRID) == 18


@given(SIZES, RATIOS)
def test_paper_rounding_takes_decimal_halves_up(N, ratio_pct):
    """The paper's rule is decimal rounding of halves up, for ratios with decimals too."""
    share = (N * Decimal(str(ratio_pct)) / 100).quantize(Decimal(1), ROUND_HALF_UP)
    assert count_needles(N, ratio_pct) == max(1, min(N, int(share)))


@given(SIZES, RATIOS)
def test_port_rounding_is_the_released_expression(N, ratio_pct):
    """The port's rule is Python's own expression, product first."""
    assert count_needles(N, ratio_pct, "half-even") == max(1, min(N, round(N * ratio_pct / 100)))


@pytest.mark.parametrize(
    "arguments",
    [
        *((N, 5, 1) for N in (0, -1, 1_000_001, 2.5, "20", True)),
        *((20, 5, d) for d in (0, 13, 1.0)),
        *((20, ratio_pct, 1) for ratio_pct in (-1, 101, float("nan"), "5", None)),
        (20, 5, 1, "half"),
    ],
)
def test_impossible_cell_is_refused(arguments):
    """A cell cannot exist with a size, ratio, difficulty or rounding out of range."""
    with pytest.raises(ValueError, match=r"give a|choose one of"):
        Cell(*arguments)


@pytest.mark.parametrize(
    "grid", ["N=20,50 ratio=5,2.5 d=3", "N=20:50,ratio=5:2.5,d=3", "d=3; ratio=5;2.5; N = 20 50"]
)
def test_written_grids_in_every_form(grid):
    """Spaces, commas, colons and semicolons all separate; values keep their order; a rounding reaches every cell."""
    assert grid_cells(grid) == (Cell(20, 5, 3), Cell(20, 2.5, 3), Cell(50, 5, 3), Cell(50, 2.5, 3))
    assert (grid_cells("paper"), grid_cells("mini")) == (PAPER_GRID, MINI_GRID)
    assert {cell.rounding for cell in grid_cells("paper", "half-even")} == {"half-even"}


@pytest.mark.parametrize(
    "grid",
    [
        *("", "papers", "N=20 d=1", "20 N=5 ratio=5 d=1"),
        *(f"N=20 ratio=5 {more}" for more in ("d=1 d=2", "d=", "d=1 M=2")),
        *(f"N={N} ratio=5 d=1" for N in ("2x", "-2", "2.5", "20,20", "²", "9" * 5000)),
        "N=20 ratio=5,5.0 d=1",
    ],
)
def test_unreadable_grid_is_refused_in_one_sentence(grid):
    """A grid that cannot be read stops with its text and a remedy."""
    with pytest.raises(ValueError, match=r"^grid '.*; write"):
        grid_cells(grid)
