"""The printed tables against one another."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.consistency import (
    aic_region,
    count_tables,
    half_widths,
    lattice_test,
    misprints,
    missing_choices,
    needed_aics,
    summarise_rules,
    sums_by_level,
    table2_test,
    table3_test,
    used_ratios,
)
from cogniload_repro.reconstruction.derivation import RULES, derive_all, derive_each, exact_statistics, puzzles_per_cell
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.design import X
from cogniload_repro.statistics.likelihood import maximise, solve_aic

ODD = "DeepSeek-R1-Distill-Qwen-32B"


@pytest.mark.parametrize("name", NAMES)
def test_sums_by_hand_are_the_exact_ones(name):
    """The levels' contributions add up to the statistics that everything else starts from."""
    by_d, by_N = sums_by_level(name, "d"), sums_by_level(name, "N")
    assert by_d["correct"].sum() == by_N["correct"].sum()
    sums = [by_d["correct"].sum(), by_d["contribution"].sum(), by_N["contribution"].sum()]
    assert sums == pytest.approx(exact_statistics(name), rel=1e-12)
    assert (by_d["samples"] - by_d["errors"] == by_d["correct"]).all()


def at(low, value, high, rule="paper"):
    """Return a derivation whose sum of rho has this window, in lattice steps."""
    step = {"paper": 1 / 500, "nominal": 1 / 20}[rule]
    one = derive_each([(BY_NAME["QwQ-32B"], ())], rule)[0]
    T = np.append(one.T[:3], [value * step, one.T[4]])
    return dataclasses.replace(one, T=T, window=(low * step, high * step))


def test_windows_are_held_against_the_lattice():
    """A window agrees if it holds a whole step; its width is the chance that it does; wider than one it is 1."""
    test = lattice_test([at(9.7, 9.9, 10.1), at(10.1, 10.3, 10.5), at(9.2, 10.4, 11.6), at(9.7, 9.9, 10.1, "nominal")])
    assert test["inside"].tolist() == [True, False, True, True]
    assert test["chance"].tolist() == pytest.approx([0.4, 0.4, 1, 0.4])
    assert test["nearest"].tolist() == [10, 10, 10, 10]
    assert test["low"].tolist() == pytest.approx([-0.3, 0.1, -0.8, -0.3])


def test_every_star_follows():
    """The derived standard errors give the stars that Table 2 prints, all of them, and 21 rows to the digit."""
    test = table2_test(derive_all("paper"))
    coefficients = test[test["se"].notna()]
    assert len(coefficients) == 110
    assert coefficients["stars"].tolist() == coefficients["printed_stars"].tolist()
    assert set(test.loc[test["off"] > 1, "model"]) == {ODD}
    assert len(test) == 8 * len(NAMES)


@pytest.mark.slow
def test_the_data_used_halves_up():
    """One reading of rho passes the lattice for every complete model; the others pass about as often as by chance."""
    rules = summarise_rules([one for rule in RULES for one in derive_all(rule)]).set_index("rule")
    assert rules["step"].to_dict() == {"paper": "1/500", "port": "1/500", "nominal": "1/20"}
    assert rules.loc["paper", "on_lattice"] == rules.loc["paper", "complete"] == 19
    for rule in ("port", "nominal"):
        spread = np.sqrt(rules.loc[rule, "expected"])
        assert abs(rules.loc[rule, "on_lattice"] - rules.loc[rule, "expected"]) < 2 * spread
    assert rules.loc["paper", "rows"] == 21
    assert rules.loc[["port", "nominal"], "rows"].max() < 6


def test_choices_for_missing_puzzles():
    """Every choice is listed with the balanced design last, which o3's row rules out; the lattice narrows the rest."""
    choices = missing_choices(BY_NAME["o3-2025-04-16"])
    assert len(choices) == 50
    assert choices["ratios"].iloc[-1] == ()
    assert choices["misfit"].iloc[-1] > 50
    assert choices["misfit"].iloc[:-1].is_monotonic_increasing
    possible = choices[(choices["misfit"] <= 1) & choices["whole"]]
    cells = load_counts()
    own = cells[(cells["model"] == "o3-2025-04-16") & (cells["total"] == 9)].set_index("d")["ratio_pct"]
    assert possible["ratios"].tolist() == [(own[1], own[5])]


def test_counts_are_held_against_table_3():
    """The committed counts meet all of it; one answer moved to another cell does not go unseen."""
    cells = load_counts()
    assert table3_test(cells)[["aic", "beta", "p"]].to_numpy().max() <= 1
    own = cells[cells["model"] == "QwQ-32B"].reset_index(drop=True)
    first, last = own.query("0 < correct < total").index[[0, -1]]
    own.loc[first, "correct"] += 1
    own.loc[last, "correct"] -= 1
    assert table3_test(own)[["aic", "beta", "p"]].to_numpy().max() > 1


