"""Remote files: addresses such as ``s3://bucket/questions.csv``, which fsspec opens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

from qdecomp.data_structures.errors import DataError, missing_extra

__all__ = [
    "address_of",
    "exists_at",
    "is_folder_at",
    "read_address",
    "remove_at",
    "require_readable_address",
    "write_address",
]

# pathlib turns "s3://bucket" into "s3:/bucket". A Windows drive has one letter.
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.*)", re.DOTALL)


def address_of(path: str | Path) -> str | None:
    """The address that a path stands for; None for a local file.

    >>> address_of(Path("s3://bucket/dev.csv")), address_of("data/dev.csv")
    ('s3://bucket/dev.csv', None)
    """
    found = _ADDRESS.fullmatch(str(path))
    if found is None or Path(path).exists():
        return None
    slashes = ":///" if found["scheme"] in ("file", "local") else "://"
    return f"{found['scheme']}{slashes}{found['rest']}"


def exists_at(address: str) -> bool:
    """Whether there is a file at an address."""
    with _told(address, "read"):
        system, place = _system(address)
        return bool(system.exists(place))


def is_folder_at(address: str) -> bool:
    """Whether there is a folder at an address."""
    with _told(address, "read"):
        system, place = _system(address)
        return bool(system.isdir(place))


def remove_at(address: str) -> None:
    """Remove the file at an address."""
    with _told(address, "removed"):
        system, place = _system(address)
        system.rm_file(place)


def require_readable_address(address: str) -> None:
    """Raise unless an address is of a kind that can be opened."""
    with _told(address, "read"):
        _system(address)


@contextmanager
def read_address(address: str) -> Iterator[BufferedReader]:
    """The bytes at an address."""
    with _told(address, "read"):
        system, place = _system(address)
        if system.isdir(place):
            raise DataError(f"{address}: this is a folder; give a file")
        if not system.exists(place):
            raise DataError(f"{address}: there is no such file")
        stream = system.open(place, "rb")
    with stream:
        yield BufferedReader(stream)


@contextmanager
def write_address(address: str) -> Iterator[BinaryIO]:
    """Write a file at an address; it appears only when it is complete, if the remote system supports that."""
    with _told(address, "written"):
        system, place = _system(address)
        system.makedirs(system._parent(place), exist_ok=True)
        stream = system.open(place, "wb")
    try:
        with stream:
            yield cast(BinaryIO, stream)
    except OSError as error:
        raise DataError(f"{address}: cannot be written ({error})") from None


def _system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise missing_extra(f"{address}: a remote file", "files") from None
    system, place = url_to_fs(address)
    return system, place


@contextmanager
def _told(address: str, done: str) -> Iterator[None]:
    """Turn whatever goes wrong into one of our errors."""
    try:
        yield
    except (OSError, ImportError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{address}: cannot be {done} ({reason})") from None
