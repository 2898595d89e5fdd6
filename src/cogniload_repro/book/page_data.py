"""Numbers for the scripts of pages: models to compare, and puzzles to step through.

The scripts make texts of them; `compare_pair` has the same rows for a terminal. Tables are dicts of
columns. In them a model is its index in ``models``, since a name may be any text.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.analysis.comparisons import MARGIN, compare_pairs, limit_models
from cogniload_repro.analysis.overflows import overflow_shares
from cogniload_repro.analysis.specifications import (
    SPECIFICATIONS,
    Specification,
    fit_specifications,
)
from cogniload_repro.analysis.uncertainty import capacity_intervals
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL
from cogniload_repro.models import NAMES, order_models, resolve_model
from cogniload_repro.published import ALPHA, CONFIDENCE
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.regression.capacity import list_points
from cogniload_repro.regression.cell_tables import (
    accuracy_by,
    describe_cells,
    load_cells,
)
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import is_mean_identified
from cogniload_repro.regression.reconstructions import (
    committed_counts,
    from_printed_tables,
    over_reconstructions,
    range_over,
)
from cogniload_repro.scoring.outcome import find_mention
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS
from cogniload_repro.scoring.response import score_response

_DIGITS = 8  # significant ones in a script
_ESTIMATE = ["estimate", "low", "high"]
_LEVEL = ["model", "load", "level", *_ESTIMATE, "identified"]
POINTS = ["ecl50", "nt50", "id50"]
_PAIR = ["first", "second", "cells", "N", *_ESTIMATE, "verdict"]
_PAIR += ["p", "p_holm", "tests", "identified"]


def write_script(name: str, value: Any) -> str:
    """Return a script that stores a value in ``cogniload.data.NAME``.

    A page opened from disk may load scripts from its folder, but no other data. A script may hold
    NaN and Infinity.
    """
    text = json.dumps(value, separators=(",", ":"))
    return f"(globalThis.cogniload ??= {{}}).data ??= {{}};\ncogniload.data.{name} = {text};\n"


def cells_to_show(build: str | Path) -> pd.DataFrame:
    """Return the scored cells of a build, and the committed cells of the paper's other models.

    The committed cells cover the whole grid, so that what they show does not depend on the build.
    """
    committed = load_cells()
    if not (Path(build) / "cells.parquet").exists():
        return committed
    cells = load_cells(build)
    scored = cells[~from_printed_tables(cells)]
    others = committed[~committed["model"].isin(scored["model"])]
    return pd.concat([others, scored], ignore_index=True) if len(scored) else others


def has_tokens(cells: pd.DataFrame) -> pd.Series:
    """Return for each row whether the token counts that the context limit needs are known."""
    return cells.reindex(columns=["prompt_mean", "output_mean"]).notna().all(axis=1)


# ---- Compare ----
def compare_data(build: str | Path) -> dict[str, Any]:
    """Return what the page Compare shows of a build's models and the paper's.

    ``origins`` say where the counts of each model come from ("" for scored answers).
    """
    cells = limit_models(cells_to_show(build))
    models = order_models(cells["model"])
    names = display_names(models)
    regressions = []
    for specification in identified_specifications():
        rows = _list_columns(regression_rows(cells, specification), models)
        title = {"name": specification.name, "formula": specification.formula}
        regressions.append(title | {"rows": rows})
    return {
        "models": [names[model] for model in models],
        "origins": [describe_cells(cells[cells["model"] == model]) for model in models],
        "margin": MARGIN,
        "confidence": CONFIDENCE,
        "pairs": _list_columns(pair_rows(cells), models),
        "accuracy": _list_columns(accuracy_rows(cells), models),
        "overflow": _list_columns(overflow_rows(cells), models),
        "regressions": regressions,
    }


def compare_pair(build: str | Path, first: str, second: str) -> dict[str, Any]:
    """Return the rows of the page Compare on two models, under the paper's regression.

    A model is called by its full or short name.
    """
    cells = cells_to_show(build)
    names = [resolve_model(name, cells["model"]) for name in (first, second)]
    pairs = pair_rows(cells)
    cells = cells[cells["model"].isin(names)]
    return {
        "origin": describe_cells(cells),
        "pair": pairs[pairs[["first", "second"]].isin(names).all(axis=1)],
        "accuracy": accuracy_rows(cells),
        "overflow": overflow_rows(cells),
        "regression": regression_rows(cells, SPECIFICATIONS[0]),
    }


def _list_columns(rows: pd.DataFrame, models: list[str]) -> dict[str, list]:
    """Return rows as columns for a script: models as indices, numbers to `_DIGITS`."""
    columns = {}
    for name, values in rows.items():
        if name in ("model", "first", "second"):
            values = values.map(models.index)
        elif pd.api.types.is_float_dtype(values):
            values = values.map(lambda number: float(f"{number:.{_DIGITS}g}"))
        columns[name] = values.tolist()
    return columns


def accuracy_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies: model, load, level (of the load), estimate, low, high, identified.

    The first load is "all puzzles". Ends are those of the 90% Wilson interval. Where the printed
    tables do not identify the accuracy, the estimate is the median over the reconstructions, with
    their range.
    """
    overall = {"load": "all puzzles", "level": np.nan, "identified": True}
    parts = [_accuracies(cells).assign(**overall)]
    parts += [_accuracies_along(cells, load) for load in ("N", "d", "ratio_pct")]
    return pd.concat(parts, ignore_index=True)[_LEVEL]


