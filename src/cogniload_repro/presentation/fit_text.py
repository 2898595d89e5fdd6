"""Regressions and their comparison as lines of text, for a terminal."""

import textwrap
from collections.abc import Iterator

import numpy as np
import pandas as pd

from cogniload_repro.formats import format_name
from cogniload_repro.statistics.fits import summarise_comparison
from cogniload_repro.statistics.formulas import read_formula
from cogniload_repro.statistics.regression import QUADRATIC

_LEAST_P = 1e-300  # smaller ones would print as 0


def print_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fits.fit` as lines of text; a fit that failed shows its status in place of numbers.

    Coefficients have their standard errors in brackets; those not identified their range over reconstructions.
    """
    lines = []
    for model, own in fits.groupby("model", sort=False):
        status = own["status"].iloc[0]
        if status == "ok":
            numbers = "  ".join(_describe_term(row) for row in own.itertuples())
            aic = own["aic"].iloc[0]
            lines.append(f"{model}: {numbers}" + (f"  AIC {aic:.1f}" if np.isfinite(aic) else ""))
        else:
            lines.append(f"{model}: {status}")
    return "\n".join(lines)


def _describe_term(row) -> str:
    if row.identified:
        return f"{row.term} {row.coef:.4g} ({row.se:.2g})"
    return f"{row.term} {row.coef:.4g} [{row.coef_min:.4g} to {row.coef_max:.4g}]"


def print_comparison(each: pd.DataFrame, formula: str, family: str = "logit") -> str:
    """Return `fits.compare_each` against the paper as text: a summary, then three lines per model, at most 100 wide."""
    compared = summarise_comparison(each)
    lines = [f"yours: {formula}, {family}", f"paper: {QUADRATIC}, logit", *textwrap.wrap(summarise(each), 100), ""]
    lines.append(f"{'model':30}{'':11}{'df':>3}{'logLik':>11}{'AIC':>11}{'BIC':>11}")
    for row in compared.itertuples():
        lines += _block(row)
    if any(len(term.factors) > 1 for term in read_formula(formula)):
        lines += [
            "",
            "With products, the coefficient of a load is its effect where the loads it is multiplied by are 0.",
        ]
    return "\n".join(lines)


def summarise(each: pd.DataFrame) -> str:
    """Return a sentence on `fits.compare_each`: in how many models each criterion favours the regression.

    Where the comparison is not identified, the counts are ranges over the reconstructions.
    """
    tables = each["reconstruction"].nunique()
    models = each.groupby("model", sort=False)["status"].first()
    keyed = each.set_index(["model", "reconstruction"])
    wide = {name: keyed[name].unstack("reconstruction").ffill(axis=1) for name in ("daic", "dbic")}  # noqa: PD010
    counts = {(name, sign): (sign * frame > 2).sum() for name, frame in wide.items() for sign in (-1, 1)}

    def count(name: str, sign: int) -> str:
        found = counts[name, sign]
        least, most = found.min(), found.max()
        return f"{least}" if least == most else f"{least} to {most} (median {found.median():g})"

    parts = [f"{len(models)} model{'s' * (len(models) != 1)}"]
    if each["daic"].notna().any():
        parts.append(f"AIC lower than the paper's by more than 2 in {count('daic', -1)}, higher in {count('daic', 1)}")
        parts.append(f"BIC lower in {count('dbic', -1)}, higher in {count('dbic', 1)}")
    if each["identified"].all():
        changed = each.groupby("model")["changes"].first() != ""
        parts.append(f"coefficients change sign or significance in {changed.sum()}")
    if failed := (models != "ok").sum():
        parts.append(f"{failed} without a fit")
    text = "; ".join(parts) + "."
    if each["identified"].all():
        return text
    return f"{text} Not identified by the published tables: ranges over {tables} reconstructions."


def _block(row) -> Iterator[str]:
    yours = (row.df, row.loglik, row.aic, row.bic)
    yield f"{format_name(row.model)[:29]:30}{'yours':11}" + _numbers(row.status, *yours)
    paper = (row.against_df, row.against_loglik, row.against_aic, row.against_bic)
    yield f"{'':30}{'paper':11}" + _numbers(row.against_status, *paper)
    if np.isfinite(row.daic):
        words = {"": "not nested", "same": "the same model"}
        test = words.get(row.larger, f"LR {row.lr:.1f}, p {max(row.lr_p, _LEAST_P):.2g}")
        if not row.identified:
            test = f"median; AIC {row.daic_min:+.1f} to {row.daic_max:+.1f} over reconstructions"
        gain = row.loglik - row.against_loglik
        numbers = f"{row.df - row.against_df:+3}{gain:+11.2f}{row.daic:+11.2f}{row.dbic:+11.2f}"
        yield f"{'':30}{'difference':11}{numbers}   {test}"
    if row.changes:
        for number, change in enumerate(row.changes.split(", ")):
            yield f"{'':30}{'' if number else 'changes':11}{change}"


def _numbers(status: str, df: int, *values: float) -> str:
    if status != "ok":
        return status
    return f"{df:3}" + "".join(f"{value:11.2f}" if np.isfinite(value) else f"{'--':>11}" for value in values)


def describe_needs(fits: pd.DataFrame) -> str:
    """Return a sentence that says why no model has a finite fit of the paper's specification."""
    return (
        "This needs a finite fit of the paper's specification, and no model here has one "
        f"({', '.join(sorted(set(fits['status'])))}): answers must be mixed, and d, N and three values of ρ vary."
    )
