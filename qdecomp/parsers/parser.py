"""Parsers, all used in the same way: ``load()`` one, then ``parse`` a question or ``pipe`` many.

>>> from qdecomp import load                                    # doctest: +SKIP
>>> print(load().parse("how many rivers are in texas ?"))       # doctest: +SKIP
1. rivers
2. #1 in texas
3. number of #2
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from qdecomp.data_structures.errors import DataError, InternalError, as_internal_errors
from qdecomp.decoding import make_decoder
from qdecomp.files.jobs import ROW_KILLED_WORKERS, Where, spread
from qdecomp.parsers.bundle import GraphConfig, Seq2SeqConfig, is_bundle, read_config
from qdecomp.parsers.calibration import Calibration, calibration_from_json
from qdecomp.parsers.consensus import Answers, Cascade, consensus
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.parsers.language_model import Usage, open_model
from qdecomp.parsers.source import BUNDLED_NAME, AnswerFunction, ParserSource, parser_source
from qdecomp.planning.checks import not_a_question

Context = TypeVar("Context")
Batched = TypeVar("Batched")
Answer = TypeVar("Answer")

BATCHES_SORTED_TOGETHER = 8
"""Questions of similar length are batched together; this many batches are looked at together."""

# The threads of a worker take turns: not every parser can do two things at once, and none gets faster by it.
_TURN = threading.Lock()


class Parser:
    """Answers questions in batches; made by :func:`load`."""

    def __init__(
        self,
        source: ParserSource,
        answers: Answers,
        *,
        calibration: Calibration | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.name = source.name
        self.source = source
        """What the parser was loaded from."""
        self.calibration = calibration
        """How confidence is computed; without one, answers have none."""
        self.answers = answers
        """The parser alone: it answers whatever it is asked, without confidence."""
        self.usage = usage
        """What a language model was asked in this process, if the parser is one or has one behind it."""

    def __repr__(self) -> str:
        return f"<Parser {self.name}>"

    def predictor(self, where: Where) -> Answers:
        """What parses a batch there; where other processes cannot have the parser, a :class:`DataError`."""
        if where.is_here:
            return self.predict
        if self.source.stays_here:
            raise DataError(f"{self.name} can only parse in one process")
        return partial(predict_on_worker, self.source.for_workers())

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
        reasons = list(map(not_a_question, questions))
        asked = [question for question, reason in zip(questions, reasons, strict=True) if reason is None]
        found = iter(self.calibrated(asked) if asked else ())
        return [
            self._sure(next(found)) if reason is None else failed_decomposition(question, reason)
            for question, reason in zip(questions, reasons, strict=True)
        ]

    def _sure(self, found: Decomposition) -> Decomposition:
        """The decomposition, or the reason why it is not given: a confidence below ``min_confidence``."""
        least, confidence = self.source.min_confidence, found.confidence
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
        if isinstance(questions, str):
            raise DataError("pipe takes many questions, such as a list; parse takes one")
        if batch_size < 1:
            raise DataError(f"batch_size is {batch_size}, but must be 1 or more")
        where = Where(processes, executor=executor)
        predict = self.predictor(where)
        pairs = questions if as_tuples else ((question, None) for question in questions)

        def work(batches: Iterator[list[tuple[str, Any]]]) -> Iterator[Sequence[Decomposition]]:
            texts = ([question for question, _ in batch] for batch in batches)
            with where.pool() as pool:
                yield from spread(predict, texts, pool, lambda text: failed_decomposition(text, ROW_KILLED_WORKERS))

        found = in_length_batches(pairs, lambda pair: len(str(pair[0])), batch_size, work)
        return ((answer, pair[1]) if as_tuples else answer for pair, answer in found)


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


def open_source(source: ParserSource) -> Parser:
    """Load the parser of a source."""
    if source.fallback is not None:
        first = replace(source, fallback=None, min_confidence=0.0).open()
        second = source.fallback.open()
        cascade = Cascade(
            (first.name, second.name), first.calibrated, second.calibrated, source.fallback_below, source.together
        )
        return Parser(source, cascade, usage=second.usage or first.usage)
    if source.model is not None:
        if source.min_confidence:
            raise DataError(f"{source.name}: a language model gives no confidence, so it takes no min_confidence")
        model = open_model(source.model, source.function)
        return Parser(source, model, usage=model.usage)
    path = source.path
    assert path is not None
    if source.is_consensus:
        answers, calibration = _open_consensus(source)
    elif is_bundle(path):
        answers, calibration = _open_bundle(path, source)
    else:
        answers, calibration = _open_archive(path, source), None
    if source.min_confidence and calibration is None:
        raise DataError(
            f"{path}: this parser is not calibrated, so min_confidence has nothing to go by; "
            "'qdecomp calibrate' calibrates it on rows that it was not trained on"
        )
    return Parser(source, answers, calibration=calibration)


def _open_consensus(source: ParserSource) -> tuple[Answers, Calibration | None]:
    if source.decoder is not None or source.options:
        raise DataError(
            f"{source.path}: a consensus takes no decoder and no options; its file sets them for each parser"
        )
    members, calibration = source.consensus()
    parsers, weights = [each.open() for _, each in members], [weight for weight, _ in members]

    def answers(questions: Sequence[str]) -> list[Decomposition]:
        given = zip(questions, *(parser.calibrated(questions) for parser in parsers), strict=True)
        found = [consensus(question, predictions, weights) for question, *predictions in given]
        return [replace(each, candidates=each.candidates[: source.candidates]) for each in found]

    return answers, calibration


def _open_bundle(path: Path, source: ParserSource) -> tuple[Answers, Calibration | None]:
    # The networks need onnxruntime, which only parsing needs.
    from qdecomp.parsers.graph import GraphParser
    from qdecomp.parsers.seq2seq import SearchSettings, Seq2SeqParser

    config = read_config(path)
    calibration, options = calibration_from_json(config.calibration), dict(source.options)
    if isinstance(config, GraphConfig):
        decoder = make_decoder(source.decoder or config.decoder, **_candidates(source), **options)
        return GraphParser(path, config, decoder), calibration
    assert isinstance(config, Seq2SeqConfig)
    if source.decoder is not None:
        raise DataError(f"{path}: a seq2seq parser predicts no graphs, so it takes no decoder")
    own = SearchSettings(
        config.beam_size, config.max_steps, config.plan_rules, source.candidates, config.coverage_penalty
    )
    kind = None if calibration is None else calibration.kind
    return Seq2SeqParser(path, config, own.with_options(options), kind), calibration


def _open_archive(path: Path, source: ParserSource) -> Answers:
    try:
        archives = import_module("qdecomp.training.archives")
    except ImportError as error:
        raise DataError(
            f"{path}: not a bundled parser, and an archive needs AllenNLP's environment, see README ({error})"
        ) from None
    options = {**dict(source.options), **_candidates(source)}
    found: Answers = archives.load_archived_parser(path, source.decoder, options, trust=source.trust)
    return found


def _candidates(source: ParserSource) -> dict[str, int]:
    return {"candidates": source.candidates} if source.candidates else {}


@lru_cache(maxsize=1)
def opened_on_worker(source: ParserSource) -> Parser:
    """On a worker: the parser, which must be the requested one; a process keeps the one that it loaded last."""
    try:
        here = source.here()
    except DataError:
        raise DataError(
            f"{source.name}: a worker does not have this parser; put it where all workers can read it"
        ) from None
    if here.contents() != source.content:
        raise DataError(f"{source.name}: a worker has a different parser there; give all workers the same one")
    return here.open()


def predict_on_worker(source: ParserSource, questions: Sequence[str]) -> Sequence[Decomposition]:
    """On a worker: the decompositions of a batch."""
    with _TURN:
        return opened_on_worker(source).predict(questions)


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
    rest = enumerate(items)
    asked: deque[list[tuple[int, Batched]]] = deque()
    found: dict[int, tuple[Batched, Answer]] = {}

    def batches() -> Iterator[list[Batched]]:
        while window := list(islice(rest, BATCHES_SORTED_TOGETHER * batch_size)):
            window.sort(key=lambda pair: length(pair[1]))
            for start in range(0, len(window), batch_size):
                asked.append(window[start : start + batch_size])
                yield [item for _, item in asked[-1]]

    next_number = 0
    for answers in work(batches()):
        for (number, item), answer in zip(asked.popleft(), answers, strict=True):
            found[number] = item, answer
        while next_number in found:
            yield found.pop(next_number)
            next_number += 1
