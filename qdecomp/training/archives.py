"""Loads AllenNLP's archives without running the code that they name.

AllenNLP imports and calls any name with a dot, unpacks archives wherever their paths lead, evaluates their configs as
programs, and has components that download code by name. Here an archive is unpacked with care and its config is data.
Unless the user trusts it, it builds only the components of this project, those that the user's own packages register,
and the few of AllenNLP that parsers need. Trust belongs to a call: in another thread, a call is not affected.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.registrable import Registrable
from allennlp.models.archival import CONFIG_NAME, Archive, load_archive
from allennlp.nn import Activation
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.limits import LARGEST_ARCHIVE, MOST_ARCHIVE_EXPANSION, MOST_ARCHIVE_FILES
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.training import register_components
from qdecomp.training.predictor import QuestionDecompositionPredictor
from qdecomp.training.question_parser import QuestionParser

TRUST_SWITCH = "QDECOMP_TRUST_ARCHIVES"
"""The environment variable that replaces ``--trust`` for the ``allennlp`` command, whose options are fixed."""

_HOW_TO_TRUST = f"--trust, trust=True or {TRUST_SWITCH}=1"

# The components of AllenNLP that an untrusted archive may build, by kind: they load neither code nor other models.
_ALLOWED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "Activation": frozenset(Activation.list_available()),
        "BatchSampler": frozenset({"bucket", "max_tokens_sampler"}),
        "DataLoader": frozenset({"multiprocess", "simple"}),
        "Evaluator": frozenset({"simple"}),
        "Regularizer": frozenset({"l1", "l2"}),
        "Serializer": frozenset({"simple"}),
        "TokenIndexer": frozenset({"single_id"}),
        "Vocabulary": frozenset({"empty", "extend", "from_files", "from_instances"}),
    }
)

_FOREIGN = frozenset({"allennlp", "allennlp_models", "torch", "transformers"})

_is_guarded: ContextVar[bool] = ContextVar("qdecomp_is_guarded", default=False)

_resolve_class_name = Registrable.resolve_class_name.__func__  # type: ignore[attr-defined]

# A small archive may hold a vocabulary, which is text and compresses well.
_ALWAYS_ALLOWED = 200_000_000


def load_archived_parser(
    path: Path, decoder: str | None = None, options: dict[str, Any] | None = None, *, trust: bool = False
) -> Callable[[Sequence[str]], list[Decomposition]]:
    """A function from a batch of questions to predictions; what is not the archive of a parser is a :class:`DataError`.

    Options without the name of a decoder are for the parser's own: the search of a seq2seq parser, and ``ilp`` for a
    graph parser, since only that has options. What an archive may build without ``trust`` stands above.
    """
    register_components()
    given = dict(options or {})
    extra: dict[str, Any] = {"candidates": given.pop("candidates", 0)}
    archive = load_archive_safely(path, trust=trust)
    if decoder:
        extra["decoder"] = {"type": decoder, **given}
    elif given and isinstance(archive.model, QuestionParser):
        archive.model.set_options(given)
    try:
        with registered_only(trust=trust):
            predictor = Predictor.from_archive(archive, extra_args=extra)
    except (ValueError, KeyError, TypeError, ConfigurationError) as error:
        raise DataError(f"{path}: not the archive of a parser ({type(error).__name__}: {error})") from None
    if not isinstance(predictor, QuestionDecompositionPredictor):
        raise DataError(f"{path}: the archive holds a {type(predictor).__name__}, which does not decompose questions")
    return predictor.predictions


def load_archive_safely(path: Path, *, trust: bool = False, **options: Any) -> Archive:
    """What AllenNLP's ``load_archive`` gives; what is not the archive of a parser is a :class:`DataError`."""
    with unpacked(path) as folder:
        _check_config(folder / CONFIG_NAME, path)
        try:
            with registered_only(trust=trust):
                return load_archive(folder, **options)
        except (QDecompError, ConfigurationError) as error:
            raise DataError(f"{path}: {_one_line(error)}") from error
        # A foreign archive can fail in every way that a constructor can.
        except Exception as error:
            reason = f"{type(error).__name__}: {_one_line(error)}"
            raise DataError(f"{path}: not the archive of a parser ({reason})") from error


def _check_config(config: Path, archive: Path) -> None:
    """Raise unless the config is plain JSON, an object with a model and a reader; AllenNLP would run other jsonnet."""
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
    """Let this call build only what an untrusted archive may build; with ``trust``, whatever a config names."""
    before = _is_guarded.set(not trust)
    try:
        yield
    finally:
        _is_guarded.reset(before)


def _checked_class_name(cls: type[Registrable], name: str) -> Any:
    """AllenNLP's ``resolve_class_name``, with a check of the name where a call is guarded."""
    if _is_guarded.get():
        found, _ = Registrable._registry[cls].get(name, (None, None))
        if found is None and "." in name:
            raise _refused(f"{name!r}, which is code to run, not a registered component")
        is_foreign = found is not None and found.__module__.partition(".")[0] in _FOREIGN
        if is_foreign and name not in _ALLOWED.get(cls.__name__, ()):
            raise _refused(f"{name!r}, a {cls.__name__} of AllenNLP that may open other files or code")
    return _resolve_class_name(cls, name)


def _refused(what: str) -> DataError:
    return DataError(f"the config names {what}; if you trust the archive, use {_HOW_TO_TRUST}")


# Without effect outside of guarded calls.
Registrable.resolve_class_name = classmethod(_checked_class_name)  # type: ignore[assignment, method-assign]


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
            raise DataError(f"{path}: not the archive of a parser, or damaged ({_one_line(error)})") from None
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpack(path: Path, folder: Path) -> None:
    limit = min(LARGEST_ARCHIVE, max(_ALWAYS_ALLOWED, MOST_ARCHIVE_EXPANSION * path.stat().st_size))
    too_large = DataError(f"{path}: unpacks to far more than a parser needs, so it is not opened")

    class Bounded(gzip.GzipFile):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if self.tell() > limit:
                raise too_large
            return data

    claimed = 0
    with Bounded(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for number, member in enumerate(archive, start=1):
            if number > MOST_ARCHIVE_FILES:
                raise DataError(f"{path}: more than {MOST_ARCHIVE_FILES:,} files; it is not opened")
            # A backslash or a colon leads out on some systems; a sparse file has holes, which take no bytes.
            is_outside = re.search(r"^/|[\\:]|(^|/)\.\.(/|$)", member.name)
            if not (member.isreg() or member.isdir()) or member.issparse() or is_outside:
                raise DataError(f"{path}: {member.name!r} is a link, a device, sparse or outside of the archive")
            claimed += member.size
            if claimed > limit:
                raise too_large
            archive.extract(member, folder, filter="data")
