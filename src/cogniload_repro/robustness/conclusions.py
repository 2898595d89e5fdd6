"""The paper's conclusions, judged by their own uncertainty and by other specifications.

What the paper concludes stands in ``data/published/iclr2026/conclusions.csv``, each statement with the name of the rule
that judges it. A rule is a function here: it takes numbers from the tables of the other modules, turns them into what
its kind of statement is decided by, and `KINDS` says in words how. Conclusions about the paper's models are judged on
these alone, whatever else a table of cells holds, and no verdict hangs on one of them: where leaving one out would
change it, it is open.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ALPHA, load_claims, load_conclusions
from cogniload_repro.robustness.comparisons import (
    TIERS,
    check_tiers,
    compare_pairs,
    dominant_load,
    place_outsiders,
)
from cogniload_repro.robustness.dispersion import dispersion_table
from cogniload_repro.robustness.families import correct_holm, correct_within
from cogniload_repro.robustness.interactions import THIRD, interaction_tests, simple_slopes
from cogniload_repro.robustness.overflows import compare_finished, finished_answers
from cogniload_repro.robustness.pooling import heterogeneity_table, pool_models
from cogniload_repro.robustness.specifications import SPECIFICATIONS, fit_specifications, is_settled
from cogniload_repro.robustness.uncertainty import capacity_intervals, trough_table

LEADERS = ("gpt-5-2025-08-07", "o3-2025-04-16")
GEMINI = ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite")
HOLDS, OTHERWISE, PARTLY = "holds", "holds as tested, reads otherwise", "in part"
OPEN, FAILS = "open", "does not hold"
VERDICTS = (HOLDS, OTHERWISE, PARTLY, OPEN, FAILS)

#: How a verdict follows, by kind of statement.
KINDS = {
    "each": "A statement about each of several models, or of several parts, holds if each is so (where it is a matter "
    "of tests, by the 95% interval or at p < 0.05), and in part if some are; if none is, it does not hold.",
    "most": "A statement about models in general is put to a sign test: of the models whose own test tells (p < 0.05 "
    "after Holm), do more say so than say the opposite, p < 0.05? If so it holds, if the opposite it does not; "
    "otherwise it holds in part.",
    "product": "A statement about an interaction is first tested as the paper does, and does not hold if that does "
    "not come out. Then it is read at each tested level of the third load (simple slopes): it holds if it is so at "
    "every level, in part at some, and at none it holds as tested and reads otherwise.",
}


@dataclass(frozen=True)
class Analyses:
    """The tables that conclusions are drawn from, all of the same cells; see the functions that make them.

    `finished` rests on Table 5 alone.
    """

    intervals: pd.DataFrame
    troughs: pd.DataFrame
    ecl50_pairs: pd.DataFrame
    loads: pd.DataFrame
    interactions: pd.DataFrame
    slopes: pd.DataFrame
    spans: pd.DataFrame
    dispersion: pd.DataFrame
    pooled: pd.DataFrame
    finished: pd.DataFrame

    @cached_property
    def levels(self) -> dict[str, dict[float, pd.DataFrame]]:
        """The simple slopes of each product at each tested level of the third load, by model."""
        tested = self.slopes[self.slopes["tested"]].set_index("model")
        return {
            str(term): {float(level): rows for level, rows in own.groupby("level")}
            for term, own in tested.groupby("term")
        }

    @cached_property
    def tests(self) -> dict[str, pd.DataFrame]:
        """The products as the paper tests them and otherwise, by term and model."""
        return {str(term): own for term, own in self.interactions.set_index("model").groupby("term")}

    def without(self, model: str) -> "Analyses":
        """Return the analyses with one model left out, and families of tests corrected anew.

        What the paper tests is in print, for all models: `interactions` stays as it is.
        """
        kept = {}
        for name in (one.name for one in fields(self) if one.name != "interactions"):
            table = getattr(self, name)
            for column in ("model", "first", "second"):
                if column in table:
                    table = table[table[column] != model]
            kept[name] = table
        loads, pairs, slopes = kept["loads"], kept["ecl50_pairs"], kept["slopes"]
        return replace(
            self,
            **kept
            | {
                "loads": loads.assign(p_holm=correct_holm(loads["p"])),
                "ecl50_pairs": pairs.assign(p_holm=correct_holm(pairs["p"])),
                "slopes": slopes.assign(p_holm=correct_within(slopes, ["term", "level"])),
            },
        )


def span_specifications(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how far the frontier models' capacity points move over settled specifications without a larger AIC.

    Returns
    -------
    DataFrame
        One row a model and point (ecl50, id50): model, point, least, most, none (whether one of them has none).
        Specifications in which a load is a factor have no points and are left out.
    """
    smooth = [one for one in SPECIFICATIONS if is_settled(one) and "C(" not in one.formula]
    fits = fit_specifications(cells[cells["model"].isin(TIERS["frontier"])], smooth)
    rows = []
    for model, own in fits[fits["status"] == "ok"].groupby("model", sort=False):
        own = own[own["aic"] <= own["aic"].iloc[0]]
        for point in ("ecl50", "id50"):
            values = own[point].astype(float)
            rows.append((model, point, values.min(), values.max(), bool(values.isna().any())))
    return pd.DataFrame(rows, columns=["model", "point", "least", "most", "none"])


