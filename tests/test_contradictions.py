"""Every number in the list of contradictions is recomputed from the paper's tables."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from reading import read_sources
from scipy.stats import chi2, norm

import cogniload_repro as cl
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.paths import ICLR2026
from cogniload_repro.published import (
    STARRED,
    correct_by,
    load_conclusions,
    load_contradictions,
    load_printed,
    load_table,
)
from cogniload_repro.reconstruction.printed import BETAS
from cogniload_repro.reconstruction.table2 import derive_each
from cogniload_repro.regression.design import GRID, grid_means, roots_along_rho

PLAIN = "correct ~ d + log10_N"
GPT5 = "gpt-5-2025-08-07"
O3 = "o3-2025-04-16"
PLUS = "Phi-4-reasoning-plus"
T2, T3, T4, T5, T6, TOKENS = map(
    load_table, ("table2", "table3", "table4", "table5", "table6", "tokens")
)
BY_D = T4.set_index(["model", "d"])
BY_N = T5.set_index(["model", "N"])
LONG = TOKENS[TOKENS["N"] == 250].set_index(["model", "d"])
AT_250 = BY_N.xs(250, level="N")
ACCURACY = correct_by("table4").assign(
    accuracy=lambda rows: rows["correct"] / rows["samples"]
)
ACCURACY = ACCURACY.pivot_table("accuracy", "model", "d")


def overflows():
    """Gemini's overflows and all, and the shares of answers lost at N = 250."""
    gemini = T5[T5["model"].str.startswith("gemini-2.5")]["ctx"].sum()
    share = (AT_250["ctx"] / AT_250["samples"]).nlargest(5)
    assert list(share.index) == [
        "gemini-2.5-flash",
        "gemini-2.5-pro",
        PLUS,
        "Phi-4-reasoning",
        "DeepSeek-R1-Distill-Qwen-1.5B",
    ]
    totals = T5.groupby("model")[["ctx", "samples"]].sum()
    rates = totals["ctx"] / totals["samples"]
    weighted = rates[rates.index.str.startswith("gemini-2.5")].sum() / rates.sum()
    return [
        f"{gemini:,} of the {T5['ctx'].sum():,}",
        f"{weighted:.0%} of them",
        *map("{:.0%}".format, share),
    ]


def budget():
    """Tokens of gpt-5 at the highest load, and overflows there.

    At N = 250 only, so those of a d are of that cell.
    """
    assert BY_N.loc[[GPT5, O3], "ctx"].groupby("N").sum().drop(250).eq(0).all()
    errors = AT_250.loc[
        GPT5, ["ctx", "valid_logic", "poi_logic", "last_logic", "other"]
    ]
    total = LONG.loc[(GPT5, 10), ["prompt_p90", "output_p90"]].sum()
    return [
        f"{total:,.0f} tokens",
        f"{BY_D.loc[(GPT5, 10), 'ctx']} of its 70",
        f"o3: {BY_D.loc[(O3, 10), 'ctx']}",
        f"{errors['ctx']} of gpt-5's {errors.sum()} errors",
    ]


def quadratic_terms():
    """Both tables have the same exceptions, by stars and by p."""
    starless = set(T2.loc[T2["beta_rho2_stars"] == "", "model"])
    assert starless == set(T6.loc[T6["p_lr"] >= STARRED, "model"])
    p = T6.set_index("model").loc["DeepSeek-R1-Distill-Qwen-7B", "p_lr"]
    return [
        f"the same {len(starless)}",
        f"p = {p:.3f}",
        *(name.removesuffix("-2025-04-16") for name in starless),
    ]


def nt50():
    """The other root of the printed parabola, and that accuracy falls at the printed one."""
    row = T2.set_index("model").loc[PLUS]
    assert row["beta_rho"] + 2 * row["beta_rho2"] * row["nt50"] < 0
    assert row["nt50"] == T2["nt50"].min()
    beta = row[list(BETAS)].to_numpy(float)
    _, larger = roots_along_rho(beta[None], grid_means(GRID))[0]
    return [f"ρ = {row['nt50']}", f"up to {larger:.2f}"]


def one_row():
    """The row that Tables 4 to 6 imply, and the two printed numbers of Table 2 that it misses."""
    name = "DeepSeek-R1-Distill-Qwen-32B"
    (row,) = derive_each([(BY_NAME[name], ())])
    implied = [f"{beta:.2f}" for beta in row.beta]
    printed = load_printed("table2").set_index("model").loc[name, list(BETAS)].tolist()
    differ = [place for place, text in enumerate(implied) if text != printed[place]]
    assert differ == [0, 3]  # the intercept and the coefficient of rho
    return [
        *(implied[place] for place in differ),
        *(printed[place] for place in differ),
    ]


