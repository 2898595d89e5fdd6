"""Whole tables of responses: outputs -> scores, one partition a model."""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro import __version__, endings
from cogniload_repro.schemas import OUTPUTS, SCORES
from cogniload_repro.scoring import matches as matching
from cogniload_repro.scoring import verdict as scoring
from cogniload_repro.scoring import windows as extraction
from cogniload_repro.scoring.verdict import (
    ANSWER_ONLY,
    CORRECT_BUCKETS,
    PSEUDOCODE,
    Reading,
    Verdict,
    explain_response,
    is_unsure,
    score_response,
)
from cogniload_repro.storage import (
    UNFINISHED,
    as_place,
    open_parquet,
    read_metadata,
    remove_parts,
    table_writer,
)

#: Longest window kept in the scores, characters; a longer one is cut around its answer.
WINDOW_CHARS = 400

# Responses may be large: few of them are in memory at once, and their small scores are gathered for writing.
_BATCH_ROWS, _BATCH_BYTES = 256, 16_000_000
_BATCHES_A_GROUP = 64
_PUZZLE_COLUMNS = ["name", "N", "d", "ratio_pct", "rho", "poi", "gold", "domain", "category"]


class Question(NamedTuple):
    """What the scorer needs to know of a puzzle."""

    N: int
    d: int
    ratio_pct: float
    rho: float
    poi: str
    gold: str
    domain: Sequence[str]
    category: str

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of `verdict.score_response` that are the puzzle's."""
        return {"poi": self.poi, "gold": self.gold, "domain": self.domain, "category": self.category}


def score_partition(
    outputs_path: str | Path,
    puzzles_path: str | Path,
    scores_path: str | Path,
    reading: Reading = PSEUDOCODE,
) -> int:
    """Score one file of outputs, a batch of rows at a time, and return the number of rows.

    The scores carry the metadata of the outputs, the reading and what they were made from; the file appears when it is
    complete.

    Raises
    ------
    ValueError
        If the outputs are not Parquet or lack a column, or a row names no known puzzle or has no text.
    """
    questions = read_questions(puzzles_path)
    made_from = _made_from(outputs_path, puzzles_path, reading)
    metadata = {**read_metadata(outputs_path), "version": __version__, **made_from}
    rows = 0
    with open_parquet(outputs_path) as file, table_writer(scores_path, SCORES, metadata) as writer:
        _check_columns(outputs_path, file.schema_arrow.names)
        scored = (_score_batch(batch, questions, reading) for batch in _read_batches(outputs_path, file))
        while group := list(itertools.islice(scored, _BATCHES_A_GROUP)):
            writer.write_table(pa.Table.from_batches(group))
            rows += sum(batch.num_rows for batch in group)
    return rows


def score_dataset(
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    scores_dir: str | Path,
    executor: Executor | None = None,
    reading: Reading = PSEUDOCODE,
) -> list[Path]:
    """Score every partition of a folder of outputs that is not scored yet; return all score files.

    A partition counts as scored when its scores were made from the outputs and puzzles as they are, by this scorer
    under the same reading: their contents decide, not their dates. Scores without outputs are removed. The executor
    leaves the bytes alone.

    Parameters
    ----------
    outputs_dir, scores_dir : path or address
        Folders of ``<model>.parquet`` files, see `cogniload_repro.storage`.
    puzzles_path : path or address
        The puzzles table.
    executor : concurrent.futures.Executor, optional
        Where partitions are scored; in this process by default.
    reading : Reading
        How Appendix D is read where it can be read twice.

    Raises
    ------
    ValueError
        If there are no outputs, or one partition cannot be scored; the others are finished. Also if a partition has
        been scored, but not into the file that is seen from here.
    """
    outputs_dir, puzzles_path, scores_dir = (_absolute(place) for place in (outputs_dir, puzzles_path, scores_dir))
    sources = sorted(outputs_dir.glob("*.parquet"))
    if not sources:
        remedy = "run `make download-outputs`, outside a checkout `cogniload download-outputs`"
        raise ValueError(f"{outputs_dir} holds no outputs; {remedy}")
    if (outputs_dir / UNFINISHED).exists():
        raise ValueError(f"an import into {outputs_dir} was interrupted; run it again, until then it is a mixture")
    remove_parts(scores_dir)
    jobs = {source: scores_dir / source.name for source in sources}
    for stale in set(scores_dir.glob("*.parquet")) - set(jobs.values()):
        stale.unlink()
    waiting = [source for source in sources if not _is_current(jobs[source], source, puzzles_path, reading)]
    tasks = [(source, puzzles_path, jobs[source], reading) for source in waiting]
    _run(tasks, executor)
    remove_parts(scores_dir)  # a worker that was killed has left some, another has done its work
    for source, _, scores, _ in tasks:
        _check_done(scores, source, puzzles_path, reading)
    return list(jobs.values())