_ANALYSES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "intervals": partial(capacity_intervals, replicates=1000),
    "troughs": trough_table,
    "ecl50_pairs": partial(compare_pairs, quantity="ecl50"),
    "loads": dominant_load,
    "interactions": interaction_tests,
    "slopes": simple_slopes,
    "spans": span_specifications,
    "dispersion": dispersion_table,
    "pooled": pool_models,
    "finished": lambda _: finished_answers(max(cell.N for cell in PAPER_GRID)),
}


def analyse(cells: pd.DataFrame, **made: pd.DataFrame) -> Analyses:
    """Return every analysis of the paper's models in a cells frame; those that are there already are taken, by name.

    Raises
    ------
    ValueError
        If the cells lack one of the paper's models, or one has no finite fit.
    """
    cells = cells[cells["model"].isin(BY_NAME)]
    found = Analyses(**made, **{name: make(cells) for name, make in _ANALYSES.items() if name not in made})
    if missing := sorted(set(BY_NAME) - set(found.intervals["model"])):
        named = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise ValueError(f"conclusions about all {len(BY_NAME)} models need a finite fit of {named}; use all")
    return found


@dataclass(frozen=True)
class Finding:
    """What a rule finds.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`.
    numbers : dict
        What the verdict follows from, by name: numbers, intervals as pairs, and where models are named a dict or
        list of them.
    """

    verdict: str
    numbers: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """What judges one statement.

    Attributes
    ----------
    judge : callable
        Of the analyses and the column of p-values that simple slopes are read by (p, or p_holm).
    kind : str
        A key of `KINDS`.
    about : tuple of str
        Models that the statement names. It is judged by them, so that leaving others out cannot move the verdict.
    evidence : str
        settled (the printed tables determine the numbers, whatever the counts per cell), or bound (they determine a
        limit, and the verdict rests on that).
    """

    judge: Callable[[Analyses, str], Finding]
    kind: str
    about: tuple[str, ...] = ()
    evidence: str = "settled"


def judge_conclusions(analyses: Analyses) -> pd.DataFrame:
    """Judge the paper's conclusions by the analyses.

    Returns
    -------
    DataFrame
        One row a conclusion, in the order of the file: claims (ids in ``claims.csv``), location, statement, rule,
        caveat (of the authors), verdict (`OPEN` if it changes when one model is left out that it does not name), holm
        (the verdict with Holm's correction over the models at each level of an interaction, "" where it is the same),
        numbers (dict), kind and evidence (see `Rule`).
    """
    conclusions, rows = load_conclusions(), []
    left_out = [analyses.without(model) for model in BY_NAME]
    for name in conclusions["rule"]:
        rule = RULES[name]
        found, strict = (rule.judge(analyses, p) for p in ("p", "p_holm"))
        others = {rule.judge(fewer, "p").verdict for fewer in left_out if not rule.about}
        rows.append(
            {
                "verdict": found.verdict if others <= {found.verdict} else OPEN,
                "holm": strict.verdict if strict.verdict != found.verdict else "",
                "numbers": found.numbers, "kind": rule.kind, "evidence": rule.evidence,
            }
        )  # fmt: skip
    return pd.concat([conclusions, pd.DataFrame(rows)], axis=1)


