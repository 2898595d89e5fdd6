"""Data for the scripts of pages: puzzles to step through, and counts of all models."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cogniload_repro.endings import CONTEXT_TOKENS
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.regression.cell_tables import describe_cells, load_cells
from cogniload_repro.regression.reconstructions import (
    committed_counts,
    from_printed_tables,
)
from cogniload_repro.scoring.response import score_response
from cogniload_repro.scoring.verdict import find_mention


def write_script(name: str, value: Any) -> str:
    """Return a script that stores a value in ``cogniload.data.NAME``.

    A page opened from disk may load scripts from its folder, but no other data.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return f"(globalThis.cogniload ??= {{}}).data ??= {{}};\ncogniload.data.{name} = {text};\n"


def cells_to_show(build: str | Path) -> pd.DataFrame:
    """Return the scored cells of a build, and the committed cells of the paper's other models.

    The committed cells cover the whole grid, so that what they show does not depend on the build.
    """
    cells = load_cells(build)
    scored = cells[~from_printed_tables(cells)]
    committed = load_cells()
    others = committed[~committed["model"].isin(scored["model"])]
    return pd.concat([others, scored], ignore_index=True) if len(scored) else others


def describe_origin(cells: pd.DataFrame) -> str:
    """Return sentences on where counts come from and what they cover; "" for scored answers."""
    origin = describe_cells(cells)
    return f"{origin}." if origin else ""


def has_tokens(cells: pd.DataFrame) -> pd.Series:
    """Return for each row whether the token counts that the context limit needs are known."""
    return cells.reindex(columns=["prompt_mean", "output_mean"]).notna().all(axis=1)


_PER_CELL = 2
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def explorer_data(build: str | Path) -> dict[str, Any]:
    """Return what the explorer needs: phrases, some puzzles of each cell, and counts of all models.

    ``phrases`` has the initial, condition, update and question phrase of each category, with {} for
    the value or person. ``puzzles`` are those of `describe_puzzle`, with example answers and their
    verdicts. ``models``, ``counts`` and their ``origin`` are those of `configuration_counts`.
    """
    build = Path(build)
    puzzles = []
    for row in _choose_puzzles(build / "puzzles.parquet").to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # a reader's own puzzle that the parser cannot read
            continue
        question = {name: row[name] for name in ("poi", "gold", "category")}
        question["domain"] = list(row["domain"])
        answers = [
            judge_answer(text, question, **details)
            for text, details in prepare_answers(puzzle, question)
        ]
        entry = {name: row[name] for name in ("name", "ratio_pct", "gold")}
        puzzles.append(describe_puzzle(puzzle) | entry | {"answers": answers})
    phrases = {name: list(forms) for name, forms in PHRASES.items()}
    return {"phrases": phrases, "puzzles": puzzles} | configuration_counts(
        cells_to_show(build)
    )


def _choose_puzzles(path: Path) -> pd.DataFrame:
    """Return the first puzzles of each cell."""
    table = pd.read_parquet(path, columns=["name", *CELL])
    names = table.groupby(CELL).head(_PER_CELL)["name"].tolist()
    puzzles = pd.read_parquet(path, filters=[("name", "in", names)])
    return puzzles.sort_values(CELL, kind="stable")


