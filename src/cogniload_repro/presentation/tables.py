"""Tables in printed form: frames of strings, the paper's with their captions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cogniload_repro.files import ICLR2026, for_spreadsheet, write_whole
from cogniload_repro.formats import (
    NONE,
    display_names,
    format_beta,
    format_count,
    format_ecl50,
    format_name,
    format_number,
    format_p,
    format_point,
    format_range,
    format_thousandths,
    format_tokens,
    stars,
)
from cogniload_repro.models import BY_NAME, order_models
from cogniload_repro.presentation import markdown
from cogniload_repro.published import STAR_LEVELS, STARRED, TOKEN_TABLES, load_table
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology
from cogniload_repro.statistics.cell_tables import errors_by
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.fits import PAPER_TERMS, spread_terms
from cogniload_repro.statistics.reconstructions import from_printed_tables

_TOKENS = ("prompt_mean", "prompt_p90", "output_mean", "output_p90")
_STARS = "*** $p < {2:g}$, ** $p < {1:g}$, * $p < {0:g}$.".format(*STAR_LEVELS)
_DS = "DS: DeepSeek-R1-Distill, but DS-R1-0528 is DeepSeek-R1-0528."


#: Columns of words, which stand to the left.
_WORDS = ("model", "symbol", "name", "levels", "definition", "load")
#: What LaTeX and MyST show for a column name.
HEADINGS = pd.read_csv(ICLR2026 / "headings.csv", index_col="column")["heading"].to_dict()
_PAGE_ROWS = 40  # more rows do not fit on one printed page


@dataclass(frozen=True)
class Table:
    """One table in printed form, and as text: CSV for data, LaTeX for papers, MyST for the book's pages.

    CSV has one number a column, to six digits; LaTeX and MyST show the paper's symbols, stars and brackets. Model names
    are other people's text and are escaped whole; every other cell is ours and may hold math between dollar signs.
    The name, table1 to table10, is the stem of its files; the frame has strings only; ``bold``, in its shape, is True
    where the paper sets bold type; ``data`` has the numbers that the strings print, where these are not the numbers.
    """

    name: str
    caption: str
    frame: pd.DataFrame
    bold: pd.DataFrame | None = None
    data: pd.DataFrame | None = None

    def to_csv(self) -> str:
        """Return the numbers as CSV text."""
        data = (
            self.frame
            if self.data is None
            else self.data.assign(model=self.data["model"].map(format_name))
        )
        return for_spreadsheet(data).to_csv(index=False, lineterminator="\n", float_format="%.6g")

    def to_latex(self, note: str = "") -> str:
        """Return the table as LaTeX text with caption, note and label ``tab:NAME``; needs booktabs and longtable."""
        shown = self.frame.rename(columns=HEADINGS)
        style = shown.style.hide(axis="index").format_index(axis="columns", escape="latex-math")
        numbers = [column for column in shown.columns if column != "Model"]
        style = style.format(
            lambda text: re.sub(r"^-(?=\d)", "$-$", text), escape="latex-math", subset=numbers
        )
        if (
            "Model" in shown.columns
        ):  # a name such as "[x]" would be read as an option of the line break before it
            guard = lambda name: "{}" + name if name.startswith(("[", "*")) else name  # noqa: E731
            style = style.format(guard, escape="latex", subset=["Model"])
        if self.bold is not None:
            weights = self.bold.rename(columns=HEADINGS).replace(
                {True: "font-weight: bold", False: ""}
            )
            style = style.apply(lambda _: weights, axis=None)
        return style.to_latex(
            hrules=True, convert_css=True, caption=f"{self.caption} {note}." if note else self.caption,
            label=f"tab:{self.name}", environment="longtable" if len(shown) > _PAGE_ROWS else None,
            column_format="".join("l" if column in _WORDS else "r" for column in self.frame.columns),
        )  # fmt: skip

    def to_myst(self, prefix: str = "") -> str:
        """Return the table as a MyST ``table`` directive named NAME; ``prefix``, Markdown, opens its caption."""
        shown = self.frame.rename(columns=HEADINGS)
        return markdown.table(
            shown,
            f"{prefix} {markdown.escape(self.caption, math=True)}".strip(),
            name=self.name,
            right=[
                HEADINGS.get(column, column)
                for column in self.frame.columns
                if column not in _WORDS
            ],
            math=[column for column in shown.columns if column != HEADINGS["model"]],
            bold=self.bold,
        )

    def save(self, folder: str | Path, note: str = "") -> tuple[Path, Path]:
        """Write ``NAME.csv`` and ``NAME.tex`` into a folder, each whole or not at all; returns the two paths."""
        csv = write_whole(Path(folder) / f"{self.name}.csv", self.to_csv())
        return csv, write_whole(Path(folder) / f"{self.name}.tex", self.to_latex(note))


def table1() -> Table:
    """Return Table 1: symbol, name, levels, definition and load of the parameters of a puzzle.

    Levels and the sizes of the ontology come from the definitions in use, the formulas from the paper's Table 1.
    """
    rows = pd.read_csv(ICLR2026 / "table1_parameters.csv", index_col="load_name")
    rows["levels"] = [
        ", ".join(map("{:g}".format, sorted(GRID[name].unique()))) for name in rows.index
    ]
    sizes = {"{people}": len(ontology().people), "{categories}": len(CATEGORIES)}
    for size, count in sizes.items():
        rows["definition"] = rows["definition"].str.replace(size, str(count), regex=False)
    frame = (
        rows[["symbol", "name", "levels", "definition", "load"]]
        .reset_index(drop=True)
        .astype("str")
    )
    return Table("table1", "Parameters of a puzzle.", frame)


def table2(fits: pd.DataFrame, points: pd.DataFrame) -> Table:
    """Return Table 2 from what `fits.fit` and `fits.capacity_points` return: coefficients with Wald stars, points.

    The paper's regression makes Table 2, models in its order; another one a table of the same form, ``your_table2``.
    """
    glm = spread_terms(fits).merge(
        points[["model", "ecl50", "nt50", "id50"]], on="model", how="left"
    )
    starred = _coefficients(glm)
    forms = dict.fromkeys(starred, format_beta) | {
        "ecl50": format_ecl50,
        "nt50": format_point,
        "id50": format_point,
    }
    known = [name for name in load_table("table2")["model"] if name in set(glm["model"])]
    ordered = known + [name for name in order_models(glm["model"]) if name not in known]
    glm = glm.set_index("model").loc[ordered].reset_index()
    frame = _print_rows(glm, forms, starred)
    short = {name: model.label for name, model in BY_NAME.items() if model.label.startswith("DS-")}
    frame = frame.replace({"model": short})
    if set(fits["term"]) - {""} == {*PAPER_TERMS} and fits.attrs["family"] == "logit":
        caption = (
            r"Binomial GLM with a quadratic term in $\rho$ for each model (stars: Wald test), and the loads at "
            "which accuracy falls to 50 percent, the other two at their means over the model's cells (-- for none: no "
            f"share of needles gives it, or accuracy does not fall with the load). {_STARS} {_DS}"
        )
        return Table("table2", caption, frame, data=glm)
    undefined = points.loc[points["status"].str.startswith("not defined"), "status"].unique()[:1]
    why = "".join(f" Capacity points: {one}." for one in undefined)
    caption = (
        f"Binomial GLM {fits.attrs['formula']} ({fits.attrs['family']}) for each model (stars: Wald test; where the "
        f"printed tables do not identify the fit, medians of our samples without stars).{why} {_STARS} {_DS}"
    )
    shown = frame.rename(columns=lambda name: name if name in HEADINGS else name[5:])
    return Table("your_table2", caption, shown, data=glm)


def table3(interactions: pd.DataFrame) -> Table:
    """Return Table 3 from `schemas.INTERACTIONS`: interaction coefficients and likelihood-ratio p-values with stars."""
    pairs = _coefficients(interactions)
    forms = {
        name: form
        for beta, p in pairs.items()
        for name, form in ((beta, format_beta), (p, format_p))
    }
    caption = (
        r"Interactions of $d$, $\log_{10} N$ and $\rho$ in a GLM that has them all and a quadratic term in "
        rf"$\rho$; $p_{{LR}}$ of the likelihood-ratio test that leaves one out. {_STARS}"
    )
    frame = _print_rows(interactions, forms, {p: p for p in pairs.values()})
    return Table("table3", caption, frame, data=interactions)


def table4(cells: pd.DataFrame) -> Table:
    """Return Table 4: error types by difficulty d, counts and accuracy in %, from a cells frame."""
    return _error_table(
        "table4", r"Error types by difficulty $d$ and model, over all $N$ and $\rho$.", cells, "d"
    )


def table5(cells: pd.DataFrame) -> Table:
    """Return Table 5: error types by length N, counts and accuracy in %, from a cells frame."""
    return _error_table(
        "table5", r"Error types by task length $N$ and model, over all $d$ and $\rho$.", cells, "N"
    )


def _error_table(name: str, caption: str, cells: pd.DataFrame, load: str) -> Table:
    """Print errors in the order of Tables 4 and 5, which alone sort names regardless of case.

    The caption tells how many answers lack token counts; of cells that lack only some, nobody knows how many.
    """
    counts = errors_by(cells, load)
    scored = cells[~from_printed_tables(cells)]
    tokens = scored.columns.intersection(["prompt_mean", "output_mean"])
    untested = scored.loc[scored[tokens].isna().any(axis=1), "total"].sum()
    if untested:
        total = scored["total"].sum()
        share = f"The {total:,}" if untested == total else f"At least {untested:,} of {total:,}"
        caption += (
            f" {share} answers lack token counts; the context limit was not tested for these."
        )
    order = sorted(
        order_models(counts["model"]), key=lambda name: (name not in BY_NAME, name.casefold())
    )
    counts = counts.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
    names = display_names(counts["model"])
    forms: dict = dict.fromkeys(counts.columns, format_count) | {"model": names.get}
    headed = {column: (column, form) for column, form in forms.items()}
    return Table(name, caption, format_frame(counts, headed))


def table6(aic: pd.DataFrame) -> Table:
    """Return Table 6 from `schemas.AIC`: AIC without and with the quadratic term; bold where p < 0.05, as printed."""
    frame = _print_rows(
        aic, dict.fromkeys(("p_lr", "aic_linear", "aic_quadratic"), format_thousandths), {}
    )
    bold = pd.DataFrame(False, index=frame.index, columns=frame.columns)
    gain = (aic["status"] == "ok").to_numpy() & (aic["p_lr"] < STARRED).to_numpy()
    bold.loc[gain, ["p_lr", "aic_quadratic"]] = True
    caption = rf"Fit without and with a quadratic term in $\rho$; bold where it gains with $p_{{LR}} < {STARRED:g}$."
    return Table("table6", caption, frame, bold, aic)


def token_table(stats: pd.DataFrame, N: int) -> Table:
    """Return the one of Tables 7 to 10 for a task length, from `schemas.TOKENS`: what a build or the paper counts.

    "--" stands where no count is known, no row for models without answers.
    """
    rows = stats[stats["N"] == N]
    texts = rows[["model", "d"]].assign(
        text=[format_tokens(*counts) for counts in rows[[*_TOKENS]].to_numpy(float)]
    )
    frame = (
        texts.pivot_table("text", "model", "d", aggfunc="first")
        .reindex(order_models(rows["model"]))
        .fillna(NONE)
    )
    frame = frame.rename(columns="d={}".format).rename_axis(columns=None)
    frame = frame.rename(display_names(frame.index)).rename_axis("model")
    caption = (
        f"Tokens of prompts (P) and outputs (O) at $N = {N}$ by model and $d$: mean, and 90th percentile in "
        "brackets (? where unknown)."
    )
    if rows.empty:
        caption += " There are no answers at this length."
    name = TOKEN_TABLES.get(N, f"tokens_N{N}")
    return Table(
        name, caption, frame.reset_index().astype("str"), data=rows[["model", "N", "d", *_TOKENS]]
    )


def format_frame(
    frame: pd.DataFrame,
    columns: Mapping[str | tuple[str, ...], tuple[str, Callable[..., str] | str | int]],
) -> pd.DataFrame:
    """Return columns of a frame as text, in the order of the mapping; unknown numbers are "--".

    The mapping leads from a column, or several whose values go into one text, to heading and form: a function of the
    values; the decimals of a number, or of the two ends of a range; or a format such as ".2g".

    >>> frame = pd.DataFrame({"model": ["QwQ-32B"], "low": [44.9], "high": [51.2], "p": [float("nan")]})
    >>> format_frame(frame, {"model": ("Model", str), ("low", "high"): ("95% interval", 1), "p": ("p", ".2g")})
         Model  95% interval   p
    0  QwQ-32B  44.9 to 51.2  --
    """
    shown = {}
    for names, (heading, form) in columns.items():
        values = zip(
            *(frame[name] for name in ([names] if isinstance(names, str) else names)), strict=True
        )
        shown[heading] = [_write(own, form) for own in values]
    return pd.DataFrame(shown, dtype="str")


def _write(values: tuple, form: Callable[..., str] | str | int) -> str:
    if callable(form):
        return form(*values)
    if isinstance(form, int):
        return (
            format_number(values[0], form)
            if len(values) == 1
            else format_range(values[0], values[1], form)
        )
    return NONE if pd.isna(values[0]) else format(values[0], form)


def _coefficients(results: pd.DataFrame) -> dict[str, str]:
    """Return the column of each term's coefficient, and of its p-value, in the order they stand."""
    pairs = {
        column: column.replace("beta_", "p_", 1)
        for column in results.columns
        if column.startswith("beta_")
    }
    return {beta: p for beta, p in pairs.items() if p in results.columns}


def _print_rows(
    results: pd.DataFrame, forms: Mapping[str, Callable[[float], str]], starred: Mapping[str, str]
) -> pd.DataFrame:
    """Print one row per model, columns in their forms, some with the stars of a p-value in another column.

    A fit that failed prints its status and no number, a p-value that is not identified "--".
    """
    rows = []
    names = display_names(results["model"])
    for row in results.to_dict("records"):
        printed = [row["status"], *[""] * (len(forms) - 1)]
        if row["status"] == "ok":
            unknown = [name.startswith("p_") and pd.isna(row[name]) for name in forms]
            marks = [
                stars(row[starred[name]]) if name in starred and row[starred[name]] >= 0 else ""
                for name in forms
            ]
            try:
                numbers = [
                    NONE if no else forms[name](row[name])
                    for name, no in zip(forms, unknown, strict=True)
                ]
            except ValueError as error:
                raise ValueError(f"model {row['model']!r}: {error}") from None
            printed = list(map(str.__add__, numbers, marks))
        rows.append([names[row["model"]], *printed])
    return pd.DataFrame(rows, columns=["model", *forms], dtype="str")
