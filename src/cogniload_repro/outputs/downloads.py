"""Files from the web: resumed when interrupted, retried when a server falters, refused when they are not the data."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import requests
from tqdm import tqdm

_CHUNK_BYTES = 1 << 16  # what an interruption may lose
_HTML_STARTS = (b"<!doctype html", b"<html")


class _FalteredError(Exception):
    """The server has failed in a way that may pass."""


@dataclass(frozen=True)
class Downloader:
    """Fetch a URL into a part file that survives interruptions; to be used as a downloader of pooch.

    Attributes
    ----------
    part : Path
        The part file; a file beside it keeps the server's mark of the version it belongs to.
    attempts : int
        How often to ask before giving up.
    pause_s, timeout_s : float
        Seconds before the second attempt, doubled before each further one; seconds without a byte that count
        as a failure.
    """

    part: Path
    attempts: int = 5
    pause_s: float = 1.0
    timeout_s: float = 60.0

    def __call__(self, url: str, output_file: str | Path, pooch: object = None) -> None:
        """Fetch the whole file.

        Raises
        ------
        ValueError
            If the server refuses, sends a web page, or keeps failing; the part file is kept in the last case.
        """
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(self.pause_s * 2 ** (attempt - 1))
            try:
                self._fetch(url)
                os.replace(self.part, output_file)
                self._mark.unlink(missing_ok=True)
                return
            except (requests.RequestException, _FalteredError) as error:
                failure = error
        raise ValueError(
            f"{url} could not be fetched in {self.attempts} attempts ({failure}); "
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
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout_s) as response:
            if response.status_code == 416:  # nothing is left, or the part is longer than the file
                self._mark.unlink(missing_ok=True)
            _check_status(url, response)
            if response.status_code != 206:
                start = 0
            self._keep_version(response)
            self._append(url, response, start)

    def _keep_version(self, response: requests.Response) -> None:
        """Remember which version of the file the part belongs to, so that no other is appended."""
        version = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if version and not version.startswith("W/"):
            self._mark.write_text(version, encoding="utf-8")
        else:
            self._mark.unlink(missing_ok=True)

    def _append(self, url: str, response: requests.Response, start: int) -> None:
        length = int(response.headers["Content-Length"]) if "Content-Length" in response.headers else None
        total = None if length is None else start + length
        with (
            self.part.open("r+b" if start else "wb") as file,
            tqdm(total=total, initial=start, desc="download", unit="B", unit_scale=True, disable=None) as progress,
        ):
            file.seek(start)
            file.truncate()
            for chunk in response.iter_content(_CHUNK_BYTES):
                if file.tell() == 0 and chunk.lstrip()[:14].lower().startswith(_HTML_STARTS):
                    raise ValueError(f"{url} gives a web page instead of data; use the address of the file itself")
                file.write(chunk)
                progress.update(len(chunk))
            if total is not None and file.tell() != total:
                raise _FalteredError(f"{file.tell():,} of {total:,} bytes came")


def _check_status(url: str, response: requests.Response) -> None:
    if response.status_code in (408, 416, 429) or response.status_code >= 500:
        raise _FalteredError(f"the server answered {response.status_code} {response.reason}")
    if response.status_code not in (200, 206):
        raise ValueError(f"{url}: the server answered {response.status_code} {response.reason}; check the address")
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise ValueError(f"{url} gives a web page instead of data; use the address of the file itself")
