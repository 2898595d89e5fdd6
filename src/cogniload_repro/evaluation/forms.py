"""Forms of the benchmark: which puzzles a model is asked, with which query, and how many tokens an answer may have.

The short form asks one puzzle per cell of the paper, and as many again in the eight cells that determine ECL50 and ID50
best, on average over the paper's 22 models (made by ``benchmarks/evaluation_designs.py``).
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import floor
from pathlib import Path

import pandas as pd

from cogniload_repro.companions.protocol import count_per_query, write_query
from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.grid import PAPER_GRID, Cell, check_count, grid_cells
from cogniload_repro.prompts.counts import COMMITTED, KEYS, count_tokens
from cogniload_repro.prompts.tokenizers import find_tokenizers, load_tokenizer, present_tokenizers
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PUZZLES_PER_CELL, SEED, find_manifest, read_manifest, spawn_ids
from cogniload_repro.storage import DATA

#: Forms with fixed puzzles; the adaptive form chooses its puzzles from the answers so far.
FIXED_FORMS = ("paper", "mini", "short")
FORMS = (*FIXED_FORMS, "adaptive")
ROUNDING = PAPER_GRID[0].rounding
SHORT_FORM = DATA / "evaluation" / "short_form.csv"

# Words with a symbol right before them, digits, runs of a symbol, line ends: about one token each for a tokenizer
_PIECES = re.compile(r"[^\w\s]?[^\W\d]+|\d|([^\w\s])\1*|\n+")


def read_short(path: Path = SHORT_FORM) -> dict[Cell, int]:
    """Return the committed short form: puzzles per cell."""
    return {Cell(int(N), ratio_pct, int(d)): int(count) for N, ratio_pct, d, count in pd.read_csv(path).to_numpy()}


def plan_form(form: str, per_cell: int = 10, rounding: str = ROUNDING, grid: str | None = None) -> dict[Cell, int]:
    """Return how many puzzles of each cell a fixed form asks, in grid order; a `grid` replaces its cells."""
    if grid is None and form == "short":
        return {Cell(cell.N, cell.ratio_pct, cell.d, rounding): count for cell, count in read_short().items()}
    if grid is None and form not in FIXED_FORMS:
        raise ValueError(f"form is {form!r}; choose one of: {', '.join(FORMS)}")
    return dict.fromkeys(grid_cells(grid or form, rounding), check_count("per_cell", per_cell, 1))


def draw_puzzles(cell: Cell, start: int, stop: int, seed: int = SEED, edition: Edition = PORT) -> Iterator[dict]:
    """Draw the puzzles from one position of a cell to another as rows; a position is always the same puzzle.

    Seed 42 gives the default set in the paper's cells, its first 100 puzzles; other seeds, cells and positions have ids
    of the scheme ``spawn``, which Elixir's editions lack (ValueError).
    """
    for number in _ids(cell, seed, edition, stop)[start:stop]:
        yield puzzle_row(draw_puzzle(cell.N, cell.d, cell.needles, number, edition=edition), cell.ratio_pct)


def _ids(cell: Cell, seed: int, edition: Edition, count: int) -> list[int]:
    known = _default_ids(edition).get(cell, []) if seed == SEED else []
    if count <= len(known):
        return known
    if edition != PORT:
        raise ValueError(
            f"edition {edition} has the puzzles of its default set only: seed {SEED}, the paper's cells with its "
            f"rounding, {PUZZLES_PER_CELL} per cell; for others take edition {PORT}"
        )
    return [*known, *spawn_ids((cell,), count, seed)][:count]


@cache
def _default_ids(edition: Edition) -> Mapping[Cell, list[int]]:
    manifest = find_manifest(edition)
    return read_manifest(manifest) if manifest.exists() else {}


def draw_queries(
    cell: Cell,
    start: int,
    stop: int,
    seed: int = SEED,
    edition: Edition = PORT,
    perturbation: str | None = None,
    overload: int = 1,
) -> Iterator[tuple[dict, str]]:
    """Draw puzzles of a cell, as `draw_puzzles`, with the query about each (`protocol.write_query`).

    Other puzzles that a query needs come from the same cell; further ones are drawn where a form has too few.
    """
    needed = count_per_query(perturbation, overload)
    first, last = (start, stop) if needed == 1 else (0, max(stop, needed))
    rows = list(draw_puzzles(cell, first, last, seed, edition))
    texts = [row["text"] for row in rows]
    for position in range(start - first, stop - first):
        yield rows[position], write_query(texts, position, perturbation, overload)


def answer_budget(prompt_tokens: int) -> int:
    """Return how many tokens the paper's context leaves for an answer (Appendix D.3)."""
    left = CONTEXT_TOKENS - RESERVED_TOKENS - prompt_tokens
    if left < 1:
        raise ValueError(
            f"a prompt of about {prompt_tokens:,} tokens fills the paper's context of {CONTEXT_TOKENS:,}; "
            "take fewer statements or a lower d"
        )
    return left


def count_prompt(text: str, model: str, folder: str | Path) -> tuple[int, str]:
    """Return the tokens of a prompt and how they were counted: the name of a tokenizer, or "estimate".

    The last part of Inspect's model name, such as ``vllm/Qwen/Qwen3-32B``, tells the tokenizer, if it was fetched.
    """
    if found := _find_tokenizer(model.rpartition("/")[2].lower(), str(folder)):
        name, tokenizer = found
        return int(count_tokens([text], tokenizer)[0]), name
    return estimate_tokens(text), "estimate"


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a prompt has for any of the paper's tokenizers, rather too few than too many.

    Too many, and an answer would be cut off where the paper's was not, which nothing would show.
    """
    return floor(_least_tokens() * _count_pieces(text))


@cache
def _least_tokens() -> float:
    """Return the fewest tokens per piece that a tokenizer has counted in the first puzzle of any of the cells."""
    counts = pd.read_parquet(COMMITTED).set_index("name")
    least = counts.drop(columns=[name for name in KEYS if name != "name"]).min(axis=1)
    first = [row for cell in PAPER_GRID for row in draw_puzzles(cell, 0, 1)]
    return min(float(least[row["name"]]) / _count_pieces(row["text"]) for row in first)


def _count_pieces(text: str) -> int:
    return sum(1 for _ in _PIECES.finditer(text))


@cache
def _find_tokenizer(model: str, folder: str) -> tuple[str, object] | None:
    for file in find_tokenizers(present_tokenizers(folder)):
        if model in map(str.lower, file.models):
            return file.name, load_tokenizer(file.name, folder)
    return None
