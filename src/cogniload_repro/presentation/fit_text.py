"""Regressions and their comparison as lines of text, for a terminal."""

import textwrap
from collections.abc import Iterator

import numpy as np
import pandas as pd

from cogniload_repro.formats import format_name
from cogniload_repro.presentation import markdown
from cogniload_repro.statistics.cell_tables import describe_cells
from cogniload_repro.statistics.formulas import read_formula
from cogniload_repro.statistics.regression import QUADRATIC

_LEAST_P = 1e-300  # smaller ones would print as 0


def print_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fits.fit` as lines of text; a fit that failed shows its status in place of numbers."""
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
    """Return `fits.compare_fits` against the paper as text: a summary, then three lines a model, at most 100 wide."""
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
    """Return one sentence on `fits.compare_fits`: how many models each criterion favours, how many change."""
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
    yours = (row.df, row.loglik, row.aic, row.bic)
    yield f"{format_name(row.model)[:29]:30}{'yours':11}" + _numbers(row.status, *yours)
    paper = (row.against_df, row.against_loglik, row.against_aic, row.against_bic)
    yield f"{'':30}{'paper':11}" + _numbers(row.against_status, *paper)
    if np.isfinite(row.daic):
        words = {"": "not nested", "same": "the same model"}
        test = "   " + words.get(row.larger, f"LR {row.lr:.1f}, p {max(row.lr_p, _LEAST_P):.2g}")
        gain = row.loglik - row.against_loglik
        numbers = f"{row.df - row.against_df:+3}{gain:+11.2f}{row.daic:+11.2f}{row.dbic:+11.2f}"
        yield f"{'':30}{'difference':11}{numbers}{test}"
    if row.changes:
        for number, change in enumerate(row.changes.split(", ")):
            yield f"{'':30}{'' if number else 'changes':11}{change}"


def _numbers(status: str, df: int, *values: float) -> str:
    if status != "ok":
        return status
    return f"{df:3}" + "".join(f"{value:11.2f}" if np.isfinite(value) else f"{'--':>11}" for value in values)


def caption_fits(fits: pd.DataFrame, cells: pd.DataFrame) -> str:
    """Return the caption, in Markdown, of a reader's regression: what is fitted, to what, and what the columns mean."""
    formula = markdown.code(fits.attrs["formula"])
    text = f"{formula} ({fits.attrs['family']}), fitted model by model: coefficients with the stars of the Wald test"
    parts = [text, "ΔAIC and ΔBIC: less the paper's", markdown.escape(describe_cells(cells))]
    return ". ".join(filter(None, parts)) + "."


def describe_needs(fits: pd.DataFrame) -> str:
    """Return a sentence that says why no model has a finite fit of the paper's specification."""
    return (
        "This needs a finite fit of the paper's specification, and no model here has one "
        f"({', '.join(sorted(set(fits['status'])))}): answers must be mixed, and d, N and three values of ρ vary."
    )
