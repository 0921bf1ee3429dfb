"""Loads AllenNLP's archives without running the code that they name.

AllenNLP treats a name with a dot as a class of any module, imports it and calls it; it unpacks archives wherever their
paths lead, and evaluates their configs as programs that see environment variables. Here an archive is unpacked with
care, its config is data, and only registered components are built, unless the user trusts the archive.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.commands import evaluate as evaluate_module
from allennlp.commands import predict as predict_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.registrable import Registrable
from allennlp.models import archival
from allennlp.models.archival import CONFIG_NAME, Archive

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.training.archives import unpacked
from qdecomp.training.question_decomposition import PREDICTOR
from qdecomp.training.record_serializer import RECORD_SERIALIZER

__all__ = ["TRUST_SWITCH", "guard_commands", "load_archive_safely", "registered_only"]

TRUST_SWITCH = "QDECOMP_TRUST_ARCHIVES"
"""The environment variable that replaces ``--trust`` for the ``allennlp`` command, whose options are fixed."""

_HOW_TO_TRUST = f"--trust, trust=True or {TRUST_SWITCH}=1"
# Registered names of constructors that read an archive of the config's choice in AllenNLP's own way.
_OPENS_ANOTHER = frozenset({"from_archive"})
_load_archive = archival.load_archive
_resolve_class_name = Registrable.resolve_class_name.__func__  # type: ignore[attr-defined]


def load_archive_safely(path: Path, *, trust: bool = False, **options: Any) -> Archive:
    """What AllenNLP's ``load_archive`` gives; what is not the archive of a parser is a :class:`DataError`."""
    with unpacked(path) as folder:
        _check_config(folder / CONFIG_NAME, path)
        try:
            with registered_only(trust=trust):
                return _load_archive(folder, **options)
        except (QDecompError, ConfigurationError) as error:
            raise DataError(f"{path}: {_one_line(error)}") from error
        # A foreign archive can fail in every way that a constructor can.
        except Exception as error:
            reason = f"{type(error).__name__}: {_one_line(error)}"
            raise DataError(f"{path}: not the archive of a parser ({reason})") from error


def _check_config(config: Path, archive: Path) -> None:
    """Raise unless the config is plain JSON: an object with a model and a reader.

    AllenNLP evaluates it as jsonnet, in which JSON stands for itself and anything else is a program.
    """
    try:
        values = json.loads(config.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{archive}: there is no {CONFIG_NAME} in it ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise DataError(f"{archive}: its {CONFIG_NAME} is not JSON") from None
    if not isinstance(values, dict):
        raise DataError(f"{archive}: its {CONFIG_NAME} is a JSON {type(values).__name__}, not an object")
    for part in ("model", "dataset_reader"):
        if not isinstance(values.get(part), dict):
            raise DataError(f"{archive}: its {CONFIG_NAME} describes no {part}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


@contextmanager
def registered_only(*, trust: bool = False) -> Iterator[None]:
    """Let AllenNLP build only what is registered: a name with a dot is refused instead of imported.

    With ``trust``, it builds what a config says, even after a command that allowed only what is registered.
    """
    before = Registrable.__dict__["resolve_class_name"]
    _allow(trust)
    try:
        yield
    finally:
        Registrable.resolve_class_name = before  # type: ignore[method-assign]


def _allow(trust: bool) -> None:
    """What AllenNLP may build from now on: everything, or only what is registered."""
    resolve = _resolve_class_name if trust else _registered_class
    Registrable.resolve_class_name = classmethod(resolve)  # type: ignore[assignment, method-assign]


def _registered_class(cls: type[Registrable], name: str) -> Any:
    if name in _OPENS_ANOTHER:
        raise DataError(f"the config opens another archive ({name}); if you trust it, use {_HOW_TO_TRUST}")
    if "." in name and name not in Registrable._registry[cls]:
        raise DataError(
            f"the config names {name!r}, which is code to run, not a registered component; "
            f"if you trust the archive, use {_HOW_TO_TRUST}"
        )
    return _resolve_class_name(cls, name)


def guard_commands() -> None:
    """Make ``allennlp predict`` and ``allennlp evaluate`` load archives as :func:`load_archive_safely` does.

    What these commands build after that, such as a data loader, is registered, too. With the environment variable of
    :data:`TRUST_SWITCH`, they build what the archive says.
    """
    for module in (predict_module, evaluate_module):
        module.load_archive = _load_for_command  # type: ignore[attr-defined]


def _load_for_command(archive_file: str | os.PathLike[str], *arguments: Any, **options: Any) -> Archive:
    names = ("cuda_device", "overrides", "weights_file")
    given = dict(zip(names, arguments, strict=False)) | options
    trust = os.environ.get(TRUST_SWITCH) == "1"
    # A URL is downloaded first; AllenNLP caches it.
    path = Path(archival.cached_path(archive_file))
    archive = load_archive_safely(path, trust=trust, **given)
    if archive.model.default_predictor == PREDICTOR and "evaluation" not in archive.config:
        # allennlp evaluate --predictions-output-file should write what allennlp predict writes.
        archive.config["evaluation"] = {"batch_serializer": {"type": RECORD_SERIALIZER}}
    _allow(trust)
    return archive
