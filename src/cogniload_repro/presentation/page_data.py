"""Data for scripts of the book: counts to fit, puzzles to step through; JSON fit for any page."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow.compute import field
from scipy.stats import norm

from cogniload_repro.endings import CONTEXT_TOKENS
from cogniload_repro.formats import display_names
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, order_models
from cogniload_repro.presentation.style import pens
from cogniload_repro.published import ALPHA, STAR_LEVELS
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.robustness.specifications import FIXED_SUMS
from cogniload_repro.scoring.verdict import score_response
from cogniload_repro.scoring.windows import find_mention
from cogniload_repro.statistics.cell_tables import describe_cells, load_cells
from cogniload_repro.statistics.reconstructions import committed_counts, reconstructed_models
from cogniload_repro.statistics.regression import QUADRATIC
from cogniload_repro.storage import open_parquet

#: What could end a script element, open a comment in one, or break a line of an old script.
_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&`\u2028\u2029"}


def write_json(value: Any) -> str:
    """Return a value as JSON on one line that cannot end the element it stands in; numbers that are none are null."""
    return json.dumps(
        _finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).translate(_ESCAPED)


def write_script(name: str, value: Any) -> str:
    """Return a script that leaves a value in ``cogniload.data.NAME``.

    A page that is opened from a disk may load scripts that lie beside it, and nothing else.
    """
    return f"(globalThis.cogniload ??= {{}}).data ??= {{}};\ncogniload.data.{name} = {write_json(value)};\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


_GRID = ["N", "d", "ratio_pct", "rho"]


def workbench_data(build: str | Path | None = None) -> dict[str, Any]:
    """Return a build's counts, and the committed ones of models of the paper that it does not have, ready for JSON.

    Counts of a model are lists over the configurations in grid: n answers, k correct, where known ctx, and of a
    reconstructed model tables, the correct answers in each reconstruction.
    """
    own, committed = load_cells(build), load_cells()
    others, origins = committed[~committed["model"].isin(own["model"])], [describe_cells(own)]
    if len(others):
        origins.append(f"Models that the build does not have: {describe_cells(committed)}")
    cells = pd.concat([own, others], ignore_index=True) if len(others) else own
    grid = cells[_GRID].drop_duplicates().sort_values(_GRID).reset_index(drop=True)
    places = pd.MultiIndex.from_frame(grid)
    tables = _count_tables(own, places) | _count_tables(others, places)
    models = []
    names = display_names(cells["model"])
    for name, pen in pens(order_models(cells["model"])).items():
        rows = cells[cells["model"] == name]
        counts = rows.set_index(_GRID).reindex(places)
        known = "ctx" in counts and counts.loc[counts["total"] > 0, "ctx"].notna().all()
        models.append({
            "name": names[name], "family": pen.family, "color": pen.color, "paper": name in BY_NAME,
            "whole": (rows["total"] > 0).sum() == len(PAPER_GRID),
            "n": _whole(counts["total"]), "k": _whole(counts["correct"]),
            "ctx": _whole(counts["ctx"]) if known else None,
            "tables": tables.get(name),
        })  # fmt: skip
    return {
        "origin": " ".join(f"{part}." for part in origins if part),
        "z": norm.ppf(1 - ALPHA / 2),
        "stars": list(STAR_LEVELS),
        "formulas": {"paper": QUADRATIC, "fixed": f"correct ~ {FIXED_SUMS}"},
        "grid": {name: grid[name].tolist() for name in _GRID},
        "models": models,
    }


def _count_tables(cells: pd.DataFrame, places: pd.MultiIndex) -> dict[str, list[list[int]]]:
    """Return the correct answers of every reconstruction at each place, for each reconstructed model."""
    theirs, found = cells[cells["model"].isin(reconstructed_models(cells))], {}
    counts, at = (
        committed_counts(theirs),
        places.get_indexer(pd.MultiIndex.from_frame(theirs[_GRID])),
    )
    for model, rows in theirs.reset_index().groupby("model", observed=True).indices.items():
        tables = np.zeros((len(counts), len(places)), int)
        tables[:, at[rows]] = np.nan_to_num(counts[:, rows])
        found[str(model)] = tables.tolist()
    return found


def _whole(counts: pd.Series) -> list[int]:
    return counts.fillna(0).astype(int).tolist()


_PER_CELL = 2
_CELL = ["N", "ratio_pct", "d"]
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def explorer_data(build: str | Path) -> dict[str, Any]:
    """Return what the explorer needs: the phrases of each category, and some puzzles of each cell (`describe_puzzle`).

    Phrases are initial, condition, update and question, with {} for the value or person. Puzzles have prepared answers.
    """
    build = Path(build)
    table = pd.read_parquet(build / "puzzles.parquet", columns=["name", *_CELL])
    names = table.groupby(_CELL).head(_PER_CELL)["name"].tolist()
    with open_parquet(
        build / "puzzles.parquet"
    ) as file:  # in parts: all texts together fill the memory
        parts = (
            pa.Table.from_batches([batch]).filter(field("name").isin(names))
            for batch in file.iter_batches(500)
        )
        chosen = pa.concat_tables(parts).to_pandas()
    puzzles = []
    for row in chosen.sort_values(_CELL, kind="stable").to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # a puzzle of the reader that the parser does not understand
            continue
        asked = {
            "poi": row["poi"],
            "gold": row["gold"],
            "domain": list(row["domain"]),
            "category": row["category"],
        }
        entry = describe_puzzle(puzzle) | {
            "name": row["name"],
            "ratio_pct": row["ratio_pct"],
            "gold": row["gold"],
        }
        entry["answers"] = [
            judge_answer(text, asked, **more) for text, more in prepare_answers(puzzle, asked)
        ]
        puzzles.append(entry)
    return {
        "phrases": {name: list(phrases) for name, phrases in PHRASES.items()},
        "puzzles": puzzles,
    }


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in numbers: places in lists for people, categories and values.

    A statement in moves is a text such as "03a1|02": conditions and updates, each a letter for the category and one for
    the value.
    """

    def write(places: list[int], values: Any) -> str:
        return "".join(_DIGITS[place] + _DIGITS[values[place]] for place in places)

    return {
        "N": puzzle.N, "d": puzzle.d, "needles": puzzle.needles, "people": puzzle.people,
        "poi": puzzle.people.index(puzzle.poi), "category": puzzle.category, "domains": puzzle.domains,
        "start": [list(row) for row in puzzle.start],
        "lines": [[person, list(order)] for person, order in puzzle.lines],
        "moves": [f"{write(given, before)}|{write(new, after)}" for _, before, given, after, new in puzzle.moves],
    }  # fmt: skip


