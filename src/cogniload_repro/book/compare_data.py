"""The data of the page "Compare" for any two models, as texts in the order of its tables.

The numbers are those of chapters 8, 11 and 12. Models, regressions and rows are lists, which the
page reads by index, since a name may be any text.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import norm

from cogniload_repro.analysis.comparisons import MARGIN, compare_pairs, limit_models
from cogniload_repro.analysis.overflows import overflow_shares
from cogniload_repro.analysis.specifications import (
    SPECIFICATIONS,
    Specification,
    are_identified,
    fit_specifications,
)
from cogniload_repro.analysis.uncertainty import capacity_intervals
from cogniload_repro.book.page_data import (
    cells_to_show,
    describe_origin,
    has_tokens,
)
from cogniload_repro.formats import (
    NONE,
    display_names,
    format_ecl50,
    format_estimate,
    format_point,
    stars,
)
from cogniload_repro.models import order_models
from cogniload_repro.published import ALPHA, CONFIDENCE
from cogniload_repro.regression.capacity import capacity_points
from cogniload_repro.regression.cell_tables import accuracy_by, load_cells
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import is_mean_identified
from cogniload_repro.regression.reconstructions import (
    from_printed_tables,
    over_reconstructions,
    range_over,
)

#: How a level of each load is written.
LEVELS = {"N": "N = {:g}", "d": "d = {:g}", "ratio_pct": "ρ = {:g}%"}
#: Heading and decimals of each capacity point.
POINT_FORMATS = {"ecl50": ("ECL50", 1), "nt50": ("NT50", 2), "id50": ("ID50", 2)}
#: Captions of the tables of the page.
CAPTIONS = {
    "pair": f"Mean accuracy over the cells that both have, with a {CONFIDENCE} interval. p-values "
    "are adjusted after Holm over all pairs of models, results by length over the lengths; "
    f"differences below {100 * MARGIN:g} points are negligible. In square brackets, where the "
    "printed tables do not identify the difference: its 10 to 90% range over the reconstructions, "
    "around the median.",
    "accuracy": "Correct answers in percent of all that a model gave, with 90% Wilson intervals. "
    "In square brackets, where the printed tables do not identify the accuracy: its 10 to 90% "
    "range over the reconstructions, around the median.",
    "overflow": "Share of all answers; these count as wrong. --: not known.",
    "fit": f"Coefficients (log-odds) with {CONFIDENCE} Wald intervals and the paper's stars; the "
    f"printed tables identify them. Capacity points (ECL50 in statements) with {CONFIDENCE} "
    "profile-likelihood intervals under the paper's regression, without them under others.",
}
#: How the parts of a term are written: patterns and their replacements.
_TERM_SIGNS = (
    (r"C\((\w+)\)\[T\.(.+)\]", r"\1 = \2"),
    (r"I\((\w+) \*\* 2\)", r"\1²"),
    (r"I\((\w+) \*\* 3\)", r"\1³"),
    (r"np\.sqrt\(N\)", "√N"),
    ("log10_N", "log₁₀ N"),
    ("rho", "ρ"),
    (":| x ", " × "),
)


def compare_data(build: str | Path) -> dict[str, Any]:
    """Return the page's data on a build's models and the paper's, ready for JSON.

    ``models`` are display names. Each sheet (accuracy, overflow, and every regression) has labels
    and, per model, a row of texts. ``pairs`` are those of `pair_rows`; ``origins`` say where the
    counts of each model come from.
    """
    cells = limit_models(cells_to_show(build))
    models = order_models(cells["model"])
    names = display_names(models)
    specifications = identified_specifications()
    papers = fit_specifications(cells, specifications[:1]).set_index("model")["aic"]
    origins = []
    for model in models:
        origin = describe_origin(cells[cells["model"] == model])
        origins.append(f"{names[model]}: {origin}" if origin else "")
    return {
        "origins": origins,
        "captions": CAPTIONS,
        "models": [names[model] for model in models],
        "accuracy": lay_out_sheet(accuracy_texts(cells), models),
        "overflow": lay_out_sheet(overflow_texts(cells), models),
        "regressions": [
            {"name": write_term(specification.name), "formula": specification.formula}
            | lay_out_sheet(regression_texts(cells, specification, papers), models)
            for specification in specifications
        ],
        "pairs": pair_rows(cells, models),
    }


def lay_out_sheet(texts: pd.DataFrame, models: list[str]) -> dict[str, Any]:
    """Return the labels of some texts, and a row of them per model; "--" marks a missing text."""
    labels = texts["label"].unique().tolist()
    wide = texts.pivot_table("text", "model", "label", aggfunc="first")
    rows = wide.reindex(index=models, columns=labels).fillna(NONE)
    return {"labels": labels, "rows": rows.to_numpy().tolist()}


def accuracy_texts(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies in percent, overall and by load: model, label, text.

    Identified accuracies have their 90% Wilson interval. If the printed tables do not identify a
    level, the text is the median over the reconstructions with the 10 to 90% range in square
    brackets.
    """
    overall = accuracy_by(cells, "model").assign(label="all puzzles")
    parts = [overall.assign(text=_write_accuracies(overall))]
    is_reconstructed = from_printed_tables(cells)
    for load, form in LEVELS.items():
        levels = accuracy_by(cells, "model", load)
        levels["label"] = levels[load].map(form.format)
        levels["text"] = _write_accuracies(levels)
        open_levels = _not_identified(load)
        samples = cells[is_reconstructed & cells[load].isin(open_levels)]
        if len(samples):
            ranges = levels[["model", load]].join(
                _write_ranges(samples, load), on=["model", load]
            )
            levels["text"] = ranges["range"].fillna(levels["text"])
        parts.append(levels)
    return pd.concat(parts)[["model", "label", "text"]]


