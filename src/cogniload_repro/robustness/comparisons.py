"""Models held against one another: pairwise tests, ranks, tiers, and the puzzles needed to tell two apart.

Accuracies are those over the whole design. Their standard errors come from the accuracies that the paper's
regression fits to each cell, so that they follow from the printed tables whatever the counts per cell, and are right
if that regression is; "pooled" accuracies have those of answers that are alike in all cells, larger and without a fit.
The models' answers are taken as independent, although they may have met the same puzzles.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, norm
from statsmodels.stats.power import normal_sample_size_one_tail

from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.robustness.uncertainty import POWER, Quadratic, fit_quadratics, standard_error
from cogniload_repro.statistics.accuracy import evenly_asked
from cogniload_repro.statistics.likelihood import maximise

#: What models are compared by: overall accuracy (fraction), with the standard error of the fit or without any fit, or
#: the decimal logarithm of ECL50 (statements).
QUANTITIES = ("accuracy", "pooled", "ecl50")

#: The three classes, in the order in which the paper names their members (paper, section 3.1.4).
TIERS = {
    "frontier": (
        "gpt-5-2025-08-07", "o3-2025-04-16", "gemini-2.5-pro", "gpt-5-mini-2025-08-07", "o4-mini-2025-04-16",
        "DeepSeek-R1-0528",
    ),
    "mid": (
        "DeepSeek-R1-Distill-Llama-70B", "Qwen3-32B", "DeepSeek-R1-Distill-Qwen-32B", "QwQ-32B", "Phi-4-reasoning",
        "Phi-4-reasoning-plus", "Qwen3-30B-A3B", "gpt-5-nano-2025-08-07", "Qwen3-8B",
    ),
    "low": (
        "DeepSeek-R1-Distill-Qwen-7B", "Phi-4-mini-reasoning", "DeepSeek-R1-Distill-Qwen-1.5B", "Qwen3-1.7B",
    ),
}  # fmt: skip
TIER_OF = {model: tier for tier, models in TIERS.items() for model in models}


def estimate_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what models are compared by.

    Returns
    -------
    DataFrame
        One row a model with a finite fit: model, per_cell (mean puzzles per cell), accuracy and pooled (the same
        fraction) and ecl50 (log10 of statements), and of each its standard error (se_*).
    """
    rows = []
    for quadratic in fit_quadratics(cells):
        p, total = quadratic.accuracy, quadratic.n.sum()
        overall = quadratic.k.sum() / total
        rows.append(
            {
                "model": quadratic.model,
                "per_cell": total / len(quadratic.n),
                "accuracy": overall,
                "se_accuracy": np.sqrt(quadratic.n @ (p * (1 - p))) / total,
                "pooled": overall,
                "se_pooled": np.sqrt(overall * (1 - overall) / total),
                "ecl50": quadratic.points["ecl50"],
                "se_ecl50": standard_error(quadratic, "ecl50"),
            }
        )
    return pd.DataFrame(
        rows, columns=["model", "per_cell", *(f"{kind}{name}" for name in QUANTITIES for kind in ("", "se_"))]
    )


def compare_pairs(cells: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Test every pair of models for a difference.

    Parameters
    ----------
    cells : DataFrame
        Cells frame.
    quantity : str
        One of `QUANTITIES`.

    Returns
    -------
    DataFrame
        One row a pair, the larger value first: first, second, difference (of accuracies, or of log10 ECL50), se,
        z, p (two-sided), p_holm (family-wise error controlled), p_bh (false discovery rate), needed (puzzles per
        cell, the same for both, that show a difference of this size with power `POWER` at level `ALPHA`). Empty for
        fewer than two models with a finite fit; models without the quantity are left out.

    Raises
    ------
    ValueError
        If there is no such quantity.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"models are not compared by {quantity!r}; choose one of: {', '.join(QUANTITIES)}")
    ranked = estimate_models(cells if quantity == "ecl50" else evenly_asked(cells)).dropna(
        subset=[quantity, f"se_{quantity}"]
    )
    ranked = ranked.sort_values(quantity, ascending=False, kind="stable")
    rows = []
    for first, second in combinations(ranked.to_dict("records"), 2):
        difference = first[quantity] - second[quantity]
        ses = np.array([first[f"se_{quantity}"], second[f"se_{quantity}"]])
        z = difference / np.hypot(*ses)
        one_puzzle = ses * np.sqrt([first["per_cell"], second["per_cell"]])
        rows.append(
            {
                "first": first["model"],
                "second": second["model"],
                "difference": difference,
                "se": np.hypot(*ses),
                "z": z,
                "p": 2 * norm.sf(abs(z)),
                "needed": puzzles_needed(difference, np.hypot(*one_puzzle)),
            }
        )
    pairs = pd.DataFrame(rows, columns=["first", "second", "difference", "se", "z", "p", "needed"])
    return pairs.assign(p_holm=correct_holm(pairs["p"]), p_bh=false_discovery_control(pairs["p"]) if len(pairs) else [])


