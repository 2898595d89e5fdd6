"""Whole tables of responses scored: outputs -> scores, one file per model."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.endings import take_answer
from cogniload_repro.files import describe_error
from cogniload_repro.schemas import OUTPUTS, SCORES
from cogniload_repro.scoring.verdict import (
    ANSWER_ONLY,
    PSEUDOCODE,
    Question,
    ScorerRules,
    Verdict,
    find_scorer,
    find_verdict,
    is_unsure,
)
from cogniload_repro.storage import (
    open_parquet,
    read_metadata,
    remove_parts,
    table_writer,
)

#: Longest window kept in the scores, in characters; a longer one is cut around its answer.
WINDOW_CHARS = 400

# responses may be large: few of them are in memory at once
_BATCH_ROWS = 256
_BATCH_BYTES = 16_000_000
#: Failures that are named one by one; of more there is the count.
_NAMED_ERRORS = 3
_LOAD_COLUMNS = ("N", "d", "ratio_pct", "rho")


class PuzzleQuestion(NamedTuple):
    """The cell of a puzzle (N, d, ratio_pct and rho), and what the scorer needs to know of it."""

    cell: dict[str, float]
    question: Question


def score_dataset(
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    scores_dir: str | Path,
    executor: Executor | None = None,
    rules: ScorerRules = PSEUDOCODE,
) -> list[Path]:
    """Score every file of a folder of outputs, and replace the scores that are there.

    A row group is a task of the executor (a thread here by default), which does not affect the
    bytes. Returns the new files. ValueError if there is no folder of outputs or a file cannot be
    scored; the others are finished.
    """
    # workers may be in other folders
    outputs_dir = Path(outputs_dir).absolute()
    puzzles_path = Path(puzzles_path).absolute()
    scores_dir = Path(scores_dir)
    _check_inputs(outputs_dir, puzzles_path)
    remove_parts(scores_dir)
    for old in scores_dir.glob("*.parquet"):
        old.unlink()
    errors = []
    with nullcontext(executor) if executor else ThreadPoolExecutor(1) as workers:
        tasks: dict[Path, list[Future]] = {}
        for outputs in sorted(outputs_dir.glob("*.parquet")):
            tasks[outputs] = [
                workers.submit(score_group, group, outputs, puzzles_path, rules)
                for group in range(_count_groups(outputs))
            ]
        with _open_bar(tasks):
            for outputs, parts in tasks.items():
                try:
                    _write_parts(scores_dir / outputs.name, outputs, parts, rules)
                except (ValueError, OSError, ImportError) as error:
                    errors.append(_name_file(outputs.name, describe_error(error)))
    if errors:
        raise ValueError(_join_errors(errors))
    return sorted(scores_dir.glob("*.parquet"))


def _name_file(name: str, message: str) -> str:
    """Return the message of an error with the name of its file, unless it has it already."""
    return message if name in message else f"{name}: {message}"


def _check_inputs(outputs_dir: Path, puzzles_path: Path) -> None:
    """Raise ValueError if there is nothing to score."""
    if not outputs_dir.is_dir():
        remedy = "run `make download-outputs`, outside a checkout `cogniload download-outputs`"
        raise ValueError(f"{outputs_dir} holds no outputs; {remedy}")
    if not puzzles_path.exists():
        raise ValueError(
            f"{puzzles_path} is missing; make it with `make download-outputs`"
        )


def _join_errors(errors: list[str]) -> str:
    """Return some errors in one sentence, and how many there are more."""
    sentence = "; ".join(errors[:_NAMED_ERRORS])
    more = len(errors) - _NAMED_ERRORS
    return f"{sentence}; and {more} more" if more > 0 else sentence


def _count_groups(outputs: Path) -> int:
    """Return the number of row groups of a file; 0 if it is damaged, which is reported later."""
    try:
        with open_parquet(outputs) as file:
            return file.num_row_groups
    except ValueError:
        return 0


def _open_bar(tasks: dict[Path, list[Future]]) -> tqdm:
    """Draw a bar that grows with each part that is scored."""
    count = sum(len(parts) for parts in tasks.values())
    bar = tqdm(total=count, desc="score", unit=" parts", disable=None)
    for parts in tasks.values():
        for part in parts:
            part.add_done_callback(lambda _: bar.update())
    return bar


def _write_parts(
    scores: Path, outputs: Path, parts: list[Future], rules: ScorerRules
) -> None:
    """Write the scores of a file, part by part, in the order of its rows."""
    metadata = {**read_metadata(outputs), "scorer": str(rules), "version": __version__}
    with table_writer(scores, SCORES, metadata) as writer:
        while parts:
            part = parts.pop(0)  # what is written need not stay in memory
            writer.write_table(part.result())


def score_group(
    group: int, outputs: Path, puzzles: Path, rules: ScorerRules
) -> pa.Table:
    """Score one row group of a file of outputs."""
    questions = _read_questions(puzzles, puzzles.stat().st_mtime_ns)
    batches = [
        score_batch(batch, questions, rules) for batch in _read_batches(outputs, group)
    ]
    return pa.Table.from_batches(batches, SCORES)


def score_batch(
    batch: pa.RecordBatch, questions: Mapping[str, PuzzleQuestion], rules: ScorerRules
) -> pa.RecordBatch:
    """Score some rows of outputs: one verdict a row, beside the columns that lead to the cells."""
    names = [name for name in OUTPUTS.names if name != "response"]
    facts = batch.select(names).to_pylist()
    rows = []
    for row, response in zip(facts, batch.column("response"), strict=True):
        puzzle = _find_question(questions, row["model"], row["name"])
        try:
            rows.append(row | score_row(response.as_py(), row, puzzle, rules))
        except ValueError as error:
            place = f"{row['model']}, puzzle {row['name']!r}"
            raise ValueError(f"{place}: {error}") from None
    return pa.RecordBatch.from_pylist(rows, SCORES)


def score_row(
    response: str, row: Mapping, puzzle: PuzzleQuestion, rules: ScorerRules
) -> dict:
    """Return the verdict on a row of outputs as columns of `schemas.SCORES`."""
    question = puzzle.question
    verdict = find_verdict(
        response, question, rules, row["prompt_tokens"], row["response_tokens"]
    )
    answer = take_answer(response)
    answer_correct = False
    if verdict.is_correct:
        # the reasoning may have the correct value, and the answer after it another one
        answer_correct = find_verdict(answer or "", question, ANSWER_ONLY).is_correct
    return {
        **puzzle.cell,
        "bucket": verdict,
        "correct": verdict.is_correct,
        "window": _clip(verdict),
        "answer": verdict.answer,
        "unclosed_trace": answer is None,
        "answer_correct": answer_correct,
        "unsure": is_unsure(answer or ""),
    }


def _clip(verdict: Verdict) -> str:
    """Return the window, shortened around the answer's last place where it is long."""
    if len(verdict.window) <= WINDOW_CHARS:
        return verdict.window
    end = verdict.window.rfind(verdict.answer) + len(verdict.answer) + WINDOW_CHARS // 2
    return verdict.window[:end][-WINDOW_CHARS:]