def read_questions(puzzles_path: str | Path) -> dict[str, Question]:
    """Return what the scorer needs to know of each puzzle of a table, by name."""
    with open_parquet(puzzles_path) as file:
        return _index(file.read(columns=_PUZZLE_COLUMNS).to_pydict())


def frame_scores(table: pa.Table) -> pd.DataFrame:
    """Return scores as a frame whose token counts are whole numbers, missing where they are unknown."""
    tokens = {name: "Int64" for name in ("prompt_tokens", "response_tokens")}
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get).astype(
        {name: tokens.get(name, "int64") for name in ("N", "d", *tokens)}
    )


def _score_batch(batch: pa.RecordBatch, questions: Mapping[str, Question], reading: Reading) -> pa.RecordBatch:
    small = ("model", "name", "prompt_tokens", "response_tokens", "stopped")
    columns = {name: batch.column(name).to_pylist() for name in small}
    responses = (text.as_py() for text in batch.column("response"))  # one at a time: all at once take twice as long
    found, verdicts, notes = [], [], []
    for response, model, name, prompt_tokens, response_tokens, _ in zip(responses, *columns.values(), strict=True):
        try:
            question = questions[name]
            asked = {**question.asked, "prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
            verdict = explain_response(response, **asked, reading=reading)
            notes.append(_note(response, verdict.bucket in CORRECT_BUCKETS, asked))
        except KeyError:
            raise ValueError(f"{model} answers puzzle {name!r}, which the puzzles table lacks; add it") from None
        except ValueError as error:
            raise ValueError(f"{model}, puzzle {name!r}: {error}") from None
        found.append(question)
        verdicts.append(verdict)
    return pa.RecordBatch.from_pydict(
        {
            **columns,
            **{name: [getattr(question, name) for question in found] for name in ("N", "d", "ratio_pct", "rho")},
            "bucket": [verdict.bucket for verdict in verdicts],
            "correct": [verdict.bucket in CORRECT_BUCKETS for verdict in verdicts],
            "window": [_clip(verdict) for verdict in verdicts],
            "answer": [verdict.answer for verdict in verdicts],
            **dict(zip(("unclosed_trace", "answer_correct", "unsure"), zip(*notes, strict=True), strict=True)),
        },
        SCORES,
    )


def _note(response: str, correct: bool, asked: Mapping[str, Any]) -> tuple[bool, bool, bool]:
    """Tell whether the trace is not closed, the answer alone is right too, and it says that it is not sure."""
    answer = endings.take_answer(response)
    right = correct and score_response(answer or "", **asked, reading=ANSWER_ONLY) in CORRECT_BUCKETS
    return answer is None, right, is_unsure(answer or "")


def _clip(verdict: Verdict) -> str:
    """Return the window, shortened around the answer's last place where it is long."""
    if len(verdict.window) <= WINDOW_CHARS:
        return verdict.window
    end = verdict.window.rfind(verdict.answer) + len(verdict.answer) + WINDOW_CHARS // 2
    return verdict.window[:end][-WINDOW_CHARS:]


def _index(puzzles: Mapping[str, Sequence]) -> dict[str, Question]:
    return {name: Question(*fields) for name, *fields in zip(*puzzles.values(), strict=True)}


def _absolute(place: str | Path) -> Path:
    """Return a place that means the same to workers in other folders."""
    place = as_place(place)
    return place.absolute() if isinstance(place, Path) else place


@cache
def _scorer_digest() -> str:
    """Return a digest of the code that decides."""
    sources = [Path(str(module.__file__)).read_bytes() for module in (scoring, extraction, matching, endings)]
    return hashlib.sha256(b"".join(sources)).hexdigest()[:16]


def _made_from(outputs: str | Path, puzzles: str | Path, reading: Reading) -> dict[str, str]:
    """Return all that shapes scores, contents as their digests."""
    digests = {name: _digest(place) for name, place in (("outputs", outputs), ("puzzles", puzzles))}
    return {"reading": str(reading), "scorer": _scorer_digest(), **digests}


def _digest(place: str | Path) -> str:
    with as_place(place).open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]


