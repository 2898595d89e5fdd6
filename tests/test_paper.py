"""The headline: statsmodels on the reconstructed cells prints the paper's numbers.

Nothing here uses the package's own regressions or its optimiser: counts are summed with
pandas, fitted with statsmodels and formatted as the paper prints them.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

from cogniload_repro import formats
from cogniload_repro.models import NAMES
from cogniload_repro.published import ERRORS, load_claims, load_printed
from cogniload_repro.regression.reconstructions import CELLS_FILE

pytestmark = pytest.mark.filterwarnings("error")

BETAS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
POINTS = ("ecl50", "nt50", "id50")
PAIRS = ("dN", "drho", "Nrho", "dNrho")
#: The one row of Table 6 that contradicts Tables 2, 4 and 5.
ODD = "DeepSeek-R1-Distill-Qwen-32B"


@pytest.fixture(scope="module")
def cells():
    """The committed counts, read as any reader would read them."""
    return pd.read_csv(CELLS_FILE)


def columns(cells):
    """The nine covariates: 1, d, log10 N, rho, rho^2 and the four interactions."""
    d = cells["d"].to_numpy(float)
    log_n = np.log10(cells["N"].to_numpy(float))
    rho = cells["rho"].to_numpy()
    ones = np.ones(len(cells))
    return np.column_stack(
        [ones, d, log_n, rho, rho**2, d * log_n, d * rho, log_n * rho, d * log_n * rho]
    )


def fit(cells, places):
    """A binomial GLM on some covariates, with the log-likelihood of its answers."""
    x = columns(cells)[:, places]
    k = cells["correct"].to_numpy(float)
    n = cells["total"].to_numpy(float)
    result = sm.GLM(np.column_stack([k, n - k]), x, family=sm.families.Binomial()).fit(
        tol=1e-12
    )
    assert result.converged
    eta = x @ result.params
    loglik = k @ eta - n @ np.logaddexp(0, eta)
    return result, loglik, 2 * len(places) - 2 * loglik


def thresholds(beta, cells):
    """ECL50, NT50 and ID50 at the grid's means (paper, section 3.1.3)."""
    b0, bd, bN, br, br2 = beta
    grid = columns(cells.drop_duplicates(["N", "d", "rho"])).mean(axis=0)
    along = br * grid[3] + br2 * grid[3] ** 2
    roots = np.roots([br2, br, b0 + bd * grid[1] + bN * grid[2]])
    inside = [root.real for root in roots if root.imag == 0 and 0 <= root.real <= 1]
    return (
        10 ** (-(b0 + bd * grid[1] + along) / bN),
        max(inside, default=np.nan),
        -(b0 + bN * grid[2] + along) / bd,
    )


@pytest.fixture(scope="module")
def recomputed(cells):
    """Tables 2, 3 and 6 as strings, model by model: what the paper would have printed."""
    table2 = {}
    table3 = {}
    table6 = {}
    for model, counts in cells.groupby("model"):
        quadratic, _, aic = fit(counts, [0, 1, 2, 3, 4])
        _, _, aic_linear = fit(counts, [0, 1, 2, 3])
        full, loglik, _ = fit(counts, list(range(9)))
        ecl50, nt50, id50 = thresholds(quadratic.params, counts)
        table2[model] = dict(
            zip(BETAS, map(formats.format_beta, quadratic.params), strict=True)
        )
        table2[model] |= {
            "ecl50": formats.format_ecl50(ecl50),
            "nt50": formats.format_point(nt50),
        }
        table2[model] |= {"id50": formats.format_point(id50)}
        table2[model] |= {
            f"{b}_stars": formats.stars(p)
            for b, p in zip(BETAS, quadratic.pvalues, strict=True)
        }
        table3[model] = {}
        for place, pair in enumerate(PAIRS, start=5):
            dropped = fit(counts, [c for c in range(9) if c != place])[1]
            p = chi2.sf(2 * (loglik - dropped), 1)
            table3[model] |= {f"beta_{pair}": formats.format_beta(full.params[place])}
            table3[model] |= {
                f"p_{pair}": formats.format_p(p),
                f"p_{pair}_stars": formats.stars(p),
            }
        numbers = {
            "p_lr": chi2.sf(aic_linear - aic + 2, 1),
            "aic_linear": aic_linear,
            "aic_quadratic": aic,
        }
        table6[model] = {
            name: formats.format_thousandths(number) for name, number in numbers.items()
        }
    return {"table2": table2, "table3": table3, "table6": table6}


