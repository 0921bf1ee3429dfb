"""Parsers with one way to use them: ``load()`` one, then ``parse`` a question or ``pipe`` many.

>>> from qdecomp import load                                    # doctest: +SKIP
>>> print(load().parse("how many rivers are in texas ?"))       # doctest: +SKIP
1. rivers
2. #1 in texas
3. number of #2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.prediction import Prediction
from qdecomp.decomposition import Decomposition

__all__ = ["BUNDLED_NAME", "Parser", "load"]

Context = TypeVar("Context")

BUNDLED_NAME = "minilm_break"
"""The name of the parser that comes with the package."""

# Questions of one length make batches of one length; this many batches are looked at together.
_BATCHES_SORTED_TOGETHER = 8


class Parser:
    """Answers questions in batches; made by :func:`load`."""

    def __init__(self, name: str, predict: Callable[[Sequence[str]], Sequence[Prediction]]) -> None:
        self.name = name
        self._predict = predict

    def __repr__(self) -> str:
        return f"<Parser {self.name}>"

    def parse(self, question: str, question_id: str = "") -> Decomposition:
        """The decomposition of one question; where there is none, it says why and counts as false."""
        (prediction,) = self._predict([question])
        return Decomposition(question, prediction, question_id)

    @overload
    def pipe(self, questions: Iterable[str], *, batch_size: int = 32) -> Iterator[Decomposition]: ...

    @overload
    def pipe(
        self, questions: Iterable[str], *, batch_size: int = 32, as_tuples: Literal[False]
    ) -> Iterator[Decomposition]: ...

    @overload
    def pipe(
        self, questions: Iterable[tuple[str, Context]], *, batch_size: int = 32, as_tuples: Literal[True]
    ) -> Iterator[tuple[Decomposition, Context]]: ...

    def pipe(self, questions: Iterable[Any], *, batch_size: int = 32, as_tuples: bool = False) -> Iterator[Any]:
        """Decompositions in the order of the questions, made as they are asked for.

        With ``as_tuples`` the questions are pairs with something of yours, which comes back with each decomposition.
        Questions are taken ahead, ``8 * batch_size`` at a time, so that those of one length are parsed together.
        """
        if batch_size < 1:
            raise DataError(f"batch_size is {batch_size}; give a number from 1 up")
        return self._pipe(iter(questions), batch_size, as_tuples)

    def _pipe(self, questions: Iterator[Any], batch_size: int, as_tuples: bool) -> Iterator[Any]:
        while window := list(islice(questions, _BATCHES_SORTED_TOGETHER * batch_size)):
            texts = [question for question, _ in window] if as_tuples else window
            for item, decomposition in zip(window, self._in_batches(texts, batch_size), strict=True):
                yield (decomposition, item[1]) if as_tuples else decomposition

    def _in_batches(self, texts: Sequence[str], batch_size: int) -> list[Decomposition]:
        by_length = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        predictions: dict[int, Prediction] = {}
        for start in range(0, len(texts), batch_size):
            numbers = by_length[start : start + batch_size]
            predictions.update(zip(numbers, self._predict([texts[number] for number in numbers]), strict=True))
        return [Decomposition(text, predictions[number]) for number, text in enumerate(texts)]


def load(source: str | Path = BUNDLED_NAME, *, decoder: str | None = None, **options: Any) -> Parser:
    """Load a parser: the bundled one, or that of a folder or an AllenNLP archive (``model.tar.gz``).

    ``decoder`` is ``greedy`` or ``ilp`` (only valid graphs; the bundled parser's default), with its options, such as
    ``time_limit`` in seconds.
    """
    from qdecomp.runtime.bundle import BUNDLED, is_bundle, read_bundle

    if source == BUNDLED_NAME:
        return Parser(BUNDLED_NAME, read_bundle(BUNDLED, decoder, **options))
    path = Path(source).expanduser()
    if not path.exists():
        raise DataError(f"there is no parser {str(source)!r}; give {BUNDLED_NAME}, a folder or a model.tar.gz")
    if path.is_dir() and is_bundle(path):
        return Parser(path.name, read_bundle(path, decoder, **options))
    return Parser(path.name, _archive(path, decoder, options))


def _archive(path: Path, decoder: str | None, options: dict[str, Any]) -> Callable[[Sequence[str]], list[Prediction]]:
    try:
        from qdecomp.predictors.archive import load_archived_parser
    except ImportError as error:
        raise DataError(f"{path}: an archive needs AllenNLP's environment, see README ({error})") from None
    return load_archived_parser(path, decoder, options)