def _is_current(scores: Path, outputs: Path, puzzles: Path, reading: Reading) -> bool:
    """Tell whether scores exist, and were made from what they would be made from now."""
    try:
        return scores.exists() and _made_from(outputs, puzzles, reading).items() <= read_metadata(scores).items()
    except ValueError:
        return False  # damaged


def _check_done(scores: Path, outputs: Path, puzzles: Path, reading: Reading) -> None:
    """Refuse scores that a worker says it has written, and that are not there, not whole, or made by other code."""
    remedy = "give all workers the same folder and the same version of this package, then run again"
    if not scores.exists():
        raise ValueError(f"{scores.name} was scored, but is not in {scores.parent}; {remedy}")
    with open_parquet(outputs) as asked, open_parquet(scores) as done:
        rows, scored = asked.metadata.num_rows, done.metadata.num_rows
    if rows != scored:
        raise ValueError(f"{scores} has {scored:,} of {rows:,} rows; {remedy}")
    if not _is_current(scores, outputs, puzzles, reading):
        raise ValueError(f"{scores} was not made from these outputs and puzzles by this scorer; {remedy}")


def _read_batches(path: str | Path, file: pq.ParquetFile) -> Iterator[pa.RecordBatch]:
    """Yield few rows at a time, the fewer the longer the responses are; no batch reaches beyond a row group."""
    try:
        for group in range(file.num_row_groups):
            about = file.metadata.row_group(group)
            rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES * about.num_rows // max(about.total_byte_size, 1)))
            yield from file.iter_batches(rows, row_groups=[group], columns=OUTPUTS.names)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged ({error}); make or fetch it again") from None


def _run(tasks: Sequence[tuple], executor: Executor | None) -> None:
    """Score partitions, the largest first; finish all before the first error is raised."""
    sizes = {task[0]: task[0].stat().st_size for task in tasks}
    tasks = sorted(tasks, key=lambda task: -sizes[task[0]])
    errors = []
    with tqdm(total=sum(sizes.values()), desc="score", unit="B", unit_scale=True, disable=None) as progress:
        for outputs, finish in _outcomes(tasks, executor):
            try:
                finish()
            except (ValueError, OSError, ImportError) as error:
                errors.append(str(error) if outputs.name in str(error) else f"{outputs.name}: {error}")
            progress.update(sizes[outputs])
    if errors:
        raise ValueError("; ".join(sorted(errors)))


def _outcomes(tasks: Sequence[tuple], executor: Executor | None) -> Iterator[tuple[Path, Callable]]:
    """Yield for each task its outputs and a call that ends it, in the order in which they are ready."""
    if executor is None:
        yield from ((task[0], partial(score_partition, *task)) for task in tasks)
        return
    futures = {executor.submit(score_partition, *task): task[0] for task in tasks}
    try:
        yield from ((futures[future], future.result) for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def _check_columns(path: str | Path, names: Iterable[str]) -> None:
    missing = [name for name in OUTPUTS.names if name not in names]
    if missing:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}; import it with `make download-outputs`")
