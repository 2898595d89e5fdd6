"""The printed numbers of Tables 2 to 6 by model, with their rounding error (half a unit)."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd

from cogniload_repro.models import Model, find_model
from cogniload_repro.paths import RECONSTRUCTED
from cogniload_repro.published import correct_by, load_printed, load_table
from cogniload_repro.regression.design import GRID, PRODUCTS

#: Coefficients of Table 2, in the order of its regression's covariates.
BETAS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
#: Half a unit of the last digit of each number in a row of Table 2.
HALF_UNITS = {
    **dict.fromkeys(BETAS, 0.005),
    "ecl50": 0.05,
    "nt50": 0.005,
    "id50": 0.005,
}
#: Half a unit of the last digit of an AIC in Table 6.
AIC_HALF_UNIT = 0.0005

_AICS = ["aic_linear", "aic_quadratic"]
#: The numbers of Tables 6 and 3 from which the sums of Appendix B's regression are solved.
PRINTED = (
    *_AICS,
    *(f"beta_{term}" for term in PRODUCTS),
    *(f"p_{term}" for term in PRODUCTS),
    "p_lr",
)


@cache
def load_imputed_aics() -> pd.DataFrame:
    """Return the AICs that the reconstruction uses in place of misprinted ones, by model.

    The column ``source`` gives the reason and the origin of the replacement.
    """
    return pd.read_csv(RECONSTRUCTED / "imputed_aics.csv", index_col="model")


def uses_table2(model: str) -> bool:
    """Return whether a model's row of Table 2 was used to reconstruct it and so is no test.

    The row selects the needle ratios of missing puzzles, or replaces misprinted AICs of Table 6.
    """
    return bool(find_model(model).missing) or model in load_imputed_aics().index


def printed_rows(models: Sequence[str]) -> np.ndarray:
    """Return the models' rows of Table 2, shape (models, 8), in the order of `HALF_UNITS`."""
    return _load_by_model("table2").loc[[*models], list(HALF_UNITS)].to_numpy(float)


def printed_aics(models: Sequence[str]) -> np.ndarray:
    """Return the models' two AICs of Table 6 as printed, shape (models, 2): linear, quadratic."""
    return _load_by_model("table6").loc[[*models], _AICS].to_numpy(float)


@cache
def exact_sums(model: str) -> np.ndarray:
    """Return the sums of y, y d and y log10 N over a model's answers, from Tables 4 and 5.

    y is 1 for a correct answer, else 0. No rounding is involved: the tables print the counts.
    """
    table4 = correct_by("table4")
    table5 = correct_by("table5")
    by_d = table4[table4["model"] == model]
    by_N = table5[table5["model"] == model]
    log10_N = np.log10(by_N["N"].astype(float))
    return np.array(
        [
            by_d["correct"].sum(),
            by_d["correct"] @ by_d["d"],
            by_N["correct"] @ log10_N,
        ]
    )


def missing_ratios(model: Model) -> list[tuple[int, ...]]:
    """Return every assignment of needle ratios (%) to a model's missing puzzles.

    If no puzzle is missing, the only assignment is empty.
    """
    ratios = GRID["ratio_pct"].unique().tolist()
    count = len(model.missing)
    if len(set(model.missing)) == 1:  # puzzles of one (d, N) are interchangeable
        return list(combinations_with_replacement(ratios, count))
    return list(product(ratios, repeat=count))


def puzzles_per_cell(model: Model, ratios: tuple[int, ...]) -> np.ndarray:
    """Return the number of puzzles in each of the 140 cells, less the missing ones."""
    puzzles = np.full(len(GRID), float(model.puzzles_per_cell))
    loads = GRID[["d", "N", "ratio_pct"]].to_numpy()
    for (d, N), ratio_pct in zip(model.missing, ratios, strict=True):
        puzzles[(loads == (d, N, ratio_pct)).all(axis=1)] -= 1
    return puzzles


@cache
def printed_windows(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a model's numbers in the order of `PRINTED`, and half units of their last digits.

    Imputed AICs replace printed ones. The p-values of Table 3 (three significant digits) are
    returned as log p, with half units by the delta method.
    """
    table6 = _load_by_model("table6").loc[model]
    table3 = load_printed("table3").set_index("model").loc[model]
    imputed = load_imputed_aics()
    aics = imputed.loc[model] if model in imputed.index else table6
    betas = table3[[f"beta_{term}" for term in PRODUCTS]].to_numpy(float)
    ps = table3[[f"p_{term}" for term in PRODUCTS]].to_numpy(float)
    exponents = np.floor(np.log10(ps))
    p_half_units = 0.5 * 10.0 ** (exponents - 2)
    values = [*aics[_AICS], *betas, *np.log(ps), table6["p_lr"]]
    half_units = [
        *[AIC_HALF_UNIT] * len(_AICS),
        *[0.005] * len(betas),
        *p_half_units / ps,  # of log p
        0.0005,
    ]
    return np.array(values, float), np.array(half_units)


@cache
def _load_by_model(table: str) -> pd.DataFrame:
    return load_table(table).set_index("model")
