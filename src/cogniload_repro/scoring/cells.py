"""Scores counted by model and cell: the table from which everything else follows."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from cogniload_repro.endings import CUT
from cogniload_repro.models import order_models
from cogniload_repro.schemas import SCORES, TOKENS
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS
from cogniload_repro.storage import open_parquet, read_metadata, write_table

#: Column of the cells table in which each bucket is counted (paper, Tables 4 and 5).
BUCKET_COLUMNS = {
    **dict.fromkeys(CORRECT_BUCKETS, "correct"),
    "wrong_max_context": "ctx",
    "wrong_logic": "valid_logic",
    "wrong_logic_poi": "poi_logic",
    "wrong_logic_last_sentence": "last_logic",
    "wrong_other": "other",
}
_COUNTS = tuple(dict.fromkeys(BUCKET_COLUMNS.values()))
_KEYS = ["model", "N", "ratio_pct", "d"]
_TOKENS = {"prompt": "prompt_tokens", "output": "response_tokens"}
_WORDS = ("model", "bucket", "stopped")
_FLAGS = ("correct", "unclosed_trace", "answer_correct", "unsure")
_COUNTED = ("N", "ratio_pct", "d", "rho", *_TOKENS.values(), *_FLAGS)


def lean_table(scores: pa.Table) -> pa.Table:
    """Return scores without names, windows and answers, in as little memory as counting needs."""
    words = {name: scores[name].cast(pa.string()).dictionary_encode() for name in _WORDS}
    return pa.table({**words, **{name: scores[name] for name in _COUNTED}})


def summarise(scores: pa.Table) -> dict[str, pd.DataFrame]:
    """Return the frames of `SUMMARIES` that a `lean_table` leads to."""
    frame = scores.to_pandas()
    return {name: _gather(name, [count(frame)]) for name, (count, _) in SUMMARIES.items()}


def count_cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Return `schemas.CELLS` of scores, models in printed order, then by N, ratio_pct, d; tokens of known counts."""
    groups = scores.groupby(_KEYS, observed=True)
    cells = pd.DataFrame({"rho": groups["rho"].first(), "total": groups.size()})
    buckets = scores.groupby([*_KEYS, "bucket"], observed=True).size().rename("size").reset_index()
    buckets["bucket"] = buckets["bucket"].astype("object").map(BUCKET_COLUMNS)
    counts = buckets.pivot_table("size", _KEYS, "bucket", "sum", observed=True)
    cells = cells.join(counts.reindex(columns=list(_COUNTS)).fillna(0).astype("int64"))
    cells = cells.join(_describe_tokens(groups)).reset_index()
    cells["needles"] = (cells["rho"] * cells["N"]).round().astype("int64")
    head = ["model", "N", "d", "ratio_pct", "needles", "rho"]
    return _by_model(cells[[*head, *cells.columns.difference(head, sort=False)]])


def token_stats(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of known prompt and output tokens by model, N and d (paper, Appendix H)."""
    tokens = scores[list(_TOKENS.values())].astype("float64")
    return _describe_tokens(
        tokens.groupby([scores[key] for key in ("model", "N", "d")], observed=True)
    ).reset_index()


def _describe_tokens(groups: Any) -> pd.DataFrame:
    columns = {}
    for kind, column in _TOKENS.items():
        columns[f"{kind}_mean"] = groups[column].mean().astype("float64")
        columns[f"{kind}_p90"] = groups[column].quantile(0.9).astype("float64")
    return pd.DataFrame(columns)


def count_endings(scores: pd.DataFrame) -> pd.DataFrame:
    """Count by model answers, correct, cut by a limit, unclosed reasoning, hedged (correct by it alone, and unsure)."""
    found = {
        "correct": scores["correct"],
        "cut": scores["stopped"].isin(CUT),
        "unclosed": scores["unclosed_trace"],
        "hedged": scores["correct"] & ~scores["answer_correct"] & scores["unsure"],
    }
    groups = pd.DataFrame(found).groupby(scores["model"], observed=True)
    counts = groups.sum().astype("int64")
    counts.insert(0, "answers", groups.size())
    return counts.reset_index()


#: What a file of scores says of its rows in its footer: how each of these frames is counted, and ordered.
SUMMARIES = {
    "cells": (count_cells, ["N", "ratio_pct", "d"]),
    "tokens": (token_stats, ["model", "N", "d"]),
    "endings": (count_endings, ["model"]),
}


def read_summary(scores_dir: str | Path, name: str) -> pd.DataFrame:
    """Return one of the frames of `SUMMARIES` for all scores of a folder, from the footers of its files alone."""
    return _gather(
        name,
        [pd.DataFrame(json.loads(read_metadata(path)[name])) for path in score_files(scores_dir)],
    )


def write_cells(
    folder: str | Path, metadata: Mapping[str, str], counts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Write cells.parquet and tokens.parquet of a folder from its scores/; return the cells.

    ``counts`` are cells of models whose answers nobody has, reconstructed from the printed tables:
    they stand beside those of scored models.
    """
    folder = Path(folder)
    cells = []
    tokens = []
    if counts is not None:
        cells.append(counts)
        tokens.append(counts[TOKENS.names].drop_duplicates())
    if counts is None or any((folder / "scores").glob("*.parquet")):
        cells.append(read_summary(folder / "scores", "cells").assign(provenance="scored"))
        tokens.append(read_summary(folder / "scores", "tokens"))
    frames = {"tokens": _gather("tokens", tokens), "cells": _gather("cells", cells)}
    for name, frame in frames.items():  # make looks at the cells, so they come last
        write_table(folder / f"{name}.parquet", frame, metadata)
    return frames["cells"]


def score_files(scores_dir: str | Path) -> list[Path]:
    """Return the score files of a folder; a ValueError if there are none."""
    files = sorted(Path(scores_dir).glob("*.parquet"))
    if not files:
        raise ValueError(
            f"{scores_dir} holds no scores; run `make score`, outside a checkout `cogniload score`"
        )
    return files


def read_scores(scores_dir: str | Path) -> pd.DataFrame:
    """Return all scores of a folder without windows and answers; token counts are whole numbers, or missing.

    A build of counts alone has none.
    """
    columns = [name for name in SCORES.names if name not in ("window", "answer")]
    tables = [SCORES.empty_table().select(columns)]
    for path in sorted(Path(scores_dir).glob("*.parquet")):
        with open_parquet(path) as file:
            tables.append(file.read(columns=columns))
    whole = {pa.int64(): pd.Int64Dtype()}
    scores = pa.concat_tables(tables).replace_schema_metadata().to_pandas(types_mapper=whole.get)
    return scores.astype({"N": "int64", "d": "int64"})


def _gather(name: str, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join frames of one of `SUMMARIES` in its order."""
    frame = pd.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True).astype(
        {"model": str}
    )
    if name == "endings":
        frame = frame.groupby("model", as_index=False).sum()
    frame = frame.sort_values(SUMMARIES[name][1], kind="stable", ignore_index=True)
    return _by_model(frame) if name == "cells" else frame


def _by_model(frame: pd.DataFrame) -> pd.DataFrame:
    rank = {model: place for place, model in enumerate(order_models(frame["model"]))}
    return frame.sort_values(
        "model", key=lambda names: names.map(rank), kind="stable", ignore_index=True
    )
