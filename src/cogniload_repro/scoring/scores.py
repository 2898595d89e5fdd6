"""Score whole tables of responses: outputs -> scores, one file per model."""

from collections.abc import Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.scoring.outcome import (
    Question,
    ends_correct,
    find_outcome,
)
from cogniload_repro.scoring.reasoning import take_answer
from cogniload_repro.storage import (
    OUTPUTS,
    SCORES,
    open_parquet,
    table_writer,
)

_LOAD_COLUMNS = ("N", "d", "ratio_pct", "rho")


def score_dataset(
    outputs_dir: Path,
    puzzles_path: Path,
    scores_dir: Path,
    executor: Executor,
) -> list[Path]:
    """Score every file in a folder of outputs, replacing earlier scores; return the new files.

    Each file is a task of the executor; files are byte for byte the same for any executor.
    ValueError names the first file that cannot be scored.
    """
    # workers may have another working directory
    outputs_dir = outputs_dir.absolute()
    puzzles_path = puzzles_path.absolute()
    scores_dir = scores_dir.absolute()
    for old in scores_dir.glob("*.parquet"):
        old.unlink()
    sources = sorted(outputs_dir.glob("*.parquet"))
    targets = [scores_dir / source.name for source in sources]
    scored = executor.map(partial(score_file, puzzles_path), sources, targets)
    for _ in tqdm(scored, "score", len(sources), unit=" files", disable=None):
        pass
    return targets


def score_file(puzzles_path: Path, outputs: Path, scores: Path) -> None:
    """Score a file of outputs, a row group at a time; a ValueError names the file and the row."""
    puzzles = _read_questions(puzzles_path)
    metadata = {"version": __version__}
    with (
        open_parquet(outputs) as file,
        table_writer(scores, SCORES, metadata) as writer,
    ):
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, OUTPUTS.names)
            scored = []
            for row in table.to_pylist():
                try:
                    scored.append(score_row(row, puzzles))
                except ValueError as error:
                    place = f"{outputs.name}: puzzle {row['name']!r}"
                    raise ValueError(f"{place}: {error}") from None
            writer.write_table(pa.Table.from_pylist(scored, SCORES))


def score_row(row: Mapping, puzzles: Mapping[str, Mapping]) -> dict:
    """Score one row of outputs; return it as a row of `storage.SCORES`."""
    puzzle = puzzles.get(row["name"])
    if puzzle is None:
        raise ValueError("it is not in the puzzles table; import the outputs again")
    question = Question(*(puzzle[name] for name in Question._fields))
    response = row["response"]
    tokens = {name: row[name] for name in ("prompt_tokens", "response_tokens")}
    outcome = find_outcome(response, question, **tokens)
    after_reasoning = take_answer(response)
    # the reasoning may give the correct value, and the answer after it another one
    answer_correct = outcome.is_correct and ends_correct(
        after_reasoning or "", question
    )
    return {
        **{name: value for name, value in row.items() if name != "response"},
        **{name: puzzle[name] for name in _LOAD_COLUMNS},
        "bucket": outcome,
        "correct": outcome.is_correct,
        "answer": outcome.answer,
        "unclosed_trace": after_reasoning is None,
        "answer_correct": answer_correct,
    }


def _read_questions(path: Path) -> dict[str, dict]:
    """Return the loads and questions of a table's puzzles by name."""
    with open_parquet(path) as file:
        table = file.read(columns=["name", *_LOAD_COLUMNS, *Question._fields])
    return {row["name"]: row for row in table.to_pylist()}
