"""The consistency chapter, piece by piece: what the tests say, as tables, pictures and facts for its sentences."""

from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.models import MODELS, NAMES, Model
from cogniload_repro.presentation.consistency_figures import SPREADS, draw_lattice, draw_spread, half_widths
from cogniload_repro.presentation.fragments import Fragment, glue_facts, show_download, show_frame, show_picture
from cogniload_repro.published import load_printed
from cogniload_repro.reconstruction.consistency import (
    aic_region,
    lattice_test,
    misprints,
    missing_choices,
    summarise_rules,
    sums_by_level,
    table2_test,
    table3_test,
)
from cogniload_repro.reconstruction.derivation import BETAS, POINTS, RULES, Derived, exact_statistics
from cogniload_repro.reconstruction.feasible import load_tables, spread_band
from cogniload_repro.reconstruction.polytope import constraints_around, estimate_log10_tables, possible_range
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.provenance import origin_note
from cogniload_repro.storage import write_whole

_SYMBOLS = dict(zip((*BETAS, *POINTS), (
    r"$\beta_0$", r"$\beta_d$", r"$\beta_N$", r"$\beta_\rho$", r"$\beta_{\rho^2}$",
    r"$\mathrm{ECL}_{50}$", r"$\mathrm{NT}_{50}$", r"$\mathrm{ID}_{50}$",
), strict=True))  # fmt: skip


def show_sums(model: str) -> Fragment:
    """Return Tables 4 and 5 of one model with the sums that follow from them, and keep its three sums as facts."""
    shown = []
    for dimension, covariate, name in (("d", "$d$", "T_d"), ("N", r"$\log_{10} N$", "T_N")):
        rows = sums_by_level(model, dimension)
        total = pd.DataFrame(
            [{dimension: "sum"} | rows[["samples", "errors", "correct", "contribution"]].sum().to_dict()]
        )
        rows = pd.concat([rows.astype({dimension: object}), total])
        whole = ["samples", "errors", "correct"]
        rows[whole] = rows[whole].astype(int)
        for column in ("covariate", "contribution"):
            rows[column] = rows[column].map(
                lambda value: "" if np.isnan(value) else f"{value:,.4f}".rstrip("0").rstrip(".")
            )
        rows.columns = [f"${dimension}$", "Samples", "Errors", "Correct", covariate, f"Correct × {covariate}"]
        shown.append(show_frame(rows, caption=f"{model}: ${name}$, by hand."))
    return shown[0] + shown[1]


def show_all_sums() -> Fragment:
    """Return the three exact sums of every model."""
    sums = pd.DataFrame([exact_statistics(name) for name in NAMES], columns=["$T_1$", "$T_d$", "$T_N$"])
    sums = sums.assign(**{"$T_1$": sums["$T_1$"].astype(int), "$T_d$": sums["$T_d$"].astype(int)})
    sums["$T_N$"] = sums["$T_N$"].map("{:,.4f}".format)
    sums.insert(0, "Model", NAMES)
    return show_frame(
        sums, caption="Correct answers, and the sums of $d$ and $\\log_{10} N$ over them, of every model."
    )


def show_lattice(derived: list[Derived], build: str | Path) -> Fragment:
    """Return the picture of the lattice test, and keep its counts as facts."""
    tests, rules = lattice_test(derived), summarise_rules(derived).set_index("rule")
    facts = {}
    for rule, own in tests.groupby("rule", sort=False):
        facts |= {
            f"inside_{rule}": int(own["inside"].sum()),
            f"silent_{rule}": int((own["chance"] >= 1).sum()),
            f"complete_{rule}": f"{rules.loc[rule, 'on_lattice']} of {rules.loc[rule, 'complete']}",
            f"expected_{rule}": f"{rules.loc[rule, 'expected']:.1f}",
            f"step_{rule}": rules.loc[rule, "step"],
        }
    complete = [model.name for model in MODELS if not model.missing]
    chances = tests[(tests["rule"] == "paper") & tests["model"].isin(complete)]["chance"]
    glue_facts(**facts, chance_all=f"{chances.prod():.1g}")
    counts = "; ".join(f"{RULES[rule]}: {facts[f'inside_{rule}']} of {len(NAMES)} models agree" for rule in rules.index)
    caption = (
        r"Distance of $T_\rho$ to the nearest value that a sum of ρ over answers can have, for three readings of ρ. "
        "The step is " + ", ".join(f"{facts[f'step_{rule}']} ({RULES[rule]})" for rule in rules.index)
    )
    alt = f"Three dot plots, one row a model. {counts}."
    return show_picture(draw_lattice(tests), "lattice", build, caption=caption, alt=alt)


