"""Score whole tables of responses: outputs -> scores, one file per model."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.scoring.outcome import (
    ANSWER_ONLY,
    Outcome,
    Question,
    find_outcome,
    take_last_sentence,
    with_line_feeds,
)
from cogniload_repro.scoring.reasoning import take_answer
from cogniload_repro.storage import (
    OUTPUTS,
    SCORES,
    open_parquet,
    table_writer,
)

#: Longest window kept in the scores, in characters; a longer one is cut around its answer.
WINDOW_CHARS = 400

_LOAD_COLUMNS = ("N", "d", "ratio_pct", "rho")
_SENTENCE_CHARS = 400
_UNSURE = re.compile(
    r"\b(?:not\s+(?:\w+\s+)?(?:sure|certain|clear|enough\s+information)"
    r"|un(?:sure|certain|clear|able\s+to)|no\s+idea"
    r"|(?:not|can(?:no|['’])t|don['’]t|couldn['’]t)\s+(?:be\s+)?"
    r"(?:know|tell|say|determined?|decided?|concluded?|answer)"
    r"|give\s+up|impossible\s+to|insufficient\s+information)\b",
    re.IGNORECASE,
)


def score_dataset(
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    scores_dir: str | Path,
    executor: Executor | None = None,
) -> list[Path]:
    """Score every file in a folder of outputs, replacing earlier scores; return the new files.

    Each file is a task of the executor (default: a thread here); files are byte for byte the same
    for any executor. ValueError names the first file that cannot be scored.
    """
    # workers may have another working directory
    outputs_dir = Path(outputs_dir).absolute()
    puzzles_path = Path(puzzles_path).absolute()
    scores_dir = Path(scores_dir).absolute()
    if not outputs_dir.is_dir() or not puzzles_path.exists():
        remedy = "run `make download-outputs`, outside a checkout `cogniload download-outputs`"
        raise ValueError(f"{outputs_dir} or {puzzles_path} is missing; {remedy}")
    for old in scores_dir.glob("*.parquet"):
        old.unlink()
    sources = sorted(outputs_dir.glob("*.parquet"))
    targets = [scores_dir / source.name for source in sources]
    with nullcontext(executor) if executor else ThreadPoolExecutor(1) as workers:
        scored = workers.map(partial(score_file, puzzles_path), sources, targets)
        for _ in tqdm(scored, "score", len(sources), unit=" files", disable=None):
            pass
    return targets


def score_file(puzzles_path: Path, outputs: Path, scores: Path) -> None:
    """Score a file of outputs, a row group at a time; a ValueError names the file and the row."""
    puzzles = _read_questions(puzzles_path)
    metadata = {"version": __version__}
    with table_writer(scores, SCORES, metadata) as writer:
        for rows in _read_rows(outputs):
            scored = []
            for row in rows:
                try:
                    scored.append(score_row(row, puzzles))
                except ValueError as error:
                    place = f"{outputs.name}: puzzle {row['name']!r}"
                    raise ValueError(f"{place}: {error}") from None
            writer.write_table(pa.Table.from_pylist(scored, SCORES))


def _read_rows(outputs: Path) -> Iterator[list[dict]]:
    """Yield the rows of a file of outputs, a row group at a time."""
    with open_parquet(outputs) as file:
        for group in range(file.num_row_groups):
            try:
                table = file.read_row_group(group).select(OUTPUTS.names)
            except (pa.ArrowException, OSError, KeyError) as error:
                remedy = "delete it; the next `make` recreates it"
                raise ValueError(f"{outputs} is damaged ({error}); {remedy}") from None
            yield table.to_pylist()


def score_row(row: Mapping, puzzles: Mapping[str, Mapping]) -> dict:
    """Score one row of outputs; return it as a row of `storage.SCORES`."""
    puzzle = puzzles.get(row["name"])
    if puzzle is None:
        raise ValueError("it is not in the puzzles table; import the outputs again")
    question = Question(*(puzzle[name] for name in Question._fields))
    response = row["response"]
    tokens = {name: row[name] for name in ("prompt_tokens", "response_tokens")}
    outcome = find_outcome(response, question, **tokens)
    answer = take_answer(with_line_feeds(response))
    answer_correct = False
    if outcome.is_correct:
        # the reasoning may give the correct value, and the answer after it another one
        answer_correct = find_outcome(answer or "", question, ANSWER_ONLY).is_correct
    return {
        **{name: value for name, value in row.items() if name != "response"},
        **{name: puzzle[name] for name in _LOAD_COLUMNS},
        "bucket": outcome,
        "correct": outcome.is_correct,
        "window": _clip(outcome),
        "answer": outcome.answer,
        "unclosed_trace": answer is None,
        "answer_correct": answer_correct,
        "unsure": is_unsure(answer or ""),
    }


def is_unsure(answer: str) -> bool:
    """Return whether the last sentence says that the answer is not known (a hint only)."""
    _, _, last_line = answer.rstrip("\n").rpartition("\n")
    sentence = take_last_sentence(last_line)
    return _UNSURE.search(sentence[-_SENTENCE_CHARS:]) is not None


def _clip(outcome: Outcome) -> str:
    """Return the window; a long one is cut around the last occurrence of the answer."""
    if len(outcome.window) <= WINDOW_CHARS:
        return outcome.window
    end = outcome.window.rfind(outcome.answer) + len(outcome.answer) + WINDOW_CHARS // 2
    return outcome.window[:end][-WINDOW_CHARS:]


def _read_questions(path: Path) -> dict[str, dict]:
    """Return the loads and questions of a table's puzzles by name."""
    with open_parquet(path) as file:
        table = file.read(columns=["name", *_LOAD_COLUMNS, *Question._fields])
    return {row["name"]: row for row in table.to_pylist()}