def _not_identified(load: str) -> list[float]:
    """Return the levels of a load at which the printed tables do not identify mean accuracy."""
    return [
        level for level, inside in GRID.groupby(load) if not is_mean_identified(inside)
    ]


def _write_accuracies(accuracies: pd.DataFrame) -> list[str]:
    percent = 100 * accuracies[["accuracy", "low", "high"]]
    return [
        format_estimate(estimate, low, high, 1)
        for estimate, low, high in percent.to_numpy()
    ]


def _write_ranges(cells: pd.DataFrame, load: str) -> pd.Series:
    """Return median and range over the reconstructions as texts, by model and level."""
    samples = over_reconstructions(
        cells, lambda table: accuracy_by(table, "model", load)
    )
    levels = samples.groupby(["model", load])
    numbers = levels[["accuracy"]].median().join(range_over(levels, ["accuracy"]))
    texts = [
        f"{median:.1f} [{low:.1f} to {high:.1f}]"
        for median, low, high in (100 * numbers).itertuples(index=False)
    ]
    return pd.Series(texts, index=numbers.index, name="range")


def overflow_texts(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the share of answers (%) that ran out of context, by N and d: model, label, text.

    Scored answers whose tokens are not known are left out.
    """
    is_tested = from_printed_tables(cells) | has_tokens(cells)
    parts = []
    for load in ("N", "d"):
        shares = overflow_shares(cells[is_tested], load)
        shares["label"] = shares[load].map(LEVELS[load].format)
        shares["text"] = (100 * shares["share"]).map("{:.0f}%".format)
        parts.append(shares)
    return pd.concat(parts)[["model", "label", "text"]]


def identified_specifications() -> list[Specification]:
    """Return the regressions of chapter 11 that the printed tables identify, the paper's first."""
    is_identified = are_identified(load_cells(), SPECIFICATIONS)
    return [
        specification
        for specification, known in zip(SPECIFICATIONS, is_identified, strict=True)
        if known
    ]


def regression_texts(
    cells: pd.DataFrame, specification: Specification, papers: pd.Series
) -> pd.DataFrame:
    """Return one regression of all models: model, label, text.

    The labels are AIC, its difference from that of the paper's regression (``papers``), capacity
    points and terms. If a model has no finite fit, the reason replaces its AIC.
    """
    fits = fit_specifications(cells, [specification]).set_index("model")
    aic = fits["aic"].map("{:,.1f}".format)
    parts = [_label("AIC", aic.where(fits["status"] == "ok", fits["status"]))]
    if specification == SPECIFICATIONS[0]:
        parts.append(_write_intervals(cells))
    else:
        change = (fits["aic"] - papers).dropna().map("{:+,.1f}".format)
        parts += [_label("AIC minus the paper's", change), *_write_points(cells, specification)]
    return pd.concat([*parts, _write_coefficients(fits)])


def _write_points(
    cells: pd.DataFrame, specification: Specification
) -> Iterable[pd.DataFrame]:
    """Yield the capacity points of a regression as texts, without intervals."""
    points = capacity_points(cells, specification.formula, specification.family)
    points = points.set_index("model")
    forms = {"ecl50": format_ecl50, "nt50": format_point, "id50": format_point}
    for name, form in forms.items():
        yield _label(POINT_FORMATS[name][0], points[name].dropna().map(form))


def _label(label: str, texts: pd.Series) -> pd.DataFrame:
    """Return texts by model as rows of model, label and text."""
    return pd.DataFrame({"model": texts.index, "label": label, "text": texts.array})


def _write_coefficients(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients of all models with their Wald intervals and stars."""
    reach = norm.ppf(1 - ALPHA / 2)
    rows = []
    for model, fit in fits.loc[fits["status"] == "ok", "fit"].items():
        for term, coef, se, p in zip(fit.terms, fit.coef, fit.se, fit.p, strict=True):
            interval = f"{coef - reach * se:#.3g} to {coef + reach * se:#.3g}"
            text = f"{coef:#.3g}{stars(p)} ({interval})"
            rows.append((model, write_term(term), text))
    return pd.DataFrame(rows, columns=["model", "label", "text"])


def _write_intervals(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the capacity points of the paper's regression with profile-likelihood intervals."""
    points = capacity_intervals(cells)
    ends = points[["point", "estimate", "profile_low", "profile_high"]]
    texts = [
        format_estimate(estimate, low, high, POINT_FORMATS[point][1])
        for point, estimate, low, high in ends.itertuples(index=False)
    ]
    labels = points["point"].map(lambda point: POINT_FORMATS[point][0])
    return pd.DataFrame({"model": points["model"], "label": labels, "text": texts})


def write_term(term: str) -> str:
    """Return the term of a formula, or the name of a regression, in the symbols of the book.

    >>> write_term("d:log10_N"), write_term("C(N)[T.50]")
    ('d × log₁₀ N', 'N = 50')
    """
    for pattern, words in _TERM_SIGNS:
        term = re.sub(pattern, words, term)
    return term


def pair_rows(cells: pd.DataFrame, models: list[str]) -> list[list[Any]]:
    """Return each pair of models: the indices of both, then rows of label, difference, result.

    The difference is the first model's accuracy minus the second's. Tests are Holm-adjusted: over
    all pairs for the overall difference, within the pair for those by length. If the printed tables
    do not identify the difference, its range over the reconstructions is given. Pairs without a
    common cell are omitted.
    """
    pairs = compare_pairs(cells)
    lengths = [
        int(name.rpartition("_")[2])
        for name in pairs
        if name.startswith("significant_")
    ]
    rows = []
    for pair in pairs.to_dict("records"):
        texts = _write_pair(pair, lengths) if pair["identified"] else _write_range(pair)
        places = models.index(pair["first"]), models.index(pair["second"])
        rows.append([*places, texts])
    return rows


def _write_pair(pair: dict[str, Any], lengths: Iterable[int]) -> list[list[str]]:
    difference, low, high = (
        100 * pair[name] for name in ("difference", "ci_low", "ci_high")
    )
    p = "p < 0.001" if pair["p_holm"] < 0.001 else f"p = {pair['p_holm']:.3f}"
    label = f"the {pair['cells']} cells of both"
    rows = [
        [label, format_estimate(difference, low, high, 1), f"{pair['verdict']} ({p})"]
    ]
    for N in lengths:
        difference = pair[f"difference_{N}"]
        if not pd.isna(difference):
            result = "different" if pair[f"significant_{N}"] else "not shown to differ"
            rows.append([LEVELS["N"].format(N), f"{100 * difference:.1f}", result])
    return rows


def _write_range(pair: dict[str, Any]) -> list[list[str]]:
    names = ("difference", "difference_p10", "difference_p90")
    median, low, high = (100 * pair[name] for name in names)
    label = f"the {pair['cells']} cells of both"
    return [
        [
            label,
            f"{median:.1f} [{low:.1f} to {high:.1f}]",
            f"{pair['verdict']} reconstructions",
        ]
    ]
