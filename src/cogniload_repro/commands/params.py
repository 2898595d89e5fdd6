"""The parameters of a build: those of params.yaml or of one call, and those that each step was made with."""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import yaml

from cogniload_repro.commands.options import BUILD, GRID, takes
from cogniload_repro.escapes import without_secrets
from cogniload_repro.files import locked, look_at, write_whole

RECONSTRUCTED = "reconstructed"
#: The file at the top of a checkout that says what a build is to be.
FILE = Path("params.yaml")
#: How make hands on what is given for one call: in the environment, where nothing expands it.
_GIVEN = "COGNILOAD_"
#: Parameters by the step that they shape.
STEPS = {
    "outputs": ("grid", "source", "max_rejected"),
    "added": ("add", "max_rejected"),
    "scores": ("scorer",),
    "notebooks": ("formula", "family", "models"),
}


@dataclass(frozen=True)
class Parameters:
    """What a build is made of, by default as the paper's; paths are absolute."""

    grid: str = "paper"
    source: str = RECONSTRUCTED
    add: tuple[str, ...] = ()
    max_rejected: int = 0
    scorer: str = "pseudocode"
    formula: str = "correct ~ d + log10_N + rho + I(rho**2)"
    family: str = "logit"
    models: tuple[str, ...] = ()

    def changes(self, *names: str) -> dict[str, Any]:
        """Return those of some parameters that are not the paper's."""
        return {name: value for name in names if (value := getattr(self, name)) != getattr(Parameters(), name)}


def read_parameters(**given: object) -> Parameters:
    """Return the parameters: those given here, else those of the environment, else those of params.yaml.

    An empty text stands for the paper's. A ValueError names an unknown parameter or a value of another kind.
    """
    values: dict[str, Any] = {}
    if FILE.is_file():
        try:
            values = yaml.safe_load(FILE.read_text(encoding="utf-8")) or {}
        except yaml.YAMLError as error:
            raise ValueError(f"{FILE} is not YAML: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"{FILE} holds no parameters by name")
    names = [field.name for field in fields(Parameters)]
    if unknown := sorted(map(str, values.keys() - set(names))):
        raise ValueError(f"{FILE} has the unknown parameter {unknown[0]}; parameters are: {', '.join(names)}")
    values |= {name: os.environ[variable] for name in names if (variable := _GIVEN + name.upper()) in os.environ}
    values |= {name: value for name, value in given.items() if value is not None}
    return Parameters(**{name: _convert(name, value) for name, value in values.items() if value not in ("", None)})


def _convert(name: str, value: Any) -> Any:
    """Return a value as `Parameters` has it, of a text or of what YAML makes of it."""
    kind = type(getattr(Parameters(), name))
    if kind is tuple:
        try:
            words = (shlex.split(value) if name == "add" else value.split(",")) if isinstance(value, str) else value
        except ValueError as error:
            raise ValueError(f"{name} is {value!r}: {error}") from None
        if not (isinstance(words, (list, tuple)) and all(isinstance(word, str) for word in words)):
            raise ValueError(f"{name} must be a list of texts, not {value!r}")
        return tuple(_locate(word) if name == "add" else _full_name(word.strip()) for word in words if word.strip())
    if kind is int:
        if isinstance(value, bool) or not str(value).strip().isdecimal():
            raise ValueError(f"{name} must be a whole number from 0, not {value!r}")
        return int(value)
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, not {value!r}")
    return _locate(value.strip()) if name == "source" else value.strip()


def _locate(address: str) -> str:
    """Return an address that means the same from every folder."""
    if address == RECONSTRUCTED or "://" in address:
        return address
    path, mark, digits = address.partition("#sha256=")
    return os.path.abspath(path) + mark + digits


def _full_name(model: str) -> str:
    from cogniload_repro.models import MODELS

    return next((one.name for one in MODELS if one.label.lower() == model.lower()), model)


def local_path(address: str) -> Path | None:
    """Return the local file or folder of a source; None for an address and the reconstruction."""
    path = address.partition("#sha256=")[0]
    return None if address == RECONSTRUCTED or "://" in path else Path(path)


def label_of(address: str) -> str:
    """Return what a source is called in sentences, without secrets."""
    path = local_path(address)
    return path.name if path else without_secrets(address)


def check_source(address: str) -> None:
    """Refuse a source that cannot be: a path to nothing, an address of no known form."""
    path = local_path(address)
    if path is not None and not path.exists():
        raise ValueError(f"no outputs at {path}; give a folder, a file or an address, or '{RECONSTRUCTED}'")
    if path is None and address != RECONSTRUCTED:
        from cogniload_repro.outputs.sources import resolve_address

        resolve_address(address.partition("#sha256=")[0])


def _content(step: str, parameters: Parameters) -> str:
    """Return the parameters of a step as YAML, with the sizes and times of local sources."""
    values: dict[str, Any] = {name: getattr(parameters, name) for name in STEPS[step]}
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    sources = {"outputs": (parameters.source,), "added": parameters.add}.get(step, ())
    if not any(one != RECONSTRUCTED for one in sources):
        values.pop("max_rejected", None)  # nothing hangs on it
    if seen := [look_at(path) for one in sources if (path := local_path(one)) and path.exists()]:
        values["seen"] = seen
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=1000)


