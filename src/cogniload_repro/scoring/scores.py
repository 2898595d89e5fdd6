"""Whole tables of responses: outputs -> scores, one file a model, large files in parts, counts in the footers."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, nullcontext
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__, endings
from cogniload_repro.files import describe_error
from cogniload_repro.schemas import OUTPUTS, SCORES
from cogniload_repro.scoring import verdict as scoring
from cogniload_repro.scoring.cells import SUMMARIES, lean_table, summarise
from cogniload_repro.scoring.verdict import (
    ANSWER_ONLY,
    CORRECT_BUCKETS,
    Question,
    ScorerRules,
    Verdict,
    is_unsure,
)
from cogniload_repro.storage import open_parquet, read_metadata, remove_parts, table_writer

#: Longest window kept in the scores, characters; a longer one is cut around its answer.
WINDOW_CHARS = 400

# Responses may be large: few of them are in memory at once, and their small scores are gathered for writing.
_BATCH_ROWS, _BATCH_BYTES, _BATCHES_A_GROUP = 256, 16_000_000, 64
# A task is as many row groups of a file as have this many bytes or rows.
_TASK_BYTES, _TASK_ROWS = 64_000_000, 50_000
_CELL = ("N", "d", "ratio_pct", "rho")
#: Failures that are named one by one; of more there is the count.
_NAMED_ERRORS = 3


class Asked(NamedTuple):
    """A puzzle's cell, N, d, ratio_pct and rho, and what the scorer needs to know of it."""

    cell: tuple[int, int, float, float]
    question: Question


class _Job(NamedTuple):
    """A file to be scored, and where its row groups go: all (None) into the scores, or some into each part."""

    outputs: Path
    scores: Path
    parts: list[tuple[Path, list[int] | None]]


def score_dataset(
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    scores_dir: str | Path,
    executor: Executor | None = None,
    rules: ScorerRules = scoring.PSEUDOCODE,
) -> list[Path]:
    """Score every file of a folder of outputs, in place of the scores that are there; return the new ones.

    The executor (a thread here by default) does not affect the bytes. ValueError if there is no
    folder of outputs or a file cannot be scored; the others are finished.
    """
    # workers may be in other folders
    outputs_dir = Path(outputs_dir).absolute()
    puzzles_path = Path(puzzles_path).absolute()
    scores_dir = Path(scores_dir).absolute()
    if not outputs_dir.is_dir():
        remedy = "run `make download-outputs`, outside a checkout `cogniload download-outputs`"
        raise ValueError(f"{outputs_dir} holds no outputs; {remedy}")
    if not puzzles_path.exists():
        raise ValueError(f"{puzzles_path} is missing; make it with `make download-outputs`")
    remove_parts(scores_dir)
    for old in scores_dir.glob("*.parquet"):
        old.unlink()
    sources = sorted(outputs_dir.glob("*.parquet"))
    jobs = [_plan(source, scores_dir / source.name) for source in sources]
    with nullcontext(executor) if executor else ThreadPoolExecutor(1) as workers:
        errors = _run(jobs, workers, puzzles_path, rules)
    # of files with errors, or of a worker that was killed and another has done its work
    remove_parts(scores_dir)
    if errors:
        more = len(errors) - _NAMED_ERRORS
        rest = f"; and {more} more" if more > 0 else ""
        raise ValueError("; ".join(sorted(errors)[:_NAMED_ERRORS]) + rest)
    for job in jobs:
        _check_rows(job)
    return [job.scores for job in jobs]


def _check_rows(job: _Job) -> None:
    """Raise ValueError if a worker has written its scores elsewhere."""
    rows = _count_rows(job.outputs)
    scored = _count_rows(job.scores) if job.scores.exists() else 0
    if scored < rows:
        raise ValueError(
            f"{job.scores} has {scored:,} of {rows:,} rows; give all workers the same folder and "
            "the same version of this package, then run again"
        )


