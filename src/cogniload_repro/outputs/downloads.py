"""Files from the web: resumed when interrupted, retried when a server falters, refused when they are not the data.

A server is a stranger. What it sends is bounded in size and time, and is appended to nothing but the rest of the same
version of the same file.
"""

import gzip
import os
import re
import shutil
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urljoin, urlsplit

import requests
from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema, TooManyRedirects
from tqdm import tqdm
from urllib3.exceptions import HTTPError

from cogniload_repro.escapes import without_queries, without_secrets
from cogniload_repro.executors import within
from cogniload_repro.records import bound, over_limit, unpacked_limit

#: Servers on this machine, which plain http may reach.
LOOPBACK = ("127.0.0.1", "localhost", "::1")

_CHUNK_BYTES = 1 << 16  # what an interruption may lose
_MOST_REDIRECTIONS = 20
_HTML_STARTS = (b"<!doctype html", b"<html")
_RANGE, _LENGTH = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)"), re.compile(r"\d{1,18}")
_HOPELESS = (InvalidSchema, InvalidURL, MissingSchema, TooManyRedirects)


class _FalteredError(Exception):
    """The server has failed in a way that may pass."""


@dataclass(frozen=True)
class Downloader:
    """Fetch a URL into a part file that survives interruptions; to be used as a downloader of pooch.

    Attributes
    ----------
    part : Path
        The part file; a file beside it keeps the server's mark of the version it belongs to.
    any_route : bool
        Whether plain http will do, as the file's sum is compared afterwards. Otherwise nothing is read over it but
        from this machine, whatever the address is redirected to.
    attempts : int
        How often to ask before giving up.
    pause_s, timeout_s : float
        Seconds before the second attempt, doubled before each further one; seconds within which the headers have to
        come, and in each of which so many times `least_bytes` of the content.
    least_bytes : int
        Bytes a second, over `timeout_s`, below which a server counts as silent.
    """

    part: Path
    any_route: bool = False
    attempts: int = 5
    pause_s: float = 1.0
    timeout_s: float = 60.0
    least_bytes: int = 1_000

    def __call__(self, url: str, output_file: str | Path, pooch: object = None) -> None:
        """Fetch the whole file.

        Raises
        ------
        ValueError
            If the server refuses, sends a web page or too much (`records.unpacked_limit`), or keeps failing; the part
            file is kept in the last case.
        """
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(self.pause_s * 2 ** (attempt - 1))
            try:
                self._fetch(url)
                os.replace(self.part, output_file)
                self._mark.unlink(missing_ok=True)
                return
            except _HOPELESS as error:
                raise ValueError(f"{without_secrets(url)}: {_describe(error)}; check the address") from None
            except (requests.RequestException, HTTPError, _FalteredError) as error:
                failure = error
        raise ValueError(
            f"{without_secrets(url)} could not be fetched in {self.attempts} attempts ({_describe(failure)}); "
            "run the command again later, it goes on where it stopped"
        )

    @property
    def _mark(self) -> Path:
        return self.part.with_name(f"{self.part.name}.version")

    def _fetch(self, url: str) -> None:
        """Fetch what the part file lacks."""
        start = self.part.stat().st_size if self.part.exists() and self._mark.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers |= {"Range": f"bytes={start}-", "If-Range": self._mark.read_text(encoding="utf-8")}
        with self._ask(url, headers) as response:
            if response.status_code == 416:  # nothing is left, or the part is longer than the file
                self._mark.unlink(missing_ok=True)
            _check_status(url, response)
            if response.status_code == 206:
                self._check_rest(response, start)
            else:
                start = 0
                self._keep_version(response)
            self._append(url, response, start)
            encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", ""):
            self._decode(url, encoding)
        with self.part.open("rb") as file:
            if file.read(512).removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_HTML_STARTS):
                self._refuse(_web_page(url))

    def _ask(self, url: str, headers: dict[str, str]) -> requests.Response:
        """Return the response as soon as its headers are there.

        In a thread, as no time-out of sockets ends a server that sends its headers letter by letter.
        """
        try:
            return within(self.timeout_s + 1, lambda: self._follow(url, headers))
        except (TimeoutError, requests.ReadTimeout):
            raise _FalteredError(f"no headers came within {self.timeout_s:g} s") from None

    def _follow(self, url: str, headers: dict[str, str]) -> requests.Response:
        """Return the response at the end of redirections, of which nothing but the headers is read."""
        session = _Session()
        for _ in range(_MOST_REDIRECTIONS):
            response = session.get(url, headers=headers, stream=True, timeout=self.timeout_s, allow_redirects=False)
            try:
                if (target := session.get_redirect_target(response)) is None:
                    return response
                before, url = url, urljoin(url, target)
                parts = urlsplit(url)
            except ValueError as error:
                raise InvalidURL(f"it is redirected to no address ({error})") from None
            response.close()
            if (
                parts.scheme == "http"
                and not self.any_route
                and (before.startswith("https:") or parts.hostname not in LOOPBACK)
            ):
                raise InvalidURL(f"it is redirected to plain http ({parts.hostname}); add #sha256=, or use https://")
        raise TooManyRedirects(f"more than {_MOST_REDIRECTIONS} redirections")

    def _refuse(self, sentence: str) -> NoReturn:
        """Remove what has come, as nothing will make it the data."""
        self._mark.unlink(missing_ok=True)
        self.part.unlink(missing_ok=True)
        raise ValueError(sentence)

    def _check_rest(self, response: requests.Response, start: int) -> None:
        """Refuse to append what is not the rest of the same version; the next attempt starts anew."""
        told = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        is_same = start and self._mark.read_text(encoding="utf-8") == _version(response)
        if not is_same or told is None or int(told[1]) != start:
            self._mark.unlink(missing_ok=True)
            raise _FalteredError("the server sent another part than was asked for, or of another version")

    def _keep_version(self, response: requests.Response) -> None:
        """Remember which version of the file the part belongs to, so that no other is appended."""
        if version := _version(response):
            self._mark.write_text(version, encoding="utf-8")
        else:
            self._mark.unlink(missing_ok=True)

    def _append(self, url: str, response: requests.Response, start: int) -> None:
        total, limit = _find_total(url, response, start), unpacked_limit()
        if (total or 0) > limit:
            self._refuse(over_limit(without_secrets(url), "is larger"))
        with (
            self.part.open("r+b" if start else "wb") as file,
            tqdm(total=total, initial=start, desc="download", unit="B", unit_scale=True, disable=None) as progress,
        ):
            file.seek(start)
            file.truncate()
            begin, size = time.monotonic(), start
            while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
                file.write(chunk)
                size += len(chunk)
                progress.update(len(chunk))
                if size > limit:
                    self._refuse(over_limit(without_secrets(url), "is larger"))
                if (passed := time.monotonic() - begin) > self.timeout_s:
                    if size - start < passed * self.least_bytes:
                        raise _FalteredError(f"fewer than {self.least_bytes:,} bytes a second came")
                    begin, start = time.monotonic(), size
            if total is not None and size != total:
                raise _FalteredError(f"{size:,} of {total:,} bytes came")

    def _decode(self, url: str, encoding: str) -> None:
        """Unpack what a server has compressed on the way, though it was asked not to; a .gz file stays as it is."""
        if encoding not in ("gzip", "x-gzip"):
            raise ValueError(f"{without_secrets(url)} comes compressed as {encoding[:20]!r}; use another address")
        if urlsplit(url).path.lower().endswith((".gz", ".tgz")):
            return
        plain = self.part.with_name(f"{self.part.name}.plain")
        try:
            with bound(gzip.open(self.part), without_secrets(url)) as packed, plain.open("wb") as file:
                shutil.copyfileobj(packed, file, _CHUNK_BYTES)
            os.replace(plain, self.part)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise _FalteredError(f"what came is damaged: {error}") from None
        finally:
            plain.unlink(missing_ok=True)
            self._mark.unlink(missing_ok=True)  # of the packed file