def _stated(claim: str) -> str:
    """Return what a claim of the paper's prose states."""
    return _stated_values()[claim]


@cache
def _stated_values() -> dict[str, str]:
    return load_claims().set_index("id")["value"].to_dict()


def _judge_each(parts: Iterable[bool]) -> str:
    parts = list(parts)
    return HOLDS if all(parts) else PARTLY if any(parts) else FAILS


def _judge_most(agree: int, oppose: int) -> str:
    """Return the verdict of a sign test over the models that tell."""
    if agree + oppose == 0 or binomtest(agree, agree + oppose).pvalue >= ALPHA:
        return PARTLY
    return HOLDS if agree > oppose else FAILS


def _judge_product(as_tested: bool, levels: Iterable[bool]) -> str:
    levels = list(levels)
    return FAILS if not as_tested else HOLDS if all(levels) else PARTLY if any(levels) else OTHERWISE


def _slopes(a: Analyses, _: str) -> Finding:
    table = a.dispersion
    kept = (table[["p_least_d", "p_least_N"]] < ALPHA).all(axis=1) & (table[["z_d", "z_N"]] < 0).all(axis=1)
    bearable = (table[["z_d", "z_N"]].abs().min(axis=1) / norm.ppf(1 - ALPHA / 2)) ** 2
    weakest = bearable.idxmin()
    numbers = {
        "kept": int(kept.sum()), "models": len(table), "least": table["least_phi"].median(),
        "most": table["least_phi"].max(), "weakest": table["model"][weakest], "bearable": bearable[weakest],
    }  # fmt: skip
    return Finding(_judge_each(kept), numbers)


def _dominant_load(a: Analyses, _: str) -> Finding:
    apart = a.loads["p_holm"] < ALPHA
    length, difficulty = (int((apart & (sign * a.loads["difference"] > 0)).sum()) for sign in (1, -1))
    numbers = {"length": length, "difficulty": difficulty, "models": len(a.loads)}
    numbers |= {
        "open": len(a.loads) - length - difficulty,
        "range": int((a.loads["range_N"] > a.loads["range_d"]).sum()),
    }
    numbers["explained"] = int((a.loads["lr_N"] > a.loads["lr_d"]).sum())
    return Finding(_judge_most(length, difficulty), numbers)


def _leaders(a: Analyses, _: str) -> Finding:
    ecl50 = a.intervals[a.intervals["point"] == "ecl50"].set_index("model")
    between = a.ecl50_pairs[a.ecl50_pairs["first"].isin(LEADERS) != a.ecl50_pairs["second"].isin(LEADERS)]
    p = between["p_holm"].where(between["first"].isin(LEADERS), 1.0).max()  # the first of a pair is the better
    stated = int(_stated("C070").lstrip(">"))
    intervals = {model: tuple(ecl50.loc[model, ["profile_low", "profile_high"]]) for model in LEADERS}
    numbers = {"lead": p < ALPHA, "p": p, "stated": stated, "intervals": intervals}
    numbers["longest"] = max(cell.N for cell in PAPER_GRID)
    numbers["pooled"] = a.pooled.set_index("model").loc[list(LEADERS), "pooled_ecl50"].to_dict()
    numbers["elsewhere"] = _spans(a, "ecl50", LEADERS)
    return Finding(_judge_each([p < ALPHA, *(low > stated for low, _ in intervals.values())]), numbers)


def _spans(a: Analyses, point: str, models: Iterable[str]) -> dict[str, tuple[float, float, bool]]:
    own = a.spans[a.spans["point"] == point].set_index("model")
    return {
        model: (float(own.loc[model, "least"]), float(own.loc[model, "most"]), bool(own.loc[model, "none"]))
        for model in models
    }


def _classes(a: Analyses, _: str) -> Finding:
    open_pairs, outsiders = check_tiers(a.ecl50_pairs), place_outsiders(a.ecl50_pairs)
    tied = outsiders[outsiders["tied"] > 0]
    numbers = {"pairs": len(open_pairs), "outsiders": list(tied[["model", "tied", "tier"]].itertuples(index=False))}
    return Finding(_judge_each([open_pairs.empty]), numbers)


