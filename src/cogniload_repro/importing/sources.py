"""Make a source of answers available as local files: a path, an https address, or an archive."""

import hashlib
import logging
import re
import shutil
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pooch

from cogniload_repro.files import is_address, without_secrets

#: Endings of archives; an archive may be a source, but is not read inside one.
ARCHIVES = (".zip", ".tar.gz", ".tgz")
# what the libraries raise for archives that are damaged, encrypted or unsafe
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, tarfile.TarError)

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
    if not sha256 and not address.startswith("https://"):
        raise ValueError(f"{label}: an address begins with https://, or ends in #sha256=...")
    headers = {"Accept-Encoding": "identity"}
    name = re.sub(r"[^\w.-]", "_", urlsplit(address).path.rpartition("/")[2])
    path = cache / f"{hashlib.sha256(address.encode()).hexdigest()[:12]}-{name[-100:]}"
    if not sha256:
        path.unlink(missing_ok=True)
    downloader = pooch.HTTPDownloader(headers=headers, timeout=60)
    try:
        pooch.retrieve(address, sha256 or None, path.name, cache, downloader=downloader)
    except (ValueError, OSError) as error:
        response = getattr(error, "response", None)
        status = type(error).__name__ if response is None else response.status_code
        remedy = "check it, or download the file and give its path, as for private data"
        raise ValueError(f"{label} could not be fetched ({status}); {remedy}") from None
    return path


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, and return the folder; ValueError if it is damaged.

    The library keeps every member inside the folder, and refuses links that lead out of it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    try:
        if archive.name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
    except _DAMAGE as error:
        shutil.rmtree(folder, ignore_errors=True)
        remedy = "unpack it yourself, and give the folder"
        raise ValueError(f"{archive.name} cannot be unpacked ({error}); {remedy}") from None
    return folder
