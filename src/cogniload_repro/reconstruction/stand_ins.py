"""The default outputs: texts made from the counts that scoring gives back, so that the step `score` has work.

Texts are invented; only the counts per cell and bucket, and the means and 90th percentiles of token lengths (Tables 7
to 10), are the paper's. Which puzzle of a cell went wrong, and the wording, are drawn at random.
"""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, as_completed
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.grid import Cell
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.puzzles.draws import Mersenne
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scoring.cells import BUCKET_COLUMNS
from cogniload_repro.scoring.verdict import PSEUDOCODE, Question, find_bucket
from cogniload_repro.storage import partition_path, read_texts, remove_parts, write_table

#: Seed of all that is drawn here and in `reconstruct`.
DRAW_SEED = 2026
#: Bucket of the scorer for each error column of the cells table.
_WRONG = {column: bucket for bucket, column in BUCKET_COLUMNS.items() if column in ERRORS}
#: Shares of the three kinds of correct answers; the paper does not print them.
CORRECT_SHARES = {"correct_valid": 0.96, "correct_poi": 0.02, "correct_last_sentence": 0.02}

_KEYS = ["N", "ratio_pct", "d"]
_CELL = len(_KEYS)
_PUZZLE_COLUMNS = [*_KEYS, "name", "poi", "category", "gold", "domain"]

_PROMPTS, _OUTPUTS = ["prompt_mean", "prompt_p90"], ["output_mean", "output_p90"]

# A number of an odd cell is kept up to so many errors of the kin's line, which are at least those of rounding.
_ODD_ERRORS, _ROUNDING = 2.0, 0.5

#: Openings; the kind of wording of each bucket; wordings by kind. {s}: a sentence with person, property and value; {v}:
#: the value; {c}: property and value; {p}: the person; {boxed}: the sentence with the value in a box.
_TEXTS = json.loads((RECONSTRUCTED / "wordings.json").read_text(encoding="utf-8"))


def cells_in(grid: Iterable[Cell]) -> pd.DataFrame:
    """Return the reconstructed cells of a grid, which has no cell that the paper does not have."""
    cells = pd.read_csv(RECONSTRUCTED / "cells.csv")
    keys = pd.MultiIndex.from_frame(cells[["N", "ratio_pct", "d"]].astype({"ratio_pct": float}))
    wanted = pd.MultiIndex.from_tuples([(cell.N, float(cell.ratio_pct), cell.d) for cell in grid])
    if len(foreign := wanted.difference(keys)):
        raise ValueError(
            f"the paper has no cell (N, ratio_pct, d) = {foreign[0]}; only its cells can be reconstructed"
        )
    return cells[keys.isin(wanted)].reset_index(drop=True)


def stand_in_outputs(
    model: str, cells: pd.DataFrame, puzzles: pd.DataFrame, seed: int = DRAW_SEED
) -> pd.DataFrame:
    """Return stand-in responses of one model, which has its own random stream: the outputs' columns but stopped.

    ``puzzles`` is the puzzles table, domains as lists, with the length of each text in `characters`. A model answers
    the first puzzles of each of its ``cells``, as many as its total.
    """
    rng = np.random.default_rng([seed, list(BY_NAME).index(model)])
    total = (
        puzzles[_KEYS]
        .merge(cells[[*_KEYS, "total"]], on=_KEYS, how="left")["total"]
        .fillna(0)
        .to_numpy()
    )
    answered = puzzles.groupby(_KEYS, sort=False).cumcount().to_numpy() < total
    rows = puzzles.loc[answered, [*_PUZZLE_COLUMNS, "characters"]].reset_index(drop=True)
    if len(rows) != cells["total"].sum():
        raise ValueError(
            f"the puzzles table holds {len(rows)} of the {cells['total'].sum()} puzzles of these cells; "
            "draw it again with `cogniload puzzles`"
        )
    rows["bucket"] = _assign_buckets(cells, rows, rng)
    rows = rows.assign(**draw_tokens(model, rows, rng))
    draws = Mersenne()
    draws.seed(int(rng.integers(2**63)))
    rows["response"] = _word_all(rows, draws)
    return rows.assign(model=model)[
        ["model", "name", "response", "prompt_tokens", "response_tokens"]
    ]


