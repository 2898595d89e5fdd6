"""What a user has chosen for a build: outputs, others added to them, the scorer, a regression, its cells."""

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
CHOICES_FILE = "choices.json"
_KEPT = ("scorer", "formula", "family", "cells")
#: Options of make that are kept.
OPTIONS = ("source", "max_rejected", *_KEPT)
#: How make hands options on: in the environment, where nothing expands them.
_HANDED_ON = "COGNILOAD_CHOSEN_"
#: The scorer that is the paper's: the pseudocode of Appendix D.
PAPERS_SCORER = "pseudocode"


@dataclass(frozen=True)
class Source:
    """A source of outputs and how it is read: as the options of `download-outputs` say, without some models."""

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
        return None if self.address == RECONSTRUCTED or "://" in path else Path(path)

    @property
    def label(self) -> str:
        """What it is called in sentences."""
        return self.file.name if self.file else without_secrets(self.address)


@dataclass(frozen=True)
class Choices:
    """All choices of a build; an empty one stands for the paper's own."""

    source: Source = field(default_factory=Source)
    added: tuple[Source, ...] = ()
    scorer: str = ""
    formula: str = ""
    family: str = ""
    cells: str = ""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The main source and those that were added."""
        return (self.source, *self.added)

    @property
    def custom_fit(self) -> bool:
        """Whether another regression is chosen than the paper's."""
        return bool(self.formula or self.family or self.cells)


def load_given_options(*others: str) -> dict[str, str]:
    """Return what make hands on of `OPTIONS` and others, and take it out of the environment."""
    names = {_HANDED_ON + name.upper(): name for name in (*OPTIONS, *others)}
    return {name: os.environ.pop(variable) for variable, name in names.items() if variable in os.environ}


def read_choices(build: str | Path) -> Choices:
    """Return the choices that a build folder holds, defaults where there are none; a ValueError for a damaged file."""
    file = Path(build) / CHOICES_FILE
    if not file.is_file():
        return Choices()
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        source, *added = (Source(**one | {"without": tuple(one["without"])}) for one in kept.pop("sources"))
        return Choices(source, tuple(added), **kept)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged ({error}); delete it and give your options again") from None


def write_choices(build: str | Path, choices: Choices) -> None:
    """Keep choices as they are."""
    kept = {"sources": [asdict(one) for one in choices.sources]} | {name: getattr(choices, name) for name in _KEPT}
    write_whole(Path(build) / CHOICES_FILE, json.dumps(kept, indent=1) + "\n", mode=0o600)


def keep_choices(build: str | Path, given: Mapping[str, str], **options: str | None) -> Choices:
    """Check new values for some of `OPTIONS`, keep them, and return all choices of the build.

    An empty value goes back to the default; after a ValueError nothing has changed.
    """
    given = {name: value.strip() for name, value in given.items()}
    if unknown := sorted(set(given) - set(OPTIONS)):
        raise ValueError(f"unknown option {', '.join(unknown)}; options are: {', '.join(OPTIONS)}")
    before = read_choices(build)
    new: dict[str, Any] = {name: given[name] for name in _KEPT if name in given}
    if new.get("cells"):
        new["cells"] = os.path.abspath(new["cells"])
    if new.get("scorer") == PAPERS_SCORER:
        new["scorer"] = ""
    choices = replace(before, source=_choose_source(before.source, given, options), **new)
    if choices.source.address != before.source.address:
        check_source(choices.source)
    if new.get("scorer"):
        from cogniload_repro.scoring.verdict import find_reading

        find_reading(choices.scorer)
    if choices.custom_fit and {"formula", "family", "cells"} & set(given):
        _check_regression(Path(build), choices)
    if choices != before or not (Path(build) / CHOICES_FILE).is_file():
        write_choices(build, choices)
    return choices


