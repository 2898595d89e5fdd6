"""Scores counted by model and cell: the table from which everything else follows."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from cogniload_repro.frames import check_frame
from cogniload_repro.schemas import CELLS, SCORES
from cogniload_repro.scoring.scores import frame_scores
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS
from cogniload_repro.statistics.accuracy import order_models
from cogniload_repro.storage import as_place, open_parquet, read_metadata, weakest_provenance, write_table

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


def count_cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Count scores by model and cell.

    Parameters
    ----------
    scores : DataFrame
        The scores table; window and answer are not needed.

    Returns
    -------
    DataFrame
        One row a model and covered cell, models in printed order, then cells by N, ratio_pct, d: model, N, d,
        ratio_pct (%), needles, rho (fraction), total (puzzles), correct, ctx, valid_logic, poi_logic, last_logic,
        other (puzzles), prompt_mean, prompt_p90, output_mean, output_p90 (tokens, over the responses whose
        count is known; missing where there is none; p90 interpolates linearly between responses).
    """
    column = scores["bucket"].map(BUCKET_COLUMNS)
    frame = scores[[*_KEYS, "rho"]].assign(
        total=1,
        **{name: (column == name).astype("int64") for name in _COUNTS},
        prompt=scores["prompt_tokens"].astype("float64"),
        output=scores["response_tokens"].astype("float64"),
    )
    grouped = frame.groupby(_KEYS, observed=True)
    cells = grouped[["total", *_COUNTS]].sum()
    cells.insert(0, "rho", grouped["rho"].first())
    for kind in ("prompt", "output"):
        cells[f"{kind}_mean"], cells[f"{kind}_p90"] = grouped[kind].mean(), grouped[kind].quantile(0.9)
    cells = cells.reset_index()
    cells["needles"] = (cells["rho"] * cells["N"]).round().astype("int64")
    cells = pd.concat([cells[cells["model"] == model] for model in order_models(cells["model"])])
    head = ["model", "N", "d", "ratio_pct", "needles", "rho"]
    return cells[[*head, *cells.columns.difference(head, sort=False)]].reset_index(drop=True)


def write_cells(scores_dir: str | Path, cells_path: str | Path, chosen: Collection[str] = ()) -> pd.DataFrame:
    """Count all scores of a folder, write the cells table and return it.

    Models named as chosen are marked in a column ``chosen``, which is there if there are any: their puzzles are those
    that tell most, so that their accuracies are not averaged. The cells carry the weakest provenance of the scores:
    reconstructed, as soon as one model is.

    Raises
    ------
    ValueError
        If there are no scores, or their provenance is unknown.
    """
    files = score_files(scores_dir)
    cells = count_cells(read_scores(scores_dir))
    if cells["model"].isin(list(chosen)).any():
        cells["chosen"] = cells["model"].isin(list(chosen)).astype("int64")
    metadata = [read_metadata(file) for file in files]
    shared = [key for key in metadata[0] if key != "outputs"]  # each score file has other outputs
    joined = {key: "; ".join(sorted({one.get(key, "") for one in metadata})) for key in shared}
    joined["provenance"] = weakest_provenance(one.get("provenance", "") for one in metadata)
    write_table(cells_path, check_frame(cells, CELLS, str(cells_path), "report it, it is a fault here"), joined)
    return cells


def score_files(scores_dir: str | Path) -> list[Path]:
    """Return the score files of a folder.

    Raises
    ------
    ValueError
        If there are none.
    """
    files = sorted(as_place(scores_dir).glob("*.parquet"))
    if not files:
        raise ValueError(f"{scores_dir} holds no scores; run `make score`, outside a checkout `cogniload score`")
    return files


def read_scores(scores_dir: str | Path) -> pd.DataFrame:
    """Return all scores of a folder, without the windows and answers."""
    columns = [name for name in SCORES.names if name not in ("window", "answer")]
    tables = []
    for path in score_files(scores_dir):
        with open_parquet(path) as file:
            tables.append(frame_scores(file.read(columns=columns)))
    return pd.concat(tables, ignore_index=True)


def token_stats(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and output tokens by model, N and d (paper, Appendix H).

    Parameters
    ----------
    scores : DataFrame
        One row a puzzle: model, N, d, prompt_tokens, response_tokens; unknown counts are left out.

    Returns
    -------
    DataFrame
        Columns model, N, d, prompt_mean, prompt_p90, output_mean, output_p90 (tokens; NaN if none is known).
    """
    tokens = scores[["prompt_tokens", "response_tokens"]].astype("float64")
    groups = tokens.assign(**{key: scores[key] for key in ("model", "N", "d")}).groupby(["model", "N", "d"])
    kinds = {"prompt": "prompt_tokens", "output": "response_tokens"}
    return pd.DataFrame(
        {
            f"{kind}_{name}": groups[column].mean() if name == "mean" else groups[column].quantile(0.9)
            for kind, column in kinds.items()
            for name in ("mean", "p90")
        }
    ).reset_index()
