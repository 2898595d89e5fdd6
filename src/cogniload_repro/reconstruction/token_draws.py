"""Token counts for stand-in responses, with the means and 90th percentiles of Tables 7 to 10."""

from functools import cache

import numpy as np
import pandas as pd

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.published import load_table

_PROMPTS, _OUTPUTS = ["prompt_mean", "prompt_p90"], ["output_mean", "output_p90"]

# A number of an odd cell is kept up to so many errors of the kin's line, which are at least those of rounding.
_ODD_ERRORS, _ROUNDING = 2.0, 0.5


@cache
def printed_tokens() -> pd.DataFrame:
    """Return the numbers of Tables 7 to 10 that responses are drawn to have; NaN for an output that is not legible.

    A prompt length that is not legible, or stands in a cell flagged "odd" and is off what the model's nearest kin
    implies, is the kin's (`_from_kin`): models that read the same puzzles with like tokenizers differ by a straight
    line.

    Index (model, N, d); columns prompt_mean, prompt_p90, output_mean, output_p90 (tokens).
    """
    tokens = load_table("tokens").set_index(["model", "N", "d"])
    odd = tokens["flag"].str.split(";").map(lambda flags: "odd" in flags)
    prompts = tokens[_PROMPTS].copy()
    for quantity in _PROMPTS:
        printed = tokens[quantity]
        clean = printed.mask(odd).reset_index().pivot_table(quantity, ["N", "d"], "model", dropna=False)
        lengths, error = _from_kin(clean)
        implied = pd.Series([lengths.loc[(N, d), model] for model, N, d in tokens.index], tokens.index)
        largest = _ODD_ERRORS * tokens.index.get_level_values("model").map(error).to_numpy().clip(_ROUNDING)
        prompts[quantity] = printed.mask(odd & ((printed - implied).abs() > largest)).fillna(implied)
    return prompts.join(tokens[_OUTPUTS])


def _from_kin(lengths: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return what each model's nearest kin implies for its prompts, and the root mean square error of that.

    The nearest kin is the model whose lengths, on a straight line, are nearest to the model's own; a level that it
    lacks comes from the next nearest. ``lengths`` has one row a level and one column a model.
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
    """Draw prompt and response tokens for a model's responses (N, d, characters of the prompt's text, bucket).

    prompt_tokens and response_tokens (int), and overflows (bool): whether the two exceed the context budget
    (Appendix D.3). Only responses of the bucket wrong_max_context do; those for which the printed mean and
    percentile leave no room stay short, and are empty responses instead.
    """
    printed = _completed(model)
    prompt, response = np.zeros(len(rows), dtype=int), np.zeros(len(rows), dtype=int)
    lengths = rows["characters"].to_numpy()
    context = (rows["bucket"] == "wrong_max_context").to_numpy()
    for condition, members in rows.groupby(["N", "d"], sort=False).indices.items():
        mean, p90, out_mean, out_p90 = printed.loc[condition, [*_PROMPTS, *_OUTPUTS]]
        prompt[members] = _prompt_tokens(lengths[members], mean, p90)
        room = CONTEXT_TOKENS - RESERVED_TOKENS - prompt[members]
        response[members] = _response_tokens(room, context[members], out_mean, out_p90, rng)
    overflows = prompt + response + RESERVED_TOKENS >= CONTEXT_TOKENS
    return {"prompt_tokens": prompt, "response_tokens": response, "overflows": overflows}


def _completed(model: str) -> pd.DataFrame:
    """Return the printed numbers of a model by (N, d), with stand-ins for illegible outputs.

    These are the model's own at the same d and the next larger legible N, else the next smaller; where one of the two
    is legible, in its proportion to the other.
    """
    own = printed_tokens().loc[model].copy()
    mean, p90 = own["output_mean"], own["output_p90"]
    tail = (p90 / mean).groupby("d").transform(lambda column: column.bfill().ffill())
    own["output_mean"], own["output_p90"] = mean.fillna(p90 / tail), p90.fillna(mean * tail)
    own[_OUTPUTS] = own[_OUTPUTS].groupby("d").transform(lambda column: column.bfill().ffill())
    return own.fillna(own.median())


def _prompt_tokens(lengths: np.ndarray, mean: float, p90: float) -> np.ndarray:
    """Return tokens that grow linearly with the length of the text (characters), with this mean and percentile."""
    spread = np.quantile(lengths, 0.9) - lengths.mean()
    slope = (p90 - mean) / spread if spread > 0 else 0.0
    return np.maximum(np.rint(mean + slope * (lengths - lengths.mean())), 1).astype(int)


def _response_tokens(
    room: np.ndarray, context: np.ndarray, mean: float, p90: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw response tokens of one (N, d), as many as possible of the context failures beyond the room.

    Sorted, the two values around the 90th percentile are set to it; the others get bounds from their rank and
    their bucket, and one exponent brings their sum to the mean.
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


def _to_mean(least: np.ndarray, most: np.ndarray, total: float, rng: np.random.Generator) -> np.ndarray:
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