def show_table2(derived: list[Derived], build: str | Path) -> Fragment:
    """Return Table 2 as it follows from Tables 4 to 6, with all numbers as a file, and keep its agreement as facts."""
    test = table2_test(derived)
    file = write_whole(Path(build) / "tables" / "consistency_table2.csv", test.to_csv(index=False, lineterminator="\n"))
    own = test[test["rule"] == "paper"]
    coefficients = own[own["se"].notna()]
    glue_facts(
        numbers=len(own), right=int((own["off"] <= 1).sum()), stars=len(coefficients),
        stars_right=int((coefficients["stars"] == coefficients["printed_stars"]).sum()),
    )  # fmt: skip
    text = coefficients.assign(
        text=[f"{row.derived:.4f} ({row.se:.4f}){row.stars}" for row in coefficients.itertuples()]
    )
    wide = text.pivot_table(index="model", columns="quantity", values="text", aggfunc="first").loc[
        list(NAMES), list(BETAS)
    ]
    shown = show_frame(
        wide.rename(columns=_SYMBOLS).reset_index(names="Model"),
        caption="Table 2 from Tables 4, 5 and 6 with four decimals, standard errors and stars (ρ with halves up).",
    )
    return shown + show_download(file, "every derived number beside the printed one, for the three readings of ρ (CSV)")


def show_deviations(derived: list[Derived]) -> Fragment:
    """Return the largest deviation in each model's row of Table 2, by reading of rho."""
    worst = pd.DataFrame(
        [(one.model.name, RULES[one.rule], one.misfit) for one in derived], columns=["Model", "rule", "off"]
    )
    wide = worst.pivot_table(index="Model", columns="rule", values="off").loc[list(NAMES), list(RULES.values())]
    caption = (
        "Largest deviation in each row of Table 2, in half units of the last printed digit: up to 1 is what is printed."
    )
    return show_frame(wide.map("{:.2f}".format).rename_axis(columns=None).reset_index(), caption=caption)


def show_missing(cells: pd.DataFrame, most: int = 6) -> Fragment:
    """Return where the missing puzzles can have been, and keep the numbers of choices as facts."""
    rows = []
    for model in (model for model in MODELS if model.missing):
        choices = missing_choices(model)
        fits = choices[choices["misfit"] <= 1]
        fits = fits[fits["ratios"].map(bool)]
        key = model.label.lower().replace("-", "_").replace(".", "_")
        glue_facts(
            **{f"fits_{key}": len(fits), f"whole_{key}": int(fits["whole"].sum()), f"tried_{key}": len(choices) - 1}
        )
        used = _used_ratios(model, cells)
        kept = choices[(choices.index < most) | choices["ratios"].map(lambda r, used=used: r in (used, ()))]
        for row in kept.itertuples():
            where = "; ".join(f"d = {d}: {ratio}%" for (d, _), ratio in zip(model.missing, row.ratios, strict=False))
            rows.append((model.name, where or "none missing", f"{row.beta_rho:.4f}", f"{row.misfit:.2f}",
                         "yes" if row.whole else "no", "yes" if row.ratios == used else ""))  # fmt: skip
    names = [
        "Model",
        "Ratio of the missing puzzles",
        _SYMBOLS["beta_rho"],
        "Misfit",
        r"$500\,T_\rho$ whole",
        "Used here",
    ]
    caption = (
        f"Where the missing puzzles (N = 250) can have been: the best {most} choices of a model, the one used here, "
        "and a design that lacks none."
    )
    return show_frame(pd.DataFrame(rows, columns=names), caption=caption)


def show_table3(cells: pd.DataFrame) -> Fragment:
    """Return how well the reconstructed counts meet Table 3, and keep the worst as a fact."""
    test = table3_test(cells)
    glue_facts(worst_table3=f"{test[['beta', 'p']].to_numpy().max():.2f}")
    for column in ("aic", "beta", "p"):
        test[column] = test[column].map("{:.2f}".format)
    names = ["Model", "AICs", "Coefficients", "p-values", "Furthest off"]
    caption = (
        "Largest deviation of the reconstructed counts from Tables 3 and 6, in half units of the last printed digit."
    )
    return show_frame(test.set_axis(names, axis=1), caption=caption)


def show_rules(derived: list[Derived]) -> Fragment:
    """Return the verdict on the three readings of rho."""
    rows = summarise_rules(derived)
    shown = pd.DataFrame({
        "Reading of ρ": rows["rule"].map(RULES),
        "Lattice step": rows["step"],
        "On the lattice": [f"{row.on_lattice} of {row.complete}" for row in rows.itertuples()],
        "By chance": rows["expected"].map("{:.1f}".format),
        "Rows of Table 2 that come out": [f"{row.rows} of {row.models}" for row in rows.itertuples()],
        "Largest deviation": rows["worst"].map("{:.1f}".format),
    })  # fmt: skip
    caption = (
        "The three readings of ρ. The lattice is counted over the models without missing puzzles; deviations are in "
        "half printed units."
    )
    return show_frame(shown, caption=caption)


