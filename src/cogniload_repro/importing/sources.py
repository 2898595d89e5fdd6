"""Make a source of answers available as local files: a path, an address, or an archive."""

import os
import re
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import pooch

from cogniload_repro.importing.addresses import is_address, without_secrets

#: Endings of archives; an archive may be a source, but is not read inside one.
ARCHIVES = (".zip", ".tar.gz", ".tgz")
#: Most gigabytes of all members of an archive.
MAX_UNPACKED_GB = 50
HUB = "https://huggingface.co"
_DATA_SET = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)@([\w.-]+)/([^?#]+)")

pooch.get_logger().setLevel("WARNING")


def fetch_source(source: str | Path, cache: Path) -> tuple[Path, str]:
    """Make a source available locally; return its path, and its name in tables.

    A source is a local path, ``https://...`` or ``hf://datasets/OWNER/NAME@COMMIT/PATH``. An
    address may end in ``#sha256=`` and the file's checksum; a branch in place of COMMIT needs it.
    An archive is unpacked into the cache.
    """
    path = Path(source)
    label = path.name
    if is_address(str(source)):
        address, _, sha256 = str(source).partition("#sha256=")
        label = without_secrets(address)
        path = _download(address, sha256.lower(), cache)
    if path.is_file() and path.name.lower().endswith(ARCHIVES):
        path = _unpack(path, cache / "unpacked" / path.name)
    return path, label


def resolve_address(address: str, is_checked: bool) -> str:
    """Return the web address of a source; ValueError if its file could change unnoticed."""
    label = without_secrets(address)
    if parts := _DATA_SET.fullmatch(address):
        data_set, revision, path = parts.groups()
        if not is_checked and not re.fullmatch("[0-9a-f]{40}", revision):
            raise ValueError(
                f"{label}: {revision!r} may change; write a commit of 40 digits after @,"
                " or add #sha256="
            )
        return f"{HUB}/datasets/{data_set}/resolve/{revision}/{quote(path)}"
    if address.startswith("https://"):
        return address
    raise ValueError(
        f"{label}: an address begins with https://, or is hf://datasets/OWNER/NAME@COMMIT/PATH"
    )


def _download(address: str, sha256: str, cache: Path) -> Path:
    """Return the downloaded file; without a checksum it is fetched again."""
    url = resolve_address(address, bool(sha256))
    folder = cache / (sha256 or "unchecked")
    if not sha256:
        shutil.rmtree(folder, ignore_errors=True)
    headers = {"Accept-Encoding": "identity"}
    is_hub = url.startswith(f"{HUB}/")
    token = os.environ.get("HF_TOKEN", "").strip() if is_hub else ""
    remedy = "check it, set HF_TOKEN for a private data set"
    if token:
        # requests keeps it from other hosts, also after a redirect
        headers["Authorization"] = f"Bearer {token}"
        remedy = "check it, and that the token in HF_TOKEN has access"
    downloader = pooch.HTTPDownloader(headers=headers)
    try:
        path = pooch.retrieve(url, sha256 or None, path=folder, downloader=downloader)
    except (ValueError, OSError) as error:
        response = getattr(error, "response", None)
        status = type(error).__name__ if response is None else response.status_code
        raise ValueError(
            f"{without_secrets(address)} could not be fetched ({status}); {remedy}, or download"
            " the file and give its path"
        ) from None
    return Path(path)


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, and return the folder; ValueError if it is refused."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    unpack = _unpack_zip if archive.name.lower().endswith(".zip") else _unpack_tar
    try:
        unpack(archive, folder)
    except Exception as error:  # of many kinds, for archives that are damaged or unsafe
        shutil.rmtree(folder, ignore_errors=True)
        raise ValueError(
            f"{archive.name} cannot be unpacked: {error}; unpack it yourself, and give the folder"
        ) from None
    return folder


def _unpack_zip(archive: Path, folder: Path) -> None:
    size = 0
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            # some programs of Windows write backslashes between folders
            member.filename = member.orig_filename.replace("\\", "/")
            kind = stat.S_IFMT(member.external_attr >> 16)
            size += member.file_size
            is_plain = kind in (0, stat.S_IFREG, stat.S_IFDIR)
            _check_member(member.filename, is_plain, size, folder)
            packed.extract(member, folder)


def _unpack_tar(archive: Path, folder: Path) -> None:
    size = 0
    with tarfile.open(archive) as packed:
        for member in packed:
            size += member.size
            is_plain = member.isreg() or member.isdir()
            _check_member(member.name, is_plain, size, folder)
            packed.extract(member, folder, filter="data")
        # the library ends in silence at a damaged header, and at the end of a file that is cut
        stream: Any = packed.fileobj
        stream.seek(packed.offset)
        rest = stream.read(2**20)
        if not rest or rest.strip(b"\0"):
            raise ValueError("it is damaged, or cut short")


def _check_member(name: str, is_plain: bool, size: int, folder: Path) -> None:
    """Raise ValueError for a member that could lead out of the folder or replace another one.

    ``size`` is the size of the archive's members up to this one.
    """
    path = PurePosixPath(name)
    is_outside = path.is_absolute() or ".." in path.parts
    faults = {
        "is neither a file nor a folder": not is_plain,
        "has an unsafe name": is_outside or not name.isprintable(),
        "is in too many folders": len(path.parts) > 50,
        f"goes beyond {MAX_UNPACKED_GB} GB": size > MAX_UNPACKED_GB * 1e9,
        "is there twice": (folder / path).is_file(),
    }
    for fault, is_so in faults.items():
        if is_so:
            raise ValueError(f"its member {name!r:.80} {fault}")
