"""The authors' results page: it repeats numbers of the paper, and has one that the paper lacks.

For six of the paper's models it has the smaller root of accuracy = 1/2 along rho. The
reconstruction uses the page for only one model (`data/reconstructed/imputed_aics.csv`).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from cogniload_repro.counts.printed import BETAS, uses_table2
from cogniload_repro.formats import NONE, format_known
from cogniload_repro.ledger.results import PrintedNumber, ResultLookup
from cogniload_repro.published import load_printed
from cogniload_repro.regression.design import GRID, grid_means, roots_along_rho

#: Name of the page in the ledger.
RESULTS_PAGE = "results page"
#: The page's column of roots.
ROOT = "nt50_pct"
_MEANS = grid_means(GRID)


class _Column(NamedTuple):
    """How a column of the page is recomputed and formatted, and its levels of N and d."""

    recompute: Callable[[ResultLookup, str], float]
    form: str
    levels: dict[str, int]


def _accuracy(lookup: ResultLookup, model: str, **levels: int) -> float:
    return 100 * float(lookup.accuracy(model, **levels))


def _overflows(lookup: ResultLookup, model: str) -> float:
    return 100 * lookup.count(model, "ctx") / lookup.count(model, "total")


def _smaller_root(lookup: ResultLookup, model: str) -> float:
    beta = np.array([[lookup.fit(model, name) for name in BETAS]])
    return 100 * float(roots_along_rho(beta, _MEANS)[0, 0])


_PAGE_QUANTITIES = {
    "overall_pct": _Column(_accuracy, ".1f", {}),
    "n250_pct": _Column(partial(_accuracy, N=250), ".1f", {"N": 250}),
    "d10_pct": _Column(partial(_accuracy, d=10), ".1f", {"d": 10}),
    "ecl50": _Column(partial(ResultLookup.fit, quantity="ecl50"), ".0f", {}),
    ROOT: _Column(_smaller_root, ".1f", {}),
    "id50": _Column(partial(ResultLookup.fit, quantity="id50"), ".1f", {}),
    "overflow_pct": _Column(_overflows, ".1f", {}),
}


def list_results_page(lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Yield the page's numbers for the paper's models, with the functions that recompute them.

    The roots are independent of everything that the reconstruction used. Numbers that repeat
    Tables 2, 4 and 5 are constraints, and so is a dash, as Table 2 has no NT50 there either.
    """
    page = load_printed("results_page")
    for row in page[page["in_paper"] == "yes"].to_dict("records"):
        model = row["model"]
        for quantity, column in _PAGE_QUANTITIES.items():
            published = row[quantity] or (NONE if quantity == ROOT else "")
            if not published:  # missing in the stored copy of the page
                continue
            is_test = quantity == ROOT and published != NONE and not uses_table2(model)
            kind = "independent" if is_test else "constraint"
            recompute = partial(column.recompute, lookup, model)
            form = partial(format_known, form=column.form)
            levels = column.levels
            yield PrintedNumber(
                RESULTS_PAGE, model, quantity, levels, kind, published, recompute, form
            )