def _id50_range(a: Analyses, _: str) -> Finding:
    id50 = a.intervals[a.intervals["point"] == "id50"].set_index("model")["estimate"]
    levels = [cell.d for cell in PAPER_GRID]
    inside = id50.between(min(levels), max(levels))
    numbers: dict[str, object] = {
        "outside": int((~inside).sum()),
        "models": len(id50),
        "least": min(levels),
        "most": max(levels),
    }
    beyond = [model for model in TIERS["frontier"] if model in id50 and id50[model] > max(levels)]
    numbers["elsewhere"] = _spans(a, "id50", beyond)
    return Finding(_judge_each(inside), numbers)


def _nt50_meaning(a: Analyses, _: str) -> Finding:
    nt50 = a.intervals[a.intervals["point"] == "nt50"].set_index("model")
    bottom, found = a.troughs.set_index("model")["trough"].reindex(nt50.index), nt50["estimate"].notna()
    masks = {
        "falling": found & (nt50["estimate"] < bottom),
        "unlimited": found & np.isinf(nt50["profile_high"]),
        "unsure": nt50["present"].between(ALPHA, 1 - ALPHA),
    }
    numbers = {"values": int(found.sum())} | {name: list(mask.index[mask]) for name, mask in masks.items()}
    return Finding(_judge_each(~(masks["falling"] | masks["unlimited"])[found]), numbers)


def _narrow_range(a: Analyses, _: str) -> Finding:
    table = heterogeneity_table(a.pooled).set_index("term")
    numbers = {name: table[name].to_dict() for name in ("i2", "tau", "mean", "relative", "span")}
    parts = [table.loc["d", name] < table.loc[other, name]
             for name in ("relative", "span") for other in table[name].dropna().index.drop("d")]  # fmt: skip
    return Finding(_judge_each(parts), numbers)


def _u_shape(a: Analyses, _: str) -> Finding:
    p = correct_holm(a.troughs["p_u"])
    downwards = correct_holm(a.dispersion["p_rho2"]) < ALPHA
    bent = a.dispersion.assign(down=downwards & (a.dispersion["z_rho2"] < 0))
    numbers = {"shaped": int((p < ALPHA).sum()), "models": len(p), "raw": int((a.troughs["p_u"] < ALPHA).sum())}
    numbers |= {"against": int(bent["down"].sum()), "bent": int((a.dispersion["p_rho2"] < ALPHA).sum())}
    return Finding(_judge_most(numbers["shaped"], numbers["against"]), numbers)


def _trough(a: Analyses, _: str) -> Finding:
    least, most = (int(end) / 100 for end in _stated("C039").split("-"))
    shaped = a.troughs[a.troughs["p_u"] < ALPHA]
    told = correct_holm(shaped["p_inside"]) < ALPHA
    inside = shaped["inside"].astype(bool)
    agree, against = int((inside & told).sum()), int((~inside & told).sum())
    numbers: dict[str, object] = {"shaped": len(shaped), "inside": int(inside.sum()), "least": least, "most": most}
    numbers |= {"told": agree, "against": against}
    numbers["lowest"] = {float(level): int(count) for level, count in shaped["lowest"].value_counts().items()}
    return Finding(_judge_most(agree, against), numbers)


def _count(beta: pd.Series, p: pd.Series, alpha: float = ALPHA) -> tuple[int, int]:
    """Return how many coefficients are significant and negative, and positive."""
    return int(((p < alpha) & (beta < 0)).sum()), int(((p < alpha) & (beta > 0)).sum())


def _in_models(
    a: Analyses, column: str, term: str, claim: str, agree: Callable[[int, int], bool], alpha: float = ALPHA
) -> Finding:
    """Judge in how many models a product is significant: as printed in Table 3, then level by level."""
    table = a.tests[term]
    as_tested = _count(table["beta_paper"], table["p_paper"], alpha)
    levels = {level: _count(rows["slope"], rows[column], alpha) for level, rows in a.levels[term].items()}
    numbers = {"stated": int(_stated(claim)), "paper": as_tested, "levels": levels, "third": THIRD[term]}
    numbers["holm"] = _count(table["beta_paper"], table["holm_paper"], alpha)
    verdict = _judge_product(
        sum(as_tested) == numbers["stated"] and agree(*as_tested), (agree(*n) for n in levels.values())
    )
    return Finding(verdict, numbers)


