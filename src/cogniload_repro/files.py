"""Writing a file whole or not at all."""

import os
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write a file so that a reader, or an interruption, meets the old content or the new, never a part.

    Text is written as UTF-8 with its line ends as they are; missing folders are made.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path
