"""What the page Explorer shows: puzzles to step through, judged answers, counts of all models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cogniload_repro.book.page_data import cells_to_show, has_tokens, list_columns
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.regression.cell_tables import describe_cells
from cogniload_repro.regression.reconstructions import (
    committed_counts,
    from_printed_tables,
)
from cogniload_repro.scoring.outcome import find_mention
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS
from cogniload_repro.scoring.response import score_response


def explorer_data(build: str | Path) -> dict[str, Any]:
    """Return what the explorer needs: phrases, two puzzles of each cell, and counts of all models.

    ``phrases`` has the initial, condition, update and question phrase of each category, with {} for
    the value or person. ``puzzles`` are those of `describe_puzzle`, with example answers and their
    outcomes. ``counts`` are those of `count_rows`.
    """
    cells = cells_to_show(build)
    models = order_models(cells["model"])
    names = display_names(models)
    return {
        "phrases": {name: list(forms) for name, forms in PHRASES.items()},
        "puzzles": list(_read_puzzles(Path(build) / "puzzles.parquet")),
        "models": [names[model] for model in models],
        "origin": describe_cells(cells),
        "counts": list_columns(count_rows(cells), models),
    }


# ---- puzzles ----
def _read_puzzles(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the first two puzzles of each cell, without those that cannot be read."""
    table = pd.read_parquet(path, columns=["name", *CELL])
    names = table.groupby(CELL).head(2)["name"].tolist()
    puzzles = pd.read_parquet(path, filters=[("name", "in", names)])
    for row in puzzles.sort_values(CELL, kind="stable").to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # a reader's own puzzle that the parser cannot read
            continue
        question = {name: row[name] for name in ("poi", "gold", "category")}
        question["domain"] = list(row["domain"])
        answers = []
        for text, details in prepare_answers(puzzle, question):
            answers.append(judge_answer(text, question, **details))
        entry = {name: row[name] for name in ("name", "ratio_pct", "gold")}
        yield describe_puzzle(puzzle) | entry | {"answers": answers}


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in which indices into lists replace people, categories and values.

    Each statement in ``moves`` has its conditions and its updates, as pairs of category and value.
    """
    moves = [
        [_list_pairs(conditions, before), _list_pairs(updates, after)]
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


def _list_pairs(categories: list[int], values: Any) -> list[list[int]]:
    return [[category, int(values[category])] for category in categories]


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
    last_steps = "\n".join(statements[-3:-1])
    unsure = f"After the last statement {right}\n\nI am not sure about this."
    answers = {
        "correct": right,
        "wrong": other,
        "unsure after correct reasoning": unsure,
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
    """Return an answer with its outcome.

    Has the bucket, the value that decided (``answer``), the index of the window that decided (-1
    for none), and the windows, each with the values found in it.
    """
    outcome = score_response(text, **question, **tokens)
    windows = list(outcome.windows)
    has_decided = bool(outcome.window) and outcome.window in windows
    found = []
    for window in windows:
        values = [
            value for value in question["domain"] if find_mention(value.lower(), window)
        ]
        found.append([window, values])
    return {
        "title": title,
        "text": text,
        "bucket": str(outcome),
        "answer": outcome.answer,
        "window": windows.index(outcome.window) if has_decided else -1,
        "windows": found,
    }


# ---- counts ----
def count_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return counts by model and configuration: the loads, answers, least, most, overflows.

    Least and most are correct answers over the reconstructions, equal for scored answers. The
    number of answers that ran out of context is missing where it is not known.
    """
    cells = cells[cells["total"] > 0].reset_index(drop=True)
    is_reconstructed = from_printed_tables(cells)
    correct = np.where(is_reconstructed, committed_counts(cells), cells["correct"])
    overflows = cells["ctx"].where(~is_reconstructed & has_tokens(cells))
    counts = cells[["model", *CELL]].assign(answers=cells["total"])
    ends = {"least": correct.min(axis=0), "most": correct.max(axis=0)}
    return counts.assign(**ends, overflows=overflows.astype(float))
