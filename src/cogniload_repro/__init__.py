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

#: Where public names are defined: a module, or a module and a name in it.
_PLACES = (
    # puzzles and scores
    "puzzles.generate:draw_puzzle",
    "puzzles.parse:solve_text",
    "puzzles.ontology",
    "puzzles.baselines:baselines",
    "puzzles.generate:domain_size",
    "puzzles.draws",
    "grid",
    "puzzles.sets:PuzzleSet",
    "scoring.response:score_response",
    "scoring.cells:read_scores",
    "scoring.cells:summarise_answers",
    "scoring.outcome",
    "asking.perturbations:perturb",
    "asking.perturbations:restore",
    "asking.perturbations:PERTURBATIONS",
    # counts and printed numbers
    "regression.cell_tables:load_cells",
    "regression.cell_tables:load_reconstructions",
    "regression.reconstructions:over_reconstructions",
    "regression.reconstructions:with_ranges",
    "regression.cell_tables:accuracy_by",
    "reconstruction.bounds:load_bounds",
    "models",
    "published",
    # fits
    "regression.fits:fit",
    "regression.results:glm",
    "regression.selection:compare_fits",
    "regression.capacity:capacity_points",
    "regression.paper_tables:aic_table",
    "regression.paper_tables:interactions_table",
    # how the counts follow from the printed numbers
    "reconstruction.codings",
    "regression.design",
    "regression.likelihood",
    "reconstruction.printed",
    "reconstruction.roots:smaller_root_range",
    # analyses
    "analysis.comparisons",
    "analysis.contrasts",
    "analysis.differences",
    "analysis.divisions",
    "analysis.interactions",
    "reconstruction.misfit",
    "analysis.overflows",
    "analysis.shortcut",
    "analysis.own_models",
    "analysis.specifications",
    "analysis.uncertainty",
    "analysis.verdicts",
    # pages
    "paths",
    "book.build:Build",
    "book.page:Page",
    "book.figures",
    "formats",
    "book.page:link",
    "book.markdown",
    "book.verdict_rows:read_verdicts",
    "book.markdown:sentence",
    "storage:partition_path",
    "book.page_data:write_script",
    "book.verdict_rows:show_verdicts",
    "book.style",
    "book.tables",
)
#: Public names, and their places; some have another name there.
_PUBLIC = {
    "read_puzzle": "puzzles.parse:parse_puzzle",
    "intervals": "analysis.uncertainty:capacity_intervals",
    "derivation": "reconstruction.table2",
}
_PUBLIC |= {place.replace(":", ".").split(".")[-1]: place for place in _PLACES}
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
