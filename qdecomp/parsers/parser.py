"""Parsers, all used in the same way: ``load()`` one, then ``parse`` a question or ``pipe`` many.

>>> from qdecomp import load                                    # doctest: +SKIP
>>> print(load().parse("how many rivers are in texas ?"))       # doctest: +SKIP
1. rivers
2. #1 in texas
3. number of #2
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from qdecomp.data_structures.errors import DataError, InternalError, as_internal_errors
from qdecomp.files.jobs import ROW_KILLED_WORKERS, Where, spread
from qdecomp.parsers.calibration import Calibration
from qdecomp.parsers.cascade import Cascade
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.parsers.language_model import Usage, model_from_function
from qdecomp.parsers.source import BUNDLED_NAME, ParserSource, parser_source, predict_on_worker, split_options
from qdecomp.planning.checks import not_a_question

__all__ = ["Answers", "Parser", "in_length_batches", "load", "window_size"]

Answers = Callable[[Sequence[str]], Sequence[Decomposition]]
"""Gives a batch of questions their decompositions."""

AnswerFunction = Callable[[list[dict[str, str]]], str]
"""Gives the messages of a conversation the text of the next one."""

Context = TypeVar("Context")
Batched = TypeVar("Batched")
Answer = TypeVar("Answer")

# Questions of similar length are batched together; this many batches are looked at together.
_BATCHES_SORTED_TOGETHER = 8


class Parser:
    """Answers questions in batches; made by :func:`load`."""

    def __init__(
        self,
        name: str,
        answers: Answers,
        *,
        source: ParserSource | None = None,
        calibration: Calibration | None = None,
        refuses: bool = False,
        min_confidence: float = 0.0,
        usage: Usage | None = None,
    ) -> None:
        """``source`` is what the parser was loaded from, if other processes should help.

        A parser that ``refuses`` gives no plan for what is not a question.
        """
        self.name = name
        self.source = source
        self.calibration = calibration
        """How confidence is computed; without one, answers have none."""
        self.answers = answers
        """The parser alone: it answers whatever it is asked, without confidence."""
        self.usage = usage
        """What a language model was asked in this process, if the parser is one or has one behind it."""
        self._refuses = refuses
        self._min_confidence = min_confidence if source is None else source.min_confidence

    def __repr__(self) -> str:
        return f"<Parser {self.name}>"

    def required_source(self) -> ParserSource:
        """Where other processes find the parser; if it was not loaded from anywhere, a :class:`DataError`."""
        if self.source is None:
            raise DataError(f"{self.name} can only parse in one process")
        return self.source

    def key(self, batch_size: int) -> list[Any]:
        """What answers depend on besides the question: the parser's files and, if they matter, its batches."""
        if self.source is None:
            return [self.name, batch_size]
        return [*self.source.contents(), batch_size if self.source.depends_on_batches else None]

    def parse(self, question: str, question_id: str = "") -> Decomposition:
        """The decomposition of one question; if there is none, it is falsy and says why."""
        (found,) = self.predict([question])
        return replace(found, question_id=question_id)

    def predict(self, questions: Sequence[str]) -> Sequence[Decomposition]:
        """The decompositions of questions that are parsed together, as one batch.

        If the code fails on a question, that is its error, and the others get their answers.
        """
        try:
            with as_internal_errors():
                return self._predict(questions)
        except InternalError as error:
            if len(questions) == 1:
                return [failed_decomposition(questions[0], error)]
        return [found for question in questions for found in self.predict([question])]

    def calibrated(self, questions: Sequence[str]) -> Sequence[Decomposition]:
        """What the parser says, whatever it is asked, with its confidence if it has a calibration."""
        found = self.answers(questions)
        if self.calibration is None:
            return found
        return [replace(each, confidence=self.calibration(each)) for each in found]

    def _predict(self, questions: Sequence[str]) -> Sequence[Decomposition]:
        reasons = [not_a_question(question) if self._refuses else None for question in questions]
        pairs = list(zip(questions, reasons, strict=True))
        asked = [question for question, reason in pairs if reason is None]
        found = iter(self.calibrated(asked) if asked else ())
        return [
            self._sure(next(found)) if reason is None else failed_decomposition(question, reason)
            for question, reason in pairs
        ]

    def _sure(self, found: Decomposition) -> Decomposition:
        """The decomposition, or the reason why it is not given: a confidence below ``min_confidence``."""
        least, confidence = self._min_confidence, found.confidence
        if found.text is None or confidence is None or confidence >= least:
            return found
        reason = f"the confidence {confidence:.2f} is below {least:g}"
        return replace(found, text=None, logical_form=None, predicted_graph=None, error=reason)

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
        pairs = questions if as_tuples else ((question, None) for question in questions)
        found = in_length_batches(pairs, lambda pair: len(pair[0]), batch_size, partial(self._batches, where))
        return ((answer, pair[1]) if as_tuples else answer for pair, answer in found)

    def _batches(self, where: Where, batches: Iterator[list[tuple[str, Any]]]) -> Iterator[Sequence[Decomposition]]:
        questions = ([question for question, _ in batch] for batch in batches)
        if where.is_here:
            yield from map(self.predict, questions)
            return
        work = partial(predict_on_worker, self.required_source().for_workers())
        with where.pool() as pool:
            yield from spread(work, questions, pool, lambda text: failed_decomposition(text, ROW_KILLED_WORKERS))


