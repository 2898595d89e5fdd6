"""Where outputs come from: a local path, an https:// or hf:// address, an archive -> a local file or folder."""

import hashlib
import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import pooch

from cogniload_repro.escapes import without_secrets
from cogniload_repro.outputs.archives import is_archive, unpack
from cogniload_repro.outputs.downloads import LOOPBACK, Downloader
from cogniload_repro.outputs.layout import CONTAINERS, answer_name
from cogniload_repro.outputs.rows import Rejected
from cogniload_repro.puzzles.catalog import parse_name

_HUB = "https://huggingface.co"
_HF = re.compile(r"hf://datasets/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^?#]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class LocalSource(NamedTuple):
    """A source on this machine: the file or folder, how tables call it, what its archive could not give.

    The note says that a file fetched earlier is used, since when it is there, and how another is had.
    """

    path: Path
    label: str
    refused: list[Rejected]
    note: str = ""


def open_source(
    source: str | Path, cache: str | Path, make_downloader: Callable[..., Downloader] = Downloader
) -> LocalSource:
    """Bring a source to this machine: fetch it, compare its sum, unpack it.

    Parameters
    ----------
    source : str or path
        A local path; ``https://...``; or ``hf://datasets/OWNER/NAME@COMMIT/path``. Each may end in ``#sha256=``
        and the file's sum in hexadecimal, which is compared then; with it the hub's address may name a branch.
    cache : path
        Folder for what is fetched and unpacked; what is there already is not fetched again.
    make_downloader : function
        Makes the downloader from the path of its part file, and whether plain http will do.

    Raises
    ------
    ValueError
        If the address is of another form, cannot be fetched, gives a web page, has another sum, or is an archive of
        which nothing can be unpacked.
    """
    address, _, sha256 = str(source).partition("#sha256=")
    if "#sha256=" in str(source) and not _SHA256.fullmatch(sha256 := sha256.lower()):
        raise ValueError(
            f"{without_secrets(address)}: a SHA-256 sum has 64 hexadecimal digits; correct or leave out #sha256="
        )
    if len(urlsplit(address).scheme) > 1:
        label = without_secrets(address)
        path, note = _fetch(address, sha256, Path(cache), make_downloader)
    else:
        path, label, note = Path(address), Path(address).name, ""
        if sha256 and not path.is_file():
            raise ValueError(
                f"{path} is no file whose SHA-256 sum could be compared; correct the path or leave out #sha256="
            )
        if sha256 and pooch.file_hash(path) != sha256:
            raise ValueError(f"{path} does not have the SHA-256 sum {sha256}; it was changed or damaged")
    if not (path.is_file() and is_archive(path)):
        return LocalSource(path, label, [], note)
    folder, refused = unpack(path, Path(cache))
    whole = next((row for row in refused if row.file == path.name), None)
    if whole and not any(entry.is_file() and not entry.name.startswith(".") for entry in folder.rglob("*")):
        detail = " ".join(whole.detail.split())
        raise ValueError(f"{label} cannot be unpacked ({detail}); delete {path} and fetch it again")
    return LocalSource(_unwrap(folder), label, refused, note)


def resolve_address(address: str) -> str:
    """Return the URL under which an address is fetched.

    ``hf://`` addresses go to the hub, or to the mirror named in the environment variable HF_ENDPOINT.

    Raises
    ------
    ValueError
        If the address is neither https:// nor a complete hf:// one.
    """
    scheme, shown = urlsplit(address).scheme, without_secrets(address)
    if scheme in ("https", "http"):
        return address
    if scheme != "hf":
        raise ValueError(f"{shown}: {scheme}:// is not known; use a path, https:// or hf://datasets/...")
    match = _HF.fullmatch(address)
    if not match:
        raise ValueError(f"{shown} is incomplete; write hf://datasets/OWNER/NAME@COMMIT/path/to/file")
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    parts = match.groupdict()
    return f"{hub}/datasets/{parts['owner']}/{parts['name']}/resolve/{parts['revision']}/{quote(parts['path'])}"


def _fetch(address: str, sha256: str, cache: Path, make_downloader: Callable[..., Downloader]) -> tuple[Path, str]:
    url, shown = resolve_address(address), without_secrets(address)
    parts = urlsplit(url)
    hub = _HF.fullmatch(address)
    if hub and not sha256 and not _COMMIT.fullmatch(hub["revision"]):
        raise ValueError(
            f"{shown}: what {hub['revision']!r} names can change; write the commit's 40 digits after the @ "
            "(they stand in the history of the dataset's files), or add #sha256="
        )
    if parts.scheme == "http" and not sha256 and parts.hostname not in LOOPBACK:
        raise ValueError(f"{shown}: plain http can be changed on its way; use https:// or add #sha256=")
    name = re.sub(r"[^\w.-]", "_", parts.path.rpartition("/")[2]) or "download"
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-100:]}"
    cache.mkdir(parents=True, exist_ok=True)
    for stale in cache.glob("tmp*"):  # pooch's place holder, of a run that was killed
        if stale.is_file() and not stale.stat().st_size:
            stale.unlink()
    pooch.get_logger().setLevel("WARNING")
    fetch = make_downloader(cache / f".{name}.part", any_route=bool(sha256))
    kept = cache / name
    kept_s = kept.stat().st_mtime if kept.exists() else 0.0
    try:
        path = Path(pooch.retrieve(url, f"sha256:{sha256}" if sha256 else None, name, cache, downloader=fetch))
    except ValueError as error:
        if "known hash" not in str(error):
            raise
        raise ValueError(
            f"{shown} does not have the SHA-256 sum {sha256}; it was changed or damaged, and is not used"
        ) from None
    if sha256 or not kept_s:
        return path, ""
    since = datetime.fromtimestamp(kept_s).isoformat(" ", "minutes")
    return path, f"{shown} was fetched on {since} and is kept; delete {path} to fetch it again"


def _unwrap(folder: Path) -> Path:
    """Step into the folder that wraps a whole archive, unless it is a model's."""
    entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if len(entries) != 1 or not entries[0].is_dir() or entries[0].name in (*CONTAINERS, "exp", "meta"):
        return folder
    if any(path.is_file() and parse_name(answer_name(path)) for path in entries[0].iterdir()):
        return folder
    return _unwrap(entries[0])
