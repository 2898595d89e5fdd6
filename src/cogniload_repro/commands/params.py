"""The parameters of a build: read from params.yaml and the call, kept for each step, checked."""

import json
import os
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import yaml

from cogniload_repro.commands.options import BUILD, takes
from cogniload_repro.files import (
    fingerprint,
    is_address,
    locked,
    without_secrets,
    write_if_changed,
)

RECONSTRUCTED_SOURCE = "reconstructed"
_QUOTING = (
    "of several sources in ADD, a path with blanks or quotes stands in quotation marks, as in"
    """ ADD="'my answers.jsonl' other.jsonl\""""
)
#: The file at the top of a checkout that says what a build is to be.
PARAMS = Path("params.yaml")
#: Prefix of the environment variables in which make passes the parameters of one call: no shell
#: expands them.
_GIVEN = "COGNILOAD_"
#: Characters of a wrong value that are shown.
_PATH_CHARS = 100
#: Parameters by the step that they shape.
STEPS = {
    "outputs": ("grid", "source", "add", "max_rejected"),
    "scores": ("scorer",),
    "notebooks": ("formula", "family", "models"),
}


@dataclass(frozen=True)
class Parameters:
    """What a build is made of, by default as the paper's; paths are absolute."""

    grid: str = "paper"
    source: str = RECONSTRUCTED_SOURCE
    add: tuple[str, ...] = ()
    max_rejected: int = 0
    scorer: str = "pseudocode"
    formula: str = "correct ~ d + log10_N + rho + I(rho**2)"
    family: str = "logit"
    models: tuple[str, ...] = ()

    def changes(self, *names: str) -> dict[str, Any]:
        """Return those of some parameters that are not the paper's, as JSON has them."""
        paper = Parameters()
        values = {name: getattr(self, name) for name in names}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value != getattr(paper, name)
        }


def read_parameters(**given: object) -> Parameters:
    """Return the parameters: those given here, else those of the environment, else params.yaml.

    An empty text stands for the paper's. A ValueError names an unknown parameter or a value of
    another kind.
    """
    values = _read_file() if PARAMS.is_file() else {}
    for field in fields(Parameters):
        variable = _GIVEN + field.name.upper()
        if variable in os.environ:
            values[field.name] = _convert(field.name, os.environ[variable])
    for name, value in given.items():
        if value is not None:
            values[name] = _convert(name, value)
    return Parameters(
        **{name: value for name, value in values.items() if value is not None}
    )


def _read_file() -> dict[str, Any]:
    """Return the parameters of params.yaml; a ValueError names the file, whatever is wrong."""
    try:
        text = PARAMS.read_text(encoding="utf-8")
        tree = yaml.compose(text, yaml.SafeLoader)
        values = yaml.safe_load(text) or {}
        if not isinstance(values, dict):
            raise ValueError("it holds no parameters by name")
        names = [key.value for key, _ in tree.value] if values else []
        known = [field.name for field in fields(Parameters)]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"unknown parameter {name}; parameters are: {', '.join(known)}"
                )
            if names.count(name) > 1:
                raise ValueError(f"{name} is there {names.count(name)} times")
        return {name: _convert(name, value) for name, value in values.items()}
    except RecursionError:
        raise ValueError(f"{PARAMS}: too many levels of lists") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"{PARAMS}: {error}") from None


def _convert(name: str, value: Any) -> Any:
    """Return a value as `Parameters` has it; None for the paper's.

    It comes as a text from the command line, or as what YAML makes of it.
    """
    if value in ("", None):
        return None
    kind = type(getattr(Parameters(), name))
    if kind is tuple and isinstance(value, str):
        models = [word.strip() for word in value.split(",")]
        value = _split_sources(value) if name == "add" else models
    if kind is int and str(value).isdecimal():
        return int(value)
    if kind is tuple and _is_list_of_texts(value):
        return tuple(map(_locate if name == "add" else _long_name, value))
    if kind is str and isinstance(value, str):
        return _locate(value) if name == "source" else value
    what = {str: "a text", int: "a whole number from 0", tuple: "a list of texts"}[kind]
    raise ValueError(f"{name} must be {what}, not {repr(value)[:_PATH_CHARS]}")


def _split_sources(text: str) -> list[str]:
    """Return the sources of a text: one existing path as it stands, or several between blanks."""
    if not is_address(text) and os.path.exists(text.partition("#sha256=")[0]):
        return [text]
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""  # backslashes divide paths elsewhere
    try:
        return list(lexer)
    except ValueError:
        raise ValueError(f"no outputs at {without_secrets(text)}; {_QUOTING}") from None


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(word, str) for word in value
    )


def _long_name(model: str) -> str:
    from cogniload_repro.models import BY_LABEL

    return BY_LABEL.get(model, model)


def _locate(address: str) -> str:
    """Return an address that means the same from every folder."""
    if address == RECONSTRUCTED_SOURCE or is_address(address):
        return address
    path, mark, digits = address.partition("#sha256=")
    return os.path.abspath(path) + mark + digits


