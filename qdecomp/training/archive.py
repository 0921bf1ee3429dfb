"""A parser from an AllenNLP archive, for use without the ``allennlp`` command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.training.question_decomposition import QuestionDecompositionPredictor
from qdecomp.training.registration import register_components
from qdecomp.training.safe_loading import load_archive_safely, registered_only

__all__ = ["load_archived_parser"]


def load_archived_parser(
    path: Path, decoder: str | None = None, options: dict[str, Any] | None = None, *, trust: bool = False
) -> Callable[[Sequence[str]], list[Decomposition]]:
    """A function from a batch of questions to predictions; what is not the archive of a parser is a :class:`DataError`.

    Options without the name of a decoder are for the parser's own: the search of a parser that writes, and ``ilp`` for
    one that predicts graphs, since only that has options. Unless the user trusts the archive, only registered
    components are built.
    """
    register_components()
    given = dict(options or {})
    extra: dict[str, Any] = {"candidates": given.pop("candidates", 0)}
    archive = load_archive_safely(path, trust=trust)
    search = None if decoder else getattr(archive.model, "search_options", None)
    if search is not None:
        search(given)
    elif decoder or given:
        extra["decoder"] = {"type": decoder or "ilp", **given}
    try:
        with registered_only(trust=trust):
            predictor = Predictor.from_archive(archive, extra_args=extra)
    except (ValueError, KeyError, TypeError, ConfigurationError) as error:
        raise DataError(f"{path}: not the archive of a parser ({type(error).__name__}: {error})") from None
    if not isinstance(predictor, QuestionDecompositionPredictor):
        raise DataError(f"{path}: the archive holds a {type(predictor).__name__}, which does not decompose questions")
    return predictor.predictions
