"""The chain from outputs to the book: a step is done again when the content of its inputs or files has changed.

Where nothing is to be done, the standard library is all that is imported.
"""

import hashlib
import json
import multiprocessing
import os
import runpy
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from cogniload_repro.commands.choices import Choices
from cogniload_repro.commands.options import say
from cogniload_repro.files import digest_of, look_at, write_whole

#: What each step was made from and wrote. It holds the dates of files, so it differs between equal builds.
MANIFEST_FILE = ".manifest.json"
#: Folder of a build in which outputs are made before they take their places.
STAGE = ".outputs-next"
#: What the sources of a build have brought, in their order: ``{"source": ..., "models": [...], "settings": {...}}``
#: each, the settings as an import's report has them.
SOURCES = "sources.json"

PACKAGE = Path(__file__).resolve().parents[1]
# what outputs and scores are made with; of the statistics, what sums and counts are made of
CORE = ("*.py", "commands/fetch.py", "puzzles/*.py", "outputs/*.py", "scoring/*.py", "reconstruction/*.py",
         *(f"statistics/{name}.py" for name in ("design", "likelihood", "accuracy", "capacity",
                                                "reconstructions")))  # fmt: skip
_PUBLISHED = ("published/iclr2026/*", "puzzle_ids*.csv", "reconstructed/cells.csv", "reconstructed/wordings.json")
_COMMITTED = (*_PUBLISHED, "reconstructed/*", "companions/*", "published/companions/*", "published/submission2025/*",
              "tokenizers.json", "tokenizers/*", "prompt_tokens.parquet")  # fmt: skip