def differences(recomputed, table, names):
    """The (model, column) whose recomputed string is not the printed one.

    And how many were compared.
    """
    printed = (
        load_printed(table)
        .set_index("model")[list(names)]
        .replace({"nt50": {"": formats.NONE}})
    )
    assert set(printed.index) == set(recomputed[table]) == set(NAMES)
    compared = [(model, name) for model in NAMES for name in names]
    return {
        (m, c) for m, c in compared if recomputed[table][m][c] != printed.loc[m, c]
    }, len(compared)


@pytest.mark.parametrize(("table", "key"), [("table4", "d"), ("table5", "N")])
def test_tables_4_and_5_are_exact(cells, table, key):
    """Every sample, every accuracy (halves to even) and every error count is the printed string."""
    sums = cells.groupby(["model", key])[["total", "correct", *ERRORS]].sum()
    printed = load_printed(table)
    for row in printed.to_dict("records"):
        row_sums = sums.loc[row["model"], int(row[key])]
        accuracy = round(
            Fraction(100 * int(row_sums["correct"]), int(row_sums["total"]))
        )
        values = {
            "samples": str(row_sums["total"]),
            "acc_pct": str(accuracy),
            **{e: str(row_sums[e]) for e in ERRORS},
        }
        assert values == {name: row[name] for name in values}, (row["model"], row[key])
    assert len(printed) == len(sums)


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("table2", (*BETAS, *POINTS)),
        ("table2", [f"{beta}_stars" for beta in BETAS]),
        ("table3", [f"p_{pair}_stars" for pair in PAIRS]),
    ],
)
def test_table_2_and_all_stars_are_exact(recomputed, table, names):
    """All 176 numbers of Table 2 and the 110 and 88 marks of significance are the printed ones."""
    assert differences(recomputed, table, names) == (set(), 22 * len(names))


def test_table_6_is_exact_but_for_one_row(recomputed):
    """All AICs and p-values are the printed ones, except two AICs that are about 4 too small."""
    names = ("p_lr", "aic_linear", "aic_quadratic")
    assert differences(recomputed, "table6", names) == (
        {(ODD, "aic_linear"), (ODD, "aic_quadratic")},
        66,
    )
    printed = load_printed("table6").set_index("model").loc[ODD]
    for name in names[1:]:
        assert 3.5 < float(recomputed["table6"][ODD][name]) - float(printed[name]) < 5


def test_table_3_is_exact(recomputed):
    """All 176 coefficients and p-values are the printed numbers."""
    printed = load_printed("table3").set_index("model")
    compared = 0
    for model in NAMES:
        for name in [f"{kind}_{pair}" for pair in PAIRS for kind in ("beta", "p")]:
            assert recomputed["table3"][model][name] == formats_of(
                name, printed.loc[model, name]
            ), (model, name)
            compared += 1
    assert compared == 176


def formats_of(name, text):
    """A printed string in the spelling of `formats`.

    The paper writes the same number with or without zeros.
    """
    return formats.format_p(float(text)) if name.startswith("p_") else text


def test_accuracies_along_rho_are_those_of_the_prose(cells):
    """Every accuracy that the prose states along rho is reproduced.

    It is within half a unit of the second decimal.
    """
    places = {"low end": 5, "middle": 50, "high end": 95}
    claims = load_claims()
    claims = claims[claims["rho"].isin(places) & (claims["quantity"] == "accuracy")]
    assert len(claims) > 10
    for claim in claims.itertuples():
        counts = cells[
            (cells["model"] == claim.model) & (cells["ratio_pct"] == places[claim.rho])
        ]
        accuracy = Fraction(int(counts["correct"].sum()), int(counts["total"].sum()))
        assert abs(accuracy - Fraction(claim.value)) <= Fraction(1, 200), claim.id
