"""A line of text drawn as a grid: rail fence, rectangle perimeter, horizontal and vertical snake.

The four spatial encodings of the Robust Reasoning Benchmark (arXiv:2604.08571), Section 3.4, Appendix A.1 and
Figure 2. The document gives no sizes; those here are the ones that its Figure 2 shows. A grid grows along one side
only, so that its size stays proportional to the text.

The document fills what is left of a grid with dots. A statement that ends in a dot, as the one of Figure 2 does,
cannot then be told from the same statement with another dot. So a snake or a perimeter here always ends in at least
one filler, and the filler is a dot unless the text ends in one, where it is a space: the text ends where the last run
of equal symbols begins.

A symbol is a Unicode code point. A grid's rows are lines, so a line break in the text is written as one symbol of its
own. The document has none at this point, since it prepares texts (`perturbations.prepare`); a puzzle can so be
perturbed as it is.
"""

START, END = "GRID START", "GRID END"
#: What a line break of the text becomes.
LINE_BREAK = "⏎"
RAILS = 3
PERIMETER_COLUMNS = 37
SNAKE_COLUMNS = 33
SNAKE_ROWS = 5

_DOT, _SPACE = ".", " "


def rail_fence(text: str) -> str:
    """Place symbols in a zigzag over three rows, one column a symbol, and dots everywhere else."""
    text = flatten(text)
    period = 2 * (RAILS - 1)
    rows = []
    for rail in range(RAILS):
        row = [_DOT] * len(text)
        for start in {rail, period - rail}:
            row[start::period] = text[start::period]
        rows.append("".join(row))
    return _frame(rows)


def restore_rail_fence(grid: str) -> str:
    """Read a rail fence of any number of rails from two up, along its zigzag."""
    rows = _rows(grid)
    if len(rows) < 2:
        raise ValueError("a rail fence has at least two rows, this grid has one; give the whole grid")
    period = 2 * (len(rows) - 1)
    text = [""] * len(rows[0])
    for rail, row in enumerate(rows):
        for start in {rail, period - rail}:
            text[start::period] = row[start::period]
    return unflatten("".join(text))


def rectangle_perimeter(text: str) -> str:
    """Write the text clockwise along the edges of a rectangle, from the top left, around dots."""
    text = flatten(text)
    width = PERIMETER_COLUMNS
    height = max(2, -((2 * width - 4 - len(text) - 1) // 2))  # 2 (width + height) - 4 cells hold text and a filler
    path = _fill(text, 2 * (width + height) - 4)
    side = height - 2
    right, bottom, left = width, width + side, 2 * width + side
    inside = _DOT * (width - 2)
    middle = [f"{west}{inside}{east}" for west, east in zip(path[left:][::-1], path[right:bottom], strict=True)]
    return _frame([path[:width], *middle, path[bottom:left][::-1]])


def restore_rectangle_perimeter(grid: str) -> str:
    """Read the edges of a rectangle of any size clockwise, up to the fillers."""
    lines, width = _lines(grid)
    height = len(lines) // (width + 1)
    if height < 2 or width < 2:
        raise ValueError("a rectangle has at least two rows and two columns; give the whole grid")
    # a megabyte of text stands around twenty of dots, so columns are cut out of the whole instead of row after row
    middle = lines[width + 1 : -(width + 1)]
    west, east = middle[:: width + 1], middle[width - 1 :: width + 1]
    if middle.count(_DOT) - west.count(_DOT) - east.count(_DOT) != (width - 2) * (height - 2):
        raise ValueError("a rectangle holds only dots inside; this grid has other symbols there")
    bottom = lines[-(width + 1) : -1]
    return _unfill(lines[:width] + east + bottom[::-1] + west[::-1])


def snake_horizontal(text: str) -> str:
    """Write the text in rows of 33 symbols: the first to the right, the second to the left, and so on."""
    text = flatten(text)
    width = SNAKE_COLUMNS
    path = _fill(text, width * (len(text) // width + 1))
    lines = [path[start : start + width] for start in range(0, len(path), width)]
    return _frame([line[::-1] if number % 2 else line for number, line in enumerate(lines)])


def restore_snake_horizontal(grid: str) -> str:
    """Read rows of any length, the first to the right, the second to the left, and so on, up to the fillers."""
    return _unfill("".join([row[::-1] if number % 2 else row for number, row in enumerate(_rows(grid))]))


def snake_vertical(text: str) -> str:
    """Write the text in columns of five symbols: the first downwards, the second upwards, and so on."""
    text = flatten(text)
    height = SNAKE_ROWS
    path = _fill(text, height * (len(text) // height + 1))
    rows = []
    for place in range(height):
        row = [""] * (len(path) // height)
        row[0::2] = path[place :: 2 * height]
        row[1::2] = path[2 * height - 1 - place :: 2 * height]
        rows.append("".join(row))
    return _frame(rows)


def restore_snake_vertical(grid: str) -> str:
    """Read columns of any height, the first downwards, the second upwards, and so on, up to the fillers."""
    rows = _rows(grid)
    height = len(rows)
    path = [""] * (height * len(rows[0]))
    for place, row in enumerate(rows):
        path[place :: 2 * height] = row[0::2]
        path[2 * height - 1 - place :: 2 * height] = row[1::2]
    return _unfill("".join(path))


def flatten(text: str) -> str:
    """Write a text on one line, its line breaks as symbols of their own.

    Raises
    ------
    ValueError
        If it holds that symbol already, or a character other than LF at which a reader would break a line.
    """
    if LINE_BREAK in text:
        raise ValueError(f"the text holds {LINE_BREAK!r}, which stands for a line break here; take it out")
    flat = text.replace("\n", LINE_BREAK)
    lines = flat.splitlines()
    if len(lines) > 1 or "".join(lines) != flat:
        raise ValueError(f"the text breaks a line other than by LF, after {lines[0][-40:]!r}; `prepare` it first")
    return flat


def unflatten(flat: str) -> str:
    """Put the line breaks back."""
    return flat.replace(LINE_BREAK, "\n")


def _fill(text: str, cells: int) -> str:
    """Return text and fillers, as many symbols as there are cells."""
    return text.ljust(cells, _SPACE if text.endswith(_DOT) else _DOT)


def _unfill(path: str) -> str:
    filler = path[-1:]
    if filler not in (_DOT, _SPACE):
        raise ValueError(f"the grid ends in {filler!r}, but a whole grid ends in a dot or a space; give the whole grid")
    return unflatten(path.rstrip(filler))


def _frame(rows: list[str]) -> str:
    return "\n".join([START, *rows, END])


def _lines(grid: str) -> tuple[str, int]:
    """Return what stands between the markers, rows that all end in a line break, and how long they are."""
    if not (grid.startswith(f"{START}\n") and grid.endswith(f"\n{END}")) or len(grid) <= len(START + END) + 2:
        raise ValueError(f"the text is no grid: it must begin with a line {START!r} and end with a line {END!r}")
    lines = grid[len(START) + 1 : -len(END)]
    width = lines.index("\n")
    if lines[width :: width + 1] != "\n" * lines.count("\n") or len(lines) % (width + 1):
        raise ValueError("the rows of a grid have equal lengths, those of this one differ; give it with its spaces")
    return lines, width


def _rows(grid: str) -> list[str]:
    """Return the rows between the markers."""
    return _lines(grid)[0][:-1].split("\n")