def local_path(address: str) -> Path | None:
    """Return the local file or folder of a source; None for an address and the reconstruction."""
    path = address.partition("#sha256=")[0]
    return None if address == RECONSTRUCTED_SOURCE or is_address(path) else Path(path)


def label_of(address: str) -> str:
    """Return what a source is called in sentences, without secrets."""
    path = local_path(address)
    return path.name if path else without_secrets(address)


def check_source(address: str) -> None:
    """Refuse a source that cannot be: a path to nothing, an address of no known form."""
    path = local_path(address)
    if path is not None and not path.exists():
        raise ValueError(
            f"no outputs at {path}; give a folder, a file or an address, "
            f"or '{RECONSTRUCTED_SOURCE}'"
            f" ({_QUOTING})"
        )
    if path is None and address != RECONSTRUCTED_SOURCE:
        from cogniload_repro.outputs.sources import resolve_address

        resolve_address(address.partition("#sha256=")[0])


def _fingerprint(step: str, parameters: Parameters) -> str:
    """Return the parameters of a step as text, with a fingerprint of each local source."""
    values: dict[str, Any] = {name: getattr(parameters, name) for name in STEPS[step]}
    if step == "outputs":
        sources = {parameters.source, *parameters.add} - {RECONSTRUCTED_SOURCE}
        if not sources:  # the limit has no effect without outputs of a reader's own
            del values["max_rejected"]
        paths = [local_path(address) for address in sorted(sources)]
        values["files"] = [
            fingerprint(path) for path in paths if path and path.exists()
        ]
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def parameters_file(build: Path, step: str) -> Path:
    """Return the file with the parameters of a step, which make takes for its prerequisite."""
    return build / "params" / f"{step}.json"


def write_parameters(build: Path, step: str, parameters: Parameters) -> None:
    """Keep what a step is made with; an equal file keeps its time.

    Addresses may hold passwords: the file is its owner's alone.
    """
    write_if_changed(
        parameters_file(build, step), _fingerprint(step, parameters), mode=0o600
    )


def _read_kept(build: Path, step: str) -> str:
    file = parameters_file(build, step)
    return file.read_text(encoding="utf-8") if file.is_file() else "{}"


def made_with(build: Path) -> Parameters:
    """Return the parameters of the steps of a build; the paper's where a step has not been done."""
    values: dict[str, Any] = {}
    for step, names in STEPS.items():
        try:
            written = json.loads(_read_kept(build, step))
        except ValueError as error:
            file = parameters_file(build, step)
            raise ValueError(f"{file} is damaged ({error}); run `make` again") from None
        for name in written.keys() & set(names):
            value = written[name]
            values[name] = tuple(value) if isinstance(value, list) else value
    return Parameters(**values)


def describe_changes(parameters: Parameters) -> str:
    """Return what is not the paper's in a book, for the top of its pages; empty for nothing."""
    changes = parameters.changes(
        "source", "add", "scorer", "formula", "family", "models"
    )
    if not changes:
        return ""
    words = "; ".join(
        f"{name}: {_word(name, value)}" for name, value in changes.items()
    )
    return f"This book was made with other parameters than the paper's: {words}."


def _word(name: str, value: Any) -> str:
    if name == "source":
        return label_of(value)
    if name == "add":
        return ", ".join(map(label_of, value))
    return ", ".join(value) if name == "models" else value


def _check_step(step: str, parameters: Parameters) -> None:
    """Refuse impossible parameters of a step, before the steps before it have taken their time."""
    if step == "outputs":
        for address in (parameters.source, *parameters.add):
            check_source(address)
    if step == "scores":
        from cogniload_repro.scoring.verdict import find_scorer

        find_scorer(parameters.scorer)
    if step == "notebooks" and not parameters.changes("source", "add"):
        from cogniload_repro.models import find_model

        for model in parameters.models:
            find_model(model)
    if step == "notebooks" and parameters.changes("formula", "family"):
        from cogniload_repro.regression import design, families, formulas

        families.check_family(parameters.family)
        cells = design.GRID.assign(prompt_mean=design.GRID["N"], perturbation="")
        formulas.build_design(cells, parameters.formula)


@click.command("parameters")
@click.option(
    "--grid",
    type=click.Choice(["paper", "mini"]),
    required=True,
    help="The grid as make has read it in params.yaml, or been given it.",
)
@takes(BUILD)
def keep_parameters(grid: str, build: Path) -> None:
    """Check the parameters of this call, and keep those of each step in BUILD/params.

    The Makefile calls this before anything else. A file is written only if its content changes, so
    that a step is made again where its parameters are others than last time.
    """
    parameters = read_parameters()
    if parameters.grid != grid:
        raise ValueError(
            f"{PARAMS}: the grid is {parameters.grid[:_PATH_CHARS]!r}; write `grid: paper` or "
            "`grid: mini` on a line of its own"
        )
    with locked(build):
        for step in STEPS:
            if _fingerprint(step, parameters) != _read_kept(build, step):
                _check_step(step, parameters)
        for step in STEPS:
            write_parameters(build, step, parameters)
