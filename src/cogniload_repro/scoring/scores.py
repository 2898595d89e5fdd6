"""Score whole tables of responses: outputs -> scores, one file per model."""

import re
from collections.abc import Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.scoring.outcome import (
    ANSWER_ONLY,
    PSEUDOCODE,
    Outcome,
    Question,
    ScorerRules,
    find_outcome,
    take_last_sentence,
)
from cogniload_repro.scoring.reasoning import take_answer
from cogniload_repro.storage import (
    OUTPUTS,
    SCORES,
    open_parquet,
    read_metadata,
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
    rules: ScorerRules = PSEUDOCODE,
) -> list[Path]:
    """Score every file in a folder of outputs, replacing earlier scores; return the new files.

    Each row group is a task of the executor (default: a thread here); files are byte for byte the
    same for any executor. ValueError names the first file that cannot be scored.
    """
    # workers may have another working directory
    outputs_dir = Path(outputs_dir).absolute()
    puzzles_path = Path(puzzles_path).absolute()
    scores_dir = Path(scores_dir)
    if not outputs_dir.is_dir() or not puzzles_path.exists():
        remedy = "run `make download-outputs`, outside a checkout `cogniload download-outputs`"
        raise ValueError(f"{outputs_dir} or {puzzles_path} is missing; {remedy}")
    for old in scores_dir.glob("*.parquet"):
        old.unlink()
    with nullcontext(executor) if executor else ThreadPoolExecutor(1) as workers:
        tasks: dict[Path, list[Future]] = {}
        for outputs in sorted(outputs_dir.glob("*.parquet")):
            with open_parquet(outputs) as file:
                groups = range(file.num_row_groups)
            tasks[outputs] = [
                workers.submit(score_group, group, outputs, puzzles_path, rules)
                for group in groups
            ]
        for outputs, parts in tqdm(tasks.items(), "score", unit=" files", disable=None):
            _write_parts(scores_dir / outputs.name, outputs, parts, rules)
    return sorted(scores_dir.glob("*.parquet"))


def _write_parts(
    scores: Path, outputs: Path, parts: list[Future], rules: ScorerRules
) -> None:
    """Write the scores of a file, part by part, in the order of its rows."""
    metadata = {**read_metadata(outputs), "scorer": str(rules), "version": __version__}
    with table_writer(scores, SCORES, metadata) as writer:
        while parts:
            part = parts.pop(0)  # so that written parts are freed from memory
            writer.write_table(part.result())


def score_group(
    group: int, outputs: Path, puzzles_path: Path, rules: ScorerRules
) -> pa.Table:
    """Score one row group of a file of outputs; a ValueError names the file and the row."""
    puzzles = _read_questions(puzzles_path, puzzles_path.stat().st_mtime_ns)
    try:
        with open_parquet(outputs) as file:
            rows = file.read_row_group(group).select(OUTPUTS.names).to_pylist()
    except (pa.ArrowException, OSError, KeyError) as error:
        remedy = "delete it; the next `make` recreates it"
        raise ValueError(f"{outputs} is damaged ({error}); {remedy}") from None
    scores = []
    for row in rows:
        try:
            scores.append(score_row(row, puzzles, rules))
        except ValueError as error:
            place = f"{outputs.name}: puzzle {row['name']!r}"
            raise ValueError(f"{place}: {error}") from None
    return pa.Table.from_pylist(scores, SCORES)


def score_row(row: Mapping, puzzles: Mapping[str, Mapping], rules: ScorerRules) -> dict:
    """Score one row of outputs; return it as a row of `storage.SCORES`."""
    puzzle = puzzles.get(row["name"])
    if puzzle is None:
        raise ValueError("it is not in the puzzles table; import the outputs again")
    question = Question(*(puzzle[name] for name in Question._fields))
    response = row["response"]
    outcome = find_outcome(
        response, question, rules, row["prompt_tokens"], row["response_tokens"]
    )
    answer = take_answer(response)
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


@lru_cache(maxsize=1)
def _read_questions(path: Path, _modified: int) -> dict[str, dict]:
    """Return the loads and questions of a table's puzzles by name.

    They are read once per process, and again if the file's modification time changes.
    """
    with open_parquet(path) as file:
        table = file.read(columns=["name", *_LOAD_COLUMNS, *Question._fields])
    return {row["name"]: row for row in table.to_pylist()}
