"""Make a source of answers available as local files: a path, an https address, or an archive."""

import hashlib
import logging
import os
import re
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pooch

from cogniload_repro.files import is_address, without_secrets

#: Endings of archives; an archive may be a source, but is not read inside one.
ARCHIVES = (".zip", ".tar.gz", ".tgz")
# servers on this machine, for which plain http is allowed
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HUB = "huggingface.co"

pooch.get_logger().setLevel(logging.WARNING)


def fetch_source(source: str | Path, cache: Path) -> tuple[Path, str]:
    """Make a source available locally; return its path, and its name in tables.

    A source is a local path, or ``https://...``, which may end in ``#sha256=`` and the file's
    checksum. An archive is unpacked into the cache.
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


def _download(address: str, sha256: str, cache: Path) -> Path:
    """Return the downloaded file; without a checksum it is fetched again."""
    label = without_secrets(address)
    url = urlsplit(address)
    if url.scheme != "https" and url.hostname not in _LOOPBACK:
        raise ValueError(f"{label}: an address must begin with https://")
    headers = {"Accept-Encoding": "identity"}
    if url.hostname == _HUB and "HF_TOKEN" in os.environ:
        headers["Authorization"] = f"Bearer {os.environ['HF_TOKEN']}"
    digest = hashlib.sha256(address.encode()).hexdigest()[:12]
    name = re.sub(r"[^\w.-]", "_", url.path.rpartition("/")[2])[-100:]
    path = cache / f"{digest}-{name}"
    if not sha256:
        path.unlink(missing_ok=True)
    known_hash = f"sha256:{sha256}" if sha256 else None
    is_shown = sys.stderr.isatty()
    downloader = pooch.HTTPDownloader(progressbar=is_shown, headers=headers, timeout=60)
    try:
        pooch.retrieve(address, known_hash, path.name, cache, downloader=downloader)
    except (ValueError, OSError) as error:
        cause = _explain(error)
        raise ValueError(f"{label} could not be fetched: {cause}") from None
    return path


def _explain(error: Exception) -> str:
    """Return why a file could not be fetched, without the address, which may hold a password."""
    if "SHA256 hash" in str(error):
        return "its checksum is not the one after #sha256="
    response = getattr(error, "response", None)
    if response is None:
        return f"{type(error).__name__}; check the address, or try again later"
    remedy = "check the address"
    if response.status_code in (401, 403):
        remedy = f"set HF_TOKEN for data at {_HUB}, or download the file first"
    return f"{response.status_code} {response.reason}; {remedy}"


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, and return the folder; ValueError if it is damaged.

    The library keeps every member inside the folder, and refuses links that lead out of it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    try:
        if archive.name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as members:
                members.extractall(folder)
        else:
            with tarfile.open(archive) as members:
                members.extractall(folder, filter="data")
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, tarfile.TarError) as e:
        shutil.rmtree(folder, ignore_errors=True)
        cause = str(e)[:300] or type(e).__name__
        remedy = "unpack it yourself, and give the folder"
        raise ValueError(f"{archive.name} cannot be unpacked: {cause}; {remedy}") from None
    return folder
