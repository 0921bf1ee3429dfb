"""Makes sure that no output file is also an input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from qdecomp.data_structures.errors import DataError
from qdecomp.files.storage.part_folders import MANIFEST

__all__ = ["require_other_files"]


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
            if _is_same(output, path) or _is_below(path, output) or _is_part_of(output, path):
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


def _is_part_of(output: Path, path: Path) -> bool:
    return (path / MANIFEST).is_file() and _is_below(output, path)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path.expanduser()))
