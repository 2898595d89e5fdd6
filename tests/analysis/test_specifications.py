"""Other regressions against other implementations, what is identified of them, and scatter."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from samples import fit_one, fit_quadratics, many_points
from scipy.special import expit
from scipy.stats import chi2
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_repro.analysis import specifications
from cogniload_repro.analysis.specifications import (
    SPECIFICATIONS,
    Specification,
    compare_specifications,
    dispersion_table,
    fit_specifications,
)
from cogniload_repro.analysis.uncertainty import capacity_intervals
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.formulas import FIXED_SUMS, QUADRATIC, build_design
from cogniload_repro.regression.reconstructions import each_reconstruction

CELLS = load_cells()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-1.7B", "gpt-5-mini-2025-08-07"])]
BY_NAME = {specification.name: specification for specification in SPECIFICATIONS}
assert (SPECIFICATIONS[0].formula, BY_NAME["all identified terms"].formula) == (
    QUADRATIC,
    FIXED_SUMS,
)
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


@cache
def fits():
    """All specifications, fitted to few models."""
    return fit_specifications(FEW)


def drawn_cells(correlation, seed):
    """Return cells of 100 answers around the fitted line.

    The answers of a cell are correlated.
    """
    (quadratic,) = fit_quadratics(QWQ)
    p = quadratic.fit.accuracy
    rng = np.random.default_rng(seed)
    if correlation:
        precision = 1 / correlation - 1
        p = rng.beta(p * precision, (1 - p) * precision)
    return QWQ.assign(correct=rng.binomial(100, p))


def test_fits_are_those_of_the_general_fit():
    """AIC, BIC and status of a specification are those of `fit_glm`."""
    table = fits().set_index(["specification", "model"])
    for specification in SPECIFICATIONS[::3]:
        for model, cells in FEW.groupby("model"):
            expected = fit_one(cells, specification.formula, specification.family)
            row = table.loc[(specification.name, model)]
            assert row["status"] == expected.status == "ok"
            assert row["terms"] == len(expected.terms)
            values = row[["aic", "bic"]].astype(float).tolist()
            assert values == pytest.approx([expected.aic, expected.bic], rel=1e-7), (
                specification.name
            )


def test_identified_are_those_built_from_printed_sums():
    """Functions of d or N alone, rho, rho^2 and Appendix B's products are identified.

    They are so with the logit link only.
    """
    table = fits().set_index(["specification", "model"])["identified"]
    identified = table.groupby("specification").all()
    for name in ("paper", "N", "sqrt N", "N as factor", "cubic in d", "three-way"):
        assert identified[name]
    for name in ("nominal ratio", "cubic in rho", "spline in rho", "probit", "cloglog"):
        assert not identified[name]
    for formula in ("correct ~ C(d):C(N)", "correct ~ np.sqrt(needles) * rho"):
        other = fit_specifications(FEW, [Specification("x", formula)])
        assert not other["identified"].any()
    own = drawn_cells(0, 1).assign(provenance="scored")
    assert fit_specifications(own)["identified"].all()


def test_points_of_the_papers_specification_are_the_papers():
    """The general search finds what the formula of section 3.1.3 gives."""
    table = fits().set_index(["specification", "model"])["ecl50"]
    for model, cells in FEW.groupby("model"):
        expected = (
            10 ** many_points(fit_one(cells).coef[None], grid_means(cells))["ecl50"][0]
        )
        assert table["paper", model] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(table["N as factor", "QwQ-32B"])
    assert np.isfinite(table["d as factor", "QwQ-32B"])


def test_points_put_any_fit_at_one_half():
    """Accuracy at ECL50 and mean rho is one half, in a regression in N with any link."""
    for family, link in (
        ("cloglog", lambda eta: -np.expm1(-np.exp(eta))),
        ("logit", expit),
    ):
        specification = Specification("x", "correct ~ N + rho", family)
        fit = fit_one(QWQ, specification.formula, family)
        ecl50 = fit_specifications(QWQ, [specification])["ecl50"].iloc[0]
        design = build_design(QWQ, specification.formula)
        at = pd.DataFrame({"N": [ecl50], "d": [5.0], "rho": [QWQ["rho"].mean()]})
        assert link(design.expand(at) @ fit.coef)[0] == pytest.approx(0.5, abs=1e-4)


def test_a_readers_specification_is_the_last_row():
    """It is summarised with or without an ECL50."""
    for formula, family in (
        ("correct ~ d + N + log10_N + C(N)", "logit"),
        ("correct ~ d + np.log10(needles) + rho", "logit"),
        ("correct ~ d + rho", "probit"),
    ):
        chosen = (SPECIFICATIONS[0], Specification("yours", formula, family))
        status = (
            fit_specifications(QWQ, chosen)
            .set_index("specification")
            .loc["yours", "status"]
        )
        assert status == fit_one(QWQ, formula, family).status
        own = drawn_cells(0, 1).assign(provenance="scored")
        summary = compare_specifications(own, capacity_intervals(QWQ), chosen)
        assert summary["specification"].tolist() == ["paper", "yours"]


def test_a_model_without_a_fit_in_one_table_counts_in_none(monkeypatch):
    """The sum of AIC differences is over the same models in every reconstruction."""
    chosen = [BY_NAME[name] for name in ("paper", "cubic in rho")]
    fit_all = specifications.fit_specifications

    def fit_but_one(cells, asked):
        fits = fit_all(cells, asked)
        is_lost = fits["model"] == FEW["model"].iloc[0]
        is_lost &= fits["specification"] == "cubic in rho"
        is_lost &= fits.get("reconstruction", 0) == 7  # not the counts as given
        fits.loc[is_lost, "status"] = "not converged"
        return fits

    intervals = capacity_intervals(FEW)
    whole = compare_specifications(FEW, intervals, chosen)
    monkeypatch.setattr(specifications, "fit_specifications", fit_but_one)
    summary = compare_specifications(FEW, intervals, chosen)
    assert summary["models"].tolist() == [whole["models"][0], whole["models"][0] - 1]
    others = FEW[FEW["model"] != FEW["model"].iloc[0]]
    monkeypatch.undo()
    expected = compare_specifications(others, capacity_intervals(others), chosen)
    assert summary["daic"][1] == pytest.approx(expected["daic"][1])


def test_what_is_not_identified_is_a_range_over_the_reconstructions():
    """Counts of an identified regression have no width.

    Others have the median and range of fits to every table.
    """
    chosen = [BY_NAME[name] for name in ("paper", "d x N", "cubic in rho")]
    summary = compare_specifications(FEW, capacity_intervals(FEW), chosen).set_index(
        "specification"
    )
    assert summary["identified"].tolist() == [True, True, False]
    assert summary.loc["paper", ["daic", "aic_better", "ecl50_left"]].tolist() == [
        0,
        0,
        0,
    ]
    assert summary.loc["paper", ["ecl50_ratio", "order"]].tolist() == pytest.approx(
        [1, 1]
    )
    assert (summary["aic_better_p10"] == summary["aic_better_p90"]).tolist()[:2] == [
        True,
        True,
    ]
    gains = []
    for table in each_reconstruction(FEW):
        models = [cells for _, cells in table.groupby("model")]
        cubic = np.array([fit_one(cells, chosen[2].formula).aic for cells in models])
        gains.append(cubic - [fit_one(cells).aic for cells in models])
    by_hand = np.sum(gains, axis=1)
    row = summary.loc["cubic in rho"]
    better = np.sum(np.array(gains) < -2, axis=1)
    assert better.sum() < np.sum(np.array(gains) < 0)  # some are lower, but by less
    assert (
        row[["aic_better_p10", "aic_better_p90"]].tolist()
        == np.quantile(better, [0.1, 0.9]).tolist()
    )
    assert row["daic"] == pytest.approx(np.median(by_hand), abs=1e-4)
    assert row[["daic_p10", "daic_p90"]].tolist() == pytest.approx(
        np.quantile(by_hand, [0.1, 0.9]), abs=1e-4
    )
    assert row["daic_p10"] < row["daic_p90"]


def test_the_least_dispersion_is_identified_and_a_bound():
    """The lack of fit is the likelihood ratio of all identified terms."""
    row = dispersion_table(QWQ).iloc[0]
    paper = fit_one(QWQ, QUADRATIC)
    wide = fit_one(QWQ, FIXED_SUMS)
    lr = 2 * (wide.loglik - paper.loglik)
    assert row["p_lr"] == pytest.approx(chi2.sf(lr, 9))
    assert row["phi_lower_bound"] == pytest.approx(lr / 135)
    counts = np.column_stack([QWQ["correct"], QWQ["total"] - QWQ["correct"]])
    (quadratic,) = fit_quadratics(QWQ)
    result = GLM(counts, quadratic.x, family=Binomial()).fit()
    assert row["phi_lower_bound"] <= result.deviance / 135


def test_lack_of_fit_on_a_part_of_the_grid_has_no_p():
    """There the sums of the larger regression are not printed; counts of one's own have theirs."""
    part = QWQ[QWQ["N"] < 250]
    assert dispersion_table(QWQ)["p_lr"].notna().all()
    row = dispersion_table(part).iloc[0]
    assert np.isnan(row["p_lr"])
    assert row["phi_lower_bound"] > 0
    assert dispersion_table(part.assign(provenance="scored"))["p_lr"].notna().all()