def load(
    source: str | Path | AnswerFunction = BUNDLED_NAME,
    *,
    decoder: str | None = None,
    candidates: int = 0,
    trust: bool = False,
    min_confidence: float = 0.0,
    fallback: str | Path | AnswerFunction | None = None,
    fallback_below: float = 0.5,
    together: bool = False,
    **options: Any,
) -> Parser:
    """Load a parser: the bundled one, one from a folder or an AllenNLP archive, a consensus, or a language model.

    A consensus is a JSON file that names parsers and their weights, see :mod:`qdecomp.parsers.consensus`. A language
    model is the address of its endpoint, as in ``load("http://127.0.0.1:8080/v1", model="qwen2.5")``, or a function
    from messages to a text; its options are the fields of :class:`~qdecomp.parsers.language_model.ModelSettings`.

    ``decoder`` is for graph parsers: ``greedy``, ``greedy_valid`` (without edges that contradict better ones),
    ``projection`` (the paper's soft reading of the greedy edges), or ``ilp`` (the best valid graph) with its options
    ``time_limit``, in seconds, and ``coverage_penalty``. A seq2seq parser has the options ``beam_size``, ``max_steps``,
    ``plan_rules`` and ``coverage_penalty``. With ``candidates``, every answer has this many of the best decompositions
    with their scores. An archive that names code to run is refused unless you ``trust`` it. Instead of a plan whose
    confidence is below ``min_confidence``, you get the reason.

    ``fallback`` is another parser, which answers what this one has no plan for, or one with a confidence below
    ``fallback_below``. With ``together``, both answer every question, and their consensus counts.
    """
    if together and fallback is None:
        raise DataError("together needs a fallback, the second parser")
    if not (callable(source) or callable(fallback)):
        return parser_source(
            source,
            decoder=decoder,
            candidates=candidates,
            trust=trust,
            min_confidence=min_confidence,
            fallback=fallback,
            fallback_below=fallback_below,
            together=together,
            **options,
        ).open()
    of_model, others = split_options(options)
    if callable(source):
        if decoder is not None or candidates or others:
            raise DataError("a function takes no decoder, no candidates and none of the options of other parsers")
        first = _of_function(source, of_model)
    else:
        first = parser_source(source, decoder=decoder, candidates=candidates, trust=trust, **others).open()
    if fallback is None:
        return Parser(first.name, first.answers, refuses=True, min_confidence=min_confidence, usage=first.usage)
    second = _of_function(fallback, of_model) if callable(fallback) else parser_source(fallback).open()
    return in_front_of(first, second, fallback_below, together, min_confidence=min_confidence)


def _of_function(answer: AnswerFunction, options: dict[str, Any]) -> Parser:
    model = model_from_function(answer, **options)
    return Parser(model.settings.model, model, usage=model.usage)


def in_front_of(first: Parser, second: Parser, below: float, together: bool, **options: Any) -> Parser:
    """The first parser, and the second one for what it is not sure of; see :mod:`qdecomp.parsers.cascade`."""
    cascade = Cascade((first.name, second.name), first.calibrated, second.calibrated, below, together)
    name, usage = f"{first.name}, then {second.name}", second.usage or first.usage
    return Parser(name, cascade, refuses=True, usage=usage, **options)


def window_size(batch_size: int) -> int:
    """How many questions are taken at a time, to batch those of similar length together."""
    return _BATCHES_SORTED_TOGETHER * batch_size


def in_length_batches(
    items: Iterable[Batched],
    length: Callable[[Batched], int],
    batch_size: int,
    work: Callable[[Iterator[list[Batched]]], Iterator[Sequence[Answer]]],
) -> Iterator[tuple[Batched, Answer]]:
    """Each item with its result; ``work`` is given batches and gives back the results of each, in the same order.

    >>> def shout(batches):
    ...     for batch in batches:
    ...         print(batch)
    ...         yield [text.upper() for text in batch]
    >>> [result for _, result in in_length_batches(["bbb", "a", "cc"], len, 2, shout)]
    ['a', 'cc']
    ['bbb']
    ['BBB', 'A', 'CC']
    """
    rest = iter(items)
    windows: deque[tuple[list[Batched], list[list[int]]]] = deque()

    def batches() -> Iterator[list[Batched]]:
        while window := list(islice(rest, window_size(batch_size))):
            by_length = sorted(range(len(window)), key=lambda number: length(window[number]))
            chunks = [by_length[start : start + batch_size] for start in range(0, len(window), batch_size)]
            windows.append((window, chunks))
            yield from ([window[number] for number in chunk] for chunk in chunks)

    answers = work(batches())
    for first in answers:
        window, chunks = windows.popleft()
        others = islice(answers, len(chunks) - 1)
        found = dict(zip(chain(*chunks), chain(first, *others), strict=True))
        yield from ((item, found[number]) for number, item in enumerate(window))
