"""Scores counted: by model and cell, from which everything else follows, and per model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from cogniload_repro.models import order_models
from cogniload_repro.scoring.outcome import CORRECT_BUCKETS
from cogniload_repro.scoring.reasoning import CUT, STOPS
from cogniload_repro.storage import (
    CELLS,
    ERRORS,
    SCORES,
    TOKENS,
    open_parquet,
    write_table,
)

#: Column of the cells table in which each bucket is counted (paper, Tables 4 and 5).
BUCKET_COLUMNS = {
    **dict.fromkeys(CORRECT_BUCKETS, "correct"),
    "wrong_max_context": "ctx",
    "wrong_logic": "valid_logic",
    "wrong_logic_poi": "poi_logic",
    "wrong_logic_last_sentence": "last_logic",
    "wrong_other": "other",
}
#: Columns of the cells table with counts of outcomes, the first of correct ones.
_COUNT_COLUMNS = ["correct", *ERRORS]
#: Rows of cells are in the order of the grid.
_ROW_ORDER = ["N", "ratio_pct", "d"]
_TOKEN_SOURCES = {"prompt": "prompt_tokens", "output": "response_tokens"}


def count_cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Count scores by model and cell; return a table with columns of `storage.CELLS`.

    Models are in printed order, cells by N, ratio_pct and d. Tokens are those of the answers that
    have a count. Any other answer of a cell may have run out of context: ctx is missing there.
    """
    keys = ["model", *_ROW_ORDER]
    groups = scores.assign(is_tested=_has_tokens(scores)).groupby(keys)
    columns = scores["bucket"].map(BUCKET_COLUMNS)
    counts = pd.crosstab([scores[key] for key in keys], columns)
    counts = counts.reindex(columns=_COUNT_COLUMNS, fill_value=0)
    counts["ctx"] = counts["ctx"].where(groups["is_tested"].all())
    cells = pd.DataFrame({"rho": groups["rho"].first(), "total": groups.size()})
    cells = cells.join(counts).join(_describe_tokens(groups)).reset_index()
    cells["needles"] = (cells["rho"] * cells["N"]).round().astype("int64")
    return _by_model(cells.filter(CELLS.names))


def token_stats(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens by model, N and d.

    These are the numbers of the paper's Appendix H. Unknown counts are ignored.
    """
    return _describe_tokens(scores.groupby(["model", "N", "d"])).reset_index()


def _has_tokens(scores: pd.DataFrame) -> pd.Series:
    """Return for each answer whether the context limit could be tested."""
    return scores[list(_TOKEN_SOURCES.values())].notna().all(axis=1)


def _describe_tokens(groups: Any) -> pd.DataFrame:
    columns = {}
    for kind, column in _TOKEN_SOURCES.items():
        columns[f"{kind}_mean"] = groups[column].mean().astype("float64")
        columns[f"{kind}_p90"] = groups[column].quantile(0.9).astype("float64")
    return pd.DataFrame(columns)


def read_scores(scores_dir: str | Path) -> pd.DataFrame:
    """Return all scores in a folder as one table.

    Token counts are nullable integers. The table is empty if the build has counts only.
    """
    tables = [SCORES.empty_table()]
    for path in sorted(Path(scores_dir).glob("*.parquet")):
        with open_parquet(path) as file:
            tables.append(file.read())
    nullable = {pa.int64(): pd.Int64Dtype()}
    scores = pa.concat_tables(tables).to_pandas(types_mapper=nullable.get)
    return scores.astype({"N": "int64", "d": "int64"})


def write_cells(
    folder: Path, metadata: Mapping[str, str], counts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Write cells.parquet and tokens.parquet to a folder from its scores/; return the cells.

    ``counts`` are cells reconstructed from the printed tables, of models without responses; they
    are added to the cells of scored models.
    """
    cells = []
    tokens = []
    if counts is not None:
        cells.append(counts)
        tokens.append(counts[TOKENS.names].drop_duplicates())
    scores = read_scores(folder / "scores")
    if not scores.empty:
        cells.append(count_cells(scores).assign(provenance="scored"))
        tokens.append(token_stats(scores))
    all_tokens = pd.concat(tokens).sort_values(["model", "N", "d"], ignore_index=True)
    all_cells = _by_model(pd.concat(cells).sort_values(_ROW_ORDER, kind="stable"))
    write_table(folder / "tokens.parquet", all_tokens, metadata)
    # written last: make takes this file as a sign that both are done
    write_table(folder / "cells.parquet", all_cells, metadata)
    return all_cells


def _by_model(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with models in printed order."""
    order = pd.Index(order_models(frame["model"]))
    return frame.sort_values(
        "model",
        key=order.get_indexer,
        kind="stable",
        ignore_index=True,
    )


def summarise_answers(scores: pd.DataFrame) -> pd.DataFrame:
    """Count each model's responses by why they ended and by what made them correct or wrong.

    One row per model, in the order of the scores: model, answers, correct;

    - why the model stopped, as its source reports: one column for each of `reasoning.STOPS`;
    - unclosed_trace (ends within the reasoning), finished (not so, not stopped by a limit, and not
      beyond the paper's context, ctx), correct_finished;
    - wrong answers by kind, as in Tables 4 and 5: `storage.ERRORS`, ctx missing where an
      answer has no token counts; wrong;
    - correct answers by the window that decided: `outcome.CORRECT_BUCKETS`; leaning (correct by an
      earlier line, while the last sentence after the reasoning is not).
    """
    stopped = scores["stopped"].fillna("unknown")
    kind = scores["bucket"].map(BUCKET_COLUMNS)
    is_cut = stopped.isin(CUT) | scores["unclosed_trace"] | (kind == "ctx")
    is_correct = scores["correct"]
    flags = {
        "answers": True,
        "correct": is_correct,
        **{word: stopped == word for word in STOPS},
        "unclosed_trace": scores["unclosed_trace"],
        "finished": ~is_cut,
        "correct_finished": is_correct & ~is_cut,
        **{name: kind == name for name in ERRORS},
        "wrong": ~is_correct,
        **{name: scores["bucket"] == name for name in CORRECT_BUCKETS},
        "leaning": is_correct & ~scores["answer_correct"],
    }
    counts = pd.DataFrame(flags, index=scores.index).astype("Int64")
    counts["ctx"] = counts["ctx"].where(_has_tokens(scores))
    groups = counts.groupby(scores["model"].astype(str), sort=False)
    return groups.sum(skipna=False).reset_index()