def rising_errors():
    """Models whose valid-logic errors rise at every step of d, and the counterexample."""
    counts = T4.pivot_table("valid_logic", "model", "d")
    falls = counts.loc["DeepSeek-R1-Distill-Qwen-32B"]
    return [
        f"{(counts.diff(axis=1).iloc[:, 1:] > 0).all(axis=1).sum()} of 22",
        f"{falls[1]:,.0f}",
        f"{falls[3]:.0f}",
    ]


def prompt_lengths():
    """Ranges of the printed 90th percentiles of the models that Appendix H speaks of."""
    names = [
        name
        for name in T2["model"]
        if name.startswith(("gpt-5", "o3", "o4", "gemini-2.5"))
    ]
    ends = LONG.loc[names, "prompt_p90"].groupby("d").agg(["min", "max"])
    return [
        f"{low:,.0f} to {high:,.0f} at d = {d}"
        for d, low, high in ends.loc[[3, 5, 10]].itertuples()
    ]


def value_domains():
    """Categories of Appendix G with exactly ten values."""
    sizes = json.loads((ICLR2026 / "ontology.json").read_text(encoding="utf-8"))[
        "categories"
    ]
    tens = Counter(map(len, sizes.values()))[10]
    return [
        f"for {max(cell.d for cell in PAPER_GRID) + 1} values",
        f"{tens} of the {len(sizes)}",
    ]


def three_way():
    """gpt-5's coefficient is the lowest."""
    row = T3.loc[T3["beta_dNrho"].idxmin()]
    assert row["model"] == GPT5
    return [f"p = {row['p_dNrho']:.4f}"]


def first_step():
    """Accuracy lost from d = 1 to d = 3.

    Of the exception, and of the model that the paragraph excepts itself.
    """
    loss = ACCURACY[1] - ACCURACY[3]
    return [
        f"by {loss['Qwen3-1.7B']:.2f}",
        f"gains {-loss['DeepSeek-R1-Distill-Qwen-32B']:.2f}",
    ]


def uniquely_large():
    """Overflows of both Gemini models, and the slope that they are to explain.

    At N = 250 and in all.
    """
    ctx = T5.pivot_table("ctx", "model", "N").loc[
        ["gemini-2.5-flash", "gemini-2.5-pro"]
    ]
    flash, pro = zip(ctx[250], ctx.sum(axis=1), strict=True)
    slope = T2.set_index("model").loc["gemini-2.5-pro", "beta_N"]
    return [
        *(
            f"({value:.0f} against {other:.0f})"
            for value, other in zip(flash, pro, strict=True)
        ),
        f"slope of {slope}",
    ]


def dependence_on_rho():
    """The largest coefficient of rho is gpt-5's; both terms of gpt-5 and o3 against none."""
    assert T2.loc[T2["beta_rho"].abs().idxmax(), "model"] == GPT5
    cells = cl.load_cells(models=[GPT5, O3])
    tests = [
        2
        * (
            cl.glm(cells, model, f"{PLAIN} + rho + I(rho**2)").llf
            - cl.glm(cells, model, PLAIN).llf
        )
        for model in (GPT5, O3)
    ]
    return [
        f"χ² = {tests[0]:.1f}, p = {chi2.sf(tests[0], 2):.0e}",
        f"p = {chi2.sf(tests[1], 2):.2f}",
    ]


def models_listed():
    """Open models with 100 puzzles a cell, and those of the families that Section 3 names."""
    names = [model.name for model in MODELS if model.puzzles_per_cell == 100]
    named = [
        name
        for name in T2["model"]
        if name.startswith(("gemini-2.5", "gpt-5", "DeepSeek-R1-0528"))
    ]
    assert set(T2["model"]) - {*names, *named} == {O3, "o4-mini-2025-04-16"}
    return [
        f"{len(names)} open-weights",
        f"{len(names) + len(named)} of {len(T2)} models",
    ]


NUMBERS = {
    "Overflows of gemini-2.5-pro, uniquely large": uniquely_large,
    "gpt-5 and ρ": dependence_on_rho,
    "Models evaluated": models_listed,
    "The sign of d × ρ": lambda: [
        f"({((T3['p_drho'] < 0.01) & (T3['beta_drho'] < 0)).sum()} models at p < 0.01"
    ],
    "Overflows, primarily of Gemini 2.5": overflows,
    "Comfortably below the budget": budget,
    "Models that need the quadratic term": quadratic_terms,
    "Models whose AIC improves": lambda: [
        f"in {(T6['aic_quadratic'] < T6['aic_linear']).sum()} models",
        f"{(T6['p_lr'] < STARRED).sum()} is the number",
    ],
    "The meaning of NT50": nt50,
    "One row of Table 6": one_row,
    "Errors that rise with difficulty": rising_errors,
    "Prompt lengths at N = 250": prompt_lengths,
    "The size of a value domain": value_domains,
    "gpt-5's three-way coefficient": three_way,
    "From d = 1 to d = 3": first_step,
}


