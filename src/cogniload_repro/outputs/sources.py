"""Where outputs come from: a path, an https:// or hf:// address, an archive -> local files."""

import hashlib
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pooch

from cogniload_repro.files import is_address, without_secrets
from cogniload_repro.outputs.archives import unpack
from cogniload_repro.outputs.layout import ARCHIVES, LocalSource

_HUB = "https://huggingface.co"
_WEB = re.compile(r"https?://[^/]", re.IGNORECASE)
_HF = re.compile(
    r"hf://datasets/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^?#]+)"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# servers on this machine, which plain http may reach
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

pooch.get_logger().setLevel(logging.WARNING)


def open_source(source: str | Path, cache: str | Path) -> LocalSource:
    """Bring a source to this machine: fetch it, compare its sum, unpack it.

    It is a local path, ``https://...``, or ``hf://datasets/OWNER/NAME@COMMIT/path``. An address may
    end in ``#sha256=`` and the file's sum, which plain http and a branch that moves must have.
    """
    path = Path(source)
    label = path.name
    if is_address(str(source)):
        address, mark, digits = str(source).partition("#sha256=")
        label = without_secrets(address)
        if mark and not _SHA256.fullmatch(digits.lower()):
            raise ValueError(
                f"{label}: a SHA-256 sum has 64 hexadecimal digits; correct or leave out #sha256="
            )
        path = _fetch(address, digits.lower(), Path(cache))
    if path.is_file() and path.name.endswith(ARCHIVES):
        path = unpack(path, Path(cache) / "unpacked" / path.name)
    return LocalSource(path, label)


def resolve_address(address: str) -> str:
    """Return the URL of an https:// or hf:// address; HF_ENDPOINT names a mirror of the hub.

    ValueError if it is none of them.
    """
    if _WEB.match(address):
        return address
    match = _HF.fullmatch(address)
    if match is None:
        raise ValueError(
            f"{without_secrets(address)}: an address is https://... or"
            " hf://datasets/OWNER/NAME@COMMIT/path/to/file"
        )
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    dataset = f"{hub}/datasets/{match['owner']}/{match['name']}"
    return f"{dataset}/resolve/{match['revision']}/{quote(match['path'])}"


def _fetch(address: str, sha256: str, cache: Path) -> Path:
    """Return a file of the cache; it is fetched again unless its sum or commit says what it is."""
    url = resolve_address(address)
    label = without_secrets(address)
    parts = urlsplit(url)
    on_hub = _HF.fullmatch(address)
    if on_hub and not sha256 and not _COMMIT.fullmatch(on_hub["revision"]):
        revision = on_hub["revision"]
        raise ValueError(
            f"{label}: {revision!r} can move; pin a 40-digit commit after @, or add #sha256="
        )
    if _is_changeable(url, sha256):
        raise ValueError(
            f"{label}: plain http can be changed on its way; use https:// or add #sha256="
        )
    name = re.sub(r"[^\w.-]", "_", parts.path.rpartition("/")[2]) or "download"
    path = cache / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-100:]}"
    if not (sha256 or on_hub):
        path.unlink(missing_ok=True)
    try:
        _retrieve(url, sha256, path)
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the disk; errors of requests have no number, and quote the address
        reason = _explain(error, sha256)
        raise ValueError(
            f"{label} could not be fetched: {reason}; check the address, or try again later"
        ) from None
    return path


def _retrieve(url: str, sha256: str, path: Path) -> None:
    def check(response: Any, **_: object) -> None:
        """Refuse a redirection to plain http; requests calls this for each answer."""
        if _is_changeable(response.headers.get("Location", ""), sha256):
            raise ValueError(
                "it is redirected to plain http; add #sha256=, or use https://"
            )

    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        hooks={"response": check},
        headers={"Accept-Encoding": "identity"},
        timeout=60,
    )
    known_hash = f"sha256:{sha256}" if sha256 else None
    pooch.retrieve(url, known_hash, path.name, path.parent, downloader=downloader)


def _is_changeable(url: str, sha256: str) -> bool:
    """Return whether a file may be changed on its way here without anybody seeing it."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not sha256 and parts.hostname not in _LOOPBACK


def _explain(error: Exception, sha256: str) -> str:
    """Return why a file could not be fetched, without the address."""
    if "SHA256 hash" in str(error):
        return f"it has another SHA-256 sum than {sha256}"
    if type(error) is ValueError:
        return str(error)
    response = getattr(error, "response", None)
    if response is None:
        return type(error).__name__
    return f"{response.status_code} {response.reason}"
