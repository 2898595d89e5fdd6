"""Compressed files and archives, as their names say."""

import gzip
import io
import stat
import tarfile
import zipfile


def write_packed(path, content):
    """Write bytes, compressed as the name's ending says; return the path."""
    path.write_bytes(
        gzip.compress(content) if path.suffix in (".gz", ".tgz") else content
    )
    return path


def make_archive(path, members, links=()):
    """Write a zip or tar of files, and of links to /etc/passwd.

    Names are as a hostile program would write them.
    """
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members:
                info = zipfile.ZipInfo()
                info.filename = name
                file.writestr(info, content)
            for name, _ in links:
                info = zipfile.ZipInfo(name)
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
                file.writestr(info, "/etc/passwd")
        return path
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
        for name, kind in links:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd"
            file.addfile(info)
    return write_packed(path, buffer.getvalue())