@pytest.mark.parametrize("title", NUMBERS)
def test_the_numbers_of_a_finding_follow_from_the_tables(title):
    """Each number that a finding states is the one that the printed tables give."""
    finding = load_contradictions().set_index("title").loc[title, "finding"]
    assert [text for text in NUMBERS[title]() if text not in finding] == []


def test_findings_without_a_recomputation_state_no_result():
    """A finding that is not recomputed here has no number that a table could contradict."""
    others = load_contradictions().set_index("title")["finding"].drop(list(NUMBERS))
    numbers = others.str.findall(r"(?<![-\w.])\d[\d,.]*\d%?|\b\d+ of\b").map(list)
    assert numbers[numbers.map(bool)].to_dict() == {
        "Name of a quantile": ["95%", "90%"]
    }
    assert (
        f"{norm.ppf(0.95):.9f}"
        in load_contradictions()
        .set_index("title")
        .loc["Name of a quantile", "passage_1"]
    )


def test_quoted_rows_are_those_of_the_tables():
    """A passage that quotes a row of Tables 3, 4, 5 or 6 has the row's printed numbers."""
    rows = load_contradictions()
    quoted = 0
    sides = [
        rows[["title", f"section_{i}", f"passage_{i}"]].set_axis(
            ["title", "section", "text"], axis=1
        )
        for i in (1, 2)
    ]
    for row in pd.concat(sides).itertuples():
        table = row.section.replace("Table ", "table")
        if (
            table in ("table2", "table3", "table4", "table5", "table6")
            and row.text.rstrip("*")[-1].isdigit()
        ):
            numbers = [
                text.rstrip("*") for text in row.text.split()[1:] if text != "--"
            ]
            printed = load_printed(table)
            known = [set(values) for values in printed.astype(str).to_numpy()]
            assert any(set(numbers) <= values for values in known), row.title
            quoted += 1
    assert quoted == 10


def test_lists_and_consequences_agree():
    """Slips concern wording only, contradictions never; only main results name a conclusion."""
    rows = load_contradictions()
    assert rows["number"].tolist() == list(range(1, len(rows) + 1))
    assert (rows["list"] == "slip").equals(rows["affects"] == "wording")
    assert (rows["affects"] == "main result").equals(rows["conclusion"] != "")
    assert set(rows["conclusion"]) - {""} <= set(load_conclusions()["name"])
    assert (
        not rows[["section_1", "passage_1", "section_2", "passage_2", "finding"]]
        .eq("")
        .any(axis=None)
    )


def test_the_list_of_versions_counts_the_models_of_their_tables():
    """The submission's own table has fewer rows than that of the final version."""
    folder = cl.published.PUBLISHED
    versions = pd.read_csv(folder / "versions.csv", index_col="What", dtype=str)
    submission = pd.read_csv(folder / "submission2025" / "table3_glm.csv")
    first, _, last = versions.loc["Models"].astype(int)
    assert (first, last) == (len(submission), len(load_table("table2")))


def test_versions_are_compared_by_their_printed_rows():
    """Thirteen models are in both.

    A row gives back the model's accuracy, and the covariance that a fit has.
    """
    code = read_sources("12_errata")
    space = {"build": ""}
    for name in ("load", "compare"):
        exec(code[name], space)  # our own notebook
    moved = space["moved"].set_index("model")
    cells = cl.load_cells()
    assert len(moved) == 13
    sums = cells.groupby("model")[["correct", "total"]].sum().loc[moved.index]
    assert (moved["accuracy_now"] - sums["correct"] / sums["total"]).abs().max() < 0.01
    assert moved.loc["Phi-4-reasoning", ["accuracy_then", "accuracy_now"]].round(
        2
    ).to_list() == [
        0.46,
        0.51,
    ]
    last = space[
        "model"
    ]  # whose covariance is the last one computed: of its submitted and its published row
    fitted = cl.glm(cells, last).cov_params().to_numpy()
    implied = np.linalg.inv(space["information"][1])
    assert np.sqrt(np.diag(implied)) == pytest.approx(
        np.sqrt(np.diag(fitted)), rel=0.02
    )
