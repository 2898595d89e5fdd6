"""Where outputs come from: a local path, an https:// or hf:// address, an archive -> a local file or folder."""

import hashlib
import logging
import os
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pooch

from cogniload_repro.escapes import without_queries, without_secrets
from cogniload_repro.outputs.archives import ARCHIVES, unpack
from cogniload_repro.outputs.layout import CONTAINERS, LocalSource, answer_name
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.records import over_limit, unpacked_limit

_HUB = "https://huggingface.co"
_HF = re.compile(r"hf://datasets/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^?#]+)")
_COMMIT, _SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")  # servers on this machine, which plain http may reach

pooch.get_logger().setLevel(logging.WARNING)


def open_source(source: str | Path, cache: str | Path) -> LocalSource:
    """Bring a source to this machine: fetch it, compare its sum, unpack it.

    It is a local path, ``https://...``, or ``hf://datasets/OWNER/NAME@COMMIT/path``, and may end in ``#sha256=`` and
    the file's sum; with a sum, the hub's address may name a branch. Everything else raises ValueError.
    """
    address, mark, sha256 = str(source).partition("#sha256=")
    if mark and not _SHA256.fullmatch(sha256 := sha256.lower()):
        raise ValueError(
            f"{without_secrets(address)}: a SHA-256 sum has 64 hexadecimal digits; correct or leave out #sha256="
        )
    if len(urlsplit(address).scheme) > 1:
        label = without_secrets(address)
        path, note = _fetch(address, sha256, Path(cache))
    else:
        path, label, note = Path(address), Path(address).name, ""
        if sha256 and not path.is_file():
            raise ValueError(
                f"{path} is no file whose SHA-256 sum could be compared; correct the path or leave out #sha256="
            )
        if sha256 and pooch.file_hash(str(path)) != sha256:
            raise ValueError(f"{path} does not have the SHA-256 sum {sha256}; it was changed or damaged")
    if not (path.is_file() and path.name.endswith(ARCHIVES)):
        return LocalSource(path, label, note=note)
    folder, refused = unpack(path, Path(cache))
    if len(list(folder.iterdir())) == 1 and refused and refused[-1].file == path.name:  # nothing but the list of these
        raise ValueError(f"{label} cannot be unpacked ({refused[-1].detail}); delete {path} and fetch it again")
    return LocalSource(_unwrap(folder), label, refused, note)


def resolve_address(address: str) -> str:
    """Return the URL of an https:// or complete hf:// address (ValueError for others); HF_ENDPOINT names a mirror."""
    scheme, shown = urlsplit(address).scheme, without_secrets(address)
    if scheme in ("https", "http"):
        return address
    if scheme != "hf":
        raise ValueError(f"{shown}: {scheme}:// is not known; use a path, https:// or hf://datasets/...")
    match = _HF.fullmatch(address)
    if not match:
        raise ValueError(f"{shown} is incomplete; write hf://datasets/OWNER/NAME@COMMIT/path/to/file")
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    return f"{hub}/datasets/{match['owner']}/{match['name']}/resolve/{match['revision']}/{quote(match['path'])}"


def _fetch(address: str, sha256: str, cache: Path) -> tuple[Path, str]:
    """Return the file in the cache, fetched if need be, and a note where it was fetched earlier."""
    url, shown = resolve_address(address), without_secrets(address)
    parts, hub = urlsplit(url), _HF.fullmatch(address)
    if hub and not sha256 and not _COMMIT.fullmatch(hub["revision"]):
        raise ValueError(f"{shown}: {hub['revision']!r} can move; pin a 40-digit commit after @, or add #sha256=")
    if parts.scheme == "http" and not sha256 and parts.hostname not in _LOOPBACK:
        raise ValueError(f"{shown}: plain http can be changed on its way; use https:// or add #sha256=")
    name = re.sub(r"[^\w.-]", "_", parts.path.rpartition("/")[2]) or "download"
    path = cache / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-100:]}"
    if path.exists() and not sha256:
        since = datetime.fromtimestamp(path.stat().st_mtime).isoformat(" ", "minutes")
        return path, f"{shown} was fetched on {since} and is kept; delete {path} to fetch it again"

    def check(response: Any, **_: object) -> None:
        """Refuse a redirection to plain http, a web page, and more than is unpacked; requests calls it per answer."""
        if response.is_redirect:
            target = urlsplit(response.headers["Location"])
            if target.scheme == "http" and not sha256 and target.hostname not in _LOOPBACK:
                raise ValueError("it is redirected to plain http; add #sha256=, or use https://")
        elif response.ok and response.headers.get("Content-Type", "").startswith("text/html"):
            raise ValueError("it gives a web page instead of data")
        elif int(response.headers.get("Content-Length", 0)) > unpacked_limit():
            raise ValueError(over_limit("it", "is larger"))

    options = {"hooks": {"response": check}, "headers": {"Accept-Encoding": "identity"}, "timeout": 60}
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), **options)
    try:
        pooch.retrieve(url, f"sha256:{sha256}" if sha256 else None, path.name, cache, downloader=downloader)
    except (ValueError, OSError) as error:  # those of requests are OSErrors without a number
        if isinstance(error, OSError) and error.errno:
            raise
        if "SHA256 hash" in str(error):
            error = ValueError(f"it does not have the SHA-256 sum {sha256}; it was changed or damaged")
        why = without_queries(" ".join(str(error).split()))[:500]
        raise ValueError(f"{shown} could not be fetched: {why}; check the address, or try again later") from None
    return path, ""


def _unwrap(folder: Path) -> Path:
    """Step into the folder that wraps a whole archive, unless it is a model's."""
    entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if len(entries) != 1 or not entries[0].is_dir() or entries[0].name in (*CONTAINERS, "exp", "meta"):
        return folder
    if any(path.is_file() and parse_name(answer_name(path)) for path in entries[0].iterdir()):
        return folder
    return _unwrap(entries[0])
