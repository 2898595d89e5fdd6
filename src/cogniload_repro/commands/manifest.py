"""What is known of a build folder: what each step was made from and what it wrote, by content."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from cogniload_repro.files import digest_of, look_at, write_whole

#: Where it is kept. It holds the dates of files, and so is the one file that differs between equal builds.
MANIFEST_FILE = ".manifest.json"


class Manifest:
    """The steps of a build that are done, and the digests of files.

    A file is only read again when a quick look (size, time of change) is not what it was. A manifest that cannot be
    read counts as none.

    Attributes
    ----------
    steps : dict
        By name, ``{"from": {what: digest}, "wrote": {file: digest}}``, files by their path in the build folder.
    """

    def __init__(self, build: str | Path):
        self.build = Path(build)
        self.reload()

    def reload(self) -> None:
        """Read it again, after another process has written it."""
        try:
            kept = json.loads((self.build / MANIFEST_FILE).read_text(encoding="utf-8"))
            self.steps: dict[str, dict[str, dict[str, str]]] = dict(kept["steps"])
            self._looks: dict[str, list[str]] = dict(kept["looks"])
        except (OSError, ValueError, KeyError, TypeError):
            self.steps, self._looks = {}, {}
        self._kept = json.dumps([self.steps, self._looks])

    def digest(self, path: str | Path) -> str:
        """Return the digest of a file or folder, or that there is none."""
        try:
            look = look_at(path)
        except OSError:
            return "missing"
        known = self._looks.get(str(path))
        if known is None or known[0] != look:
            known = self._looks[str(path)] = [look, digest_of(path)]
        return known[1]

    def digests(self, paths: Iterable[Path], base: str | Path = ".") -> str:
        """Return one digest for several files, their names below a folder among what counts."""
        return self.sum({os.path.relpath(path, base): self.digest(path) for path in paths})

    @staticmethod
    def sum(parts: object) -> str:
        """Return one digest for several, or for any values."""
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]

    def wrote(self, step: str, start: str = "") -> dict[str, str]:
        """Return the files that a step wrote, those whose path starts so, with their digests."""
        wrote = self.steps.get(step, {}).get("wrote", {})
        return {name: digest for name, digest in wrote.items() if name.startswith(start)}

    def find_damage(self, step: str) -> list[str]:
        """Return the files of a step that are not there any more as it wrote them."""
        return [name for name, digest in self.wrote(step).items() if self.digest(self.build / name) != digest]

    def is_made_from(self, step: str, inputs: Mapping[str, str]) -> bool:
        """Return whether a step has been done with these inputs."""
        return step in self.steps and self.steps[step]["from"] == inputs

    def record(self, step: str, inputs: Mapping[str, str], patterns: Iterable[str]) -> None:
        """Keep that a step has been done, with the files that it wrote, and save."""
        files = sorted({file for pattern in patterns for file in self.build.glob(pattern) if file.is_file()})
        wrote = {file.relative_to(self.build).as_posix(): self.digest(file) for file in files}
        for gone in self.wrote(step).keys() - wrote.keys():
            self._looks.pop(str(self.build / gone), None)
        self.steps[step] = {"from": dict(inputs), "wrote": wrote}
        self.save()

    def save(self) -> None:
        """Write the manifest if it has changed."""
        now = json.dumps([self.steps, self._looks])
        if now != self._kept:
            write_whole(self.build / MANIFEST_FILE, json.dumps({"steps": self.steps, "looks": self._looks}, indent=0))
            self._kept = now
