"""A parser out of an AllenNLP archive, for use without the ``allennlp`` command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tarfile import TarError
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.models.archival import load_archive
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.prediction import Prediction
from qdecomp.predictors.question_decomposition import QuestionDecompositionPredictor

from .registration import register_components

__all__ = ["load_archived_parser"]


def load_archived_parser(
    path: Path, decoder: str | None = None, options: dict[str, Any] | None = None
) -> Callable[[Sequence[str]], list[Prediction]]:
    """A function from a batch of questions to predictions; what is no archive of a parser is a :class:`DataError`."""
    register_components()
    given = dict(options or {})
    extra: dict[str, Any] = {"candidates": given.pop("candidates", 0)}
    if decoder:
        extra["decoder"] = {"type": decoder, **given}
    try:
        predictor = Predictor.from_archive(load_archive(path), extra_args=extra)
    except (OSError, ValueError, KeyError, RuntimeError, TarError, ConfigurationError) as error:
        raise DataError(f"{path}: not the archive of a parser ({type(error).__name__}: {error})") from None
    if not isinstance(predictor, QuestionDecompositionPredictor):
        raise DataError(f"{path}: the archive holds a {type(predictor).__name__}, which does not decompose questions")
    return predictor.predictions
