"""What a source of outputs holds, told before a long run: cells, missing puzzles, token counts, possible tables."""

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.accuracy import order_models
from cogniload_repro.catalog import Catalog
from cogniload_repro.intake.imports import Report
from cogniload_repro.outputs import Output, Rejected, read_outputs

#: The paper's table of token counts for each task length.
TOKEN_TABLES = {20: 7, 50: 8, 100: 9, 250: 10}

_CELL = ["N", "ratio_pct", "d"]


def check_outputs(source: str | Path, catalog: Catalog, *, model: str | None = None) -> tuple[pd.DataFrame, Report]:
    """Read a source without writing anything, and count what is there.

    Parameters
    ----------
    source : path
        A local file or folder, see `cogniload_repro.outputs.read_outputs`.
    catalog : Catalog
        Known puzzles, against which missing ones are counted.
    model : str, optional
        The model of rows that name none.

    Returns
    -------
    frame : DataFrame
        One row a model, the paper's first: model, responses, cells (with at least one response), missing
        (puzzles that the model lacks in those cells, as against its fullest cell and the known puzzles),
        prompt_counts and response_counts (responses with a token count), empty (responses without text),
        tables (of the paper, that can be computed from it).
    report : Report
        Responses by model and rejected rows by reason, duplicates among them.

    Raises
    ------
    ValueError
        If there is no such source or it holds no outputs.
    """
    answers: dict[str, list[tuple[int, bool, bool, bool]]] = defaultdict(list)
    rejected: Counter[str] = Counter()
    examples: dict[str, Rejected] = {}
    for item in read_outputs(source, catalog, model=model):
        if isinstance(item, Output):
            counted = item.prompt_tokens is not None, item.response_tokens is not None
            answers[item.model].append((catalog.place(item.name), *counted, item.response == ""))
        else:
            rejected[item.reason] += 1
            examples.setdefault(item.reason, item)
    puzzles = catalog.table().select([*_CELL, "rho"]).to_pandas()
    rows = [_summarise(name, answers[name], puzzles) for name in order_models(answers)]
    return pd.DataFrame(rows, columns=_COLUMNS), Report(
        {name: len(found) for name, found in answers.items()}, rejected, examples
    )


_COLUMNS = ["model", "responses", "cells", "missing", "prompt_counts", "response_counts", "empty", "tables"]


def _summarise(name: str, answers: list[tuple[int, bool, bool, bool]], puzzles: pd.DataFrame) -> tuple:
    places, prompts, responses, empty = (list(column) for column in zip(*answers, strict=True))
    answered = puzzles.iloc[places].assign(counted=np.logical_and(prompts, responses))
    sizes = answered.groupby(_CELL).size()
    known = puzzles.groupby(_CELL).size().reindex(sizes.index)
    missing = (known.clip(upper=sizes.max()) - sizes).sum()
    tables = " ".join(map(str, _possible_tables(answered)))
    return name, len(answers), len(sizes), int(missing), sum(prompts), sum(responses), sum(empty), tables


def _possible_tables(answered: pd.DataFrame) -> list[int]:
    """Return the numbers of the paper's tables for which the covered cells suffice."""
    cells = answered.drop_duplicates(_CELL)
    d, log10_N, rho = cells["d"], np.log10(cells["N"]), cells["rho"]
    quadratic = [d**0, d, log10_N, rho, rho**2]
    interactions = [*quadratic, d * log10_N, d * rho, log10_N * rho, d * log10_N * rho]
    tables = [4, 5]
    if _is_estimable(quadratic):
        tables += [2, 6]
    if _is_estimable(interactions):
        tables.append(3)
    counted = set(answered.loc[answered["counted"], "N"])
    return sorted([*tables, *(table for N, table in TOKEN_TABLES.items() if N in counted)])


def _is_estimable(columns: list[pd.Series]) -> bool:
    """Tell whether a regression on these columns has one solution."""
    design = np.column_stack([column.to_numpy(float) for column in columns])
    design /= np.abs(design).max(axis=0).clip(min=1e-300)
    return np.linalg.matrix_rank(design) == design.shape[1]
