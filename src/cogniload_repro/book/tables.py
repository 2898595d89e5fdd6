"""Tables in printed form: frames of strings, and the paper's tables with captions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cogniload_repro.book import markdown
from cogniload_repro.files import write_whole
from cogniload_repro.formats import (
    NONE,
    display_names,
    format_beta,
    format_ecl50,
    format_frame,
    format_name,
    format_p,
    format_point,
    format_thousandths,
    format_tokens,
    stars,
)
from cogniload_repro.models import BY_NAME, order_models
from cogniload_repro.paths import ICLR2026
from cogniload_repro.published import STAR_LEVELS, STARRED, TOKEN_TABLES, load_table
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology
from cogniload_repro.regression.cell_tables import errors_by
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.fits import spread_terms
from cogniload_repro.regression.glm import QUADRATIC
from cogniload_repro.safe_text import for_spreadsheet

_TOKEN_COLUMNS = ("prompt_mean", "prompt_p90", "output_mean", "output_p90")
_STARS = "*** $p < {2:g}$, ** $p < {1:g}$, * $p < {0:g}$.".format(*STAR_LEVELS)
_DS = "DS: DeepSeek-R1-Distill, but DS-R1-0528 is DeepSeek-R1-0528."


#: Columns of text, which are aligned to the left.
_TEXT_COLUMNS = ("model", "symbol", "name", "levels", "definition", "load")
#: Headings of columns in LaTeX and MyST.
HEADINGS = pd.read_csv(ICLR2026 / "headings.csv", index_col="column")[
    "heading"
].to_dict()
_PAGE_ROWS = 40  # more rows do not fit on one printed page


@dataclass(frozen=True)
class Table:
    """One table in printed form, and as text: CSV, LaTeX, and MyST for the book's pages.

    CSV has one number per column, to six digits; LaTeX and MyST show the paper's symbols, stars and
    brackets. Model names are other people's text and are fully escaped; every other cell is ours
    and may hold math between dollar signs. ``name``, such as table1, is the stem of the files;
    ``frame`` has strings only; ``bold``, of the same shape, is True where the paper uses bold type;
    ``data`` has the numbers for the CSV, if the strings do not do.
    """

    name: str
    caption: str
    frame: pd.DataFrame
    bold: pd.DataFrame | None = None
    data: pd.DataFrame | None = None

    def to_csv(self) -> str:
        """Return the numbers as CSV text."""
        data = self.frame
        if self.data is not None:
            data = self.data.assign(model=self.data["model"].map(format_name))
        return for_spreadsheet(data).to_csv(
            index=False, lineterminator="\n", float_format="%.6g"
        )

    def to_latex(self, note: str = "") -> str:
        """Return the table as LaTeX text with caption, note and label ``tab:NAME``.

        The document needs booktabs and longtable.
        """
        named = self.frame.rename(columns=HEADINGS)
        numbers = [column for column in named.columns if column != "Model"]
        style = named.style.hide(axis="index").format_index(
            axis="columns", escape="latex-math"
        )
        style = style.format(_write_minus, escape="latex-math", subset=numbers)
        if "Model" in named.columns:
            style = style.format(_guard_name, escape="latex", subset=["Model"])
        if self.bold is not None:
            bold = self.bold.rename(columns=HEADINGS)
            weights = bold.replace({True: "font-weight: bold", False: ""})
            style = style.apply(lambda _: weights, axis=None)
        sides = [
            "l" if column in _TEXT_COLUMNS else "r" for column in self.frame.columns
        ]
        return style.to_latex(
            hrules=True,
            convert_css=True,
            caption=f"{self.caption} {note}." if note else self.caption,
            label=f"tab:{self.name}",
            environment="longtable" if len(named) > _PAGE_ROWS else None,
            column_format="".join(sides),
        )

    def to_myst(self, prefix: str = "") -> str:
        """Return the table as a MyST ``table`` directive named NAME.

        ``prefix``, Markdown, is put before the caption.
        """
        named = self.frame.rename(columns=HEADINGS)
        numbers = [
            column for column in self.frame.columns if column not in _TEXT_COLUMNS
        ]
        return markdown.table(
            named,
            f"{prefix} {markdown.escape(self.caption, math=True)}".strip(),
            name=self.name,
            right=[HEADINGS.get(column, column) for column in numbers],
            math=[column for column in named.columns if column != HEADINGS["model"]],
            bold=self.bold,
        )

    def save(self, folder: str | Path, note: str = "") -> tuple[Path, Path]:
        """Write ``NAME.csv`` and ``NAME.tex`` into a folder and return the two paths."""
        csv = write_whole(Path(folder) / f"{self.name}.csv", self.to_csv())
        return csv, write_whole(Path(folder) / f"{self.name}.tex", self.to_latex(note))


def _write_minus(text: str) -> str:
    """Return a number with a minus sign, or a sign for less than, as LaTeX sets it."""
    return re.sub(r"^([-<])(?= ?\d)", r"$\1$", text)


def _guard_name(name: str) -> str:
    """Return a name that LaTeX cannot take for an option of the preceding line break."""
    return "{}" + name if name.startswith(("[", "*")) else name


def table1() -> Table:
    """Return Table 1: symbol, name, levels, definition and load of the parameters of a puzzle.

    Levels and sizes of the ontology come from this package, the formulas from the paper's Table 1.
    """
    rows = pd.read_csv(ICLR2026 / "table1_parameters.csv", index_col="load_name")
    levels = [sorted(GRID[load].unique()) for load in rows.index]
    rows["levels"] = [", ".join(map("{:g}".format, numbers)) for numbers in levels]
    sizes = {"{people}": len(ontology().people), "{categories}": len(CATEGORIES)}
    for size, count in sizes.items():
        rows["definition"] = rows["definition"].str.replace(
            size, str(count), regex=False
        )
    frame = (
        rows[["symbol", "name", "levels", "definition", "load"]]
        .reset_index(drop=True)
        .astype("str")
    )
    return Table("table1", "Parameters of a puzzle.", frame)


def table2(fits: pd.DataFrame, points: pd.DataFrame) -> Table:
    """Return Table 2 from `fits.fit` and `capacity_points`: coefficients with stars, points.

    Fits of the paper's regression give Table 2, with its order of models; those of another one give
    a table of the same form, ``your_table2``.
    """
    capacities = points[["model", "ecl50", "nt50", "id50"]]
    glm = spread_terms(fits).merge(capacities, on="model", how="left")
    printed = load_table("table2")["model"].tolist()
    others = [model for model in order_models(glm["model"]) if model not in printed]
    ordered = [model for model in printed if model in set(glm["model"])] + others
    glm = glm.set_index("model").loc[ordered].reset_index()
    columns: dict = {
        (beta, p): (beta, _format_starred_beta)
        for beta, p in _coefficients(glm).items()
    }
    columns["ecl50"] = ("ecl50", format_ecl50)
    columns["nt50"] = ("nt50", format_point)
    columns["id50"] = ("id50", format_point)
    frame = _format_results(glm, columns)
    shortened = {
        name: model.label
        for name, model in BY_NAME.items()
        if model.label.startswith("DS-")
    }
    frame = frame.replace({"model": shortened})
    first = fits.iloc[0]
    glm = glm.assign(formula=first["formula"], family=first["family"])
    if first["formula"] == QUADRATIC and first["family"] == "logit":
        caption = (
            r"The paper's regression, a binomial GLM with a quadratic term in $\rho$, for each "
            "model (stars: Wald test), and the loads at which accuracy falls to 50 percent, the "
            "other two at their means over the model's cells (-- for none: no needle ratio gives "
            f"it, or accuracy does not fall with the load). {_STARS} {_DS}"
        )
        return Table("table2", caption, frame, data=glm)
    caption = (
        f"Binomial GLM {first['formula']} ({first['family']}) for each model (stars: "
        "Wald test; where the printed tables do not identify the fit, medians over the "
        "reconstructions without stars), and the loads at which accuracy falls to 50 percent (-- "
        f"for none). {_STARS} {_DS}"
    )
    shown = {}
    for column in frame:
        shown[column] = column if column in HEADINGS else column.removeprefix("beta_")
    return Table("your_table2", caption, frame.rename(columns=shown), data=glm)


def table3(interactions: pd.DataFrame) -> Table:
    """Return Table 3 from `storage.INTERACTION_FITS`: products with likelihood-ratio p-values."""
    columns: dict = {}
    for beta, p in _coefficients(interactions).items():
        columns[beta] = (beta, format_beta)
        columns[p] = (p, _format_starred_p)
    caption = (
        r"Interactions of $d$, $\log_{10} N$ and $\rho$ in a GLM that has them all and a quadratic "
        r"term in $\rho$; $p_{LR}$ of the likelihood-ratio test that leaves one out. "
        f"{_STARS}"
    )
    frame = _format_results(interactions, columns)
    return Table("table3", caption, frame, data=interactions)


def _format_lr_p(p: float) -> str:
    """Return a p-value with three decimals, "--" if the fit is not identified."""
    return NONE if pd.isna(p) else format_thousandths(p)


def table4(cells: pd.DataFrame) -> Table:
    """Return Table 4: error types by difficulty d, counts and accuracy in %, from a cells frame."""
    return _error_table(
        "table4",
        r"Error types by difficulty $d$ and model, over all $N$ and $\rho$.",
        cells,
        "d",
    )


def table5(cells: pd.DataFrame) -> Table:
    """Return Table 5: error types by length N, counts and accuracy in %, from a cells frame."""
    return _error_table(
        "table5",
        r"Error types by task length $N$ and model, over all $d$ and $\rho$.",
        cells,
        "N",
    )


def _error_table(name: str, caption: str, cells: pd.DataFrame, load: str) -> Table:
    """Return a table of errors; only Tables 4 and 5 sort names regardless of case."""
    counts = errors_by(cells, load)
    models = order_models(counts["model"])
    models.sort(key=lambda model: (model not in BY_NAME, model.casefold()))
    counts = counts.sort_values(
        "model",
        key=lambda names: names.map(models.index),
        kind="stable",
        ignore_index=True,
    )
    names = display_names(counts["model"])
    columns: dict = {column: (column, ".0f") for column in counts}
    columns["model"] = ("model", names.get)
    return Table(
        name, caption + _describe_untested(cells), format_frame(counts, columns)
    )


def _describe_untested(cells: pd.DataFrame) -> str:
    """Return a sentence on answers whose overflows are not known; "" if there are none."""
    untested = cells.loc[cells["ctx"].isna(), "total"].sum()
    if not untested:
        return ""
    return (
        f" {untested:,} answers are in configurations where token counts are missing; the context "
        "limit was not tested there."
    )


def table6(aic: pd.DataFrame) -> Table:
    """Return Table 6 from `storage.AIC`: AIC without and with the quadratic term.

    As in the paper, p and the quadratic AIC are bold where p < 0.05.
    """
    columns: dict = {"p_lr": ("p_lr", _format_lr_p)}
    for name in ("aic_linear", "aic_quadratic"):
        columns[name] = (name, format_thousandths)
    frame = _format_results(aic, columns)
    has_gained = (aic["status"] == "ok").to_numpy() & (aic["p_lr"] < STARRED).to_numpy()
    bold = pd.DataFrame(False, index=frame.index, columns=frame.columns)
    bold.loc[has_gained, ["p_lr", "aic_quadratic"]] = True
    caption = (
        r"Fit without and with a quadratic term in $\rho$; bold where it gains with "
        rf"$p_{{LR}} < {STARRED:g}$."
    )
    return Table("table6", caption, frame, bold, aic)


def token_table(stats: pd.DataFrame, N: int) -> Table:
    """Return the token table (Tables 7 to 10) of one task length, from `storage.TOKENS`.

    "--" marks unknown counts; models without answers have no row.
    """
    rows = stats[stats["N"] == N]
    counts = rows[[*_TOKEN_COLUMNS]].to_numpy(float)
    texts = rows[["model", "d"]].assign(
        text=[format_tokens(*count) for count in counts]
    )
    frame = texts.pivot_table("text", "model", "d", aggfunc="first")
    frame = frame.reindex(order_models(rows["model"])).fillna(NONE)
    frame = frame.rename(columns="d={}".format).rename_axis(columns=None)
    frame = frame.rename(display_names(frame.index)).rename_axis("model")
    frame = frame.reset_index().astype("str")
    caption = (
        f"Tokens of prompts (P) and outputs (O) at $N = {N}$ by model and $d$: mean, and 90th "
        "percentile in brackets (? where unknown)."
    )
    if rows.empty:
        caption += " There are no answers at this length."
    name = TOKEN_TABLES.get(N, f"tokens_N{N}")
    return Table(name, caption, frame, data=rows[["model", "N", "d", *_TOKEN_COLUMNS]])


def _coefficients(results: pd.DataFrame) -> dict[str, str]:
    """Return the columns of the coefficients and of their p-values, in the frame's order."""
    pairs = {
        column: column.replace("beta_", "p_", 1)
        for column in results.columns
        if column.startswith("beta_")
    }
    return {beta: p for beta, p in pairs.items() if p in results.columns}


def _format_results(results: pd.DataFrame, columns: Mapping) -> pd.DataFrame:
    """Print one row per model, columns as in `format_frame`.

    A fit that failed prints its status and no number.
    """
    is_fitted = results["status"] == "ok"
    texts = format_frame(results[is_fitted], columns)
    texts = texts.reindex(results.index, fill_value="")
    first = texts.columns[0]
    texts[first] = texts[first].where(is_fitted, results["status"])
    names = results["model"].map(display_names(results["model"]))
    texts.insert(0, "model", names)
    return texts.astype("str")


def _format_starred_beta(beta: float, p: float) -> str:
    """Return a coefficient with the stars of its p-value, if that is identified."""
    return format_beta(beta) if pd.isna(p) else format_beta(beta) + stars(p)


def _format_starred_p(p: float) -> str:
    """Return a p-value with its stars; "--" for one that is not identified."""
    return NONE if pd.isna(p) else format_p(p) + stars(p)