def choose_added(choices: Choices, given: Mapping[str, str], **options: str | None) -> Choices:
    """Return the choices with one more source beside the others; one that is there already is read as given now."""
    source = _choose_source(Source(""), given, options)
    if source.address in ("", RECONSTRUCTED):
        raise ValueError("give the outputs to be added: make add SOURCE=answers.jsonl")
    check_source(source)
    if source.address == choices.source.address:
        back = "make download-outputs SOURCE=reconstructed"
        raise ValueError(f"{source.label} is already the main source; to add it, first run `{back}`")
    others = tuple(one for one in choices.added if one.address != source.address)
    return replace(choices, added=(*others, source))


def choose_removed(choices: Choices, given: Mapping[str, str], models: list[list[str]]) -> Choices:
    """Return the choices without a ``model``, or all of a ``source``, that was added; `models` are each source's."""
    address, model = _locate(given.get("source", "").strip()), given.get("model", "").strip()
    brought = [*models[1:], *([] for _ in choices.added)]
    left = tuple(
        replace(source, without=(*source.without, model)) if model in own else source
        for source, own in zip(choices.added, brought, strict=False)
        if source.address != address and own != [model]
    )
    if left == choices.added:
        known = ", ".join(sorted({name for own in models[1:] for name in own})) or "none"
        raise ValueError(f"cannot remove {model or without_secrets(address)}; added models are: {known}")
    return replace(choices, added=left)


def describe_choices(choices: Choices) -> str:
    """Return a line that says what a build is made of."""
    kept = [f"{name}: {value}" for name in _KEPT if (value := getattr(choices, name))]
    return "; ".join([f"outputs: {' + '.join(one.label for one in choices.sources)}", *kept])


def describe_changes(choices: Choices) -> str:
    """Return what a user has changed in a book and the way back, for the top of its pages; empty for nothing."""
    said, remove = describe_choices(choices), " and `make remove MODEL=...`" if choices.added else ""
    if said == describe_choices(Choices()):
        return ""
    back = f"`make render SOURCE=reconstructed SCORER= FORMULA= FAMILY= CELLS=`{remove}"
    return f"A user's options are in this book: {said}. The paper's come back by {back}."


def check_source(source: Source) -> None:
    """Refuse a source that cannot be: a path to nothing, an address of no known form."""
    if source.file is not None and not source.file.exists():
        raise ValueError(f"no outputs at {source.file}; give a folder, a file or an address, or 'reconstructed'")
    if source.file is None and source.address != RECONSTRUCTED:
        from cogniload_repro.outputs.sources import resolve_address

        resolve_address(source.address.partition("#sha256=")[0])


def _choose_source(before: Source, given: Mapping[str, str], options: Mapping[str, str | None]) -> Source:
    """Return a source as it is given now; another address starts anew."""
    address = _locate(given["source"].strip()) if "source" in given else before.address
    new: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if "max_rejected" in given:
        count = given["max_rejected"].strip() or "0"
        if not count.isdecimal():
            raise ValueError(f"MAX_REJECTED must be a whole number from 0, not {count!r}")
        new["max_rejected"] = int(count)
    return replace(before if address == before.address else Source(address), **new)


def _locate(address: str) -> str:
    """Return an address that means the same from every folder; nothing stands for the reconstruction."""
    if address in ("", RECONSTRUCTED) or "://" in address:
        return address or RECONSTRUCTED
    path, mark, digits = address.partition("#sha256=")
    return os.path.abspath(path) + mark + digits


def _check_regression(build: Path, choices: Choices) -> None:
    """Refuse what cannot be fitted: it is tried on one model or, before there are cells, only read."""
    from cogniload_repro.statistics import cell_tables, fits, formulas, regression

    formula, family = choices.formula or regression.QUADRATIC, choices.family or "logit"
    regression.check_family(family)
    formulas.read_formula(formula)
    if choices.cells or (build / "cells.parquet").is_file():
        cells = cell_tables.load_cells(choices.cells or build)
        fits.fit(cells[cells["model"] == cells["model"].iloc[0]], formula, family)
