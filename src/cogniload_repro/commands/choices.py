"""What a reader has chosen for a build: outputs, others added to them, how they are scored, a regression, its cells."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cogniload_repro.escapes import without_secrets
from cogniload_repro.files import write_whole

RECONSTRUCTED = "reconstructed"
#: File of the choices in a build folder; addresses may have passwords in them, so that it is its owner's alone.
NAME = "choices.json"
#: Names under which choices are given, and how make hands them on: in the environment, where nothing expands them.
GIVEN = ("source", "max_rejected", "reading", "formula", "family", "data")
_HANDED_ON = "COGNILOAD_CHOSEN_"
_OWN = ("reading", "formula", "family", "data")
#: The reading of Appendix D that is the paper's: its pseudocode.
PAPERS_READING = "pseudocode"


@dataclass(frozen=True)
class Source:
    """A source of outputs and how it is read.

    Attributes
    ----------
    address : str
        A local path, an address, or ``reconstructed``.
    model, edition, key_order : str, optional
        As the options of `cogniload download-outputs`.
    max_rejected : int
        Rejected rows to put up with.
    without : tuple of str
        Models that are left out.
    """

    address: str = RECONSTRUCTED
    model: str | None = None
    edition: str | None = None
    key_order: str | None = None
    max_rejected: int = 0
    without: tuple[str, ...] = ()

    @property
    def file(self) -> Path | None:
        """The local file or folder; None for an address and the reconstruction."""
        path = self.address.partition("#sha256=")[0]
        return None if self.address == RECONSTRUCTED or _is_address(path) else Path(path)

    @property
    def label(self) -> str:
        """What it is called in sentences."""
        return self.file.name if self.file else without_secrets(self.address)


@dataclass(frozen=True)
class Choices:
    """All choices of a build; an empty one stands for the paper's own."""

    source: Source = field(default_factory=Source)
    added: tuple[Source, ...] = ()
    reading: str = ""
    formula: str = ""
    family: str = ""
    data: str = ""

    @property
    def own_fit(self) -> bool:
        """Whether another regression is chosen than the paper's."""
        return bool(self.formula or self.family or self.data)


def take_given() -> dict[str, str]:
    """Return what make hands on of its variables, and take it out of the environment."""
    names = {name: _HANDED_ON + name.upper() for name in (*GIVEN, "model")}
    return {name: os.environ.pop(variable) for name, variable in names.items() if variable in os.environ}