def _place(build: Path, step: str) -> Path:
    return build / "params" / f"{step}.yaml"


def write_parameters(build: Path, step: str, parameters: Parameters) -> None:
    """Keep the parameters of a step in a build, where make sees their change: an equal file is left as it is.

    What sources there were is kept until the others are accepted, see `refusing`. Addresses may hold passwords: the
    file is its owner's alone.
    """
    place, content = _place(build, step), _content(step, parameters)
    if place.is_file():
        if place.read_text(encoding="utf-8") == content:
            return
        if step in ("outputs", "added"):
            place.replace(place.with_suffix(".before"))
    write_whole(place, content, mode=0o600)


@contextmanager
def refusing(build: Path) -> Iterator[None]:
    """Give a build the sources back that it had, with their files' times, if the block raises a ValueError."""
    before = {place: place.with_suffix(".before") for place in (_place(build, step) for step in ("outputs", "added"))}
    try:
        yield
    except ValueError:
        for place, old in before.items():
            if old.is_file():
                old.replace(place)
        raise
    for old in before.values():
        old.unlink(missing_ok=True)


def made_with(build: Path) -> Parameters:
    """Return the parameters that the steps of a build were made with; the paper's where a step has not been done."""
    kept: dict[str, Any] = {}
    for step, names in STEPS.items():
        if _place(build, step).is_file():
            values = yaml.safe_load(_place(build, step).read_text(encoding="utf-8"))
            kept |= {name: values[name] for name in names if name in values}
    tuples: dict[str, Any] = {name: tuple(value) for name, value in kept.items() if isinstance(value, list)}
    return Parameters(**(kept | tuples))


def describe_changes(parameters: Parameters) -> str:
    """Return what is not the paper's in a book, for the top of its pages; empty for nothing."""
    changes = parameters.changes("source", "add", "scorer", "formula", "family", "models")
    shown = {"source": label_of, "add": lambda all_: ", ".join(map(label_of, all_)), "models": ", ".join}
    said = "; ".join(f"{name}: {shown.get(name, str)(value)}" for name, value in changes.items())
    return f"This book was made with other parameters than the paper's: {said}." if said else ""


def _check(build: Path, step: str, parameters: Parameters) -> None:
    """Refuse parameters of a step that cannot be; a regression is tried on one model where there are cells."""
    if step in ("outputs", "added"):
        for source in (parameters.source,) if step == "outputs" else parameters.add:
            check_source(source)
    elif step == "scores":
        from cogniload_repro.scoring.verdict import find_scorer

        find_scorer(parameters.scorer)
    elif changed := parameters.changes(*STEPS["notebooks"]):
        from cogniload_repro.statistics import cell_tables, fits, formulas, regression

        regression.check_family(parameters.family)
        formulas.read_formula(parameters.formula)
        if (build / "cells.parquet").is_file():
            cells = cell_tables.load_cells(build, list(parameters.models) or None)
            if changed.keys() != {"models"}:
                fits.fit(cells[cells["model"] == cells["model"].iloc[0]], parameters.formula, parameters.family)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("step", type=click.Choice(list(STEPS)))
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
@takes(GRID, BUILD)
def prepare(step: str, command: tuple[str, ...], grid: str, build: Path) -> None:
    """Check the parameters of the steps up to STEP, write those that differ to BUILD/params, then run COMMAND.

    The Makefile calls this before its rules. The build folder is locked until COMMAND has ended.
    """
    wanted = read_parameters(grid=grid)
    steps: Mapping[str, str] = {one: _content(one, wanted) for one in list(STEPS)[: list(STEPS).index(step) + 1]}
    with locked(build) as lock:
        changed = [
            one for one, content in steps.items()
            if not _place(build, one).is_file() or _place(build, one).read_text(encoding="utf-8") != content
        ]  # fmt: skip
        for one in changed:
            _check(build, one, wanted)
        for one in changed:
            write_parameters(build, one, wanted)
        if lock is not None:
            os.set_inheritable(lock.fileno(), True)  # the folder stays locked while any process of COMMAND lives
        os.execvp(command[0], command)
