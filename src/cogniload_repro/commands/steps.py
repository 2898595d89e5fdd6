"""The chain from outputs to the book: a step is done when what it is made from has changed, or what it wrote.

Contents decide, not dates. Where nothing is to be done, the standard library is all that is imported.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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
              "tokenizers.json", "prompt_tokens.parquet")  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A build folder, and what it is to be: its grid, the processes that make it, a reader's choices."""

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
        wrote = self.manifest.steps.get(step, {}).get("wrote", {})
        return Manifest.sum({name: digest for name, digest in wrote.items() if name.startswith(start)})

    @cached_property
    def core(self) -> str:
        """One digest for the modules that outputs and scores are made with."""
        return self.manifest.digests(find_core(), _PACKAGE)

    @cached_property
    def statistics(self) -> str:
        """One digest for the modules that fits are made with, beside the core."""
        return self.manifest.digests(_find(_PACKAGE, ["statistics/*.py"]), _PACKAGE)

    @cached_property
    def code(self) -> str:
        """One digest for all modules of the package, but for the command's entry."""
        modules = (path for path in _find(_PACKAGE, ["**/*.py"]) if path.name != "cli.py")
        return self.manifest.digests(modules, _PACKAGE)

    def data(self, patterns: Iterable[str]) -> str:
        """Return one digest for committed files."""
        return self.manifest.digests(_find(Path("data"), patterns))


def find_core() -> list[Path]:
    """Return the modules that outputs and scores are made with."""
    return [path for path in _find(_PACKAGE, _CORE) if path.name != "cli.py"]