def sum_of(parts: object) -> str:
    """Return one digest for any values, such as other digests."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


class Build:
    """A build folder, what it is to be, and what its steps were made from and wrote, by content.

    ``steps`` has, by name, ``{"from": {what: digest}, "wrote": {file: digest}}``; a damaged one counts as none.
    """

    def __init__(self, folder: str | Path, grid: str = "paper", jobs: int = 1, choices: Choices | None = None):
        self.folder, self.grid, self.jobs, self.choices = Path(folder), grid, jobs, choices or Choices()
        self.reload()

    def reload(self) -> None:
        """Read the manifest again, after another process has written it."""
        try:
            kept = json.loads((self.folder / MANIFEST_FILE).read_text(encoding="utf-8"))
            self.steps: dict[str, dict[str, dict[str, str]]] = dict(kept["steps"])
            self._looks: dict[str, list[str]] = dict(kept["looks"])
        except (OSError, ValueError, KeyError, TypeError):
            self.steps, self._looks = {}, {}

    def digest(self, path: str | Path) -> str:
        """Return the digest of a file or folder, or that it is missing."""
        try:
            look = look_at(path)
        except OSError:
            return "missing"
        known = self._looks.get(str(path))
        if known is None or known[0] != look:
            known = self._looks[str(path)] = [look, digest_of(path)]
        return known[1]

    def digests(self, folder: str | Path, *patterns: str) -> str:
        """Return one digest for the files of a folder, with their names."""
        return sum_of({path.relative_to(folder).as_posix(): self.digest(path) for path in find_files(folder, patterns)})

    @cached_property
    def core(self) -> str:
        """One digest for the modules that outputs and scores are made with."""
        return self.digests(PACKAGE, *CORE)

    @cached_property
    def code(self) -> str:
        """One digest for all modules of the package."""
        return self.digests(PACKAGE, "**/*.py")

    def made_from(self, step: str) -> dict[str, str]:
        """Return what a step was made from when it was done last."""
        return self.steps.get(step, {}).get("from", {})

    def wrote(self, step: str, start: str = "") -> dict[str, str]:
        """Return the files that a step wrote, those whose path starts so, with their digests."""
        wrote = self.steps.get(step, {}).get("wrote", {})
        return {name: digest for name, digest in wrote.items() if name.startswith(start)}

    def find_damage(self, step: str) -> list[str]:
        """Return the files of a step that are not there any more as it wrote them."""
        return [name for name, digest in self.wrote(step).items() if self.digest(self.folder / name) != digest]

    def is_done(self, step: str, inputs: dict[str, str]) -> bool:
        """Return whether a step has been done with these inputs, and what it wrote is still there."""
        return step in self.steps and self.made_from(step) == inputs and not self.find_damage(step)

    def record(self, step: str, inputs: dict[str, str], *patterns: str) -> None:
        """Keep that a step has been done, with the files that it wrote."""
        found = find_files(self.folder, patterns)
        files = {file.relative_to(self.folder).as_posix(): self.digest(file) for file in found}
        for gone in self.wrote(step).keys() - files.keys():
            self._looks.pop(str(self.folder / gone), None)
        self.steps[step] = {"from": inputs, "wrote": files}
        self.save()

    def save(self) -> None:
        """Write the build."""
        write_whole(self.folder / MANIFEST_FILE, json.dumps({"steps": self.steps, "looks": self._looks}, indent=0))


def find_files(folder: str | Path, patterns: Iterable[str]) -> list[Path]:
    """Return the files of a folder that fit one of some patterns."""
    return sorted({path for pattern in patterns for path in Path(folder).glob(pattern) if path.is_file()})


def _outputs_from(build: Build) -> dict[str, str]:
    """Return what outputs are made from; a source that is gone since it was read counts as it was."""
    known = build.made_from("outputs")
    parts = {"grid": build.grid, "code": build.core, "paper": build.digests("data", *_PUBLISHED)}
    for number, source in enumerate(build.choices.sources):
        parts[f"source {number}"] = sum_of(vars(source))
        if source.file:
            content, same = build.digest(source.file), known.get(f"source {number}") == sum_of(vars(source))
            if content == "missing" and same:
                say(f"{source.label} is not there any more; the build has its outputs as they were")
                content = known[f"content {number}"]
            parts[f"content {number}"] = content
    return parts


def _scores_from(build: Build) -> dict[str, str]:
    outputs = {start: sum_of(build.wrote("outputs", start)) for start in ("outputs/", "puzzles", SOURCES)}
    return {**outputs, "scorer": build.choices.scorer, "code": build.core}


def _fits_from(build: Build) -> dict[str, str]:
    tables = {"scores": sum_of(build.wrote("scores")), "puzzles": sum_of(build.wrote("outputs", "puzzles"))}
    return {**tables, "code": build.code, "data": build.digests("data", *_COMMITTED)}


def _regression_from(build: Build) -> dict[str, str]:
    chosen = sum_of([build.choices.formula, build.choices.family, build.choices.cells])
    given = build.digest(build.choices.cells) if build.choices.cells else ""
    return {"cells": sum_of(build.wrote("scores", "cells")), "chosen": chosen, "table": given, "code": build.code}


def tables_of(build: Build) -> dict[str, str]:
    """Return what every notebook is made from, beside itself and its parameters."""
    steps = {step: sum_of(build.wrote(step)) for step in ("outputs", "scores", "fits")}
    return {**steps, "grid": build.grid, "code": build.code, "committed": build.digests("data", *_COMMITTED)}


def _book_from(build: Build) -> dict[str, str]:
    patterns = ("book/*", "book/_[!b]*/**/*", "notebooks/*.ipynb", "docs/benchmarks.md", "pyproject.toml")
    chosen = {**_regression_from(build), "scorer": build.choices.scorer}
    return {**chosen, **tables_of(build), "pages": build.digests(".", *patterns)}


class Step(NamedTuple):
    """A step: its name; what its files follow from, with digests; patterns of its files; its command."""

    name: str
    made_from: Callable[[Build], dict[str, str]]
    wrote: tuple[str, ...]
    command: str


#: In their order. Commands get the choices of the build in place of the words in braces.
STEPS = (
    Step(
        "outputs",
        _outputs_from,
        ("puzzles.parquet", "rejected.parquet", SOURCES, "outputs/*.parquet", "downloads/[!.]*"),
        "download-outputs --grid {grid} --jobs {jobs}",
    ),
    Step("scores", _scores_from, ("cells.parquet", "scores/*.parquet"), "score --jobs {jobs}"),
    Step(
        "fits",
        _fits_from,
        (*(f"{name}.parquet" for name in ("tokens", "interactions", "aic", "glm", "prompt_tokens")), "fidelity.*"),
        "fit",
    ),
    Step(
        "regression",
        _regression_from,
        ("regression.csv",),
        "fit --formula {formula} --family {family} --cells {cells} --compare --out {folder}/regression.csv",
    ),
    Step(
        "book",
        _book_from,
        ("notebooks/*.ipynb", "figures/*", "tables/*", "book/**/*"),
        "render --grid {grid} --jobs {jobs}",
    ),
)
NAMES = tuple(step.name for step in STEPS)


def bring_up_to_date(build: Build, until: str) -> None:
    """Do the steps of a build that are to be done, up to one of them; SystemExit with the code of one that fails."""
    _refuse_unknown_outputs(build)
    for step in STEPS[: NAMES.index(until) + 1]:
        if step.name == "regression" and not build.choices.custom_fit:
            if build.steps.pop(step.name, None):
                (build.folder / "regression.csv").unlink(missing_ok=True)
            continue
        made_from, damaged = step.made_from(build), build.find_damage(step.name)
        if build.is_done(step.name, made_from):
            continue
        _tidy(build.folder)
        say(f"== {step.name}")
        if damaged:
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            say(f"{damaged[0]}{more}: missing or modified; rebuilding")
            # outputs take their places together; of a book, it is not known which notebook wrote a figure
            for name in {"outputs": [], "book": build.wrote("book")}.get(step.name, damaged):
                (build.folder / name).unlink(missing_ok=True)
        values = {**vars(build), **vars(build.choices)}
        words = [word.format(**values) for word in [*step.command.split(), "--build", "{folder}"]]
        _run(words, more=step.name != until)
        build.reload()
        build.record(step.name, made_from, *step.wrote)
    build.save()


def record_outputs(build: Build) -> None:
    """Keep that the outputs are made, when their command is run by itself."""
    build.record("outputs", _outputs_from(build), *STEPS[0].wrote)


def read_grid(build: Path) -> str:
    """Return the grid that the outputs of a build were made for; the paper's where there are none."""
    return Build(build).made_from("outputs").get("grid", "paper")


