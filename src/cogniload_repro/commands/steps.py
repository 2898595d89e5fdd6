"""The chain from outputs to the book: a step is done again when what it is made from has changed, or what it wrote.

Contents decide, not dates. Where nothing is to be done, the standard library is all that is imported.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.commands.choices import Choices
from cogniload_repro.commands.manifest import Manifest
from cogniload_repro.commands.options import say

#: Folder of a build in which outputs are made before they take their places.
STAGE = ".outputs-next"
#: What the sources of a build have brought, in their order: ``{"source": ..., "models": [...], "settings": {...}}``
#: each, the settings as an import's report has them.
SOURCES = "sources.json"

_PACKAGE = Path(__file__).resolve().parents[1]
# what outputs and scores are made with; of the statistics, what sums and counts are made of
_CORE = ("*.py", "commands/fetch.py", "puzzles/*.py", "outputs/*.py", "scoring/*.py", "reconstruction/*.py",
         *(f"statistics/{name}.py" for name in ("design", "likelihood", "accuracy", "capacity",
                                                "reconstructions")))  # fmt: skip
_PUBLISHED = ("published/iclr2026/*", "puzzle_ids*.csv", "reconstructed/cells.csv")
_COMMITTED = (*_PUBLISHED, "reconstructed/*", "companions/*", "published/companions/*", "published/submission2025/*",
              "tokenizers.json", "tokenizers/*", "prompt_tokens.parquet")  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A build folder, and what it is to be: its grid, the processes that make it, a user's choices."""

    folder: Path
    grid: str
    jobs: int
    choices: Choices

    @cached_property
    def manifest(self) -> Manifest:
        """What is known of it."""
        return Manifest(self.folder)

    def files(self, step: str, start: str = "") -> str:
        """Return one digest for the files that a step wrote, or those of them whose path starts so."""
        return Manifest.sum(self.manifest.wrote(step, start))

    @cached_property
    def core(self) -> str:
        """One digest for the modules that outputs and scores are made with."""
        return self.manifest.digests(find_core(), _PACKAGE)

    @cached_property
    def code(self) -> str:
        """One digest for all modules of the package, but for the command's entry."""
        return self.manifest.digests(_find_modules(["**/*.py"]), _PACKAGE)

    def data(self, patterns: Iterable[str]) -> str:
        """Return one digest for committed files."""
        return self.manifest.digests(_find(Path("data"), patterns))


def find_core() -> list[Path]:
    """Return the modules that outputs and scores are made with."""
    return _find_modules(_CORE)


def _find_modules(patterns: Iterable[str]) -> list[Path]:
    return [path for path in _find(_PACKAGE, patterns) if path.name != "cli.py"]