def _accuracies(cells: pd.DataFrame, *loads: str) -> pd.DataFrame:
    rows = accuracy_by(cells, "model", *loads).rename(columns={"accuracy": "estimate"})
    return rows.rename(columns=dict.fromkeys(loads, "level"))


def _accuracies_along(cells: pd.DataFrame, load: str) -> pd.DataFrame:
    rows = _accuracies(cells, load).assign(load=load, identified=True)
    levels = GRID.groupby(load).filter(lambda inside: not is_mean_identified(inside))[
        load
    ]
    is_open = from_printed_tables(cells) & cells[load].isin(levels)
    if not is_open.any():
        return rows
    samples = over_reconstructions(
        cells[is_open], lambda table: _accuracies(table, load)
    )
    by_level = samples.groupby(["model", "level"])
    ranges = by_level[["estimate"]].median().join(range_over(by_level, ["estimate"]))
    rows = rows.set_index(["model", "level"])
    rows.loc[ranges.index, _ESTIMATE] = ranges.to_numpy()
    rows.loc[ranges.index, "identified"] = False
    return rows.reset_index()


def overflow_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the share of answers that ran out of context by N and d, as in `accuracy_rows`.

    Scored answers whose tokens are not known are left out.
    """
    is_tested = from_printed_tables(cells) | has_tokens(cells)
    parts = []
    for load in ("N", "d"):
        shares = overflow_shares(cells[is_tested], load).assign(
            load=load, identified=True
        )
        parts.append(shares.rename(columns={load: "level", "share": "estimate"}))
    return pd.concat(parts, ignore_index=True).reindex(columns=_LEVEL)


def identified_specifications() -> list[Specification]:
    """Return the regressions of chapter 11 that the printed tables identify, the paper's first."""
    # the same for each of the paper's models
    fits = fit_specifications(load_cells(models=NAMES[0])).set_index("specification")
    return [one for one in SPECIFICATIONS if fits.loc[one.name, "identified"]]


def regression_rows(cells: pd.DataFrame, specification: Specification) -> pd.DataFrame:
    """Return a regression: model, quantity, estimate, low, high, p, status, identified.

    Quantities are aic, capacity points and the terms. The points of the paper's regression have
    profile-likelihood intervals.
    """
    fits = fit_specifications(cells, [specification])
    aic = fits[["model", "status"]].assign(quantity="aic", estimate=fits["aic"])
    if specification == SPECIFICATIONS[0]:
        profile = {"point": "quantity", "profile_low": "low", "profile_high": "high"}
        points = capacity_intervals(cells).rename(columns=profile)
    else:
        wide = list_points(fits["fit"].tolist())
        points = wide.melt(["model"], POINTS, "quantity", "estimate")
    terms = []
    reach = norm.ppf(1 - ALPHA / 2)
    for model, fit in fits.loc[fits["status"] == "ok", ["model", "fit"]].to_numpy():
        numbers = {"quantity": fit.terms, "estimate": fit.coef, "p": fit.p}
        ends = {"low": fit.coef - reach * fit.se, "high": fit.coef + reach * fit.se}
        terms.append(pd.DataFrame(numbers | ends).assign(model=model))
    rows = pd.concat([aic, points, *terms], ignore_index=True).fillna({"status": "ok"})
    rows = rows.reindex(columns=["model", "quantity", *_ESTIMATE, "p", "status"])
    return rows.assign(identified=True)


