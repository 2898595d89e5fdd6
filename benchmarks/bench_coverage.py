"""Coverage of the 95% intervals of the capacity points, simulated.

python benchmarks/bench_coverage.py [TABLES] [--json]

For every model the paper's regression, fitted to the reconstructed cells, is taken for the truth; tables are drawn
from it and refitted. An interval covers when it contains the true point. The delta interval is checked as it is;
the profile interval by whether the likelihood ratio at the true point stays below its limit, which is the same but
for NT50 when the set of accepted ratios falls into parts. NT50 is checked for models that have one; a table without a
root counts as missed for the delta interval. A second run draws from the richest fit that the printed tables settle,
in which the paper's regression is wrong: the point to cover is then that of the paper's regression fitted to the true
accuracies.
"""

import json
import sys

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.comparisons import TIER_OF
from cogniload_repro.robustness.specifications import FIXED_SUMS
from cogniload_repro.robustness.uncertainty import POINTS, Quadratic, fit_quadratics, place
from cogniload_repro.statistics.design import many_points
from cogniload_repro.statistics.likelihood import maximise, maximise_all
from cogniload_repro.statistics.regression import fit_glm

TABLES = 4000
LEVEL = 0.95


def log_likelihood(x: np.ndarray, k: np.ndarray, n: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of each table, shape (r,), at its own coefficients."""
    eta = betas @ x.T
    return (k * eta).sum(axis=1) - np.logaddexp(0, eta) @ n


def covariances(x: np.ndarray, n: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Return the covariance of each table's coefficients, shape (r, q, q)."""
    p = 1 / (1 + np.exp(-betas @ x.T))
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    return np.linalg.inv(((n * p * (1 - p)) @ products).reshape(-1, x.shape[1], x.shape[1]))


def measure(
    quadratic: Quadratic,
    accuracy: np.ndarray,
    beta: np.ndarray,
    tables: int,
    rng: np.random.Generator,
) -> dict:
    """Return the share of tables, drawn from accuracies, whose intervals cover the points of coefficients."""
    x, n, means = quadratic.x, quadratic.n, quadratic.means
    k = rng.binomial(n.astype(int), accuracy, size=(tables, len(n)))
    betas = maximise_all(x, np.broadcast_to(n, k.shape), k @ x, beta)[0]
    found = np.isfinite(betas).all(axis=1)
    k, betas = k[found], betas[found]
    spread, loglik = covariances(x, n, betas), log_likelihood(x, k, n, betas)
    truth, estimates = many_points(beta[None], means), many_points(betas, means)
    row = {"no_fit": 1 - found.mean()}
    for point in POINTS:
        true, values = float(truth[point][0]), estimates[point]
        if not np.isfinite(true):
            continue
        at = np.array([place(point, value, means) for value in values])
        along = {
            "ecl50": betas[:, 2],
            "id50": betas[:, 1],
            "nt50": betas[:, 3] + 2 * betas[:, 4] * values,
        }
        slopes = along[point]
        se = np.sqrt(np.einsum("ri,rij,rj->r", at, spread, at)) / np.abs(slopes)
        row[f"{point} delta"] = (np.abs(values - true) <= norm.ppf((1 + LEVEL) / 2) * se).mean()
        held = x[:, 1:] - place(point, true, means)[1:]
        start = maximise(held, n, held.T @ (n * accuracy))[0]
        fixed = maximise_all(held, np.broadcast_to(n, k.shape), k @ held, start)[0]
        statistic = 2 * (loglik - log_likelihood(held, k, n, fixed))
        row[f"{point} profile"] = (statistic <= chi2.ppf(LEVEL, 1)).mean()
    return row


def simulate(tables: int) -> pd.DataFrame:
    """Return the coverage for every model under both truths, one row a model and truth."""
    cells, rows = load_counts(), []
    for index, quadratic in enumerate(fit_quadratics(cells)):
        richest = fit_glm(cells[cells["model"] == quadratic.model], f"correct ~ {FIXED_SUMS}")
        truths = {"paper's": (quadratic.accuracy, quadratic.fit.coef)}
        if richest.status == "ok":
            beta = maximise(
                quadratic.x, quadratic.n, quadratic.x.T @ (quadratic.n * richest.accuracy)
            )[0]
            truths["richer"] = (richest.accuracy, beta)
        for number, (name, (accuracy, beta)) in enumerate(truths.items()):
            rng = np.random.default_rng([index, number])
            row = measure(quadratic, accuracy, beta, tables, rng)
            rows.append(
                {"model": quadratic.model, "tier": TIER_OF.get(quadratic.model, ""), "truth": name}
                | row
            )
    return pd.DataFrame(rows)


def summarise(coverage: pd.DataFrame) -> list[tuple[str, str]]:
    """Return a row a method: the range of coverage in the middle tier, over points and truths, and what misses."""
    rows = []
    for method in ("delta", "profile"):
        of_method = [column for column in coverage if column.endswith(f" {method}")]
        middle = (
            coverage[coverage["tier"] == "mid"].melt("model", of_method, "point", "share").dropna()
        )
        low, shares = middle[middle["share"] < 0.93], middle["share"]
        named = sorted(
            {f"{one.point.split()[0].upper()} of {one.model}" for one in low.itertuples()}
        )
        misses = f"; below 93%: {', '.join(named)}" if named else ""
        span = f"{100 * shares.min():.1f} to {100 * shares.max():.1f}%"
        rows.append(
            (
                f"coverage of 95% {method} intervals of the capacity points, middle tier{misses}",
                span,
            )
        )
    return rows


def show(coverage: pd.DataFrame, tables: int) -> None:
    """Print the coverage of every model, and by truth and interval the models outside 93 to 97%."""
    columns = [column for column in coverage if " " in column]
    print(f"coverage in % of nominal {LEVEL:.0%} intervals, {tables:,} tables a model and truth")
    print(f"(standard error {100 * np.sqrt(LEVEL * (1 - LEVEL) / tables):.2f})")
    print(
        coverage.assign(**{c: (100 * coverage[c]).round(1) for c in columns}).to_string(
            index=False, na_rep=""
        )
    )
    for truth, own in coverage.groupby("truth", sort=False):
        outside = own[columns].apply(lambda values: values.notna() & ~values.between(0.93, 0.97))
        print(f"\ntruth {truth}: outside 93-97%")
        for column in columns:
            names = ", ".join(
                f"{m} ({100 * v:.1f})"
                for m, v in own.loc[outside[column], ["model", column]].to_numpy()
            )
            print(f"  {column}: {names or 'none'}")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument != "--json"]
    tables = numbers[0] if numbers else TABLES
    coverage = simulate(tables)
    if "--json" in sys.argv:
        print(json.dumps(summarise(coverage)))
    else:
        show(coverage, tables)
