"""Where outputs come from: a local path, an https:// or hf:// address, an archive -> the files that it holds.

The authors' layout has answers ``N_d_needles_puzzleId_gold.*`` in one folder per model, puzzle texts
``exp/**/NAME.txt`` and metadata ``meta/**/NAME_state.json``; a table named ``puzzles.*`` holds puzzles.
"""

import hashlib
import logging
import os
import re
import shutil
import sys
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pooch

from cogniload_repro.files import without_secrets
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.readers import STATE, name_state
from cogniload_repro.records import UNREADABLE, Refusal, check_size, open_stream

#: Why a file is not read; it does not count against the rejected rows that a reader accepts.
NOT_READ = "not read"
#: Endings of tables, and of archives.
TABLES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet", ".eval")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")

_UNREAD: Refusal = (
    NOT_READ,
    "it is no JSONL, CSV, Parquet or log of Inspect, nor named N_d_needles_puzzleId_gold.*",
)
_HIDDEN: Refusal = NOT_READ, "it is hidden, as its name begins with a full stop"
_LINK: Refusal = NOT_READ, "it is a link to a folder; give that folder as a source"
# what lies beside tables and says how they were made: results of lm-evaluation-harness, requests of a batch
_BESIDE = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json|requests.*\.jsonl")
_NOISE = re.compile(r"\.DS_Store|\._.*|\.git.*")
_HUB = "https://huggingface.co"
_HF = re.compile(
    r"hf://datasets/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^?#]+)"
)
_COMMIT, _SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")  # servers on this machine, which plain http may reach
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
)

pooch.get_logger().setLevel(logging.WARNING)


class LocalSource(NamedTuple):
    """A source on this machine: file or folder, and its name in tables."""

    path: Path
    label: str


@dataclass
class Layout:
    """The files of a source, sorted by path, by what they are.

    Texts and states are by puzzle name, answers stand with their model (None in no folder); ``lost`` are not read.
    """

    source: LocalSource
    tables: list[Path] = field(default_factory=list)
    puzzle_tables: list[Path] = field(default_factory=list)
    texts: dict[str, Path] = field(default_factory=dict)
    states: dict[str, Path] = field(default_factory=dict)
    answers: list[tuple[str | None, Path]] = field(default_factory=list)
    lost: list[tuple[Path, Refusal]] = field(default_factory=list)

    def parts(self, path: Path) -> tuple[str, ...]:
        """Return the folders below the source's own, and the name of a file."""
        root = self.source.path
        return path.relative_to(root.parent if root.is_file() else root).parts

    def label(self, path: Path) -> str:
        """Return a file's name in reports, bytes that are no text spelt out."""
        return "/".join(self.parts(path)).encode("utf-8", "backslashreplace").decode()


def open_source(source: str | Path, cache: str | Path) -> LocalSource:
    """Bring a source to this machine: fetch it, compare its sum, unpack it.

    It is a local path, ``https://...``, or ``hf://datasets/OWNER/NAME@COMMIT/path``, and may end in ``#sha256=`` and
    the file's sum, which plain http and a branch that moves must have. Everything else raises ValueError.
    """
    address, mark, sha256 = str(source).partition("#sha256=")
    label = without_secrets(address)
    if mark and not _SHA256.fullmatch(sha256 := sha256.lower()):
        raise ValueError(
            f"{label}: a SHA-256 sum has 64 hexadecimal digits; correct or leave out #sha256="
        )
    if len(urlsplit(address).scheme) > 1:
        path = _fetch(address, sha256, Path(cache))
    else:
        path, label = Path(address), Path(address).name
        if sha256 and not (path.is_file() and pooch.file_hash(str(path)) == sha256):
            raise ValueError(
                f"{path} is no file with the SHA-256 sum {sha256}; correct one, or leave out #sha256="
            )
    if path.is_file() and path.name.endswith(ARCHIVES):
        path = unpack(path, Path(cache) / "unpacked" / path.name)
    return LocalSource(path, label)


def resolve_address(address: str) -> str:
    """Return the URL of an https:// or complete hf:// address (ValueError for others); HF_ENDPOINT names a mirror."""
    if urlsplit(address).scheme in ("https", "http"):
        return address
    if not (match := _HF.fullmatch(address)):
        shown = without_secrets(address)
        raise ValueError(
            f"{shown}: an address is https://... or hf://datasets/OWNER/NAME@COMMIT/path/to/file"
        )
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    return f"{hub}/datasets/{match['owner']}/{match['name']}/resolve/{match['revision']}/{quote(match['path'])}"


