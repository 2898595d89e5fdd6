"""Tables as text: CSV for data, LaTeX for papers, MyST for the book's pages.

CSV keeps the column names of ``data/published``; LaTeX and MyST show the paper's symbols. Model names are
other people's text and are escaped whole; every other cell is ours and may hold math between dollar signs.
"""

import re
from pathlib import Path

from cogniload_repro.escapes import for_spreadsheet
from cogniload_repro.files import write_whole
from cogniload_repro.presentation import markdown
from cogniload_repro.presentation.tables import Table

_INTERACTION = {"dN": r"d \times N", "drho": r"d \times \rho", "Nrho": r"N \times \rho"}
_INTERACTION["dNrho"] = r"d \times N \times \rho"
#: What LaTeX and MyST show for a column name.
HEADINGS = {
    "model": "Model", "d": "$d$", "N": "$N$", "samples": "Samples", "acc_pct": "Acc [%]",
    "valid_logic": "valid-logic", "poi_logic": "poi-logic", "last_logic": "last-logic",
    "beta_0": r"$\beta_0$", "beta_d": r"$\beta_d$", "beta_N": r"$\beta_N$", "beta_rho": r"$\beta_{\rho}$",
    "beta_rho2": r"$\beta_{\rho^2}$", "ecl50": r"$\mathrm{ECL}_{50}$", "nt50": r"$\mathrm{NT}_{50}$",
    "id50": r"$\mathrm{ID}_{50}$", "p_lr": r"$p_{LR}$", "aic_linear": r"$\mathrm{AIC}_{linear}$",
    "aic_quadratic": r"$\mathrm{AIC}_{quad}$", "symbol": "Symbol", "name": "Name", "levels": "Levels",
    "definition": "Definition", "load": "Cognitive load",
    **{f"beta_{key}": rf"$\beta_{{{symbol}}}$" for key, symbol in _INTERACTION.items()},
    **{f"p_{key}": rf"$p_{{LR}}({symbol})$" for key, symbol in _INTERACTION.items()},
}  # fmt: skip

_PAGE_ROWS = 40  # more rows do not fit on one printed page


def caption_text(table: Table, note: str = "") -> str:
    """Return the caption with the note on provenance and coverage (`provenance.source_note`) at its end."""
    return f"{table.caption} {note}.".strip() if note else table.caption


def to_csv(table: Table) -> str:
    """Return the table as CSV text, comma-separated, with the column names of ``data/published``."""
    return for_spreadsheet(table.frame).to_csv(index=False, lineterminator="\n")


def to_latex(table: Table, note: str = "") -> str:
    """Return the table as LaTeX text with caption and label ``tab:NAME``; needs booktabs and longtable."""
    shown = table.frame.rename(columns=HEADINGS)
    numbers = [column for column in shown.columns if column != "Model"]
    style = shown.style.hide(axis="index").format_index(axis="columns", escape="latex-math")
    style = style.format(_true_minus, escape="latex-math", subset=numbers)
    if "Model" in shown.columns:
        style = style.format(_guard_row_start, escape="latex", subset=["Model"])
    if table.bold is not None:
        weights = table.bold.rename(columns=HEADINGS).replace({True: "font-weight: bold", False: ""})
        style = style.apply(lambda _: weights, axis=None)
    return style.to_latex(
        hrules=True, convert_css=True, caption=caption_text(table, note), label=f"tab:{table.name}",
        environment="longtable" if len(shown) > _PAGE_ROWS else None,
        column_format="".join("r" if right else "l" for right in _right_aligned(table)),
    )  # fmt: skip


def to_myst(table: Table, note: str = "", prefix: str = "") -> str:
    """Return the table as a MyST ``table`` directive named NAME; ``prefix``, Markdown, opens its caption."""
    shown = table.frame.rename(columns=HEADINGS)
    aligned = zip(shown.columns, _right_aligned(table), strict=True)
    return markdown.table(
        shown,
        f"{prefix} {markdown.escape(caption_text(table, note), math=True)}".strip(),
        name=table.name,
        right=[column for column, right in aligned if right],
        math=[column for column in shown.columns if column != HEADINGS["model"]],
        bold=table.bold,
    )


def save_table(table: Table, folder: str | Path, note: str = "") -> tuple[Path, Path]:
    """Write ``NAME.csv`` and ``NAME.tex`` into a folder, each whole or not at all; returns the two paths."""
    csv = write_whole(Path(folder) / f"{table.name}.csv", to_csv(table))
    return csv, write_whole(Path(folder) / f"{table.name}.tex", to_latex(table, note))


def _right_aligned(table: Table) -> list[bool]:
    words = {"model", "symbol", "name", "levels", "definition", "load"}
    return [column not in words for column in table.frame.columns]


def _true_minus(text: str) -> str:
    return re.sub(r"^-(?=\d)", "$-$", text)


def _guard_row_start(name: str) -> str:
    """Keep a name such as "[x]" from being read as an option of the line break before it."""
    return "{}" + name if name.startswith(("[", "*")) else name
