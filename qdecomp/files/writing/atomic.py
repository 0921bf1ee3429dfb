"""Output that is complete or not there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from qdecomp.data_structures.errors import DataError
from qdecomp.files.writing.exchange import exchange
from qdecomp.files.writing.output_stream import UNENCODABLE, text_output, writing

__all__ = ["require_replaceable_folder", "write_folder_atomically", "write_text_atomically"]


@contextmanager
def write_text_atomically(path: str | Path) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; folders are created as needed."""
    path = Path(path)
    temporary: str | None = None
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with text_output(handle, path) as stream:
            yield stream
        with writing(path):
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        temporary = None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def write_folder_atomically(path: str | Path, contents: Mapping[str, str]) -> None:
    """Write text files as a folder that appears only when it is complete.

    It replaces an older folder with files of the same names; a folder that holds anything else is left alone. At every
    moment, even after a kill, there is a folder under that name. If the system cannot exchange two folders, the files
    are replaced one by one, the first one of ``contents`` last.
    """
    path = Path(path).resolve()
    require_replaceable_folder(path, contents)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        new = temporary / "new"
        new.mkdir()
        for name, text in contents.items():
            (new / name).write_text(text, encoding="utf-8", errors=UNENCODABLE, newline="")
        if not path.exists():
            new.rename(path)
        elif not exchange(new, path):
            _replace_files(new, path, contents)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _replace_files(new: Path, path: Path, names: Iterable[str]) -> None:
    for name in reversed(list(names)):
        os.replace(new / name, path / name)


def require_replaceable_folder(path: str | Path, names: Collection[str]) -> None:
    """Raise unless a folder is new, empty, or holds only files of these names, so that it may be overwritten."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise DataError(f"{path}: this is a file; give a folder")
    try:
        others = {each.name for each in path.iterdir()} - set(names) if path.exists() else set()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    if others:
        raise DataError(f"{path}: holds other files, such as {min(others)}; give a new or an empty folder")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