def write_stand_ins(
    puzzles_path: str | Path, cells: pd.DataFrame, outputs_dir: str | Path, executor: Executor
) -> int:
    """Write stand-in responses of all models as outputs, one partition a model; return their number.

    Partitions of other models are removed in the end.
    """
    puzzles_path, outputs_dir = Path(puzzles_path), Path(outputs_dir)
    remove_parts(outputs_dir)
    _read_puzzles.cache_clear()  # another table may have been at this path
    _read_puzzles(puzzles_path), printed_tokens()  # forked processes share them
    paths = {model: partition_path(outputs_dir, model) for model in cells["model"].unique()}
    tasks = [
        executor.submit(_write_model, m, cells[cells["model"] == m], puzzles_path, paths[m])
        for m in paths
    ]
    finished = tqdm(
        as_completed(tasks), "responses", total=len(tasks), unit=" models", disable=None
    )
    count = sum(task.result() for task in finished)
    for stale in set(outputs_dir.glob("*.parquet")) - set(paths.values()):
        stale.unlink()
    return count


def _write_model(model: str, cells: pd.DataFrame, puzzles_path: Path, path: Path) -> int:
    outputs = stand_in_outputs(model, cells, _read_puzzles(puzzles_path)).assign(
        stopped=None
    )  # not in the paper
    metadata = {"provenance": "reconstructed", "source": "worded from data/reconstructed/cells.csv"}
    metadata |= {
        "seed": str(DRAW_SEED),
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    write_table(path, pa.Table.from_pandas(outputs, OUTPUTS, preserve_index=False), metadata)
    return len(outputs)


@lru_cache(maxsize=1)
def _read_puzzles(path: Path) -> pd.DataFrame:
    """Read the puzzles once, with lists and text as objects, which rows share, and of their texts the lengths."""
    puzzles = pd.read_parquet(path, columns=_PUZZLE_COLUMNS).astype(
        dict.fromkeys(_PUZZLE_COLUMNS[_CELL:], object)
    )
    return puzzles.assign(
        domain=puzzles["domain"].map(list), characters=list(map(len, read_texts(path)))
    )


def _assign_buckets(
    cells: pd.DataFrame, rows: pd.DataFrame, rng: np.random.Generator
) -> np.ndarray:
    """Deal each cell's buckets out to its puzzles."""
    buckets, members = np.empty(len(rows), dtype=object), rows.groupby(_KEYS, sort=False).indices
    for cell in cells[cells["total"] > 0].to_dict("records"):
        split = rng.multinomial(cell["correct"], list(CORRECT_SHARES.values()))
        dealt = np.repeat(
            [*CORRECT_SHARES, *_WRONG.values()], [*split, *(cell[column] for column in _WRONG)]
        )
        buckets[members[tuple(cell[key] for key in _KEYS)]] = rng.permutation(dealt)
    return buckets


def _word_all(rows: pd.DataFrame, draws: Mersenne) -> list[str]:
    """Word all responses; a puzzle that cannot be worded into its bucket swaps buckets with another of its cell.

    The scorer finds the right value red in every sentence about Fred, for instance, and never calls one wrong.
    """
    rows = list(rows.itertuples(index=False))
    responses = [_word(row, row.bucket, draws) for row in rows]
    for stuck in [place for place, response in enumerate(responses) if response is None]:
        cell = rows[stuck][:_CELL]
        for other, row in enumerate(rows):
            if (
                row[:_CELL] == cell
                and responses[other] is not None
                and row.bucket != "wrong_max_context"
            ):
                swapped = (
                    _word(rows[stuck], row.bucket, draws),
                    _word(row, rows[stuck].bucket, draws),
                )
                if None not in swapped:
                    responses[stuck], responses[other] = swapped
                    rows[other] = row._replace(bucket=rows[stuck].bucket)
                    rows[stuck] = rows[stuck]._replace(bucket=row.bucket)
                    break
        else:
            raise ValueError(
                f"no puzzle of the cell of {rows[stuck].name} can be worded as {rows[stuck].bucket}"
            )
    return responses  # type: ignore[return-value]  # none is stuck any more


def _word(row, bucket: str, draws: Mersenne) -> str | None:
    """Word a response that the scorer puts into a bucket (for a correct answer any correct one); None if none is."""
    question = Question(row.poi, row.gold, row.domain, row.category)
    for wanted in dict.fromkeys(
        (bucket, "correct_valid" if bucket.startswith("correct") else bucket)
    ):
        for response in _proposals(row, wanted, draws):
            if (
                find_bucket(response, question, PSEUDOCODE, row.prompt_tokens, row.response_tokens)[
                    0
                ]
                == wanted
            ):
                return response
    return None


def _proposals(row, bucket: str, draws: Mersenne) -> Iterator[str]:
    """Propose responses: all values and wordings, from a random one on."""
    if bucket == "wrong_max_context":
        yield _from_anywhere(_TEXTS["wordings"]["overflow"], draws)[0] if row.overflows else ""
        return
    values = (
        [row.gold] if bucket.startswith("correct") else [v for v in row.domain if v != row.gold]
    )
    opening, poi, phrases = (
        _from_anywhere(_TEXTS["openings"], draws)[0],
        row.poi,
        PHRASES[row.category],
    )
    for value in _from_anywhere(values, draws):
        plain, boxed = (
            f"{poi} {phrases.initial.format(said)}." for said in (value, f"\\boxed{{{value}}}")
        )
        for wording in _from_anywhere(_TEXTS["wordings"][_TEXTS["kinds"][bucket]], draws):
            yield opening + wording.format(
                s=plain, boxed=boxed, c=phrases.condition.format(value), p=poi, v=value
            )


def _from_anywhere(items: list, draws: Mersenne) -> list:
    start = draws.below(len(items))
    return items[start:] + items[:start]


@cache
def printed_tokens() -> pd.DataFrame:
    """Return the numbers of Tables 7 to 10 (index model, N, d) that responses are drawn to have; NaN: illegible output.

    A prompt length that is not legible, or stands in a cell flagged "odd" and is off what the model's nearest kin
    implies, is the kin's: models that read the same puzzles with like tokenizers differ by a straight line.
    """
    tokens = load_table("tokens").set_index(["model", "N", "d"])
    odd = tokens["flag"].str.split(";").map(lambda flags: "odd" in flags)
    prompts = tokens[_PROMPTS].copy()
    for quantity in _PROMPTS:
        printed = tokens[quantity]
        clean = (
            printed.mask(odd).reset_index().pivot_table(quantity, ["N", "d"], "model", dropna=False)
        )
        lengths, error = _from_kin(clean)
        implied = pd.Series(
            [lengths.loc[(N, d), model] for model, N, d in tokens.index], tokens.index
        )
        largest = _ODD_ERRORS * tokens.index.get_level_values("model").map(error).to_numpy().clip(
            _ROUNDING
        )
        prompts[quantity] = printed.mask(odd & ((printed - implied).abs() > largest)).fillna(
            implied
        )
    return prompts.join(tokens[_OUTPUTS])


def _from_kin(lengths: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return what each model's (column's) nearest kin on a straight line implies, and the root mean square error.

    A level (row) that the nearest kin lacks comes from the next nearest.
    """
    implied, errors = {}, {}
    for model in lengths:
        lines = []
        for other in lengths.columns.drop(model):
            x, y = lengths[other].to_numpy(), lengths[model].to_numpy()
            both = np.isfinite(x) & np.isfinite(y)
            slope, intercept = np.polyfit(x[both], y[both], 1)
            line = intercept + slope * x
            lines.append((np.sqrt(np.mean((y - line)[both] ** 2)), line))
        lines.sort(key=lambda line: line[0])
        errors[model], implied[model] = lines[0]
        for _, line in lines:
            implied[model] = np.where(np.isnan(implied[model]), line, implied[model])
    return pd.DataFrame(implied, lengths.index).round(), pd.Series(errors)


def draw_tokens(model: str, rows: pd.DataFrame, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw tokens for a model's responses (N, d, characters of the text, bucket), and whether they exceed the budget.

    Only responses of the bucket wrong_max_context do (Appendix D.3); those for which the printed mean and percentile
    leave no room stay short, and are empty responses instead.
    """
    printed = _completed(model)
    prompt, response = np.zeros(len(rows), dtype=int), np.zeros(len(rows), dtype=int)
    lengths = rows["characters"].to_numpy()
    context = (rows["bucket"] == "wrong_max_context").to_numpy()
    for condition, members in rows.groupby(["N", "d"], sort=False).indices.items():
        mean, p90, out_mean, out_p90 = printed.loc[condition, [*_PROMPTS, *_OUTPUTS]]
        characters = lengths[members] - lengths[members].mean()
        spread = np.quantile(lengths[members], 0.9) - lengths[members].mean()
        slope = (p90 - mean) / spread if spread > 0 else 0.0
        prompt[members] = np.maximum(np.rint(mean + slope * characters), 1).astype(int)
        room = CONTEXT_TOKENS - RESERVED_TOKENS - prompt[members]
        response[members] = _response_tokens(room, context[members], out_mean, out_p90, rng)
    overflows = prompt + response + RESERVED_TOKENS >= CONTEXT_TOKENS
    return {"prompt_tokens": prompt, "response_tokens": response, "overflows": overflows}


def _completed(model: str) -> pd.DataFrame:
    """Return the printed numbers of a model by (N, d); an illegible output is that of the next larger or smaller N.

    Where one of its two numbers is legible, the other is in proportion.
    """
    own = printed_tokens().loc[model].copy()
    mean, p90 = own["output_mean"], own["output_p90"]
    tail = (p90 / mean).groupby("d").transform(lambda column: column.bfill().ffill())
    own["output_mean"], own["output_p90"] = mean.fillna(p90 / tail), p90.fillna(mean * tail)
    own[_OUTPUTS] = own[_OUTPUTS].groupby("d").transform(lambda column: column.bfill().ffill())
    return own.fillna(own.median())


def _response_tokens(
    room: np.ndarray, context: np.ndarray, mean: float, p90: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw response tokens of one (N, d), as many as possible of the context failures beyond the room.

    The two values around the 90th percentile are set to it; the others get bounds from rank and bucket.
    """
    count, below = len(room), int(0.9 * (len(room) - 1))
    above = max(count - below - 2, 0)
    total, cap = mean * count, CONTEXT_TOKENS
    over = _overflowing(room, context, mean, p90, rng)
    # ranks above the percentile: those that must, those that may, those that can
    order = rng.permutation(count)
    must, plain = over & (room > p90), ~context & (room > p90 + 1)
    order = order[np.lexsort((-room[order], ~over[order], ~plain[order], ~must[order]))]
    able = order[(must | plain | over | (context & ~over & (room > p90 + 1)))[order]]
    top = able[: above + 2]
    high = np.zeros(count, dtype=bool)
    high[top] = len(top) == above + 2
    least = np.where(over, room, 1.0)
    most = np.where(over, float(cap), room - 1.0)
    least = np.where(high, np.maximum(least, p90), least)
    most = np.where(high, np.maximum(most, least), np.minimum(most, np.maximum(p90, least)))
    at_p90 = [row for row in top[::-1] if least[row] <= p90][:2] if high.any() else []
    least[at_p90] = most[at_p90] = p90
    return _to_mean(least, most, total, rng)


def _overflowing(
    room: np.ndarray, context: np.ndarray, mean: float, p90: float, rng: np.random.Generator
) -> np.ndarray:
    """Choose the context failures that overflow: as many as percentile and mean leave room for, the cheapest first."""
    count, below = len(room), int(0.9 * (len(room) - 1))
    above = max(count - below - 2, 0)
    usual = 0.2 * min(mean, p90)  # the least that other responses are left with, on average
    spare = mean * count - p90 * (count - below) - usual * below
    late = rng.permutation(np.flatnonzero(context))
    beyond, within = late[room[late] > p90], late[room[late] <= p90]
    beyond = beyond[np.argsort(room[beyond], kind="stable")][:above]
    within = within[np.argsort(room[within], kind="stable")]
    cost = np.concatenate([room[beyond] - p90, room[within] - usual])
    over = np.zeros(count, dtype=bool)
    over[np.concatenate([beyond, within])[np.cumsum(cost) <= spare]] = True
    return over


def _to_mean(
    least: np.ndarray, most: np.ndarray, total: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw whole numbers between bounds with the sum nearest to a total."""
    share = rng.beta(2, 2, size=len(least))
    low, high = -12.0, 12.0
    for _ in range(60):
        middle = (low + high) / 2
        values = least + (most - least) * share ** np.exp(middle)
        low, high = (middle, high) if values.sum() > total else (low, middle)
    whole = np.clip(np.rint(values), np.ceil(least), np.floor(most)).astype(int)
    rest = round(total) - int(whole.sum())
    step = int(np.sign(rest))
    free = np.flatnonzero(most - least >= 1)
    for row in np.resize(free, abs(rest)) if len(free) and abs(rest) <= 2 * len(least) else ():
        if np.ceil(least[row]) <= whole[row] + step <= np.floor(most[row]):
            whole[row] += step
    return whole