def puzzles_needed(difference: float, sd: float) -> float:
    """Return the puzzles per cell that show a difference with power `POWER` in a two-sided test at level `ALPHA`.

    Parameters
    ----------
    difference : float
    sd : float
        Standard error of the difference with one puzzle per cell.

    Returns
    -------
    float
        Infinite if there is no difference to show; below 1 where one puzzle per cell is more than enough.
    """
    return float(normal_sample_size_one_tail(abs(difference), POWER, ALPHA / 2, sd)) if difference else np.inf


def rank_intervals(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the ranks that each model may have, all of them right at once with probability 1 - `ALPHA`.

    A model stands behind every model that is significantly better after Holm's correction, and before every one
    that is significantly worse.

    Parameters
    ----------
    pairs : DataFrame
        As `compare_pairs` returns it.

    Returns
    -------
    DataFrame
        One row a model, best first: model, tier (as the paper has it, "" if in none), rank, best, worst.
    """
    models = list(pd.unique(pd.concat([pairs["first"], pairs["second"]])))
    apart = pairs[pairs["p_holm"] <= ALPHA]
    better, worse = apart["second"].value_counts(), apart["first"].value_counts()
    rows = [
        {"model": model, "tier": TIER_OF.get(model, ""), "rank": rank,
         "best": 1 + int(better.get(model, 0)), "worst": len(models) - int(worse.get(model, 0))}
        for rank, model in enumerate(models, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["model", "tier", "rank", "best", "worst"])


def group_models(pairs: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the classes of models that the tests do not tell apart: what can be said in place of ranks.

    Within a class no two models differ significantly after Holm's correction, and no other model could join it. A
    model may be in several: it cannot be told from the members of any of them, who can be told from one another.

    Parameters
    ----------
    pairs : DataFrame
        As `compare_pairs` returns it.

    Returns
    -------
    list of tuple of str
        Classes by the rank of their best member and then of their next, members best first.
    """
    models = list(pd.unique(pd.concat([pairs["first"], pairs["second"]])))
    rank = {model: place for place, model in enumerate(models)}
    apart = pairs.loc[pairs["p_holm"] <= ALPHA, ["first", "second"]].itertuples(index=False)
    groups = [frozenset(models)] if models else []
    for pair in apart:
        split = [group for group in groups if group.issuperset(pair)]
        kept = [group for group in groups if not group.issuperset(pair)]
        for part in (group - {model} for group in split for model in pair):
            if not any(part <= group for group in kept):
                kept = [group for group in kept if not group <= part] + [part]
        groups = kept
    ordered = [tuple(sorted(group, key=rank.__getitem__)) for group in groups]
    return sorted(ordered, key=lambda group: [rank[model] for model in group])


def check_tiers(pairs: pd.DataFrame) -> pd.DataFrame:
    """Hold the paper's classes against the pairwise tests.

    Returns
    -------
    DataFrame
        One row a pair of models of different classes that is not in the order of the classes beyond doubt: upper
        and lower (models, by class), upper_tier, lower_tier, difference (upper minus lower), p_holm, and verdict
        ("reversed" if the lower class's model is significantly better, else "not separated").
    """
    order, rows = list(TIERS), []
    for pair in pairs.itertuples():
        if pair.first not in TIER_OF or pair.second not in TIER_OF or TIER_OF[pair.first] == TIER_OF[pair.second]:
            continue
        upper, lower = sorted((pair.first, pair.second), key=lambda model: order.index(TIER_OF[model]))
        significant = pair.p_holm <= ALPHA
        if significant and upper == pair.first:
            continue
        rows.append(
            {
                "upper": upper, "upper_tier": TIER_OF[upper], "lower": lower, "lower_tier": TIER_OF[lower],
                "difference": pair.difference if upper == pair.first else -pair.difference,
                "p_holm": pair.p_holm, "verdict": "reversed" if significant else "not separated",
            }
        )  # fmt: skip
    columns = ["upper", "upper_tier", "lower", "lower_tier", "difference", "p_holm", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def place_outsiders(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return, for models that the paper puts into no class, which classes have members they cannot be told from.

    Returns
    -------
    DataFrame
        One row an outsider and class: model, tier, better (members significantly worse than the model), tied
        (members not told apart), worse (members significantly better than the model).
    """
    rows = []
    models = pd.unique(pd.concat([pairs["first"], pairs["second"]]))
    apart = pairs["p_holm"] <= ALPHA
    for model in (name for name in models if name not in TIER_OF):
        above, below = pairs["first"] == model, pairs["second"] == model
        others = pairs["second"].where(above, pairs["first"]).map(TIER_OF)
        for tier in TIERS:
            same = others == tier
            rows.append(
                {
                    "model": model,
                    "tier": tier,
                    "better": int((above & same & apart).sum()),
                    "tied": int(((above | below) & same & ~apart).sum()),
                    "worse": int((below & same & apart).sum()),
                }
            )
    return pd.DataFrame(rows, columns=["model", "tier", "better", "tied", "worse"])


def dominant_load(cells: pd.DataFrame) -> pd.DataFrame:
    """Return whether accuracy falls more from the shortest to the longest N, or from the lowest to the highest d.

    Both falls follow from the margins of the table; standard errors come from the fitted accuracies. Two more settled
    yardsticks go with them: what each load moves the fitted log-odds, and what its levels explain.

    Returns
    -------
    DataFrame
        One row a model: model, fall_N, fall_d (accuracy, fractions), difference (fall_N - fall_d), se, p
        (two-sided), p_holm; range_N, range_d (change of the fitted log-odds from one end of the load to the other);
        lr_N, lr_d, lr_rho (likelihood ratio of the levels of N, of those of d, and of rho and rho^2, each left out of
        a regression on all three).
    """
    rows = []
    for quadratic in fit_quadratics(evenly_asked(cells)):
        falls = []
        for load in (quadratic.x[:, 2], quadratic.x[:, 1]):
            ends = [quadratic.n * np.isclose(load, end) for end in (load.min(), load.max())]
            falls.append(ends[0] / ends[0].sum() - ends[1] / ends[1].sum())
        observed, p = quadratic.k / quadratic.n, quadratic.accuracy
        difference = (falls[0] - falls[1]) @ observed
        se = np.sqrt((falls[0] - falls[1]) ** 2 @ (p * (1 - p) / quadratic.n))
        rows.append(
            {
                "model": quadratic.model, "fall_N": falls[0] @ observed, "fall_d": falls[1] @ observed,
                "difference": difference, "se": se, "p": 2 * norm.sf(abs(difference) / se),
                "range_N": abs(quadratic.fit.coef[2]) * np.ptp(quadratic.x[:, 2]),
                "range_d": abs(quadratic.fit.coef[1]) * np.ptp(quadratic.x[:, 1]),
            }
            | _explained(quadratic)
        )  # fmt: skip
    table = pd.DataFrame(rows, columns=["model", "fall_N", "fall_d", "difference", "se", "p", "range_N", "range_d",
                                        "lr_N", "lr_d", "lr_rho"])  # fmt: skip
    return table.assign(p_holm=correct_holm(table["p"]))


def _explained(quadratic: Quadratic) -> dict[str, float]:
    """Return the likelihood ratio of each load in a regression on the levels of d and N, rho and rho^2."""
    levels = {
        name: np.column_stack([quadratic.x[:, column] == level for level in np.unique(quadratic.x[:, column])[1:]])
        for name, column in (("d", 1), ("N", 2))
    }
    blocks = {**levels, "rho": quadratic.x[:, 3:5]}

    def loglik(*names: str) -> float:
        x = np.column_stack([quadratic.x[:, :1], *(blocks[name] for name in names)])
        return maximise(x, quadratic.n, x.T @ quadratic.k)[1]

    try:
        whole = loglik(*blocks)
        return {f"lr_{left}": 2 * (whole - loglik(*(name for name in blocks if name != left))) for left in blocks}
    except ValueError:  # a level without a right or a wrong answer
        return {f"lr_{left}": np.nan for left in blocks}
