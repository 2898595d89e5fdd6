"""A reader's regression, model by model, held against the paper's."""

import textwrap
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.formats import format_name, stars
from cogniload_repro.robustness.comparisons import ALPHA
from cogniload_repro.statistics.formulas import read_formula
from cogniload_repro.statistics.regression import QUADRATIC, Fit, fit_glm

_LEAST_P = 1e-300  # smaller ones would print as 0


def fit_table(cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit") -> pd.DataFrame:
    """Return any regression, fitted for every model; see `regression.fit_glm`.

    Returns
    -------
    DataFrame
        One row a model and term: model, term, coef, se, z, p, n, loglik, aic, bic, status. A model whose covariates
        are not known has one row with an empty term.
    """
    frames = []
    for model, own in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(own, formula, family)
        columns = {"term": list(fit.terms), "coef": fit.coef, "se": fit.se, "p": fit.p}
        frame = pd.DataFrame(columns if fit.terms else {"term": [""], "coef": np.nan, "se": np.nan, "p": np.nan})
        frame.insert(0, "model", model)
        frame.insert(4, "z", frame["coef"] / frame["se"])
        frames.append(frame.assign(n=fit.n, loglik=fit.loglik, aic=fit.aic, bic=fit.bic, status=fit.status))
    return pd.concat(frames, ignore_index=True)


def compare_fits(cells: pd.DataFrame, formula: str, family: str = "logit") -> pd.DataFrame:
    """Hold a regression against the paper's specification (section 3.1.1), model by model.

    Returns
    -------
    DataFrame
        One row a model: model; status, df (coefficients), loglik, aic, bic of the regression and, with the prefix
        ``paper_``, of the paper's; daic and dbic (less the paper's); larger ("yours" or "paper" where one of the two
        is nested in the other, "same" where they are one model, else ""); where one is the larger lr (twice the gain
        in log-likelihood), lr_df and lr_p (likelihood-ratio test); changes (coefficients of both that change sign or
        significance at `ALPHA`, as text). NaN where a fit has failed, or, as for quasi-binomial, has no likelihood.
    """
    rows = []
    for model, own in cells.groupby("model", sort=False, observed=True):
        yours, paper = fit_glm(own, formula, family), fit_glm(own)
        row = {"model": model}
        for prefix, fit in (("", yours), ("paper_", paper)):
            row |= {f"{prefix}status": fit.status, f"{prefix}df": len(fit.terms)}
            row |= {f"{prefix}{name}": getattr(fit, name) for name in ("loglik", "aic", "bic")}
        row |= {"daic": yours.aic - paper.aic, "dbic": yours.bic - paper.bic}
        rows.append(row | _likelihood_ratio(yours, paper, own[own["n"] > 0]) | {"changes": _changes(yours, paper)})
    return pd.DataFrame(rows)


def _likelihood_ratio(yours: Fit, paper: Fit, own: pd.DataFrame) -> dict[str, object]:
    """Return the test of the smaller regression against the larger, where its columns span those of the smaller."""
    row = {"larger": "", "lr": np.nan, "lr_df": 0, "lr_p": np.nan}
    if not yours.status == paper.status == "ok" or yours.family != paper.family:
        return row
    df = len(yours.terms) - len(paper.terms)
    both = np.hstack([yours.expand(own), paper.expand(own)])
    both = both / np.abs(both).max(axis=0)
    if np.linalg.matrix_rank(both, tol=1e-8) > max(len(yours.terms), len(paper.terms)):
        return row
    if df == 0:
        return row | {"larger": "same"}
    gain = 2 * (yours.loglik - paper.loglik) * np.sign(df)
    larger = "yours" if df > 0 else "paper"
    return {"larger": larger, "lr": gain, "lr_df": abs(df), "lr_p": float(chi2.sf(max(gain, 0.0), abs(df)))}


def _changes(yours: Fit, paper: Fit) -> str:
    """Return the shared coefficients whose sign or significance differs, each as paper's -> yours with stars."""
    if not yours.status == paper.status == "ok":
        return ""
    words = []
    for place, term in enumerate(paper.terms):
        if term in yours.terms and term != "Intercept":
            other = yours.terms.index(term)
            signs = paper.coef[place] * yours.coef[other] < 0
            if signs or (paper.p[place] < ALPHA) != (yours.p[other] < ALPHA):
                before, after = _starred(paper, place), _starred(yours, other)
                words.append(f"{term} {before} -> {after}")
    return ", ".join(words)


def _starred(fit: Fit, place: int) -> str:
    return f"{fit.coef[place]:.3g}{stars(fit.p[place]) or ' (n.s.)'}"


def print_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fit_table` as lines of text; a fit that failed shows its status in place of numbers."""
    lines = []
    for model, own in fits.groupby("model", sort=False):
        status = own["status"].iloc[0]
        if status == "ok":
            numbers = "  ".join(f"{row.term} {row.coef:.4g} ({row.se:.2g})" for row in own.itertuples())
            aic = own["aic"].iloc[0]
            lines.append(f"{model}: {numbers}" + (f"  AIC {aic:.1f}" if np.isfinite(aic) else ""))
        else:
            lines.append(f"{model}: {status}")
    return "\n".join(lines)


def print_comparison(compared: pd.DataFrame, formula: str, family: str = "logit") -> str:
    """Return `compare_fits` as a table of three lines a model, at most 100 columns wide, with a summary on top."""
    lines = [f"yours: {formula}, {family}", f"paper: {QUADRATIC}, logit", *textwrap.wrap(summarise(compared), 100), ""]
    lines.append(f"{'model':30}{'':11}{'df':>3}{'logLik':>11}{'AIC':>11}{'BIC':>11}")
    for row in compared.itertuples():
        lines += _block(row)
    if any(len(term.factors) > 1 for term in read_formula(formula)):
        lines += [
            "",
            "With products, the coefficient of a load is its effect where the loads it is multiplied by are 0.",
        ]
    return "\n".join(lines)


def summarise(compared: pd.DataFrame) -> str:
    """Return one sentence on `compare_fits`: how many models each criterion favours, how many change."""
    known = compared["daic"].notna()
    parts = [f"{len(compared)} model{'s' * (len(compared) != 1)}"]
    if known.any():
        parts += [f"AIC lower than the paper's by more than 2 in {(compared['daic'] < -2).sum()}, higher in "
                  f"{(compared['daic'] > 2).sum()}", f"BIC in {(compared['dbic'] < -2).sum()} and "
                  f"{(compared['dbic'] > 2).sum()}"]  # fmt: skip
    parts.append(f"coefficients change sign or significance in {(compared['changes'] != '').sum()}")
    if failed := (compared["status"] != "ok").sum():
        parts.append(f"{failed} without a fit")
    return "; ".join(parts) + "."


def _block(row) -> Iterator[str]:
    numbers = (row.df, row.loglik, row.aic, row.bic)
    yield f"{format_name(row.model)[:29]:30}{'yours':11}" + _numbers(row.status, *numbers)
    numbers = (row.paper_df, row.paper_loglik, row.paper_aic, row.paper_bic)
    yield f"{'':30}{'paper':11}" + _numbers(row.paper_status, *numbers)
    if np.isfinite(row.daic):
        words = {"": "not nested", "same": "the same model"}
        test = "   " + words.get(row.larger, f"LR {row.lr:.1f}, p {max(row.lr_p, _LEAST_P):.2g}")
        gain = row.loglik - row.paper_loglik
        yield f"{'':30}{'difference':11}{row.df - row.paper_df:+3}{gain:+11.2f}{row.daic:+11.2f}{row.dbic:+11.2f}{test}"
    if row.changes:
        for number, change in enumerate(row.changes.split(", ")):
            yield f"{'':30}{'' if number else 'changes':11}{change}"


def _numbers(status: str, df: int, *values: float) -> str:
    if status != "ok":
        return status
    return f"{df:3}" + "".join(f"{value:11.2f}" if np.isfinite(value) else f"{'--':>11}" for value in values)