@lru_cache(maxsize=1)
def _read_questions(puzzles_path: Path, _modified: int) -> dict[str, PuzzleQuestion]:
    """Return what the scorer needs to know of each puzzle of a table, by name.

    It is read once per process, and again if the file has another time.
    """
    columns = ["name", *_LOAD_COLUMNS, "poi", "gold", "domain", "category"]
    with open_parquet(puzzles_path) as file:
        table = file.read(columns=columns)
    questions = {}
    for row in table.to_pylist():
        cell = {name: row[name] for name in _LOAD_COLUMNS}
        question = Question(row["poi"], row["gold"], row["domain"], row["category"])
        questions[row["name"]] = PuzzleQuestion(cell, question)
    return questions


def _find_question(
    questions: Mapping[str, PuzzleQuestion], model: str, name: str
) -> PuzzleQuestion:
    """Return what a response was asked; a ValueError where the puzzles table does not have it."""
    if name not in questions:
        raise ValueError(
            f"{model} answers puzzle {name!r}, which the puzzles table lacks; add it"
        )
    return questions[name]


def _read_batches(path: Path, group: int) -> Iterator[pa.RecordBatch]:
    """Yield few outputs of a row group at a time: the longer they are, the fewer."""
    with open_parquet(path) as file:
        absent = [name for name in OUTPUTS.names if name not in file.schema_arrow.names]
        if absent:
            remedy = "import it with `make download-outputs`"
            raise ValueError(f"{path} lacks the columns {', '.join(absent)}; {remedy}")
        try:
            about = file.metadata.row_group(group)
            rows = _BATCH_BYTES * about.num_rows // max(about.total_byte_size, 1)
            size = min(max(rows, 1), _BATCH_ROWS)
            yield from file.iter_batches(
                size, row_groups=[group], columns=OUTPUTS.names
            )
        except (pa.ArrowException, OSError) as error:
            remedy = "remove it, and the next `make` makes it again"
            raise ValueError(f"{path} is damaged ({error}); {remedy}") from None


def scores_folder(build: str | Path, name: str, chosen: str = "pseudocode") -> Path:
    """Return the folder for the scores of a scorer: the build's own for the chosen one."""
    if find_scorer(name) == find_scorer(chosen):
        return Path(build)
    return Path(build) / "scorers" / name
