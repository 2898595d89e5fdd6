"""Where outputs come from: a local path, an https:// or hf:// address, an archive -> a local file or folder."""

import hashlib
import os
import re
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.exceptions import InvalidSchema, InvalidURL, TooManyRedirects
from tqdm import tqdm
from urllib3.exceptions import HTTPError

from cogniload_repro.escapes import without_queries, without_secrets
from cogniload_repro.files import naming
from cogniload_repro.outputs.archives import is_archive, unpack
from cogniload_repro.outputs.layout import CONTAINERS, LocalSource, Rejected, answer_name, walk
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.records import over_limit, unpacked_limit

_HUB = "https://huggingface.co"
_HF = re.compile(r"hf://datasets/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^?#]+)")
_COMMIT, _SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")  # servers on this machine, which plain http may reach
_HTML_STARTS = (b"<!doctype html", b"<html")


def open_source(source: str | Path, cache: str | Path, fetch: Callable[..., None] | None = None) -> LocalSource:
    """Bring a source to this machine: fetch it, compare its sum, unpack it and the archives in it, one level deep.

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
        path, note = _fetch(address, sha256, Path(cache), fetch or download)
    else:
        path, label, note = Path(address), Path(address).name, ""
        if sha256 and not path.is_file():
            raise ValueError(
                f"{path} is no file whose SHA-256 sum could be compared; correct the path or leave out #sha256="
            )
        if sha256 and _hash(path) != sha256:
            raise ValueError(f"{path} does not have the SHA-256 sum {sha256}; it was changed or damaged")
    refused: list[Rejected] = []
    if path.is_file() and is_archive(path):
        folder, refused = unpack(path, Path(cache))
        whole = next((row for row in refused if row.file == path.name), None)
        if whole and not walk(folder, []):
            detail = " ".join(whole.detail.split())
            raise ValueError(f"{label} cannot be unpacked ({detail}); delete {path} and fetch it again")
        path = _unwrap(folder)
    inner = dict[Path, Path]()
    for archive in filter(is_archive, walk(path, []) if path.is_dir() else ()):
        used = sum(file.stat().st_size for folder in inner.values() for file in walk(folder, []))
        inner[archive], rows = unpack(archive, Path(cache), unpacked_limit() - used)
        above = archive.relative_to(path).parent
        refused += [row._replace(file=(above / row.file).as_posix()) for row in rows]
    return LocalSource(path, label, refused, note, inner)


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


def download(
    url: str, path: Path, *, allow_http: bool = False, attempts: int = 5, pause_s: float = 1.0, timeout_s: float = 60.0
) -> None:
    """Fetch a file; what an interrupted call has left beside it is continued, if the server has the same version.

    Plain http is used for servers on this machine only, unless `allow_http`. If the server refuses, sends a web page or
    too much (`records.unpacked_limit`), or keeps failing, ValueError is raised; what has come is kept in the last case.
    """
    part = path.with_name(f".{path.name}.part")
    mark = part.with_name(f"{part.name}.version")
    session = _Session(allow_http or urlsplit(url).scheme == "http", anywhere=allow_http)
    for attempt in range(attempts):
        time.sleep(pause_s * 2 ** (attempt - 1) if attempt else 0)
        try:
            _fetch_rest(session, url, part, mark, timeout_s)
            mark.unlink(missing_ok=True)
            os.replace(part, path)
            return
        except (ValueError, TooManyRedirects) as error:  # what no second attempt corrects
            mark.unlink(missing_ok=True)
            part.unlink(missing_ok=True)
            why = "it leads to no valid address" if isinstance(error, InvalidURL) else _describe(error)
            raise ValueError(f"{without_secrets(url)}: {why}; check the address") from None
        except (requests.RequestException, HTTPError, _TransientError) as error:
            failure = error
    raise ValueError(
        f"{without_secrets(url)} could not be fetched in {attempts} attempts ({_describe(failure)}); "
        "run the command again later, it continues where it stopped"
    )


class _TransientError(Exception):
    """The server has failed in a way that may pass."""


class _Session(requests.Session):
    """Reads nothing of a redirection but its headers, and refuses plain http but where it is allowed."""

    def __init__(self, allow_http: bool, *, anywhere: bool):
        super().__init__()
        self.max_redirects = 20
        self.hooks["response"].append(_drop_body)
        self._allow_http, self._anywhere = allow_http, anywhere

    def get_adapter(self, url: str) -> BaseAdapter:
        parts = urlsplit(url)
        if parts.scheme == "http" and not (self._anywhere or (self._allow_http and parts.hostname in _LOOPBACK)):
            raise InvalidSchema(f"it is redirected to plain http ({parts.hostname}); add #sha256=, or use https://")
        return super().get_adapter(url)


def _drop_body(response: requests.Response, **_: object) -> None:
    if response.is_redirect:
        response.raw.close()
        response.raw = None


def _fetch_rest(session: requests.Session, url: str, part: Path, mark: Path, timeout_s: float) -> None:
    """Fetch what the part lacks; the mark beside it has the size and strong tag of the version that it belongs to."""
    version = mark.read_text("utf-8") if part.exists() and mark.exists() else ""
    start = part.stat().st_size if version else 0
    asked = {"Range": f"bytes={start}-", "If-Range": version.partition(" ")[2]} if start else {}
    with session.get(url, headers={"Accept-Encoding": "identity", **asked}, stream=True, timeout=timeout_s) as response:
        status, headers, left = response.status_code, response.headers, response.raw.length_remaining
        tag = headers.get("ETag") or headers.get("Last-Modified") or ""
        rest = f"bytes {start}-{start + (left or 0) - 1}/{start + (left or 0)}"
        if status == 200:
            start = 0
            # a weak tag does not distinguish bytes
            mark.write_text(f"{left} {tag}" if left and tag and not tag.startswith("W/") else "", encoding="utf-8")
        elif status in (206, 416):
            if headers.get("Content-Range") != rest or f"{start + (left or 0)} {tag}" != version:
                mark.unlink(missing_ok=True)
                raise _TransientError("the server gives another part than was asked for")
        elif status in (408, 429) or status >= 500:
            raise _TransientError(f"the server answered {status} {str(response.reason or '')[:100]}")
        else:
            raise ValueError(f"the server answered {status} {str(response.reason or '')[:100]}")
        _append(response, part, start, left)
        is_page = headers.get("Content-Type", "").startswith("text/html")
    with part.open("rb") as file:
        if is_page or file.read(512).removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_HTML_STARTS):
            raise ValueError("it gives a web page instead of data")


def _append(response: requests.Response, part: Path, size: int, left: int | None) -> None:
    """Write the body behind the first bytes of the part; urllib3 raises where less comes than was announced."""
    limit, total = unpacked_limit(), size + (left or 0)
    with (
        naming(part),
        part.open("r+b" if size else "wb") as file,
        tqdm(total=total or None, initial=size, desc="download", unit="B", unit_scale=True, disable=None) as progress,
    ):
        file.truncate(size)
        file.seek(size)
        while max(size, total) <= limit and (chunk := response.raw.read1(1 << 16, decode_content=False)):
            size += file.write(chunk)
            progress.update(len(chunk))
    if max(size, total) > limit:
        raise ValueError(over_limit("it", "is larger"))


def _describe(error: Exception) -> str:
    return without_queries(" ".join(str(error).split()))[:500]


def _fetch(address: str, sha256: str, cache: Path, fetch: Callable[..., None]) -> tuple[Path, str]:
    """Return the file in the cache, fetched if need be, and a note where it was fetched earlier."""
    url, shown = resolve_address(address), without_secrets(address)
    parts = urlsplit(url)
    hub = _HF.fullmatch(address)
    if hub and not sha256 and not _COMMIT.fullmatch(hub["revision"]):
        raise ValueError(f"{shown}: {hub['revision']!r} can move; pin a 40-digit commit after @, or add #sha256=")
    if parts.scheme == "http" and not sha256 and parts.hostname not in _LOOPBACK:
        raise ValueError(f"{shown}: plain http can be changed on its way; use https:// or add #sha256=")
    name = re.sub(r"[^\w.-]", "_", parts.path.rpartition("/")[2]) or "download"
    path = cache / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-100:]}"
    cache.mkdir(parents=True, exist_ok=True)
    if path.exists() and not sha256:
        since = datetime.fromtimestamp(path.stat().st_mtime).isoformat(" ", "minutes")
        return path, f"{shown} was fetched on {since} and is kept; delete {path} to fetch it again"
    if not path.exists() or _hash(path) != sha256:
        path.unlink(missing_ok=True)
        fetch(url, path, allow_http=bool(sha256))
        if sha256 and _hash(path) != sha256:
            path.unlink()
            raise ValueError(f"{shown} does not have the SHA-256 sum {sha256}; it was changed or damaged")
    return path, ""


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unwrap(folder: Path) -> Path:
    """Step into the folder that wraps a whole archive, unless it is a model's."""
    entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if len(entries) != 1 or not entries[0].is_dir() or entries[0].name in (*CONTAINERS, "exp", "meta"):
        return folder
    if any(path.is_file() and parse_name(answer_name(path)) for path in entries[0].iterdir()):
        return folder
    return _unwrap(entries[0])
