"""What a reader has chosen for a build: outputs, regression, table of cells. One small file each, kept for later."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from cogniload_repro.storage import write_whole

#: The choices and what an empty one stands for: the paper's own, but for the source.
DEFAULTS = {"source": "reconstructed", "formula": "", "family": "", "data": ""}


def read_choices(build: str | Path) -> dict[str, str]:
    """Return the choices that a build folder holds, defaults where there are none."""
    files = {name: Path(build) / f"{name}.txt" for name in DEFAULTS}
    return {
        name: file.read_text(encoding="utf-8").strip() if file.is_file() else DEFAULTS[name]
        for name, file in files.items()
    }


def keep_choices(build: str | Path, given: Mapping[str, str]) -> dict[str, str]:
    """Check choices and keep them; a file is only written when its value changes.

    Parameters
    ----------
    build : path
    given : mapping
        New values for some of `DEFAULTS`; an empty one goes back to the default.

    Returns
    -------
    dict
        All choices of the build.

    Raises
    ------
    ValueError
        If one is not possible; nothing has changed then.
    """
    build = Path(build)
    if unknown := sorted(set(given) - set(DEFAULTS)):
        raise ValueError(f"there is no choice {', '.join(unknown)}; there are: {', '.join(DEFAULTS)}")
    choices = read_choices(build) | {name: value.strip() or DEFAULTS[name] for name, value in given.items()}
    if given.get("source", DEFAULTS["source"]) != DEFAULTS["source"]:
        _check_source(choices["source"])
    if choices["formula"] + choices["family"] + choices["data"]:
        _check_regression(build, choices["formula"], choices["family"], choices["data"])
    for name, value in choices.items():
        file = build / f"{name}.txt"
        if not file.is_file() or file.read_text(encoding="utf-8") != value:
            write_whole(file, value)
    if not choices["formula"] + choices["family"] + choices["data"]:
        (build / "regression.csv").unlink(missing_ok=True)
    return choices


def describe_choices(choices: Mapping[str, str]) -> str:
    """Return a line that says what a build is made of."""
    without_secrets = re.sub(
        r"//[^/@]*@|[?].*", lambda found: "//" if found[0].startswith("//") else "", choices["source"]
    )
    words = [f"outputs: {without_secrets}"]
    words += [f"{name}: {choices[name]}" for name in ("formula", "family", "data") if choices[name]]
    return "; ".join(words)


# The checks import what they need: make asks for the defaults at a first build, and should not wait for statsmodels.


def _check_source(source: str) -> None:
    from cogniload_repro.outputs.sources import resolve_address

    address = source.partition("#sha256=")[0]
    if len(urlsplit(address).scheme) > 1:
        resolve_address(address)
    elif source != DEFAULTS["source"] and not Path(address).exists():
        raise ValueError(f"there are no outputs at {address}; give a folder, a file or an address, or 'reconstructed'")


def _check_regression(build: Path, formula: str, family: str, data: str) -> None:
    """Refuse what cannot be fitted: a formula is tried on the table or, before there is one, only read."""
    import pandas as pd

    from cogniload_repro.statistics.cell_tables import read_cell_table
    from cogniload_repro.statistics.formulas import build_design, name_covariates, read_formula
    from cogniload_repro.statistics.regression import check_family

    if family:
        check_family(family)
    cells, built = None, build / "cells.parquet"
    if data:
        cells = read_cell_table(data)
    elif built.is_file():
        cells = pd.read_parquet(built)
    if formula:
        read_formula(formula)
        if cells is not None:
            known = cells[cells["n"] > 0].dropna(subset=[name for name in name_covariates(formula) if name in cells])
            build_design(known if len(known) else cells, formula)