def configuration_counts(cells: pd.DataFrame) -> dict[str, Any]:
    """Return the answers of all models in each configuration.

    ``models`` are display names. ``counts`` has, by "N,d,ratio", one row per model: its index, the
    number of answers, the fewest and most correct ones over the reconstructions (equal for scored
    answers), and the number that ran out of context, None if unknown.
    """
    cells = cells[cells["total"] > 0]
    names = display_names(cells["model"])
    models = order_models(cells["model"])
    is_reconstructed = from_printed_tables(cells).to_numpy()
    correct = np.where(
        is_reconstructed, committed_counts(cells), cells["correct"]
    ).astype(int)
    is_tested = ~is_reconstructed & has_tokens(cells).to_numpy()
    counts: dict[str, list] = {}
    ends = zip(correct.min(axis=0).tolist(), correct.max(axis=0).tolist(), strict=True)
    for row, (least, most), tested in zip(
        cells.itertuples(), ends, is_tested, strict=True
    ):
        overflows = int(row.ctx) if tested else None
        place = f"{row.N:g},{row.d:g},{row.ratio_pct:g}"
        count = [models.index(row.model), int(row.total), least, most, overflows]
        counts.setdefault(place, []).append(count)
    return {
        "origin": describe_origin(cells),
        "models": [names[model] for model in models],
        "counts": {place: sorted(rows) for place, rows in counts.items()},
    }


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in which indices into lists replace people, categories and values.

    Each statement in ``moves`` is a text such as "03a1|02": conditions and updates, each a base-36
    digit for the category and one for the value.
    """
    moves = [
        f"{_write_places(conditions, before)}|{_write_places(updates, after)}"
        for _, before, conditions, after, updates in puzzle.moves
    ]
    return {
        "N": puzzle.N,
        "d": puzzle.d,
        "people": puzzle.people,
        "poi": puzzle.people.index(puzzle.poi),
        "category": puzzle.category,
        "domains": puzzle.domains,
        "start": [list(values) for values in puzzle.start],
        "moves": moves,
    }


def _write_places(categories: list[int], values: Any) -> str:
    return "".join(
        _DIGITS[category] + _DIGITS[values[category]] for category in categories
    )


def prepare_answers(
    puzzle: Puzzle, question: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield made-up answers to a puzzle, each with its title and, for one, token counts."""
    gold = question["gold"]
    wrong = next(value for value in question["domain"] if value != gold)
    sentence = f"{question['poi']} {PHRASES[question['category']].initial}."
    right = sentence.replace("{}", gold)
    other = sentence.replace("{}", wrong)
    statements = puzzle.text.split("\n\n")[1].split("\n")
    unsure = "I am not sure about this."
    last_steps = "\n".join(statements[-3:-1])
    answers = {
        "correct": right,
        "wrong": other,
        "unsure after correct reasoning": f"After the last statement {right}\n\n{unsure}",
        "correct on the way, wrong at the end": f"First {right}\nIn the end {other}",
        "bold": sentence.replace("{}", f"**{gold}**"),
        "with a remark in brackets": f"Answer: {gold}\n(This is so after statement {puzzle.N}.)",
        "in back quotes": f"The answer is `{gold}`",
        "cut off": f"{last_steps}\nThe people who",
    }
    for title, text in answers.items():
        yield text, {"title": title}
    title = f"right, but all {CONTEXT_TOKENS:,} tokens are used up"
    yield right, {"title": title, "prompt_tokens": 0, "response_tokens": CONTEXT_TOKENS}


def judge_answer(
    text: str, question: dict[str, Any], title: str = "", **tokens: Any
) -> dict[str, Any]:
    """Return an answer with the scorer's verdict on it.

    Has the bucket, the value that decided (``answer``), the index of the window that decided (-1
    for none), and the windows: of each, its start and end in the lower-case text (or the window
    itself if the text does not contain it) and the values found in it.
    """
    verdict = score_response(text, **question, **tokens)
    windows = list(verdict.windows)
    has_decided = bool(verdict.window) and verdict.window in windows
    return {
        "title": title,
        "text": text,
        "bucket": str(verdict),
        "answer": verdict.answer,
        "window": windows.index(verdict.window) if has_decided else -1,
        "windows": [
            _describe_window(window, text, question["domain"]) for window in windows
        ],
    }


def _describe_window(
    window: str, text: str, domain: list[str]
) -> tuple[Any, list[str]]:
    start = text.lower().rfind(window)
    place = [start, start + len(window)] if start >= 0 else window
    return place, [value for value in domain if find_mention(value.lower(), window)]
