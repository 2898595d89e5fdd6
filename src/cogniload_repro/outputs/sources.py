"""Make outputs available as local files: from a path, a web or hf:// address, or an archive.

Archives are untrusted: they are unpacked as a whole or not at all.
"""

import hashlib
import logging
import os
import re
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

import pooch

from cogniload_repro.files import is_address, without_secrets
from cogniload_repro.outputs.layout import ARCHIVES
from cogniload_repro.outputs.records import DAMAGE, check_size, open_stream

_HUB = "https://huggingface.co"
_WEB = re.compile(r"https?://[^/]", re.IGNORECASE)
_HF = re.compile(
    r"hf://datasets/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^?#]+)"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# servers on this machine, for which plain http is allowed
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BLOCK = 1 << 20

pooch.get_logger().setLevel(logging.WARNING)


def fetch_source(source: str | Path, cache: Path) -> tuple[Path, str]:
    """Make a source available locally; return its path, and its name in tables.

    It is a local path, ``https://...``, or ``hf://datasets/OWNER/NAME@COMMIT/path``. An address may
    end in ``#sha256=`` and the file's checksum; plain http and a branch in place of COMMIT need it.
    """
    path = Path(source)
    label = path.name
    if is_address(str(source)):
        address, mark, digits = str(source).partition("#sha256=")
        label = without_secrets(address)
        if mark and not _SHA256.fullmatch(digits.lower()):
            raise ValueError(
                f"{label}: a SHA-256 checksum has 64 hexadecimal digits; correct or remove #sha256="
            )
        path = _fetch(address, digits.lower(), cache)
    if path.is_file() and path.name.endswith(ARCHIVES):
        path = unpack(path, cache / "unpacked" / path.name)
    return path, label


def resolve_address(address: str) -> str:
    """Return the URL of an https:// or hf:// address; HF_ENDPOINT names a mirror of the hub.

    ValueError for any other address.
    """
    if _WEB.match(address):
        return address
    match = _HF.fullmatch(address)
    if match is None:
        raise ValueError(
            f"{without_secrets(address)}: an address must be https://... or"
            " hf://datasets/OWNER/NAME@COMMIT/path/to/file"
        )
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    dataset = f"{hub}/datasets/{match['owner']}/{match['name']}"
    return f"{dataset}/resolve/{match['revision']}/{quote(match['path'])}"


def _fetch(address: str, sha256: str, cache: Path) -> Path:
    """Return the downloaded file, from the cache only if a checksum or commit identifies it."""
    url = resolve_address(address)
    label = without_secrets(address)
    parts = urlsplit(url)
    on_hub = _HF.fullmatch(address)
    if on_hub and not sha256 and not _COMMIT.fullmatch(on_hub["revision"]):
        revision = on_hub["revision"]
        raise ValueError(
            f"{label}: {revision!r} may change; put a 40-digit commit after @, or add #sha256="
        )
    if _is_changeable(url, sha256):
        raise ValueError(
            f"{label}: plain http can be tampered with; use https:// or add #sha256="
        )
    name = re.sub(r"[^\w.-]", "_", parts.path.rpartition("/")[2]) or "download"
    path = cache / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-100:]}"
    if not (sha256 or on_hub):
        path.unlink(missing_ok=True)
    try:
        _retrieve(url, sha256, path)
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # an error of the disk; errors of requests have no errno, and quote the address
        reason = _explain(error, sha256)
        raise ValueError(
            f"{label} could not be fetched: {reason}; check the address, or try again later"
        ) from None
    return path


def _retrieve(url: str, sha256: str, path: Path) -> None:
    def check(response: Any, **_: object) -> None:
        """Refuse a redirection to plain http; requests calls this for each response."""
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
    """Return whether a file could be changed in transit without being noticed."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not sha256 and parts.hostname not in _LOOPBACK


def _explain(error: Exception, sha256: str) -> str:
    """Return why a file could not be fetched, without the address."""
    if "SHA256 hash" in str(error):
        return f"its SHA-256 checksum is not {sha256}"
    if type(error) is ValueError:
        return str(error)
    response = getattr(error, "response", None)
    if response is None:
        return type(error).__name__
    return f"{response.status_code} {response.reason}"


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, and return the folder.

    ValueError if it is damaged, too large or has an unsafe member (a link, a device, a path that
    leads out of the folder, a repeated name); the folder is then removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if archive.suffix == ".zip":
            _unpack_zip(archive, folder)
        else:
            _unpack_tar(archive, folder)
    except DAMAGE as error:
        shutil.rmtree(folder)
        if isinstance(error, OSError) and error.errno:
            raise  # an error of the disk, not of the archive
        reason = str(error)[:300] or type(error).__name__
        raise ValueError(f"{archive.name} cannot be unpacked: {reason}") from None
    return folder


def _unpack_zip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        members = packed.infolist()
        check_size("it", sum(member.file_size for member in members))
        for member in members:
            if member.external_attr >> 28 == 0o12:
                raise ValueError(
                    f"its member {member.filename[:200]!r} is a link or a device"
                )
        names = [member.filename.rstrip("/") for member in members]
        if not {"header.json", "_journal/start.json"}.isdisjoint(names):
            raise ValueError("it is a log of Inspect; rename it to end in .eval")
        _check_names(names)
        packed.extractall(folder)


def _unpack_tar(archive: Path, folder: Path) -> None:
    with (
        open_stream(archive) as stream,
        tarfile.open(fileobj=stream, mode="r:") as packed,
    ):
        members = []
        size = 0
        for member in packed:
            size += member.size
            check_size("it", size)
            members.append(member)
        # tarfile stops without an error at a damaged or missing header
        stream.seek(packed.offset)
        blocks = 0
        while block := stream.read(_BLOCK):
            blocks += 1
            if block.strip(b"\0"):
                raise ValueError("it is damaged, or has data after its end")
        if not blocks:
            raise ValueError("it is cut short")
        for member in members:
            if not (member.isreg() or member.isdir()):
                raise ValueError(
                    f"its member {member.name[:200]!r} is a link or a device"
                )
        _check_names([member.name for member in members])
        packed.extractall(folder, members, filter="data")


def _check_names(names: list[str]) -> None:
    """Raise ValueError for a name that is unsafe on any system, or repeated."""
    paths = set()
    for name in names:
        path = PurePosixPath(name)
        is_outside = (
            path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name
        )
        if is_outside or not name.isprintable():
            raise ValueError(
                f"its member {name[:200]!r} has a name that is not safe on every system"
            )
        if path in paths:
            raise ValueError(f"it contains {name[:200]!r} twice")
        paths.add(path)
