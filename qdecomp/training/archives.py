"""The files of an untrusted archive (``.tar.gz``), in a separate folder.

Nothing is written outside that folder; links, devices and sparse files are refused; and unpacking stops if an archive
unpacks to far more than its size, by what its members claim and by what is read, or to too many files. Whatever goes
wrong is reported in one line, and the folder is removed.
"""

from __future__ import annotations

import gzip
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.limits import LARGEST_ARCHIVE, MOST_ARCHIVE_EXPANSION, MOST_ARCHIVE_FILES

__all__ = ["unpacked"]

# A small archive may hold a vocabulary, which is text and compresses well.
_ALWAYS_ALLOWED = 200_000_000


class _BoundedStream:
    """Reads a compressed file, up to a number of bytes."""

    def __init__(self, stream: gzip.GzipFile, path: Path, limit: int) -> None:
        self._stream = stream
        self._path = path
        self._left = limit

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _too_large(self._path)
        return data


def _too_large(path: Path) -> DataError:
    return DataError(f"{path}: unpacks to far more than a parser needs, so it is not opened")


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The files of an archive in a temporary folder, which is removed afterwards; a folder is given as it is."""
    if path.is_dir():
        yield path
        return
    folder = Path(tempfile.mkdtemp(prefix="qdecomp-"))
    try:
        try:
            _unpack(path, folder)
        except (OSError, EOFError, zlib.error, tarfile.TarError, ValueError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise DataError(f"{path}: not the archive of a parser, or damaged ({reason})") from None
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpack(path: Path, folder: Path) -> None:
    size = path.stat().st_size
    limit = min(LARGEST_ARCHIVE, max(_ALWAYS_ALLOWED, MOST_ARCHIVE_EXPANSION * size))
    with gzip.open(path) as stream:
        bounded = _BoundedStream(stream, path, limit)
        claimed = 0
        with tarfile.open(fileobj=bounded, mode="r|") as archive:  # type: ignore[call-overload]
            for number, member in enumerate(archive, start=1):
                if number > MOST_ARCHIVE_FILES:
                    raise DataError(f"{path}: more than {MOST_ARCHIVE_FILES:,} files; it is not opened")
                # A sparse file has holes, which take no bytes of the archive.
                if not (member.isreg() or member.isdir()) or member.issparse() or not _is_inside(member.name):
                    raise DataError(f"{path}: {member.name!r} is a link, a device, sparse or outside of the archive")
                claimed += member.size
                if claimed > limit:
                    raise _too_large(path)
                archive.extract(member, folder, filter="data")


def _is_inside(name: str) -> bool:
    """Whether a name stays inside the folder on every system; on some, a backslash or a colon leads out."""
    return not name.startswith("/") and "\\" not in name and ":" not in name and ".." not in name.split("/")