def pair_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each pair: first, second, cells, N, estimate, low, high, verdict, p, p_holm, tests.

    The estimate is the first model's accuracy minus the second's, over the cells of both (N is
    missing) or at one length. The verdict is that of one planned comparison, p_holm is adjusted
    over all pairs, whose number is tests. A difference that the printed tables do not identify
    (column identified) has its range over the reconstructions. Pairs without a common cell are
    left out.
    """
    names = {"difference": "estimate", "ci_low": "low", "ci_high": "high"}
    pairs = compare_pairs(cells).rename(columns=names)
    for end, column in (("low", "difference_p10"), ("high", "difference_p90")):
        pairs[end] = pairs[end].where(pairs["identified"], pairs[column])
    parts = [pairs]
    known = pairs[pairs["identified"]]
    for column in pairs.filter(regex=r"^verdict_\d"):
        N = int(column.removeprefix("verdict_"))
        level = known[["first", "second", "cells", "identified"]]
        level = level.assign(
            N=N, estimate=known[f"difference_{N}"], verdict=known[column]
        )
        parts.append(level.dropna(subset="estimate"))
    return pd.concat(parts, ignore_index=True).reindex(columns=_PAIR)


# ---- Explorer ----
def explorer_data(build: str | Path) -> dict[str, Any]:
    """Return what the explorer needs: phrases, two puzzles of each cell, and counts of all models.

    ``phrases`` has the initial, condition, update and question phrase of each category, with {} for
    the value or person. ``puzzles`` are those of `describe_puzzle`, with example answers and their
    verdicts. ``counts`` are those of `count_rows`.
    """
    build = Path(build)
    puzzles = []
    for row in _choose_puzzles(build / "puzzles.parquet").to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # a reader's own puzzle that the parser cannot read
            continue
        question = {name: row[name] for name in ("poi", "gold", "category")}
        question["domain"] = list(row["domain"])
        answers = [
            judge_answer(text, question, **details)
            for text, details in prepare_answers(puzzle, question)
        ]
        entry = {name: row[name] for name in ("name", "ratio_pct", "gold")}
        puzzles.append(describe_puzzle(puzzle) | entry | {"answers": answers})
    cells = cells_to_show(build)
    models = order_models(cells["model"])
    names = display_names(models)
    return {
        "phrases": {name: list(forms) for name, forms in PHRASES.items()},
        "puzzles": puzzles,
        "models": [names[model] for model in models],
        "origin": describe_cells(cells),
        "counts": _list_columns(count_rows(cells), models),
    }


def _choose_puzzles(path: Path) -> pd.DataFrame:
    """Return the first two puzzles of each cell."""
    table = pd.read_parquet(path, columns=["name", *CELL])
    names = table.groupby(CELL).head(2)["name"].tolist()
    puzzles = pd.read_parquet(path, filters=[("name", "in", names)])
    return puzzles.sort_values(CELL, kind="stable")


def count_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return counts by model and configuration: the loads, answers, least, most, overflows.

    Least and most are correct answers over the reconstructions, equal for scored answers. The
    number of answers that ran out of context is missing where it is not known.
    """
    cells = cells[cells["total"] > 0].reset_index(drop=True)
    is_reconstructed = from_printed_tables(cells)
    correct = np.where(is_reconstructed, committed_counts(cells), cells["correct"])
    overflows = cells["ctx"].where(~is_reconstructed & has_tokens(cells))
    counts = cells[["model", *CELL]].assign(answers=cells["total"])
    ends = {"least": correct.min(axis=0), "most": correct.max(axis=0)}
    return counts.assign(**ends, overflows=overflows.astype(float))


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in which indices into lists replace people, categories and values.

    Each statement in ``moves`` has its conditions and its updates, as pairs of category and value.
    """
    moves = [
        [_list_pairs(conditions, before), _list_pairs(updates, after)]
        for _, before, conditions, after, updates in puzzle.moves
    ]
    return {
        "N": puzzle.N,
        "d": puzzle.d,
        "people": puzzle.people,
        "poi": puzzle.people.index(puzzle.poi),
        "category": puzzle.category,
        "domains": puzzle.domains,
        "start": [list(values) for values in puzzle.start],
        "moves": moves,
    }


def _list_pairs(categories: list[int], values: Any) -> list[list[int]]:
    return [[category, int(values[category])] for category in categories]


def prepare_answers(
    puzzle: Puzzle, question: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield made-up answers to a puzzle, each with its title and, for one, token counts."""
    gold = question["gold"]
    wrong = next(value for value in question["domain"] if value != gold)
    sentence = f"{question['poi']} {PHRASES[question['category']].initial}."
    right = sentence.replace("{}", gold)
    other = sentence.replace("{}", wrong)
    statements = puzzle.text.split("\n\n")[1].split("\n")
    last_steps = "\n".join(statements[-3:-1])
    unsure = f"After the last statement {right}\n\nI am not sure about this."
    answers = {
        "correct": right,
        "wrong": other,
        "unsure after correct reasoning": unsure,
        "correct on the way, wrong at the end": f"First {right}\nIn the end {other}",
        "bold": sentence.replace("{}", f"**{gold}**"),
        "with a remark in brackets": f"Answer: {gold}\n(This is so after statement {puzzle.N}.)",
        "in back quotes": f"The answer is `{gold}`",
        "cut off": f"{last_steps}\nThe people who",
    }
    for title, text in answers.items():
        yield text, {"title": title}
    title = f"right, but all {CONTEXT_TOKENS:,} tokens are used up"
    yield right, {"title": title, "prompt_tokens": 0, "response_tokens": CONTEXT_TOKENS}


def judge_answer(
    text: str, question: dict[str, Any], title: str = "", **tokens: Any
) -> dict[str, Any]:
    """Return an answer with its outcome.

    Has the bucket, the value that decided (``answer``), the index of the window that decided (-1
    for none), and the windows, each with the values found in it.
    """
    outcome = score_response(text, **question, **tokens)
    windows = list(outcome.windows)
    has_decided = bool(outcome.window) and outcome.window in windows
    found = []
    for window in windows:
        values = [
            value for value in question["domain"] if find_mention(value.lower(), window)
        ]
        found.append([window, values])
    return {
        "title": title,
        "text": text,
        "bucket": str(outcome),
        "answer": outcome.answer,
        "window": windows.index(outcome.window) if has_decided else -1,
        "windows": found,
    }
