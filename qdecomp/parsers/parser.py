"""Parsers, all used in the same way: ``load()`` one, then ``parse`` a question or ``pipe`` many.

>>> from qdecomp import load                                    # doctest: +SKIP
>>> print(load().parse("how many rivers are in texas ?"))       # doctest: +SKIP
1. rivers
2. #1 in texas
3. number of #2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import ROW_KILLED_WORKERS, Where, spread
from qdecomp.parsers.backend_names import DEFAULT_BACKEND
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.parsers.length_batches import in_length_batches, window_size
from qdecomp.parsers.parser_source import BUNDLED_NAME, ParserSource, Predict, parser_path, predict_each
from qdecomp.parsers.remote_parser import predict_on_worker, remote_parser

__all__ = ["BUNDLED_NAME", "Parser", "load"]

Context = TypeVar("Context")


class Parser:
    """Answers questions in batches; made by :func:`load`."""

    def __init__(self, name: str, predict: Predict, source: ParserSource | None = None) -> None:
        self.name = name
        self._predict = partial(predict_each, predict)
        self.source = source
        """What the parser was loaded from; without it, only one process can parse."""

    def __repr__(self) -> str:
        return f"<Parser {self.name}>"

    def required_source(self) -> ParserSource:
        """Where other processes find the parser; if it was not loaded from anywhere, a :class:`DataError`."""
        if self.source is None:
            raise DataError(f"{self.name} can only parse in one process")
        return self.source

    def key(self, batch_size: int) -> list[Any]:
        """What answers depend on besides the question: files, backend and, if they matter, batches of the parser."""
        if self.source is None:
            return [self.name, batch_size]
        source = self.source
        return [*source.content(), source.backend, batch_size if source.depends_on_batches() else None]

    @staticmethod
    def window(batch_size: int) -> int:
        """How many questions :meth:`pipe` takes at a time, to parse those of similar length together."""
        return window_size(batch_size)

    def parse(self, question: str, question_id: str = "") -> Decomposition:
        """The decomposition of one question; if there is none, it is falsy and says why."""
        (found,) = self._predict([question])
        return replace(found, question_id=question_id)

    def predict(self, questions: Sequence[str]) -> Sequence[Decomposition]:
        """The decompositions of questions that are parsed together, as one batch."""
        return self._predict(questions)

    @overload
    def pipe(
        self,
        questions: Iterable[str],
        *,
        batch_size: int = 32,
        as_tuples: Literal[False] = False,
        processes: int = 1,
        executor: Any = None,
    ) -> Iterator[Decomposition]: ...

    @overload
    def pipe(
        self,
        questions: Iterable[tuple[str, Context]],
        *,
        batch_size: int = 32,
        as_tuples: Literal[True],
        processes: int = 1,
        executor: Any = None,
    ) -> Iterator[tuple[Decomposition, Context]]: ...

    def pipe(
        self,
        questions: Iterable[Any],
        *,
        batch_size: int = 32,
        as_tuples: bool = False,
        processes: int = 1,
        executor: Any = None,
    ) -> Iterator[Any]:
        """Decompositions in the order of the questions, made lazily.

        With ``as_tuples``, each question is paired with any value of yours, which is returned with its decomposition.
        Questions are read ahead, ``8 * batch_size`` at a time, so that those of similar length are parsed together.
        With ``processes`` above 1, that many processes parse at the same time; each has to load the parser first. With
        ``executor``, a Dask client or an executor of :mod:`concurrent.futures`, its workers parse; answers are the
        same.
        """
        if batch_size < 1:
            raise DataError(f"batch_size is {batch_size}, but must be 1 or more")
        where = Where(processes, executor=executor)
        if not where.is_here:
            self.required_source()
        answer = partial(self._answers, where)
        if as_tuples:
            return _with_contexts(questions, batch_size, answer)
        found = in_length_batches(questions, len, batch_size, answer)
        return (decomposition for _, decomposition in found)

    def _answers(self, where: Where, batches: Iterator[list[str]]) -> Iterator[Sequence[Decomposition]]:
        if where.is_here:
            yield from map(self._predict, batches)
            return
        work = partial(predict_on_worker, remote_parser(self.required_source()))
        with where.pool() as pool:
            yield from spread(work, batches, pool, lambda text: failed_decomposition(text, ROW_KILLED_WORKERS))


def _with_contexts(
    questions: Iterable[tuple[str, Context]],
    batch_size: int,
    answer: Callable[[Iterator[list[str]]], Iterator[Sequence[Decomposition]]],
) -> Iterator[tuple[Decomposition, Context]]:
    def answer_texts(batches: Iterator[list[tuple[str, Context]]]) -> Iterator[Sequence[Decomposition]]:
        return answer([question for question, _ in batch] for batch in batches)

    found = in_length_batches(questions, lambda item: len(item[0]), batch_size, answer_texts)
    return ((decomposition, context) for (_, context), decomposition in found)


def load(
    source: str | Path = BUNDLED_NAME,
    *,
    decoder: str | None = None,
    candidates: int = 0,
    trust: bool = False,
    min_confidence: float = 0.0,
    backend: str = DEFAULT_BACKEND,
    **options: Any,
) -> Parser:
    """Load a parser: the bundled one, one from a folder or an AllenNLP archive (``model.tar.gz``), or a consensus.

    A consensus is a JSON file that names parsers and their weights, see :mod:`qdecomp.parsers.consensus_parser`.

    ``decoder`` is for graph parsers: ``greedy``, ``greedy_valid`` (without edges that contradict better ones),
    ``projection`` (the paper's soft reading of the greedy edges), or ``ilp`` (the best valid graph) with its options
    ``time_limit``, in seconds, and ``coverage_penalty``. A parser that writes has the options ``beam_size``,
    ``max_steps``, ``plan_rules`` and ``coverage_penalty``. With ``candidates``, every prediction has this many of the
    best decompositions with their scores. An archive that names code to run is refused unless you ``trust`` it. Instead
    of a plan whose confidence is below ``min_confidence``, you get the reason.
    The ``backend`` of a bundled parser that writes may be ``onnxruntime``, which is two to three times as fast as
    ``numpy`` and needs the extra ``fast``.
    """
    if candidates:
        options["candidates"] = candidates

    path = parser_path(source)
    found = ParserSource(path, decoder, tuple(options.items()), trust, min_confidence, backend)
    return Parser(path.name, found.open(), found)
