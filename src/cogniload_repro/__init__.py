"""The reference reproduction of CogniLoad (ICLR 2026).

The public names are listed here and imported at first use; everything else is internal.

>>> import cogniload_repro as cl
>>> cl.solve_text(cl.draw_puzzle(20, 3, 5, 1).text)
'orange'
>>> cells = cl.load_cells(models=["QwQ-32B"])
>>> fits = cl.fit(cells, "correct ~ d * log10_N + rho")
>>> fits["term"].tolist()
['Intercept', 'd', 'log10_N', 'rho', 'd:log10_N']
"""

from importlib import import_module

__version__ = "1.0.0.dev0"

#: Public names, and where they are defined: a module, or a module and a name in it.
_PUBLIC = {
    # puzzles and scores
    "draw_puzzle": "puzzles.generate:draw_puzzle",
    "read_puzzle": "puzzles.parse:parse_puzzle",
    "solve_text": "puzzles.parse:solve_text",
    "ontology": "puzzles.ontology",
    "baselines": "puzzles.baselines:baselines",
    "domain_size": "puzzles.generate:domain_size",
    "score_response": "scoring.response:score_response",
    "read_scores": "scoring.cells:read_scores",
    "summarise_answers": "scoring.cells:summarise_answers",
    "perturb": "asking.perturbations:perturb",
    "restore": "asking.perturbations:restore",
    "PERTURBATIONS": "asking.perturbations:PERTURBATIONS",
    # counts and printed numbers
    "load_cells": "regression.cell_tables:load_cells",
    "load_reconstructions": "regression.cell_tables:load_reconstructions",
    "over_reconstructions": "regression.reconstructions:over_reconstructions",
    "with_ranges": "regression.reconstructions:with_ranges",
    "accuracy_by": "regression.cell_tables:accuracy_by",
    "load_bounds": "reconstruction.bounds:load_bounds",
    "models": "models",
    "published": "published",
    # fits
    "fit": "regression.fits:fit",
    "glm": "regression.results:glm",
    "compare_fits": "regression.selection:compare_fits",
    "capacity_points": "regression.capacity:capacity_points",
    "intervals": "analysis.uncertainty:capacity_intervals",
    # analyses
    "comparisons": "analysis.comparisons",
    "contrasts": "analysis.contrasts",
    "divisions": "analysis.divisions",
    "interactions": "analysis.interactions",
    "misfit": "reconstruction.misfit",
    "overflows": "analysis.overflows",
    "own_models": "analysis.own_models",
    "shortcut": "analysis.shortcut",
    "specifications": "analysis.specifications",
    "uncertainty": "analysis.uncertainty",
    "verdicts": "analysis.verdicts",
    # pages
    "Build": "book.build:Build",
    "Page": "book.page:Page",
    "figures": "book.figures",
    "formats": "formats",
    "link": "book.page:link",
    "markdown": "book.markdown",
    "read_verdicts": "book.verdict_rows:read_verdicts",
    "sentence": "book.markdown:sentence",
    "show_verdicts": "book.verdict_rows:show_verdicts",
    "style": "book.style",
    "tables": "book.tables",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    """Import a public name at its first use (PEP 562)."""
    if name not in _PUBLIC:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it offers: {', '.join(_PUBLIC)}"
        )
    module, _, attribute = _PUBLIC[name].partition(":")
    value: object = import_module(f"{__name__}.{module}")
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