def show_one_row(model: str) -> Fragment:
    """Return which AICs a printed row of Table 2 would need, beside those of Table 6, and keep the facts."""
    region, printed = aic_region(model), load_printed("table6").set_index("model").loc[model]
    if region.empty:
        raise ValueError(f"the printed row of {model} contradicts Tables 4 and 5 alone; no AIC can mend that")
    rows = []
    for column, label in (("aic_linear", "linear"), ("aic_quadratic", "quadratic")):
        low, high, shown = region[column].min(), region[column].max(), float(printed[column])
        near = misprints(printed[column])
        inside = sum(low <= float(other) <= high for other in near)
        difference = f"{low - shown:+.2f} to {high - shown:+.2f}"
        rows.append((label, printed[column], f"{low:.2f} to {high:.2f}", difference, len(near), inside))
    glue_facts(slips=sum(row[4] for row in rows), slips_linear=rows[0][5], slips_quadratic=rows[1][5])
    names = ["AIC", "Printed", "Needed", "Difference", "Numbers one slip away", "of which inside"]
    caption = (
        f"The AICs that the printed row of {model} needs, given Tables 4 and 5. A slip is one digit misread, or two "
        "neighbours swapped."
    )
    return show_frame(pd.DataFrame(rows, columns=names), caption=caption)


def show_spread(cells: pd.DataFrame, build: str | Path) -> Fragment:
    """Return the picture of how far the figures move between the possible tables, and keep its extremes as facts."""
    described = []
    facts = {"tables": len(load_tables().columns) - 4}
    for (dims, _), figure in zip(SPREADS.items(), (6, 3, 4), strict=True):
        widths = half_widths(cells, *dims)
        middle, most, wilson = widths["tables"].median(), widths["tables"].max(), widths["wilson"].median()
        facts |= {
            f"middle{figure}": f"{middle:.1f}",
            f"most{figure}": f"{most:.1f}",
            f"wilson{figure}": f"{wilson:.1f}",
        }
        described.append(f"Figure {figure}: {middle:.1f} in the median and {most:.1f} at most, Wilson {wilson:.1f}")
    still = [spread_band(cells, "model", dimension) for dimension in ("d", "N")]
    facts["still"] = f"{100 * max((band['highest'] - band['lowest']).max() for band in still):.1f}"
    glue_facts(**facts)
    caption = "How far the points of three figures move between possible tables of counts, against sampling error"
    alt = f"Three dot plots of half widths in percentage points, one row a model. {'; '.join(described)}."
    note = origin_note("reconstructed")
    return show_picture(draw_spread(cells), "spread", build, caption=caption, alt=alt, note=note)


def show_possible(cells: pd.DataFrame, ratio_pct: int = 75) -> Fragment:
    """Return how many tables are possible, and how far the accuracy at one ratio can go, drawn and at the extreme."""
    band = spread_band(cells[cells["ratio_pct"] == ratio_pct], "model").set_index("model")
    rows, members = [], (GRID["ratio_pct"] == ratio_pct).to_numpy()
    for name in NAMES:
        constraints = constraints_around(cells, name)
        low, high = possible_range(constraints, members)
        drawn = f"{band.loc[name, 'lowest']:.2f} to {band.loc[name, 'highest']:.2f}"
        rows.append((name, estimate_log10_tables(constraints), drawn, f"{low:.2f} to {high:.2f}", high - low))
    frame = pd.DataFrame(rows, columns=["Model", "log", "Drawn tables", "Any table", "width"])
    glue_facts(
        fewest=f"{frame['log'].min():.0f}", fewest_model=frame["Model"][frame["log"].idxmin()],
        most=f"{frame['log'].max():.0f}", widest=f"{frame['width'].median():.2f}", at_ratio=ratio_pct,
    )  # fmt: skip
    frame.insert(1, "Tables, power of ten", frame.pop("log").map("{:.0f}".format))
    caption = (
        f"Estimated number of possible tables, and the accuracy at ρ = {ratio_pct}% over the drawn tables and over all."
    )
    return show_frame(frame.drop(columns="width"), caption=caption)


def _used_ratios(model: Model, cells: pd.DataFrame) -> tuple[int, ...]:
    """Return the ratios that the reconstruction gives to a model's missing puzzles."""
    own = cells[(cells["model"] == model.name) & (cells["n"] < model.puzzles_per_cell)]
    used = []
    for d, N in model.missing:
        at = own[(own["d"] == d) & (own["N"] == N)]
        lacking = (model.puzzles_per_cell - at["n"]).to_numpy()
        ratios = np.repeat(at["ratio_pct"].to_numpy(int), lacking).tolist()
        used.append(ratios[sum((d, N) == other for other in model.missing[: len(used)])])
    return tuple(used)
