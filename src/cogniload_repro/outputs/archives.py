"""Archives of unknown origin, unpacked whole or not at all."""

import shutil
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from cogniload_repro.outputs.records import DAMAGE, check_size, open_stream

_BLOCK = 1 << 20


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, and return the folder.

    ValueError if it is damaged, has too many bytes or an unsafe member (a link, a device, a path
    that leads out of the folder, a name that comes twice); then nothing is left in the folder.
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
            raise  # the disk, not the archive
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
            raise ValueError("it is a log of Inspect; let its name end in .eval")
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
        # tarfile ends in silence at a damaged header, or where one is missing
        stream.seek(packed.offset)
        blocks = 0
        while block := stream.read(_BLOCK):
            blocks += 1
            if block.strip(b"\0"):
                raise ValueError("it is damaged, or something stands behind its end")
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
    """Raise ValueError for a name that leads out of the folder, or that comes twice."""
    paths = set()
    for name in names:
        path = PurePosixPath(name)
        is_outside = (
            path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name
        )
        if is_outside or not name.isprintable():
            raise ValueError(
                f"its member {name[:200]!r} would lie outside its folder somewhere"
            )
        if path in paths:
            raise ValueError(f"it holds {name[:200]!r} twice")
        paths.add(path)
