"""Results objects of statsmodels for one model's regression.

Their z and p-values are NaN where the printed tables do not identify them, in the summary and in
refits too: other tables of counts that agree with the paper have other p-values.
"""

from typing import Any

import numpy as np
import pandas as pd
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import (
    GLM,
    GLMResults,
    GLMResultsWrapper,
)
from statsmodels.iolib.summary import Summary

from cogniload_repro.models import resolve_model
from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.formulas import QUADRATIC
from cogniload_repro.regression.glm import fit_all
from cogniload_repro.regression.reconstructions import from_printed_tables

_LINKS = {"probit": links.Probit, "cloglog": links.CLogLog}
_ONE_TABLE = (
    "Errors and intervals are those of this one table of counts: the paper's tables do not identify"
    " them."
)
_PRECISE: dict[str, Any] = {
    "maxiter": 100,
    "tol_criterion": "params",
    "atol": 1e-12,
    "rtol": 1e-11,
}


class _OpenResults(GLMResults):
    """Results whose z, and with them the p-values, are withheld."""

    @property
    def tvalues(self) -> np.ndarray:
        """NaN for each coefficient."""
        return np.full(len(self.params), np.nan)

    def summary(self, *arguments: Any, **options: Any) -> Summary:
        """Return statsmodels' summary, and say what its errors and intervals rest on."""
        summary = super().summary(*arguments, **options)
        summary.add_extra_txt([_ONE_TABLE])
        return summary


class CountsGLM(GLM):
    """statsmodels' regression of correct and wrong answers, which withholds open p-values.

    `identified` says whether the coefficients are identified. Robust errors and an estimated scale
    depend on the scatter of single cells, which the printed tables never identify.
    """

    identified = True
    is_reconstructed = False

    def fit(self, *, cov_type: str = "nonrobust", **options: Any) -> GLMResultsWrapper:
        """Fit as statsmodels does; arguments are named."""
        results = super().fit(cov_type=cov_type, **options)
        is_robust = cov_type != "nonrobust" or "scale" in options
        if self.identified and not (self.is_reconstructed and is_robust):
            return results
        withheld = _OpenResults(
            self,
            np.asarray(results.params),
            results.normalized_cov_params,
            results.scale,
            cov_type=cov_type,
            cov_kwds=options.get("cov_kwds"),
        )
        for name in ("method", "fit_history", "converged", "mle_settings"):
            setattr(withheld, name, getattr(results, name))
        return GLMResultsWrapper(withheld)


def glm(
    cells: pd.DataFrame,
    model: str | None = None,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> GLMResultsWrapper:
    """Fit one model's regression and return the results object of statsmodels.

    Parameters
    ----------
    cells : DataFrame
        As for `fits.fit`.
    model : str, optional
        Full or short name of the model; not needed if the cells have only one.
    formula, family : str
        As for `fits.fit`.

    Returns
    -------
    GLMResults
        Of `statsmodels.GLM` on the counts (correct, wrong) of each configuration: ``summary()``,
        ``get_prediction()``, ``model.fit(cov_type="HC1")`` and so on. Its log-likelihood is the
        binomial one, which exceeds the Bernoulli one of `fits.fit` by a constant, the sum of log
        C(total, correct). ``model.spec`` builds the design matrix for other cells:
        ``results.predict(results.model.spec.get_model_matrix(cells))``.

        If `fits.fit` says that the regression is not identified, z and p are NaN, in the summary
        too; for reconstructed counts also with robust standard errors. Other tests, such as
        ``t_test()``, are tests on this one table of counts.

    Raises
    ------
    ValueError
        As for `fits.fit`, or if there is no unique finite fit (separation, too few levels).

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> results = cl.glm(cl.load_cells(), "QwQ-32B")
    >>> results.params.round(2).to_dict()
    {'Intercept': 5.68, 'd': -0.21, 'log10_N': -2.08, 'rho': -3.7, 'I(rho ** 2)': 3.07}
    """
    if model is not None:
        cells = cells[cells["model"] == resolve_model(model, cells["model"])]
    fit, *others = fit_all(check_cells(cells, formula), formula, family)
    if others:
        models = ", ".join(cells["model"].unique())
        raise ValueError(f"name one model of the cells; they have {models}")
    if fit.status != "ok":
        raise ValueError(
            f"{fit.model}: {fit.status}; {formula!r} has no finite fit to these cells"
        )
    outcomes = np.column_stack([fit.correct, fit.answers - fit.correct])
    link = _LINKS.get(family, links.Logit)()
    regression = CountsGLM(outcomes, fit.design.matrix, Binomial(link))
    regression.spec = fit.design.spec
    regression.identified = fit.identified
    regression.is_reconstructed = from_printed_tables(fit.cells).any()
    return regression.fit(start_params=fit.coef, **_PRECISE)