def _fetch(address: str, sha256: str, cache: Path) -> Path:
    """Return the file in the cache; it is fetched anew unless a sum or a commit says that it is the same."""
    url, shown = resolve_address(address), without_secrets(address)
    parts, hub = urlsplit(url), _HF.fullmatch(address)
    if hub and not sha256 and not _COMMIT.fullmatch(hub["revision"]):
        raise ValueError(
            f"{shown}: {hub['revision']!r} can move; pin a 40-digit commit after @, or add #sha256="
        )
    if parts.scheme == "http" and not sha256 and parts.hostname not in _LOOPBACK:
        raise ValueError(
            f"{shown}: plain http can be changed on its way; use https:// or add #sha256="
        )
    name = re.sub(r"[^\w.-]", "_", parts.path.rpartition("/")[2]) or "download"
    path = cache / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-100:]}"
    if not (sha256 or hub):
        path.unlink(missing_ok=True)

    def check(response: Any, **_: object) -> None:
        """Refuse a redirection to plain http; requests calls it for each answer."""
        target = urlsplit(response.headers.get("Location", ""))
        if target.scheme == "http" and not sha256 and target.hostname not in _LOOPBACK:
            raise ValueError("it is redirected to plain http; add #sha256=, or use https://")

    options = {
        "hooks": {"response": check},
        "headers": {"Accept-Encoding": "identity"},
        "timeout": 60,
    }
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), **options)
    try:
        pooch.retrieve(
            url, f"sha256:{sha256}" if sha256 else None, path.name, cache, downloader=downloader
        )
    except (
        ValueError,
        OSError,
    ) as error:  # those of requests are OSErrors without a number, and quote the address
        if isinstance(error, OSError) and error.errno:
            raise
        response = getattr(error, "response", None)
        why = (
            type(error).__name__
            if response is None
            else f"{response.status_code} {response.reason}"
        )
        if type(error) is ValueError:
            why = (
                f"it has another SHA-256 sum than {sha256}"
                if "SHA256 hash" in str(error)
                else str(error)
            )
        raise ValueError(
            f"{shown} could not be fetched: {why}; check the address, or try again later"
        ) from None
    return path


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive of unknown origin into a new folder, and return it.

    ValueError if it is damaged, has too many bytes or a member that is unsafe (a link, a device, a path that leads out
    of the folder, a name that comes twice); then nothing stays.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as zipped:
                members = zipped.infolist()
                check_size("it", sum(info.file_size for info in members))
                links = [info.filename for info in members if info.external_attr >> 28 == 0o12]
                _check_members([info.filename.rstrip("/") for info in members], links)
                zipped.extractall(folder)
        else:
            with open_stream(archive) as stream, tarfile.open(fileobj=stream, mode="r:") as packed:
                size, infos = 0, list[tarfile.TarInfo]()
                for info in packed:
                    check_size("it", size := size + info.size)
                    infos.append(info)
                stream.seek(
                    packed.offset
                )  # tarfile ends in silence at a damaged header, or where one is missing
                blocks = [block.strip(b"\0") for block in iter(partial(stream.read, 1 << 20), b"")]
                if any(blocks) or not blocks:
                    raise ValueError(
                        "it is cut short or damaged, or something stands behind its end"
                    )
                _check_members(
                    [one.name for one in infos],
                    [one.name for one in infos if not (one.isreg() or one.isdir())],
                )
                packed.extractall(folder, infos, filter="data")
    except (*_DAMAGE, OSError) as error:
        shutil.rmtree(folder)
        if isinstance(error, OSError) and error.errno:
            raise  # the disk, not the archive
        raise ValueError(f"{archive.name} cannot be unpacked: {str(error)[:300]}") from None
    return folder


def _check_members(names: list[str], links: list[str]) -> None:
    seen = set()
    for name in names:
        path = PurePosixPath(name)
        if (
            path.is_absolute()
            or ".." in path.parts
            or "\\" in name
            or ":" in name
            or not name.isprintable()
        ):
            raise ValueError(
                f"its member {name[:200]!r} would lie outside its folder, on some system"
            )
        if name in links:
            raise ValueError(f"its member {name[:200]!r} is a link or a device")
        if path in seen:
            raise ValueError(f"it holds {name[:200]!r} twice")
        seen.add(path)


def find_files(source: str | Path | LocalSource) -> Layout:
    """Sort the files of a source, hidden ones too; ValueError if it does not exist or nothing in it is read."""
    local = (
        source if isinstance(source, LocalSource) else LocalSource(Path(source), Path(source).name)
    )
    root, layout = local.path, Layout(local)
    if root.resolve() == Path(root.resolve().anchor):
        raise ValueError(
            f"{root} is the root of the file system; name the folder or the file with the outputs"
        )
    if not (root.is_file() or root.is_dir()):
        raise ValueError(
            f"{root} {'is neither a file nor a folder' if root.exists() else 'does not exist'}"
        )

    def refuse(error: OSError) -> None:
        layout.lost.append(
            (Path(error.filename), (UNREADABLE, f"the folder cannot be read: {error.strerror}"))
        )

    found = [root] if root.is_file() else []
    for folder, folders, names in [] if found else os.walk(root, onerror=refuse):
        folders[:] = sorted(name for name in folders if not _NOISE.fullmatch(name))
        layout.lost += [
            (path, _LINK) for name in folders if (path := Path(folder, name)).is_symlink()
        ]
        found += [Path(folder, name) for name in names if not _NOISE.fullmatch(name)]
    for path in sorted(found, key=layout.parts):
        _sort_in(layout, path)
    if not (layout.tables or layout.answers or {why for _, (why, _) in layout.lost} - {NOT_READ}):
        raise ValueError(
            f"{local.label or root} holds no outputs; expected are JSONL, CSV or Parquet files, logs of Inspect, or "
            "answers N_d_needles_puzzleId_gold.* in one folder per model"
        )
    return layout


def answer_name(path: PurePath) -> str:
    """Return the puzzle that an answer file is about: its name up to the first full stop."""
    return path.name.partition(".")[0]


def _sort_in(layout: Layout, path: Path) -> None:
    *folders, name = layout.parts(path)
    if not path.is_file():
        layout.lost.append((path, (UNREADABLE, "it is neither a file nor a folder")))
    elif "exp" in folders and path.suffix == ".txt":
        layout.texts[path.stem] = path
    elif "meta" in folders and name.endswith(STATE):
        layout.states[name_state(path)] = path
    elif parse_name(answer_name(path)):
        layout.answers.append((folders[-1] if folders else None, path))
    elif any(part.startswith(".") for part in (*folders, name)):
        layout.lost.append((path, _HIDDEN))
    elif not name.endswith(TABLES):
        layout.lost += [] if _BESIDE.fullmatch(name) else [(path, _UNREAD)]
    elif name.startswith("puzzles."):
        layout.puzzle_tables.append(path)
    elif not _BESIDE.fullmatch(name):
        layout.tables.append(path)