def read_sources(build: Path) -> list[dict]:
    """Return what the sources of a build have brought; nothing where there are no outputs yet."""
    try:
        return json.loads((build / SOURCES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []


def describe_outputs(build: Path) -> str:
    """Return a line that says which outputs a build holds."""

    def list_models(models: list[str]) -> str:
        return ", ".join(models) if len(models) <= 5 else f"{len(models):,} models"

    names = [f"{list_models(one['models'])} ({one['source']})" if number else one["source"]
             for number, one in enumerate(read_sources(build))]  # fmt: skip
    return f"Outputs: {' + '.join(names or ['none'])}"


def _refuse_unknown_outputs(build: Build) -> None:
    outputs, known = build.folder / "outputs", build.wrote("outputs")
    unknown = [file for file in find_files(outputs, ["*.parquet"]) if f"outputs/{file.name}" not in known]
    if known and unknown and not (outputs / ".unfinished").exists():
        raise ValueError(f"{unknown[0]} was put there by hand; move it away and add it with `make add SOURCE=...`")


def _tidy(folder: Path) -> None:
    """Remove what killed runs have left; only downloads go on from their parts."""
    shutil.rmtree(folder / STAGE, ignore_errors=True)
    for file in find_files(folder, ("*/.*.part", ".*.part", "notebooks/*.failed.ipynb")):
        if file.parent.name != "downloads":
            file.unlink()


def _run(arguments: list[str], more: bool) -> None:
    """Run a step as a process of its own, which gets the signals that would end this one alone; raise its exit code.

    Forked steps share what this process has imported; it imports before a step that ``more`` steps follow.
    """
    from cogniload_repro.executors import CAN_FORK
    from cogniload_repro.presentation.kernels import import_libraries  # which takes a moment itself

    if more and CAN_FORK:
        import_libraries()
    context: Any = multiprocessing.get_context("fork" if CAN_FORK else "spawn")
    process = context.Process(target=_become, args=(arguments,))
    process.start()
    before = {one: signal.signal(one, lambda number, frame: os.kill(process.pid, number))
              for one in (signal.SIGTERM, signal.SIGHUP)}  # fmt: skip
    while process.is_alive():
        try:
            process.join()
        except KeyboardInterrupt:  # it has had the same signal, and ends by itself
            continue
    for one, handler in before.items():
        signal.signal(one, handler)
    if code := process.exitcode:
        raise SystemExit(code if code > 0 else 128 - code)


def _become(arguments: list[str]) -> None:
    """Run the command with these arguments in this process."""
    sys.argv = ["cogniload", *arguments]
    runpy.run_module("cogniload_repro", run_name="__main__")
