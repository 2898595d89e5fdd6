"""Where files lie: a local path, or an address of any store that fsspec knows, with the same methods."""

import os
from pathlib import Path


def as_place(place: str | Path) -> Path:
    """Return a path; an address such as ``s3://bucket/folder`` as a path of its store (universal_pathlib).

    Raises
    ------
    ValueError
        If it is an address and the extra `cluster` is not installed, or its kind of store is unknown.
    """
    if not isinstance(place, str) or "://" not in place:
        return Path(place) if isinstance(place, str) else place
    try:
        from upath import UPath
    except ImportError:
        raise ValueError(f"{place} is an address; install cogniload-repro[cluster] to read and write there") from None
    try:
        return UPath(place)
    except (ImportError, ValueError) as error:
        raise ValueError(f"{place}: {error}; install the package of this store, or use a local path") from None


def move(part: Path, path: Path) -> None:
    """Move a complete file to its place, over what is there."""
    if isinstance(part, Path):
        os.replace(part, path)
    else:
        part.rename(path)


def modified_ns(path: Path) -> int:
    """Return when a file was changed last, in nanoseconds; 0 where its store does not tell."""
    return path.stat().st_mtime_ns