def _find(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


class Step(NamedTuple):
    """A step: its name; what its files follow from, with digests; patterns of its files; its command; if it applies."""

    name: str
    made_from: Callable[[Build], dict[str, str]]
    wrote: tuple[str, ...]
    command: Callable[[Build], list[str]]
    applies: Callable[[Build], bool] = lambda build: True


def _outputs_from(build: Build) -> dict[str, str]:
    sources = [build.choices.source, *build.choices.added]
    given = {f"source {number}": Manifest.sum(vars(one)) for number, one in enumerate(sources)}
    held = {f"content {number}": build.manifest.digest(one.file) for number, one in enumerate(sources) if one.file}
    return {"grid": build.grid, **given, **held, "code": build.core, "paper": build.data(_PUBLISHED)}


def _scores_from(build: Build) -> dict[str, str]:
    outputs = {start: build.files("outputs", start) for start in ("outputs/", "puzzles", SOURCES)}
    return {**outputs, "scorer": build.choices.scorer, "code": build.core}


def _fits_from(build: Build) -> dict[str, str]:
    tables = {"scores": build.files("scores"), "puzzles": build.files("outputs", "puzzles")}
    return {**tables, "code": build.code, "data": build.data(_COMMITTED)}


def _regression_from(build: Build) -> dict[str, str]:
    chosen = Manifest.sum([build.choices.formula, build.choices.family, build.choices.cells])
    given = build.manifest.digest(build.choices.cells) if build.choices.cells else ""
    return {"cells": build.files("scores", "cells"), "chosen": chosen, "table": given, "code": build.code}


def _fit_custom(build: Build) -> list[str]:
    chosen = {"--formula": build.choices.formula, "--family": build.choices.family, "--cells": build.choices.cells}
    options = [word for option in chosen.items() for word in option]
    return ["fit", *options, "--compare", "--out", str(build.folder / "regression.csv")]


def tables_of(build: Build) -> dict[str, str]:
    """Return what every notebook is made from, beside itself and its parameters."""
    steps = {step: build.files(step) for step in ("outputs", "scores", "fits")}
    return {**steps, "grid": build.grid, "code": build.code, "committed": build.data(_COMMITTED)}


def _book_from(build: Build) -> dict[str, str]:
    pages = [path for path in _find(Path("book"), ["**/*"]) if "_build" not in path.parts]
    pages += [*_find(Path("notebooks"), ["*.ipynb"]), Path("docs/benchmarks.md"), Path("pyproject.toml")]
    chosen = {**_regression_from(build), "scorer": build.choices.scorer}
    return {**chosen, **tables_of(build), "pages": build.manifest.digests(pages)}


STEPS = (
    Step(
        "outputs",
        _outputs_from,
        ("puzzles.parquet", "rejected.parquet", SOURCES, "outputs/*.parquet", "downloads/[!.]*"),
        lambda build: ["download-outputs", "--grid", build.grid, "--jobs", str(build.jobs)],
    ),
    Step(
        "scores",
        _scores_from,
        ("cells.parquet", "scores/*.parquet"),
        lambda build: ["score", "--jobs", str(build.jobs)],
    ),
    Step(
        "fits",
        _fits_from,
        (*(f"{name}.parquet" for name in ("tokens", "interactions", "aic", "glm", "prompt_tokens")), "fidelity.*"),
        lambda build: ["fit"],
    ),
    Step("regression", _regression_from, ("regression.csv",), _fit_custom, lambda build: build.choices.custom_fit),
    Step(
        "book",
        _book_from,
        ("notebooks/*.ipynb", "figures/*", "tables/*", "book/**/*"),
        lambda build: ["render", "--grid", build.grid, "--jobs", str(build.jobs)],
    ),
)
NAMES = tuple(step.name for step in STEPS)


def bring_up_to_date(build: Build, until: str) -> None:
    """Do the steps of a build that are to be done, up to one of them; SystemExit with the code of one that fails."""
    manifest, tidied = build.manifest, False
    for step in STEPS[: NAMES.index(until) + 1]:
        if not step.applies(build):
            if manifest.steps.pop(step.name, None) is not None:
                for file in _find(build.folder, step.wrote):
                    file.unlink()
            continue
        made_from, damaged = step.made_from(build), manifest.find_damage(step.name)
        if step.name == "outputs":
            _refuse_unknown_outputs(build)
            made_from = _without_gone(build, made_from)
        if not damaged and manifest.is_made_from(step.name, made_from):
            continue
        if not tidied:
            _tidy(build.folder)
            tidied = True
        say(f"== {step.name}")
        if damaged:
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            say(f"{damaged[0]}{more}: missing or modified; rebuilding")
            _clear(build, step.name, damaged)
        _run([*step.command(build), "--build", str(build.folder)])
        manifest.reload()
        manifest.record(step.name, made_from, step.wrote)
    manifest.save()


def record_outputs(build: Build) -> None:
    """Keep that the outputs are made, when their command is run by itself."""
    build.manifest.record("outputs", _outputs_from(build), STEPS[0].wrote)


def read_grid(build: Path) -> str:
    """Return the grid that the outputs of a build were made for; the paper's where there are none."""
    return Manifest(build).steps.get("outputs", {}).get("from", {}).get("grid", "paper")


def read_sources(build: Path) -> list[dict]:
    """Return what the sources of a build have brought; nothing where there are no outputs yet."""
    try:
        return json.loads((build / SOURCES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []


def describe_outputs(build: Path) -> str:
    """Return a line that says which outputs a build holds."""
    names = [
        one["source"] if not number else f"{', '.join(one['models'])} ({one['source']})"
        for number, one in enumerate(read_sources(build))
    ]
    return f"Outputs: {' + '.join(names or ['none'])}"


def _without_gone(build: Build, made_from: dict[str, str]) -> dict[str, str]:
    """Return what outputs are made from; for a source that is gone, what it was when it was read."""
    known = build.manifest.steps.get("outputs", {}).get("from", {})
    for number, source in enumerate((build.choices.source, *build.choices.added)):
        key = f"content {number}"
        if made_from.get(key) == "missing" and known.get(f"source {number}") == made_from[f"source {number}"]:
            say(f"{source.label} is not there any more; the build has its outputs as they were")
            made_from = made_from | {key: known[key]}
    return made_from


def _refuse_unknown_outputs(build: Build) -> None:
    outputs, known = build.folder / "outputs", build.manifest.wrote("outputs")
    unknown = [file for file in _find(outputs, ["*.parquet"]) if f"outputs/{file.name}" not in known]
    if known and unknown and not (outputs / ".unfinished").exists():
        raise ValueError(
            f"{unknown[0]} was put there by hand; move it elsewhere, and add it with `make add SOURCE=...`"
        )


def _tidy(folder: Path) -> None:
    """Remove what killed runs have left; only downloads go on from their parts."""
    shutil.rmtree(folder / STAGE, ignore_errors=True)
    for pattern in ("*/.*.part", ".*.part", "notebooks/*.failed.ipynb"):
        for file in folder.glob(pattern):
            if file.parent.name != "downloads":
                file.unlink(missing_ok=True)


def _clear(build: Build, step: str, damaged: list[str]) -> None:
    """Remove damaged files, and what would keep a step from making them again."""
    if step == "outputs":
        return  # all of them take their places together
    for name in damaged:
        (build.folder / name).unlink(missing_ok=True)
    if step == "book":
        (build.folder / "book" / "_build" / "frame.json").unlink(
            missing_ok=True
        )  # with it, only changed pages are made
        if any(name.startswith(("figures/", "tables/")) for name in damaged):  # which notebook's they are is not known
            for name in [name for name in build.manifest.steps if name.startswith("notebooks/")]:
                del build.manifest.steps[name]
            build.manifest.save()


def _run(arguments: list[str]) -> None:
    """Run a step as a process of its own, which gets the signals that would end this one alone; raise its exit code."""
    process = subprocess.Popen([sys.executable, "-m", "cogniload_repro", *arguments])
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.signal(one, lambda number, frame: process.send_signal(number)) for one in signals}
    code = None
    while code is None:
        try:
            code = process.wait()
        except KeyboardInterrupt:  # it has had the same signal, and ends by itself
            continue
    for one, handler in before.items():
        signal.signal(one, handler)
    if code:
        raise SystemExit(code if code > 0 else 128 - code)