def _undetected(a: Analyses, column: str, term: str) -> Finding:
    """Judge that the leaders have no detectable product of loads."""
    table = a.tests[term].loc[list(LEADERS)]
    levels = {level: rows.loc[list(LEADERS)] for level, rows in a.levels[term].items()}
    origin = a.slopes[(a.slopes["term"] == term) & ~a.slopes["tested"]].set_index("model").loc[list(LEADERS)]
    others = a.tests[term].drop(list(LEADERS), errors="ignore")
    others = others.loc[(others["p_paper"] < ALPHA) & _open_weights(others.index), "beta_paper"].abs()
    numbers = {
        "p": table["p_paper"].to_dict(), "third": THIRD[term], "detectable": origin["detectable"].to_dict(),
        "others": (others.min(), others.max()),
        "levels": {level: list(zip(rows["slope"], rows[column], strict=True)) for level, rows in levels.items()},
    }  # fmt: skip
    silent = [(rows[column] >= ALPHA).all() for rows in levels.values()]
    return Finding(_judge_product((table["p_paper"] >= ALPHA).all(), silent), numbers)


def _open_weights(models: pd.Index) -> np.ndarray:
    most = max(model.puzzles_per_cell for model in BY_NAME.values())
    return np.array([BY_NAME[model].puzzles_per_cell == most for model in models])


def _N_by_rho_gemini(a: Analyses, column: str) -> Finding:  # noqa: N802
    model, row = GEMINI[0], a.tests["Nrho"].loc[GEMINI[0]]
    levels = {level: (rows.loc[model, "slope"], rows.loc[model, column]) for level, rows in a.levels["Nrho"].items()}
    numbers = {"beta": row["beta_paper"], "p": row["p_paper"], "third": THIRD["Nrho"], "levels": levels}
    so = [slope < 0 and p < ALPHA for slope, p in levels.values()]
    return Finding(_judge_product(row["beta_paper"] < 0 and row["p_paper"] < ALPHA, so), numbers)


def _lower_bound(a: Analyses, _: str) -> Finding:
    table = a.finished.set_index("model")
    models = [GEMINI[0], *LEADERS]
    pairs = compare_finished(a.finished, models)
    numbers = {
        "models": {name: (int(row.correct), int(row.finished), row.among) for name, row in table.loc[models].iterrows()}
    }
    numbers["counted"] = table.loc[models, "counted"].to_dict()
    numbers["p"] = {tuple(pair[:2]): pair[2] for pair in pairs[["first", "second", "p"]].itertuples(index=False)}
    return Finding(_judge_each((table.loc[list(GEMINI), "overflows"] > 0).to_list()), numbers)


#: What judges the statements of ``conclusions.csv``, by the name that stands there.
RULES: dict[str, Rule] = {
    "slopes": Rule(_slopes, "each", evidence="bound"),
    "dominant_load": Rule(_dominant_load, "most"),
    "leaders": Rule(_leaders, "each", LEADERS),
    "classes": Rule(_classes, "each"),
    "id50_range": Rule(_id50_range, "each"),
    "nt50_meaning": Rule(_nt50_meaning, "each"),
    "narrow_range": Rule(_narrow_range, "each"),
    "u_shape": Rule(_u_shape, "most"),
    "trough": Rule(_trough, "most"),
    "d_by_N": Rule(
        partial(_in_models, term="dN", claim="C075", agree=lambda minus, plus: minus > plus, alpha=0.01), "product"
    ),
    "d_by_N_leaders": Rule(partial(_undetected, term="dN"), "product", LEADERS),
    "d_by_rho": Rule(partial(_in_models, term="drho", claim="C079", agree=lambda minus, plus: minus > plus), "product"),
    "d_by_rho_leaders": Rule(partial(_undetected, term="drho"), "product", LEADERS),
    "N_by_rho": Rule(
        partial(_in_models, term="Nrho", claim="C097", agree=lambda minus, plus: min(minus, plus) > 0), "product"
    ),
    "N_by_rho_gemini": Rule(_N_by_rho_gemini, "product", (GEMINI[0],)),
    "lower_bound": Rule(_lower_bound, "each", (*GEMINI, *LEADERS)),
}