def prepare_answers(puzzle: Puzzle, asked: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield made-up answers to a puzzle with what else there is to say of each: its title, and token counts."""
    poi, gold = asked["poi"], asked["gold"]
    wrong = next(value for value in asked["domain"] if value != gold)
    sentence = f"{poi} {PHRASES[asked['category']].initial}."
    right, other = (sentence.replace("{}", value) for value in (gold, wrong))
    steps = "\n".join(puzzle.text.split("\n\n")[1].split("\n")[-3:-1])
    answers = {
        "correct": right,
        "wrong": other,
        "unsure after correct reasoning": f"After the last statement {right}\n\nI am not sure about this.",
        "correct on the way, wrong at the end": f"First {right}\nIn the end {other}",
        "bold": sentence.replace("{}", f"**{gold}**"),
        "with a remark in brackets": f"Answer: {gold}\n(This is so after statement {puzzle.N}.)",
        "in back quotes": f"The answer is `{gold}`",
        "cut off": f"{steps}\nThe people who",
    }
    yield from ((text, {"title": title}) for title, text in answers.items())
    title = f"right, but all {CONTEXT_TOKENS:,} tokens are used up"
    yield right, {"title": title, "prompt_tokens": 0, "response_tokens": CONTEXT_TOKENS}


def judge_answer(
    text: str, asked: dict[str, Any], title: str = "", **tokens: Any
) -> dict[str, Any]:
    """Return an answer as the scorer sees it: bucket, the value that decided, and the place of its window, or -1.

    Of each of the three windows: start and end in the lower-case text, or itself where it is not in it, and the values
    found in it.
    """
    verdict = score_response(text, **asked, **tokens)
    windows = verdict.windows
    found = [
        [value for value in asked["domain"] if find_mention(value.lower(), window)]
        for window in windows
    ]
    starts = [text.lower().rfind(window) for window in windows]
    places = [
        [at, at + len(window)] if at >= 0 else window
        for at, window in zip(starts, windows, strict=True)
    ]
    return {
        "title": title, "text": text, "bucket": str(verdict), "answer": verdict.answer,
        "window": windows.index(verdict.window) if verdict.window in windows and verdict.window else -1,
        "windows": list(zip(places, found, strict=True)),
    }  # fmt: skip