def test_aics_that_a_row_needs():
    """A row that agrees needs AICs around the printed ones; the one that does not needs larger ones."""
    printed = load_table("table6").set_index("model")
    for name, inside in (("QwQ-32B", True), (ODD, False)):
        region = aic_region(name)
        for column in ("aic_linear", "aic_quadratic"):
            assert (region[column].min() <= printed.loc[name, column] <= region[column].max()) == inside
    assert (region["aic_linear"] > printed.loc[ODD, "aic_linear"] + 3).all()
    with pytest.raises(ValueError, match="o3-2025-04-16 lacks puzzles of unknown ratio"):
        aic_region("o3-2025-04-16")


def test_region_agrees_with_the_way_back():
    """From a pair of AICs in the region the derivation leads to the coefficients that it belongs to."""
    row = aic_region(ODD, 5).iloc[3]
    n, known = puzzles_per_cell(BY_NAME[ODD], ()), exact_statistics(ODD)
    found = [
        maximise(X[:, :5], n, np.concatenate([known, [t_rho, t_rho2]]))[0]
        for (t_rho,) in solve_aic(X[:, :4], n[None], known[None], row[["aic_linear"]].to_numpy(float))
        for (t_rho2,) in solve_aic(
            X[:, :5], n[None], np.append(known, t_rho)[None], row[["aic_quadratic"]].to_numpy(float)
        )
    ]
    wanted = row.iloc[:5].to_numpy(float)
    assert min(np.abs(beta - wanted).max() for beta in found) < 1e-5


@given(st.integers(10_000, 99_999_999).map(lambda thousandths: f"{thousandths / 1000:.3f}"))
def test_slips_are_one_step_away(printed):
    """A slip keeps the length and the point; it changes one digit, or two neighbours for one another."""
    slips = misprints(printed)
    assert printed not in slips
    assert len(slips) == len(set(slips)) >= 9 * (len(printed) - 1)
    for slip in slips:
        places = [place for place, (a, b) in enumerate(zip(printed, slip, strict=True)) if a != b]
        assert slip.index(".") == printed.index(".")
        assert len(places) == 1 or sorted(slip) == sorted(printed)


def test_printed_sums_of_one_model():
    """A level's row of the worked example holds what Table 4 prints."""
    own = load_table("table4").query("model == 'QwQ-32B' and d == 3").iloc[0]
    row = sums_by_level("QwQ-32B", "d").set_index("d").loc[3]
    assert row["samples"] == own["samples"]
    assert row["contribution"] == 3 * row["correct"]


def test_no_slip_mends_the_odd_row():
    """For the odd row no slip leads to the AIC that it needs; a row that agrees needs the AIC that it has."""
    assert needed_aics(ODD)["slips_inside"].tolist() == [0, 0]
    agrees = needed_aics("QwQ-32B")
    assert agrees["printed"].astype(float).between(agrees["low"], agrees["high"]).all()


def test_ratios_in_use_are_those_of_the_counts():
    """What a table of counts lacks in a cell is a puzzle of that ratio, listed in the order of the printed gaps."""
    cells = load_counts()
    for name, model in BY_NAME.items():
        used = used_ratios(name, cells)
        assert len(used) == len(model.missing)
        short = cells[(cells["model"] == name) & (cells["total"] < model.puzzles_per_cell)]
        assert sorted(used) == sorted(short["ratio_pct"].repeat(model.puzzles_per_cell - short["total"]))


def test_half_widths_are_percentage_points():
    """By d the tables agree, and the Wilson interval of 280 or 2,800 answers is as wide as it should be."""
    widths = half_widths(load_counts(), "d").set_index(["model", "d"])
    assert (widths["tables"] == 0).all()
    assert widths.loc[("QwQ-32B", 5), "wilson"] == pytest.approx(100 * 1.645 * (0.25 / 2800) ** 0.5, rel=0.05)


def test_tables_are_beyond_counting():
    """There are many tables of every model, and most of the models with a hundred puzzles a cell."""
    cells = load_counts()
    counted = count_tables(cells[cells["model"].isin(["QwQ-32B", "gpt-5-2025-08-07"])])
    assert counted["QwQ-32B"] > counted["gpt-5-2025-08-07"] > 10


@pytest.mark.parametrize("name", ["o3-2025-04-16", "o4-mini-2025-04-16"])
def test_capacity_points_were_taken_at_means_over_the_design(name):
    """With means over the answers no choice of missing puzzles gives the row of Table 2; over the design some do."""
    choices = missing_choices(BY_NAME[name])
    assert (choices["misfit"] <= 1).any()
    assert not (choices["misfit_weighted"] <= 1).any()
    balanced = choices[choices["ratios"].map(len) == 0]
    assert balanced["misfit"].item() == pytest.approx(balanced["misfit_weighted"].item())