def scores_folder(build: str | Path, name: str, chosen: str = "pseudocode") -> Path:
    """Return the folder for scores and cells of a scorer; those of others than the chosen one lie beside its."""
    return (
        Path(build)
        if scoring.find_scorer(name) == scoring.find_scorer(chosen)
        else Path(build) / "scorers" / name
    )


def read_questions(puzzles_path: str | Path) -> dict[str, Asked]:
    """Return what the scorer needs to know of each puzzle of a table, by name."""
    columns = ["name", *_CELL, "poi", "gold", "domain", "category"]
    with open_parquet(puzzles_path) as file:
        rows = zip(*file.read(columns=columns).to_pydict().values(), strict=True)
    return {name: Asked(tuple(row[:4]), Question(*row[4:])) for name, *row in rows}


def read_batches(path: str | Path, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield few outputs at a time, the fewer the longer the responses are; no batch reaches beyond a row group."""
    with open_parquet(path) as file:
        if missing := [name for name in OUTPUTS.names if name not in file.schema_arrow.names]:
            raise ValueError(
                f"{path} lacks the columns {', '.join(missing)}; import it with `make download-outputs`"
            )
        try:
            for group in range(file.num_row_groups) if groups is None else groups:
                about = file.metadata.row_group(group)
                rows = max(
                    1,
                    min(
                        _BATCH_ROWS, _BATCH_BYTES * about.num_rows // max(about.total_byte_size, 1)
                    ),
                )
                yield from file.iter_batches(rows, row_groups=[group], columns=OUTPUTS.names)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"{path} is damaged ({error}); remove it, and the next `make` makes it again"
            ) from None


def find_question(questions: Mapping[str, Asked], model: str, name: str) -> Asked:
    """Return what a response was asked; a ValueError where the puzzles table does not have it."""
    try:
        return questions[name]
    except KeyError:
        raise ValueError(
            f"{model} answers puzzle {name!r}, which the puzzles table lacks; add it"
        ) from None


def _score(
    outputs: Path, puzzles: Path, scores: Path, rules: ScorerRules, groups: list[int] | None
) -> None:
    """Score some row groups of a file, or all (None)."""
    questions = _known_questions(puzzles, puzzles.stat().st_mtime_ns)
    batches = (_score_batch(batch, questions, rules) for batch in read_batches(outputs, groups))
    metadata = {**read_metadata(outputs), "scorer": str(rules), "version": __version__}
    _write(scores, _gather(batches), metadata)


def _gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield some batches at a time as one table."""
    while group := list(islice(batches, _BATCHES_A_GROUP)):
        yield pa.Table.from_batches(group)


def _join(parts: Sequence[Path], scores: Path) -> None:
    """Put the parts of a file together."""
    metadata = read_metadata(parts[0])
    for name in SUMMARIES:
        del metadata[name]
    with ExitStack() as stack:
        files = [stack.enter_context(open_parquet(part)) for part in parts]
        groups = (
            file.read_row_group(group) for file in files for group in range(file.num_row_groups)
        )
        _write(scores, groups, metadata)
    for part in parts:
        part.unlink()


def _write(scores: Path, tables: Iterable[pa.Table], metadata: Mapping[str, str]) -> None:
    """Write scores, with their counts by cell and model in the footer."""
    counted = [lean_table(SCORES.empty_table())]
    with table_writer(scores, SCORES, metadata) as writer:
        for table in tables:
            writer.write_table(table)
            counted.append(lean_table(table))
        counts = summarise(pa.concat_tables(counted))
        writer.add_key_value_metadata(
            {name: json.dumps(counts[name].to_dict("list")) for name in SUMMARIES}
        )


@lru_cache(maxsize=1)
def _known_questions(puzzles: Path, _modified: int) -> dict[str, Asked]:
    """Read the puzzles once a process, and again if their file has another time."""
    return read_questions(puzzles)


def _score_batch(
    batch: pa.RecordBatch, questions: Mapping[str, Asked], rules: ScorerRules
) -> pa.RecordBatch:
    small = ("model", "name", "prompt_tokens", "response_tokens", "stopped")
    columns = [batch.column(name).to_pylist() for name in small]
    responses = (
        text.as_py() for text in batch.column("response")
    )  # one at a time: all at once take twice as long
    rows = []
    for response, model, name, prompt, spent, stopped in zip(responses, *columns, strict=True):
        cell, question = find_question(questions, model, name)
        try:
            verdict = scoring.find_verdict(response, question, prompt, spent, rules)
            answer, correct = endings.take_answer(response), verdict.bucket in CORRECT_BUCKETS
            judged = (
                scoring.find_bucket(answer or "", question, ANSWER_ONLY, prompt, spent)[0]
                if correct
                else ""
            )
        except ValueError as error:
            raise ValueError(f"{model}, puzzle {name!r}: {error}") from None
        head = model, name, *cell, verdict.bucket, correct, prompt, spent
        hints = answer is None, judged in CORRECT_BUCKETS, is_unsure(answer or "")
        rows.append((*head, _clip(verdict), verdict.answer, stopped, *hints))
    return pa.RecordBatch.from_pydict(
        dict(zip(SCORES.names, zip(*rows, strict=True), strict=True)), SCORES
    )


def _clip(verdict: Verdict) -> str:
    """Return the window, shortened around the answer's last place where it is long."""
    if len(verdict.window) <= WINDOW_CHARS:
        return verdict.window
    end = verdict.window.rfind(verdict.answer) + len(verdict.answer) + WINDOW_CHARS // 2
    return verdict.window[:end][-WINDOW_CHARS:]


def _count_rows(path: Path) -> int:
    with open_parquet(path) as file:
        return file.metadata.num_rows


def _plan(outputs: Path, scores: Path) -> _Job:
    """Cut a file into tasks by its row groups alone, so that the bytes of its scores depend on nothing else."""
    try:
        with open_parquet(outputs) as file:
            about = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
    except ValueError:
        about = []  # scoring the file reports what is wrong
    tasks: list[list[int]] = []
    size = 0
    rows = 0
    for number, group in enumerate(about):
        size += group.total_byte_size
        rows += group.num_rows
        if not tasks or size > _TASK_BYTES or rows > _TASK_ROWS:
            tasks.append([])
            size = group.total_byte_size
            rows = group.num_rows
        tasks[-1].append(number)
    if len(tasks) < 2:
        return _Job(outputs, scores, [(scores, None)])
    parts: list[tuple[Path, list[int] | None]] = []
    for groups in tasks:
        parts.append((scores.with_name(f".{scores.name}.{uuid4().hex}.part"), groups))
    return _Job(outputs, scores, parts)


def _run(jobs: Sequence[_Job], executor: Executor, puzzles: Path, rules: ScorerRules) -> set[str]:
    """Score files, the largest first, and join their parts; finish all, and return the errors."""
    errors: set[str] = set()
    largest = sorted(jobs, key=lambda job: (-job.outputs.stat().st_size, job.outputs))
    tasks = [
        (job, (job.outputs, puzzles, part, rules, groups))
        for job in largest
        for part, groups in job.parts
    ]
    failed = _finish(executor, _score, tasks, errors)
    joins = []
    for job in largest:
        if len(job.parts) > 1 and job.outputs not in failed:
            joins.append((job, ([part for part, _ in job.parts], job.scores)))
    _finish(executor, _join, joins, errors)
    return errors


def _finish(
    executor: Executor, work: Callable, tasks: Sequence[tuple[_Job, tuple]], errors: set[str]
) -> set[Path]:
    """Do all tasks; add to the errors why some fail, and return the files of outputs that these were about."""
    jobs = {executor.submit(work, *arguments): job for job, arguments in tasks}
    failed = set()
    ended = tqdm(as_completed(jobs), total=len(jobs), desc="score", unit=" parts", disable=None)
    for future in ended:
        try:
            future.result()
        except (ValueError, OSError, ImportError) as error:
            outputs = jobs[future].outputs
            text = describe_error(error)
            errors.add(text if outputs.name in text else f"{outputs.name}: {text}")
            failed.add(outputs)
    return failed
