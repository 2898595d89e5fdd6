"""What an evaluation costs, judged by the paper's 22 models: puzzles and tokens for a wanted certainty."""

from functools import cache

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.evaluation.forms import paper_curves, read_short
from cogniload_repro.evaluation.precision import CELLS, variances
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.published import ALPHA, load_printed
from cogniload_repro.robustness.uncertainty import POWER
from cogniload_repro.statistics.design import GRID
from cogniload_repro.storage import DATA

#: Designs compared by simulation, made by benchmarks/evaluation_designs.py; see there for the columns.
DESIGNS = DATA / "evaluation" / "designs.csv"


@cache
def mean_tokens() -> tuple[np.ndarray, np.ndarray]:
    """Return mean tokens of prompts and of responses, each of shape (22, 140): models in printed order, grid cells.

    From Tables 7 to 10, which do not tell the share of needles apart; a value that cannot be read is the median of the
    others.
    """
    printed = load_printed("tokens").astype({"N": int, "d": int})
    found = []
    for column in ("prompt_mean", "output_mean"):
        numbers = printed.assign(value=pd.to_numeric(printed[column], errors="coerce"))
        wide = numbers.pivot(index="model", columns=["N", "d"], values="value").reindex(list(NAMES))  # noqa: PD010
        wide = wide.fillna(wide.median())
        found.append(wide[list(zip(GRID["N"], GRID["d"], strict=True))].to_numpy())
    return found[0], found[1]


def count_needed(width: float) -> pd.DataFrame:
    """Return puzzles and tokens that each form needs until ECL50 is known so well.

    Parameters
    ----------
    width : float
        Width of the 95% interval of log10 ECL50: 0.1 is from 11% below to 12% above.

    Returns
    -------
    DataFrame
        One row a form and model of the paper: form (``grid``, the paper's cells evenly; ``short``; ``adaptive``, from
        the gain that it had in simulation), model, puzzles, prompt_tokens, response_tokens (in all).

    Raises
    ------
    ValueError
        If the width is not positive.
    """
    if not width > 0:
        raise ValueError(f"width is {width!r}; give a positive number, such as 0.1")
    curves, (prompts, responses) = paper_curves(), mean_tokens()
    even = np.ones(len(CELLS))
    rows = []
    for form, design in (("grid", even), ("short", np.array([read_short()[cell] for cell in PAPER_GRID]))):
        share = design / design.sum()
        found = 2 * norm.ppf(1 - ALPHA / 2) * np.sqrt(variances(curves, share)[:, 0])
        puzzles = (found / width) ** 2
        rows.append((form, puzzles, prompts @ share, responses @ share))
    gain = read_designs().set_index(["design", "truth"]).loc[("adaptive", "logistic")]
    _, puzzles, prompt, response = rows[0]
    rows.append(("adaptive", puzzles / gain["gain_ecl50"], prompt * gain["prompt_ratio"],
                 response * gain["response_ratio"]))  # fmt: skip
    return pd.concat(
        [
            pd.DataFrame(
                {"form": form, "model": NAMES, "puzzles": np.ceil(puzzles), "prompt_tokens": np.ceil(puzzles) * prompt,
                 "response_tokens": np.ceil(puzzles) * response}
            )
            for form, puzzles, prompt, response in rows
        ],
        ignore_index=True,
    )  # fmt: skip


def read_designs() -> pd.DataFrame:
    """Return the designs compared by simulation."""
    return pd.read_csv(DESIGNS)


def separate(first: str, second: str) -> pd.DataFrame:
    """Return the paper's cells in which two of its models are told apart with the fewest puzzles.

    Returns
    -------
    DataFrame
        One row a cell, the best first: N, ratio_pct, d, accuracies of both by their fitted curves, and puzzles that
        each has to be asked so that the difference shows at the 5% level with probability 0.8.

    Raises
    ------
    ValueError
        If the paper has no model of a name.
    """
    for name in (first, second):
        if name not in NAMES:
            raise ValueError(f"the paper has no model {name!r}; choose among: {', '.join(NAMES)}")
    one, other = (expit(paper_curves()[NAMES.index(name)] @ CELLS.T) for name in (first, second))
    z = norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.ceil(z**2 * (one * (1 - one) + other * (1 - other)) / (one - other) ** 2)
    frame = GRID[["N", "ratio_pct", "d"]].assign(**{first: one}, **{second: other}, puzzles=needed)
    return frame.sort_values("puzzles", kind="stable", ignore_index=True)