def _find(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


@dataclass(frozen=True)
class Step:
    """A step: what it is called, made from and writes, and the command that does it.

    Attributes
    ----------
    name : str
    made_from : function of a Build
        Returns what its files follow from, each with a digest.
    wrote : tuple of str
        Patterns of its files in the build folder.
    command : function of a Build
        Returns the arguments of `cogniload`, without the build folder.
    applies : function of a Build
        Tells whether a build has this step.
    title : str
        Said when it starts, where the command says nothing of that itself.
    """

    name: str
    made_from: Callable[[Build], dict[str, str]]
    wrote: tuple[str, ...]
    command: Callable[[Build], list[str]]
    applies: Callable[[Build], bool] = lambda build: True
    title: str = ""


def _outputs_from(build: Build) -> dict[str, str]:
    sources = [build.choices.source, *build.choices.added]
    told = {f"source {number}": Manifest.sum(vars(one)) for number, one in enumerate(sources)}
    held = {f"content {number}": build.manifest.digest(one.file) for number, one in enumerate(sources) if one.file}
    return {"grid": build.grid, **told, **held, "code": build.core, "paper": build.data(_PUBLISHED)}


def _scores_from(build: Build) -> dict[str, str]:
    kept = {"outputs": "outputs/", "puzzles": "puzzles", "sources": SOURCES}
    outputs = {name: build.files("outputs", start) for name, start in kept.items()}
    return {**outputs, "reading": build.choices.reading, "code": build.core}


def _prompts_from(build: Build) -> dict[str, str]:
    counted = build.data(["tokenizers/*", "tokenizers.json", "prompt_tokens.parquet"])
    return {"puzzles": build.files("outputs", "puzzles"), "tokenizers": counted}


def _fidelity_from(build: Build) -> dict[str, str]:
    tables = {step: build.files(step) for step in ("scores", "fits", "prompts")}
    return {**tables, "code": build.code, "data": build.data(_COMMITTED)}


def _own_table(build: Build) -> str:
    return build.manifest.digest(build.choices.data) if build.choices.data else ""


def _regression_from(build: Build) -> dict[str, str]:
    chosen = Manifest.sum([build.choices.formula, build.choices.family, build.choices.data])
    return {"cells": build.files("scores", "cells"), "chosen": chosen, "data": _own_table(build), "code": build.code}


def _fit_own(build: Build) -> list[str]:
    chosen = {"--formula": build.choices.formula, "--family": build.choices.family, "--data": build.choices.data}
    options = [word for option in chosen.items() for word in option]
    return ["fit", *options, "--compare", "--out", str(build.folder / "regression.csv")]


def tables_of(build: Build) -> dict[str, str]:
    """Return what every notebook is made from, beside itself and its parameters."""
    steps = {step: build.files(step) for step in ("outputs", "scores", "fits", "prompts", "fidelity")}
    return {**steps, "grid": build.grid, "code": build.code, "committed": build.data(_COMMITTED)}


def _book_from(build: Build) -> dict[str, str]:
    chosen = {"chosen": _regression_from(build)["chosen"], "table": _own_table(build), "reading": build.choices.reading}
    pages = [path for path in _find(Path("book"), ["**/*"]) if "_build" not in path.parts]
    pages += [*_find(Path("notebooks"), ["*.ipynb"]), Path("docs/benchmarks.md"), Path("pyproject.toml")]
    return {**tables_of(build), **chosen, "pages": build.manifest.digests(pages)}


STEPS = (
    Step(
        "outputs",
        _outputs_from,
        ("puzzles.parquet", "rejected.parquet", SOURCES, "outputs/*.parquet", "downloads/[!.]*"),
        lambda build: ["download-outputs", "--grid", build.grid, "--jobs", str(build.jobs)],
        title="outputs",
    ),
    Step(
        "scores",
        _scores_from,
        ("cells.parquet", "scores/*.parquet"),
        lambda build: ["score", "--jobs", str(build.jobs)],
        title="scores",
    ),
    Step(
        "fits",
        lambda build: {"scores": build.files("scores"), "code": build.core, "statistics": build.statistics},
        ("tokens.parquet", "interactions.parquet", "aic.parquet", "glm.parquet"),
        lambda build: ["fit"],
        title="regressions",
    ),
    Step(
        "prompts",
        _prompts_from,
        ("prompt_tokens.parquet",),
        lambda build: ["count-tokens"],
        lambda build: build.grid == "paper",
        title="lengths of prompts",
    ),
    Step("fidelity", _fidelity_from, ("fidelity.parquet", "fidelity.csv"), lambda build: ["compare"]),
    Step("regression", _regression_from, ("regression.csv",), _fit_own, lambda build: build.choices.own_fit),
    Step(
        "book",
        _book_from,
        ("notebooks/*.ipynb", "figures/*", "tables/*", "book/**/*"),
        lambda build: ["render", "--grid", build.grid, "--jobs", str(build.jobs)],
        title="notebooks",
    ),
)
NAMES = tuple(step.name for step in STEPS)


def bring_up_to_date(build: Build, until: str) -> None:
    """Do the steps of a build that are to be done, up to one of them.

    Raises
    ------
    ValueError
        If a chosen table of cells is gone, or outputs have been put into the build by hand.
    SystemExit
        With the code of a step that fails; it has said why.
    """
    tidied = False
    for step in STEPS[: NAMES.index(until) + 1]:
        if not step.applies(build):
            _undo(step, build)
            continue
        made_from, damaged = step.made_from(build), build.manifest.find_damage(step.name)
        if step.name == "outputs":
            _refuse_strangers(build)
            made_from = _without_gone(build, made_from)
        if not damaged and build.manifest.is_made_from(step.name, made_from):
            continue
        if not tidied:
            _tidy(build.folder)
            tidied = True
        if step.title:
            say(f"== {step.title}")
        if damaged:
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            say(f"{damaged[0]}{more}: missing, or not as it was written; made again")
            _make_room(step, build, damaged)
        _run([*step.command(build), "--build", str(build.folder)])
        build.manifest.reload()
        build.manifest.record(step.name, made_from, step.wrote)
    build.manifest.save()


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
    first, *added = [
        one["source"] if not number else f"{', '.join(one['models'])} ({one['source']})"
        for number, one in enumerate(read_sources(build))
    ] or ["none"]
    return f"Outputs: {' + '.join([first, *added])}"


def _without_gone(build: Build, made_from: dict[str, str]) -> dict[str, str]:
    """Return what outputs are made from; for a source that is gone, what it was when it was read."""
    known = build.manifest.steps.get("outputs", {}).get("from", {})
    for number, source in enumerate((build.choices.source, *build.choices.added)):
        key = f"content {number}"
        if made_from.get(key) == "missing" and known.get(f"source {number}") == made_from[f"source {number}"]:
            say(f"{source.label} is not there any more; the build has its outputs as they were")
            made_from = made_from | {key: known[key]}
    return made_from


def _refuse_strangers(build: Build) -> None:
    outputs = build.folder / "outputs"
    if "outputs" not in build.manifest.steps or (outputs / ".unfinished").exists():
        return
    known = build.manifest.steps["outputs"]["wrote"]
    if strangers := [file.name for file in _find(outputs, ["*.parquet"]) if f"outputs/{file.name}" not in known]:
        raise ValueError(
            f"{outputs / strangers[0]} was put there by hand; move it elsewhere, and add it with `make add SOURCE=...`"
        )


def _undo(step: Step, build: Build) -> None:
    """Take away what a step wrote that the build does not have any more."""
    if build.manifest.steps.pop(step.name, None) is not None:
        for file in _find(build.folder, step.wrote):
            file.unlink()


def _tidy(folder: Path) -> None:
    """Remove what killed runs have left; only downloads go on from their parts."""
    shutil.rmtree(folder / STAGE, ignore_errors=True)
    for pattern in ("*/.*.part", ".*.part", "notebooks/*.failed.ipynb"):
        for file in folder.glob(pattern):
            if file.parent.name != "downloads":
                file.unlink(missing_ok=True)


def _make_room(step: Step, build: Build, damaged: list[str]) -> None:
    """Take away what would keep a step from making damaged files again."""
    if step.name == "book":
        if any(name.startswith(("figures/", "tables/")) for name in damaged):  # whose they are is not recorded
            for name in [name for name in build.manifest.steps if name.startswith("notebooks/")]:
                del build.manifest.steps[name]
            build.manifest.save()
        if any(name.startswith("book/") for name in damaged):  # with its frame, only changed pages are written again
            (build.folder / "book" / "_build" / "frame.json").unlink(missing_ok=True)
        for name in (name for name in damaged if name.startswith("book/") and not name.startswith("book/_build/")):
            (build.folder / name).unlink(missing_ok=True)
    elif step.name != "outputs":
        for name in damaged:
            (build.folder / name).unlink(missing_ok=True)


def _run(arguments: list[str]) -> None:
    """Run a step as a process of its own, which ends with this one; raise its exit code."""
    process = subprocess.Popen([sys.executable, "-m", "cogniload_repro", *arguments])
    with _handing_on(process):
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:  # it has had the same signal, and ends by itself
                continue
    if code:
        raise SystemExit(code if code > 0 else 128 - code)


@contextmanager
def _handing_on(process: subprocess.Popen) -> Iterator[None]:
    """Hand on signals that would end this process alone."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.signal(one, lambda number, frame: process.send_signal(number)) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
