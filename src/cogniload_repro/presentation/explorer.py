"""Puzzles for the page on which a reader steps through them: a few of each cell, with answers that are judged here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from cogniload_repro.endings import CONTEXT_TOKENS
from cogniload_repro.formats import format_name
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.puzzles.text import parse_puzzle
from cogniload_repro.scoring.matches import find_mention
from cogniload_repro.scoring.verdict import explain_response
from cogniload_repro.scoring.windows import find_windows
from cogniload_repro.statistics.cell_tables import read_provenance

PER_CELL = 2
#: Of a real response only so many characters are shown, its last ones: the answer is there.
LONGEST = 1_500
#: Bytes of real responses that the page carries at most.
MOST_RESPONSES = 2_000_000
_CELL = ["N", "ratio_pct", "d"]
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def explorer_data(build: str | Path, per_cell: int = PER_CELL) -> dict[str, Any]:
    """Return what the page needs, ready for JSON.

    It has the phrases of each category (initial, condition, update, question, with {} for the value or person) and some
    puzzles of each cell (`describe_puzzle`), with prepared answers and, of imported outputs, the models' responses.
    """
    build = Path(build)
    table = pq.read_table(build / "puzzles.parquet", columns=["name", *_CELL]).to_pandas()
    names = table.groupby(_CELL, sort=True).head(per_cell)["name"]
    chosen = pq.read_table(build / "puzzles.parquet", filters=[("name", "in", names.tolist())]).to_pandas()
    responses = _read_responses(build, set(names)) if read_provenance(build) == "imported" else {}
    puzzles = []
    for row in chosen.sort_values(_CELL, kind="stable").to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # somebody's text, which no solver reads
            continue
        asked = {"poi": row["poi"], "gold": row["gold"], "domain": list(row["domain"]), "category": row["category"]}
        entry = describe_puzzle(puzzle) | {"name": row["name"], "ratio_pct": row["ratio_pct"], "gold": row["gold"]}
        entry["answers"] = [judge_answer(text, asked, **more) for text, more in prepare_answers(puzzle, asked)]
        entry["responses"] = [
            {"model": format_name(model), **judge_answer(text, asked)} for model, text in responses.get(row["name"], [])
        ]
        puzzles.append(entry)
    return {"phrases": {name: list(phrases) for name, phrases in PHRASES.items()}, "puzzles": puzzles}


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in numbers: places in lists for people, categories and values.

    A statement in moves is a text such as "03a1|02": conditions and updates, each a letter for the category and one for
    the value.
    """
    return {
        "N": puzzle.N, "d": puzzle.d, "needles": puzzle.needles, "people": puzzle.people,
        "poi": puzzle.people.index(puzzle.poi), "category": puzzle.category, "domains": puzzle.domains,
        "start": [list(row) for row in puzzle.start],
        "lines": [[person, list(order)] for person, order in puzzle.lines],
        "moves": [
            f"{_pairs(conditions, before)}|{_pairs(updates, after)}"
            for _, before, conditions, after, updates in puzzle.moves
        ],
    }  # fmt: skip


def _pairs(places: list[int], values: Any) -> str:
    return "".join(_DIGITS[place] + _DIGITS[values[place]] for place in places)


def prepare_answers(puzzle: Puzzle, asked: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield made-up answers to a puzzle with what else there is to say of each: its title, and token counts."""
    poi, gold = asked["poi"], asked["gold"]
    wrong = next(value for value in asked["domain"] if value != gold)
    sentence = f"{poi} {PHRASES[asked['category']].initial}."
    right, other = (sentence.replace("{}", value) for value in (gold, wrong))
    steps = "\n".join(puzzle.text.split("\n\n")[1].split("\n")[-3:-1])
    yield right, {"title": "correct"}
    yield other, {"title": "wrong"}
    yield f"After the last statement {right}\n\nI am not sure about this.", {"title": "unsure after correct reasoning"}
    yield f"First {right}\nIn the end {other}", {"title": "correct on the way, wrong at the end"}
    yield sentence.replace("{}", f"**{gold}**"), {"title": "bold"}
    yield f"Answer: {gold}\n(This is so after statement {puzzle.N}.)", {"title": "with a remark in brackets"}
    yield f"The answer is `{gold}`", {"title": "in back quotes"}
    yield f"{steps}\nThe people who", {"title": "cut off"}
    full = {"prompt_tokens": 0, "response_tokens": CONTEXT_TOKENS}
    yield right, {"title": f"right, but all {CONTEXT_TOKENS:,} tokens are used up"} | full


def judge_answer(text: str, asked: dict[str, Any], title: str = "", **tokens: Any) -> dict[str, Any]:
    """Return an answer as the scorer sees it: bucket, the value that decided, and the place of its window, or -1.

    Of each of the three windows: start and end in the lower-case text, or itself where it is not in it, and the values
    found in it.
    """
    verdict = explain_response(text, **asked, **tokens)
    windows = list(find_windows(text, asked["poi"], asked["category"]))
    found = [[value for value in asked["domain"] if find_mention(value.lower(), window)] for window in windows]
    shown = text if len(text) <= LONGEST else f"… {text[-LONGEST:]}"
    return {
        "title": title, "text": shown, "bucket": verdict.bucket, "answer": verdict.answer,
        "window": windows.index(verdict.window) if verdict.window in windows and verdict.window else -1,
        "windows": [[_place(window, shown), values] for window, values in zip(windows, found, strict=True)],
    }  # fmt: skip


def _place(window: str, text: str) -> list[int] | str:
    """Return where a window is in a text that all languages put into lower case alike; otherwise its end."""
    start = text.lower().rfind(window) if text.isascii() else -1
    return [start, start + len(window)] if start >= 0 else window[-LONGEST:]


def _read_responses(build: Path, names: set[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the responses of all models to these puzzles, as far as the page can carry them."""
    frames = [
        pq.read_table(file, columns=["model", "name", "response"], filters=[("name", "in", list(names))]).to_pandas()
        for file in sorted((build / "outputs").rglob("*.parquet"))
    ]
    rows = pd.concat(frames) if frames else pd.DataFrame(columns=["model", "name", "response"])
    rank = {model: place for place, model in enumerate(order_models(rows["model"]))}
    found: dict[str, list[tuple[str, str]]] = {}
    carried = 0
    for model, name, response in sorted(rows.itertuples(index=False), key=lambda row: (row[1], rank[row[0]])):
        carried += min(len(response), LONGEST)
        if carried > MOST_RESPONSES:
            break
        found.setdefault(name, []).append((model, response))
    return found
