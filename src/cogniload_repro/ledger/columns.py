"""The printed numbers that the ledger compares: their columns, formats and kinds.

`COLUMNS` lists them in the order of the ledger, the authors' results page included. That page
repeats numbers of the paper, and for six models has one that the paper lacks: the smaller root of
accuracy = 1/2 along rho. The reconstruction uses the page for only one model
(`data/reconstructed/imputed_aics.csv`).
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from cogniload_repro import formats
from cogniload_repro.reconstruction.printed import BETAS, load_imputed_aics, uses_table2
from cogniload_repro.regression.design import PRODUCTS
from cogniload_repro.storage import ERRORS, TOKENS

#: Name of the page in the ledger.
RESULTS_PAGE = "results page"
#: The page's column of roots.
ROOT = "nt50_pct"


class Column(NamedTuple):
    """A column of a printed table, and what it is compared with.

    ``quantity`` is a name for `ResultLookup.number`, ``form`` prints it; ``levels`` are those of
    the column, besides those of the row; ``empty`` stands for an empty cell (None: skip it).
    """

    printed: str
    quantity: str
    form: Callable[[float], str]
    levels: Mapping[str, int] = MappingProxyType({})
    empty: str | None = None


def _with_stars(name: str, form: Callable[[float], str]) -> dict[str, Column]:
    """Return the column of a number that may have stars, and the column of its stars."""
    p_value = name.replace("beta_", "p_")
    return {
        name: Column(name, name, form, empty=formats.NONE),
        f"{name} stars": Column(f"{name}_stars", p_value, formats.stars, empty=""),
    }


def _plain(
    form: Callable[[float], str], *names: str, empty: str | None = None
) -> dict[str, Column]:
    return {name: Column(name, name, form, empty=empty) for name in names}


def _on_page(name: str, quantity: str, decimals: int, **levels: int) -> Column:
    form = partial(formats.format_known, form=f".{decimals}f")
    empty = formats.NONE if name == ROOT else None
    return Column(name, quantity, form, levels, empty)


_TABLE2: dict[str, Column] = {}
for _beta in BETAS:
    _TABLE2 |= _with_stars(_beta, formats.format_beta)
_TABLE2 |= _plain(formats.format_ecl50, "ecl50", empty=formats.NONE)
_TABLE2 |= _plain(formats.format_point, "nt50", "id50", empty=formats.NONE)
_TABLE3: dict[str, Column] = {}
for _product in PRODUCTS:
    _TABLE3 |= _plain(formats.format_beta, f"beta_{_product}", empty=formats.NONE)
    _TABLE3 |= _with_stars(f"p_{_product}", formats.format_p)
_ERRORS = _plain(
    formats.format_count,
    *("samples", "acc_pct"),
    *ERRORS,
    empty="",
)
_PAGE = (
    _on_page("overall_pct", "accuracy_pct", 1),
    _on_page("n250_pct", "accuracy_pct", 1, N=250),
    _on_page("d10_pct", "accuracy_pct", 1, d=10),
    _on_page("ecl50", "ecl50", 0),
    _on_page(ROOT, "smaller_root_pct", 1),
    _on_page("id50", "id50", 1),
    _on_page("overflow_pct", "overflow_pct", 1),
)
#: By table (a key of `published.TABLES`) and name in the ledger.
COLUMNS: dict[str, dict[str, Column]] = {
    "table2": _TABLE2,
    "table3": _TABLE3,
    "table6": _plain(
        formats.format_thousandths,
        *("p_lr", "aic_linear", "aic_quadratic"),
        empty=formats.NONE,
    ),
    "table4": _ERRORS,
    "table5": _ERRORS,
    "tokens": _plain(formats.format_count, *TOKENS.names[3:]),
    "results_page": {column.printed: column for column in _PAGE},
}


def kind_of_number(table: str, model: str, quantity: str, published: str) -> str:
    """Return what agreement means for a number on reconstructed data (see `ledger.entries`).

    The roots of the results page are independent of everything that the reconstruction used.
    Numbers of the page that repeat Tables 2, 4 and 5 are constraints, and so is a dash, as Table 2
    has no NT50 there either.
    """
    if table == "results_page":
        is_root = quantity == ROOT and published != formats.NONE
        is_test = is_root and not uses_table2(model)
        return "independent" if is_test else "constraint"
    if table == "table6":
        is_aic = quantity.startswith("aic")
        is_replaced = model in load_imputed_aics().index
        return "imputed" if is_aic and is_replaced else "input"
    if table == "table3":
        return "constraint"
    if table == "table2":
        return "constraint" if uses_table2(model) else "derived"
    return "input"