class _Session(requests.Session):
    """A session that follows nothing itself: it would read what comes with a redirection, however long that is."""

    def resolve_redirects(self, *_, **__) -> Iterator[requests.Response]:  # type: ignore[override]
        return iter(())


def _version(response: requests.Response) -> str:
    """Return the server's mark of the version; "" if there is none that tells bytes apart."""
    version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    return "" if version.startswith("W/") else version


def _find_total(url: str, response: requests.Response, start: int) -> int | None:
    """Return the size of the whole file in bytes, None where the server does not tell."""
    told = _RANGE.fullmatch(response.headers.get("Content-Range", "")) if start else None
    if told and told[2] != "*":
        return int(told[2])
    length = response.headers.get("Content-Length")
    if length is None or "chunked" in response.headers.get("Transfer-Encoding", "").lower():
        return None
    if not _LENGTH.fullmatch(length):
        raise ValueError(f"{without_secrets(url)}: the server tells a length of {length[:40]!r}; use another address")
    return start + int(length)


def _describe(error: Exception) -> str:
    return without_queries(" ".join(str(error).split()))[:500]


def _web_page(url: str) -> str:
    return f"{without_secrets(url)} gives a web page instead of data; use the address of the file itself"


def _check_status(url: str, response: requests.Response) -> None:
    if response.status_code in (408, 416, 429) or response.status_code >= 500:
        raise _FalteredError(f"the server answered {response.status_code} {_reason(response)}")
    if response.status_code not in (200, 206):
        raise ValueError(
            f"{without_secrets(url)}: the server answered {response.status_code} {_reason(response)}; check the address"
        )
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise ValueError(_web_page(url))


def _reason(response: requests.Response) -> str:
    return str(response.reason or "")[:100]
