"""What answers the requests of one process: the parser with its thread, and threads for other work. It has no state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from qdecomp.data_structures.limits import above
from qdecomp.parsers.parser import Parser, load
from qdecomp.service.answers import answer_from_decomposition, converted
from qdecomp.service.batching import MicroBatcher
from qdecomp.service.monitoring import Monitor
from qdecomp.service.pair_scores import Scorer, chosen_metrics, mean_scores
from qdecomp.service.refused_requests import RefusedError, took_too_long
from qdecomp.service.requests import ConvertRequest, ParseRequest, ScoredPair, ScoreRequest
from qdecomp.service.settings import ServiceSettings
from qdecomp.service.work_thread import WorkThread

__all__ = ["Engine", "open_parser"]

_R = TypeVar("_R")


def open_parser(settings: ServiceSettings) -> Parser:
    """Load the parser that the settings name."""
    return load(
        settings.parser,
        decoder=settings.decoder,
        candidates=settings.candidates,
        min_confidence=settings.min_confidence,
        trust=settings.trust,
        backend=settings.backend,
    )


class Engine:
    """Parses, converts and scores within the limits of the settings."""

    def __init__(self, settings: ServiceSettings, parser: Parser) -> None:
        self.settings = settings
        self.parser = parser
        self.monitor = Monitor(lambda: self._batcher.waiting)
        self._batcher = MicroBatcher(
            lambda questions: list(parser.pipe(questions, batch_size=settings.batch_size)),
            batch_size=settings.batch_size,
            max_waiting=settings.max_waiting,
            on_batch=self.monitor.batches.observe,
        )
        self._drawing = WorkThread("drawing", settings.max_waiting)
        self._scoring = WorkThread("scoring", settings.max_waiting)
        self._scorer = Scorer(settings.max_seconds)

    @property
    def is_alive(self) -> bool:
        """Whether questions can be answered."""
        return self._batcher.is_alive

    def start(self) -> None:
        """Start the threads."""
        self._batcher.start()

    def stop(self) -> None:
        """Finish what is in progress, then end the threads."""
        self._batcher.stop()
        self._drawing.stop()
        self._scoring.stop()
        self.monitor.stop()

    async def parse(self, request: ParseRequest) -> dict[str, Any]:
        """The answer to one question, or the list of the answers to many."""
        if (request.question is None) == (request.questions is None):
            raise RefusedError(422, "give either question, a string, or questions, a list of strings")
        questions = [request.question] if request.question is not None else request.questions or []
        self._require_some(questions, "questions")
        self._require_short(questions)
        answers = await self._in_time(self._answers(questions, request))
        return answers[0] if request.question is not None else {"results": answers}

    async def convert(self, request: ConvertRequest) -> dict[str, Any]:
        """What a user's steps mean."""
        self._require_short([request.question])
        job = self._drawing.run(converted, request.question, request.decomposition, pictures=request.pictures)
        return await self._in_time(job)

    async def score(self, request: ScoreRequest) -> dict[str, Any]:
        """The scores of one pair, or of many with their means."""
        metrics = chosen_metrics(request.metrics)
        pairs = _pairs(request)
        self._require_some(pairs, "pairs")
        self._require_short([pair.question for pair in pairs])
        results = await self._in_time(self._scoring.run(self._scorer.score, pairs, metrics))
        return results[0] if request.pairs is None else {"results": results, "mean": mean_scores(results)}

    async def _answers(self, questions: Sequence[str], request: ParseRequest) -> list[dict[str, Any]]:
        found = await self._batcher.parse(questions)
        for decomposition in found:
            self.monitor.questions.labels("plan" if decomposition else "no plan").inc()
        options = {"graph": request.graph, "pictures": request.pictures}
        return await self._drawing.run(lambda: [answer_from_decomposition(each, **options) for each in found])

    async def _in_time(self, work: Awaitable[_R]) -> _R:
        try:
            return await asyncio.wait_for(work, self.settings.max_seconds)
        except (TimeoutError, asyncio.TimeoutError):
            raise took_too_long(self.settings.max_seconds) from None

    def _require_some(self, items: Sequence[Any], what: str) -> None:
        if not items:
            raise RefusedError(422, f"{what} is empty")
        if reason := above(self.settings.max_questions, len(items), what):
            raise RefusedError(422, reason)

    def _require_short(self, questions: Sequence[str]) -> None:
        for number, question in enumerate(questions, start=1):
            if reason := above(self.settings.max_question_length, len(question), "characters"):
                which = "the question" if len(questions) == 1 else f"question {number}"
                raise RefusedError(422, f"{which} is too long: {reason}")


def _pairs(request: ScoreRequest) -> list[ScoredPair]:
    question, prediction, gold = request.question, request.prediction, request.gold
    given = [value is not None for value in (question, prediction, gold)]
    if request.pairs is not None and not any(given):
        return request.pairs
    if request.pairs is not None or question is None or prediction is None or gold is None:
        raise RefusedError(422, "give either question, prediction and gold, or pairs, a list of objects with these")
    return [ScoredPair(question=question, prediction=prediction, gold=gold)]
