"""Perturbations that write a text into a grid (arXiv:2604.08571, Section 3.4).

Sizes are those of the document's Figure 2. The document fills grids with dots, which hides how
many dots end a statement. Here a snake or a perimeter ends in at least one filler, a space if the
text ends in a dot. A line break of the text becomes a symbol of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle

from cogniload_repro.asking.interleavings import LINE_BREAK

_START = "GRID START"
_STOP = "GRID END"

#: Row and column of each symbol of a text.
Places = list[tuple[int, int]]


@dataclass(frozen=True)
class Grid:
    """A way to write a text into rows and columns.

    ``path`` returns the positions of the symbols, in order, for numbers of rows and columns;
    ``shape`` returns these numbers for the length of a text. If the grid ``is_filled``, the path
    is longer than the text.
    """

    path: Callable[[int, int], Places]
    shape: Callable[[int], tuple[int, int]]
    is_filled: bool = True

    def write(self, text: str) -> str:
        """Write a text along the path, then fillers; put dots in all other positions."""
        text = text.replace("\n", LINE_BREAK)
        rows, columns = self.shape(len(text))
        places = self.path(rows, columns)
        filler = " " if text.endswith(".") else "."
        symbols = text.ljust(len(places), filler)
        lines = [["."] * columns for _ in range(rows)]
        for (row, column), symbol in zip(places, symbols, strict=True):
            lines[row][column] = symbol
        return "\n".join([_START, *("".join(line) for line in lines), _STOP])

    def read(self, grid: str) -> str:
        """Read a grid along its path, up to the fillers; ValueError if it is not such a grid."""
        rows = grid.split("\n")[1:-1]
        columns = len(rows[0]) if rows else 0
        try:
            symbols = [
                rows[row][column] for row, column in self.path(len(rows), columns)
            ]
        except IndexError:
            symbols = []
        text = "".join(symbols)
        if self.is_filled:
            text = text.rstrip(text[-1:])
        text = text.replace(LINE_BREAK, "\n")
        if self.write(text) != grid:
            raise ValueError(
                "the text is not a grid of this kind; give the whole grid, with its first and "
                "last line, dots and spaces"
            )
        return text


def _zigzag(rows: int, columns: int) -> Places:
    down_and_up = cycle([*range(rows), *range(rows - 2, 0, -1)])
    return list(zip(down_and_up, range(columns), strict=False))


def _perimeter(rows: int, columns: int) -> Places:
    """Return the positions along the edges, clockwise from the top left."""
    top = [(0, column) for column in range(columns)]
    east = [(row, columns - 1) for row in range(1, rows - 1)]
    bottom = [(rows - 1, column) for column in reversed(range(columns))]
    west = [(row, 0) for row in reversed(range(1, rows - 1))]
    return top + east + bottom + west


def _snake(rows: int, columns: int) -> Places:
    """Return the positions row by row: the first forwards, the second backwards, and so on."""
    places: Places = []
    for row in range(rows):
        forwards = [(row, column) for column in range(columns)]
        places += reversed(forwards) if row % 2 else forwards
    return places


def _vertical_snake(rows: int, columns: int) -> Places:
    return [(row, column) for column, row in _snake(columns, rows)]


def _shape_rails(length: int) -> tuple[int, int]:
    return 3, length


def _shape_rectangle(length: int) -> tuple[int, int]:
    # the perimeter has 2 (rows + 37) - 4 positions, for the text and a filler
    return max(2, -((69 - length) // 2)), 37


def _shape_snake(length: int) -> tuple[int, int]:
    return length // 33 + 1, 33


def _shape_vertical_snake(length: int) -> tuple[int, int]:
    return 5, length // 5 + 1


RAIL_FENCE = Grid(_zigzag, _shape_rails, is_filled=False)
RECTANGLE = Grid(_perimeter, _shape_rectangle)
SNAKE = Grid(_snake, _shape_snake)
VERTICAL_SNAKE = Grid(_vertical_snake, _shape_vertical_snake)
