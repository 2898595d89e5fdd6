"""The parameters of a build: params.yaml, then the environment, then the options of a command."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from cogniload_repro.files import is_address, without_secrets

RECONSTRUCTED_SOURCE = "reconstructed"
#: The file at the top of a checkout that sets the parameters of a build.
PARAMS = Path("params.yaml")
#: Prefix of the environment variables in which make passes the parameters of one call.
_PREFIX = "COGNILOAD_"
#: Parameters that the notice at the top of a book names.
_SHOWN = ("source", "add", "scorer", "formula", "family", "models")


@dataclass(frozen=True)
class Parameters:
    """The parameters of a build; the defaults are the paper's, and paths are absolute."""

    grid: str = "paper"
    source: str = RECONSTRUCTED_SOURCE
    add: tuple[str, ...] = ()
    max_rejected: int = 0
    scorer: str = "pseudocode"
    formula: str = "correct ~ d + log10_N + rho + I(rho**2)"
    family: str = "logit"
    models: tuple[str, ...] = ()

    def changes(self) -> dict[str, Any]:
        """Return the parameters that differ from the paper's, as JSON values."""
        changed = {}
        for name, value in vars(self).items():
            if value != getattr(Parameters, name):
                changed[name] = list(value) if isinstance(value, tuple) else value
        return changed

    def sources(self) -> list[str]:
        """Return the sources of real outputs, in the order given."""
        if self.source == RECONSTRUCTED_SOURCE:
            return list(self.add)
        return [self.source, *self.add]

    def notice(self) -> str:
        """Return a sentence that lists the parameters that differ from the paper's, or ""."""
        words = []
        for name, value in self.changes().items():
            if name in _SHOWN:
                values = value if isinstance(value, list) else [value]
                words.append(f"{name}: {', '.join(map(label_of, values))}")
        if not words:
            return ""
        return f"The parameters of this book differ from the paper's: {'; '.join(words)}."


def read_parameters(**options: object) -> Parameters:
    """Return the parameters: from the options, else the environment, else params.yaml.

    An empty text means the paper's value. A ValueError names an unknown parameter or a value of the
    wrong type.
    """
    values = _read_file()
    for field in fields(Parameters):
        given = os.environ.get(_PREFIX + field.name.upper())
        if given is not None:
            values[field.name] = given
    values |= {name: value for name, value in options.items() if value is not None}
    return make_parameters(values)


def _read_file() -> dict[str, Any]:
    """Return the values in params.yaml, if there is one."""
    if not PARAMS.is_file():
        return {}
    try:
        values = yaml.safe_load(PARAMS.read_text(encoding="utf-8")) or {}
        make_parameters(values)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{PARAMS}: {error}; write lines such as `family: logit`") from None
    return values


def make_parameters(values: Mapping[str, Any]) -> Parameters:
    """Return parameters with these values: of YAML or JSON, or texts of the command line."""
    kinds = {field.name: type(field.default) for field in fields(Parameters)}
    converted = {}
    for name, value in values.items():
        if name not in kinds:
            raise ValueError(f"unknown parameter {name}; the parameters are: {', '.join(kinds)}")
        if value not in ("", None):
            converted[name] = _CONVERTERS[kinds[name]](name, value)
    return Parameters(**converted)


def _to_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, not {value!r:.100}")
    return _locate(value) if name == "source" else value


def _to_number(name: str, value: Any) -> int:
    if not str(value).isdecimal():
        raise ValueError(f"{name} must be a whole number of at least 0, not {value!r:.100}")
    return int(value)


def _to_list(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts; a text is split at commas, one of sources as a shell does it."""
    if isinstance(value, str) and name == "add":
        value = [value] if os.path.exists(value) else shlex.split(value)
    elif isinstance(value, str):
        value = value.split(",")
    if name == "add":
        return tuple(map(_locate, value))
    return tuple(text.strip() for text in value)


_CONVERTERS = {str: _to_text, int: _to_number, tuple: _to_list}


def _locate(address: str) -> str:
    """Return an address that is valid in every folder: a path becomes absolute."""
    is_path = address != RECONSTRUCTED_SOURCE and not is_address(address)
    return os.path.abspath(address) if is_path else address


def label_of(text: str) -> str:
    """Return a value for messages: a path without its folders, an address without passwords."""
    if is_address(text):
        return without_secrets(text)
    return Path(text).name if os.path.isabs(text) else text


def check_parameters(parameters: Parameters) -> None:
    """Reject impossible parameters now, before the earlier steps have been run for nothing."""
    for source in parameters.sources():
        if not is_address(source) and not Path(source).exists():
            remedy = "name a folder, a file or an address, and quote a path with spaces"
            raise ValueError(f"no outputs at {source}; {remedy}")
    changed = parameters.changes()
    if "scorer" in changed:
        from cogniload_repro.scoring.verdict import find_scorer

        find_scorer(parameters.scorer)
    if parameters.models and not parameters.sources():
        from cogniload_repro.models import find_model

        for model in parameters.models:
            find_model(model)
    if changed.keys() & {"formula", "family"}:
        from cogniload_repro.regression import design, families, formulas

        families.check_family(parameters.family)
        cells = design.GRID.assign(prompt_mean=design.GRID["N"], perturbation="")
        formulas.build_design(cells, parameters.formula)
