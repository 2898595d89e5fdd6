"""Make a source of answers available as local files: a path, an https address, or an archive."""

import logging
import shutil
import tarfile
import zipfile
from pathlib import Path

import pooch

from cogniload_repro.importing.addresses import is_address, without_secrets

#: Endings of archives; an archive may be a source, but is not read inside one.
ARCHIVES = (".zip", ".tar.gz", ".tgz")
# what the libraries raise for archives that are damaged, encrypted or unsafe
_ARCHIVE_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    zipfile.BadZipFile,
    tarfile.TarError,
)

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
        raise ValueError(
            f"{label}: an address begins with https://, or ends in #sha256=..."
        )
    folder = cache / (sha256 or "unchecked")
    if not sha256:
        shutil.rmtree(folder, ignore_errors=True)
    downloader = pooch.HTTPDownloader(
        headers={"Accept-Encoding": "identity"}, timeout=60
    )
    try:
        path = pooch.retrieve(
            address, sha256 or None, path=folder, downloader=downloader
        )
    except (ValueError, OSError) as error:
        response = getattr(error, "response", None)
        status = type(error).__name__ if response is None else response.status_code
        raise ValueError(
            f"{label} could not be fetched ({status}); check it,"
            " or download the file and give its path, as for private data"
        ) from None
    return Path(path)


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
    except _ARCHIVE_ERRORS as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ValueError(
            f"{archive.name} cannot be unpacked ({error}); unpack it yourself"
        ) from None
    return folder
