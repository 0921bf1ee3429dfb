"""A short fingerprint of a parser's files: the same for a copy, different after a new training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from qdecomp.data_structures.errors import DataError

__all__ = ["fingerprint"]

# The files that matter in a folder of AllenNLP's; its logs and checkpoints change while the parser does not.
_OF_A_TRAINING = ("config.json", "weights.th", "best.th", "model.tar.gz", "vocabulary/*")


def fingerprint(path: Path) -> str:
    """A hash of the content of a file, or of the files of a folder with their names."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        for file in [path] if path.is_file() else _files(path):
            if file != path:
                digest.update(f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    return digest.hexdigest()


def _files(folder: Path) -> Iterable[Path]:
    chosen = [file for pattern in _OF_A_TRAINING for file in folder.glob(pattern)]
    is_training = any(file.name in ("weights.th", "best.th", "model.tar.gz") for file in chosen)
    return sorted(file for file in (chosen if is_training else folder.rglob("*")) if file.is_file())
