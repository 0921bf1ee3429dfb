"""Files that are complete or not there, locks on what is being written, and outputs that overwrite no input."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from qdecomp.data_structures.errors import DataError
from qdecomp.files.sources import MANIFEST

UNENCODABLE = "backslashreplace"
"""How half of a character (a lone surrogate), which UTF-8 cannot encode, is written: ``\\ud800``, as JSON writes it."""


def require_other_files(outputs: Mapping[str, str | Path | None], inputs: Iterable[Path | None]) -> None:
    """Raise if an output, given with the name of its option, is one of the inputs, inside one, or another output.

    Links are followed, and two names of one file count as one file. An output that is a folder holds all files below
    it, and so does an input that is a folder of parts.
    """
    read = [path for path in inputs if path is not None]
    written: dict[str, Path] = {}
    for option, given in outputs.items():
        if given is None:
            continue
        output = Path(given)
        for path in read:
            is_part = (path / MANIFEST).is_file() and _is_below(output, path)
            if _is_same(output, path) or _is_below(path, output) or is_part:
                raise DataError(f"{output}: {option} would overwrite {path}, which is an input; give another {option}")
        for other, path in written.items():
            if _is_same(output, path):
                raise DataError(f"{output}: {option} and {other} are the same file; give two different ones")
        written[option] = output


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        # A terminal or a pipe has no content to lose.
        return os.path.samefile(one, other) and (one.is_file() or one.is_dir())
    return _real(one) == _real(other)


def _is_below(path: Path, folder: Path) -> bool:
    return folder.is_dir() and _real(folder) in _real(path).parents


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path.expanduser()))


@contextmanager
def write_text_atomically(path: str | Path) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; folders are created as needed.

    What a killed run leaves behind is overwritten by the next one. A device or a pipe is written to directly.
    """
    path = Path(path)
    if is_device(path):
        with _text(OutputFile(path, "w", path)) as stream:
            yield stream
        return
    unfinished = unfinished_name(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with _text(OutputFile(unfinished, "a", path)) as stream:
        lock(stream, path)
        try:
            stream.truncate(0)
            yield stream
            stream.flush()
            with writing(path):
                os.replace(unfinished, path)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise


def write_folder_atomically(path: str | Path, contents: Mapping[str, str]) -> None:
    """Write text files to a folder, each complete or not there; the first one of ``contents`` is written last.

    They replace older files of the same names; a folder that holds anything else is left alone.
    """
    path = Path(path).resolve()
    require_replaceable_folder(path, contents)
    for name, text in reversed(list(contents.items())):
        with write_text_atomically(path / name) as stream:
            stream.write(text)


def require_replaceable_folder(path: str | Path, names: Collection[str]) -> None:
    """Raise unless a folder is new, empty, or holds only files of these names, so that it may be overwritten."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise DataError(f"{path}: this is a file; give a folder")
    ours = {*names, *(unfinished_name(Path(name)).name for name in names)}
    try:
        others = {each.name for each in path.iterdir()} - ours if path.exists() else set()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    if others:
        raise DataError(f"{path}: holds other files, such as {min(others)}; give a new or an empty folder")


def unfinished_name(path: Path) -> Path:
    """Where a local file is written until it is complete."""
    return path.with_name(f".{path.name}.unfinished")


def is_device(path: Path) -> bool:
    """Whether there is something that has no content of its own, such as a terminal, a pipe or ``/dev/null``."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Whatever goes wrong in the block is a :class:`DataError` that names the path."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None


class OutputFile(io.FileIO):
    """A file whose errors are :class:`DataError`s that name ``path``, unlike those of the body that writes to it."""

    def __init__(self, file: Path, mode: str, path: Path) -> None:
        self._path = path
        with writing(path):
            super().__init__(file, mode)

    def write(self, data: Any, /) -> int:
        """Write."""
        with writing(self._path):
            return super().write(data)

    def truncate(self, size: int | None = None, /) -> int:
        """Truncate."""
        with writing(self._path):
            return super().truncate(size)


def _text(file: OutputFile) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(file), encoding="utf-8", errors=UNENCODABLE, newline="")


def lock(stream: Any, path: str | Path) -> None:
    """Keep a second run from writing to the same file or folder; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(f"{path}: another run is writing to it; wait for it, or give another name") from None