def read_choices(build: str | Path) -> Choices:
    """Return the choices that a build folder holds, defaults where there are none.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    file = Path(build) / NAME
    if not file.is_file():
        return _read_old(Path(build))
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        source, *added = (Source(**one | {"without": tuple(one["without"])}) for one in kept.pop("sources"))
        return Choices(source, tuple(added), **kept)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged ({error}); delete it and give your choices again") from None


def write_choices(build: str | Path, choices: Choices) -> None:
    """Keep choices as they are."""
    kept = {"sources": [asdict(one) for one in (choices.source, *choices.added)]}
    kept |= {name: getattr(choices, name) for name in _OWN}
    write_whole(Path(build) / NAME, json.dumps(kept, indent=1) + "\n", mode=0o600)
    for old in _OLD:
        (Path(build) / f"{old}.txt").unlink(missing_ok=True)


def keep_choices(build: str | Path, given: Mapping[str, str], **options: str | None) -> Choices:
    """Check choices and keep them.

    Parameters
    ----------
    build : path
    given : mapping
        New values for some of `GIVEN`; an empty one goes back to the default. Another source is read without the
        options of the one before.
    **options : str
        How the source is read, if that is given.

    Returns
    -------
    Choices
        All choices of the build.

    Raises
    ------
    ValueError
        If one is not possible; nothing has changed then.
    """
    build = Path(build)
    if unknown := sorted(set(given) - set(GIVEN)):
        raise ValueError(f"there is no choice {', '.join(unknown)}; there are: {', '.join(GIVEN)}")
    before = read_choices(build)
    own: dict[str, Any] = {name: given[name].strip() for name in _OWN if name in given}
    if own.get("data"):
        own["data"] = os.path.abspath(own["data"])
    if own.get("reading") == PAPERS_READING:
        own["reading"] = ""
    choices = replace(before, source=_choose_source(before.source, given, options), **own)
    if choices.source.address != before.source.address:
        check_source(choices.source)
    if choices.reading and "reading" in given:
        from cogniload_repro.scoring.verdict import find_reading

        find_reading(choices.reading)
    if choices.own_fit and {"formula", "family", "data"} & set(given):
        _check_regression(build, choices)
    if choices != before or not (build / NAME).is_file():
        write_choices(build, choices)
    return choices


def choose_added(choices: Choices, given: Mapping[str, str], **options: str | None) -> Choices:
    """Return the choices with one more source beside the others; one that is there already is read as now told.

    Raises
    ------
    ValueError
        If no source is given or there is none.
    """
    source = _choose_source(Source(""), given, options)
    if not given.get("source", "").strip() or source.address == RECONSTRUCTED:
        raise ValueError("say which outputs are to be added: make add SOURCE=answers.jsonl")
    check_source(source)
    if source.address == choices.source.address:
        raise ValueError(
            f"{source.label} is what the build is made from already; to see it beside the paper's models, "
            "go back with `make download-outputs SOURCE=reconstructed` first"
        )
    others = tuple(one for one in choices.added if one.address != source.address)
    return replace(choices, added=(*others, source))


def choose_removed(choices: Choices, given: Mapping[str, str], models: list[list[str]]) -> Choices:
    """Return the choices without a model, or without all of a source, that was added.

    Parameters
    ----------
    choices : Choices
    given : mapping
        ``model`` or ``source``.
    models : list of list of str
        The models that the build has of each source.

    Raises
    ------
    ValueError
        If it is none that was added.
    """
    address, model = _locate(given.get("source", "").strip()), given.get("model", "").strip()
    own = [models[place] if place < len(models) else [] for place in range(1, len(choices.added) + 1)]
    left = []
    for source, brought in zip(choices.added, own, strict=True):
        if address == source.address or brought == [model]:
            continue
        left.append(replace(source, without=(*source.without, model)) if model in brought else source)
    if tuple(left) == choices.added:
        names = ", ".join(sorted({name for brought in own for name in brought})) or "none"
        raise ValueError(f"{model or address or 'no model'} is none that was added; these were: {names}")
    return replace(choices, added=tuple(left))


def describe_choices(choices: Choices) -> str:
    """Return a line that says what a build is made of."""
    sources = " + ".join(without_secrets(one.address) for one in (choices.source, *choices.added))
    own = [f"{name}: {value}" for name in _OWN if (value := getattr(choices, name))]
    return "; ".join([f"outputs: {sources}", *own])


def describe_own(choices: Choices) -> str:
    """Return what a reader has changed in a book and the way back, for the top of its pages; empty for none."""
    parts = []
    if choices.own_fit:
        own = [f"{name} {value}" for name in ("formula", "family", "data") if (value := getattr(choices, name))]
        parts.append(f"regressions ({', '.join(own)}; back by `make render FORMULA= FAMILY= DATA=`)")
    if choices.source.address != RECONSTRUCTED:
        parts.append(f"outputs ({choices.source.label}; back by `make render SOURCE=reconstructed`)")
    if choices.added:
        parts.append(f"added models ({', '.join(one.label for one in choices.added)}; out by `make remove MODEL=...`)")
    if choices.reading:
        parts.append(f"the scorer's reading ({choices.reading}, not the paper's; back by `make render READING=`)")
    return f"A reader's choices are in this book: {', '.join(parts)}." if parts else ""


def check_source(source: Source) -> None:
    """Refuse a source that there cannot be.

    Raises
    ------
    ValueError
        If the path leads nowhere or the address is of no known form.
    """
    if source.file is not None and not source.file.exists():
        raise ValueError(
            f"there are no outputs at {source.file}; give a folder, a file or an address, or 'reconstructed'"
        )
    if source.file is None and source.address != RECONSTRUCTED:
        from cogniload_repro.outputs.sources import resolve_address

        resolve_address(source.address.partition("#sha256=")[0])


def _choose_source(before: Source, given: Mapping[str, str], options: Mapping[str, str | None]) -> Source:
    """Return a source as it is now told; another address starts anew."""
    address = _locate(given["source"].strip()) if "source" in given else before.address
    source = before if address == before.address else Source(address)
    told: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    source = replace(source, **told)
    if "max_rejected" in given:
        count = given["max_rejected"].strip() or "0"
        if not count.isdecimal():
            raise ValueError(f"MAX_REJECTED is {count!r}; give the number of rejected rows to put up with")
        source = replace(source, max_rejected=int(count))
    return source


def _locate(address: str) -> str:
    """Return an address that means the same from every folder; nothing stands for the reconstruction."""
    if address in ("", RECONSTRUCTED) or _is_address(address):
        return address or RECONSTRUCTED
    path, mark, digits = address.partition("#sha256=")
    return os.path.abspath(path) + mark + digits


def _is_address(source: str) -> bool:
    return "://" in source


#: Files of older builds, one a choice.
_OLD = ("source", "formula", "family", "data")


def _read_old(build: Path) -> Choices:
    """Return the choices of a build that was made before they stood in one file."""
    files = {name: build / f"{name}.txt" for name in _OLD}
    kept: dict[str, Any] = {
        name: file.read_text(encoding="utf-8").strip() for name, file in files.items() if file.is_file()
    }
    return Choices(Source(_locate(kept.pop("source", ""))), **kept)


def _check_regression(build: Path, choices: Choices) -> None:
    """Refuse what cannot be fitted: a formula is tried on the table or, before there is one, only read."""
    import pandas as pd

    from cogniload_repro.statistics.cell_tables import read_cell_table
    from cogniload_repro.statistics.formulas import build_design, name_covariates, read_formula
    from cogniload_repro.statistics.regression import check_family

    formula, cells, built = choices.formula, None, build / "cells.parquet"
    if choices.family:
        check_family(choices.family)
    if choices.data:
        cells = read_cell_table(choices.data)
    elif built.is_file():
        cells = pd.read_parquet(built)
    if formula:
        read_formula(formula)
        if cells is not None:
            known = cells[cells["total"] > 0].dropna(
                subset=[name for name in name_covariates(formula) if name in cells]
            )
            build_design(known if len(known) else cells, formula)
