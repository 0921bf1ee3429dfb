"""What answers the requests of one process: a thread with the parser, and threads for all other work.

Nothing but the parsing of JSON happens on the event loop. Every queue is short: who would wait long is refused at once.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.limits import above
from qdecomp.evaluation.metrics import DEFAULT_METRICS, Metric, choose_metrics
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser import Parser
from qdecomp.service.middleware import Monitor
from qdecomp.service.next_steps import next_steps
from qdecomp.service.refusals import RefusedError, busy, took_too_long
from qdecomp.service.schemas import (
    ConvertAnswer,
    ConvertRequest,
    NextStepsAnswer,
    NextStepsRequest,
    ParseAnswer,
    ParseAnswers,
    ParseRequest,
    ScoreAnswer,
    ScoreAnswers,
    ScoredPair,
    ScoreRequest,
)
from qdecomp.service.settings import ServiceSettings

_T = TypeVar("_T")
_R = TypeVar("_R")

_GED_SECONDS = 5.0
# An alignment is solved outside of the interpreter's lock, so a few of them do not hold up the others.
_WORK_THREADS = 4
# On a slow machine, fewer questions than allowed may wait, so that they do not wait for longer than this.
_LONGEST_WAIT = 3.0
# The plan, and two others.
_CANDIDATES = 3


class Engine:
    """Parses, converts and scores within the limits of the settings."""

    def __init__(self, settings: ServiceSettings, parser: Parser, monitor: Monitor) -> None:
        self.settings = settings
        self.parser = parser
        self._monitor = monitor
        self._batcher = MicroBatcher(
            lambda questions: list(parser.pipe(questions, batch_size=settings.batch_size)),
            batch_size=settings.batch_size,
            max_waiting=settings.max_waiting,
            on_batch=monitor.batches.observe,
        )
        # Searching for candidates takes longer, so that only requests that want them pay for it.
        self._candidates = MicroBatcher(
            self._parse_with_candidates, batch_size=settings.batch_size, max_waiting=settings.max_waiting
        )
        self._candidate_parser: Parser | None = parser if settings.parser.candidates else None
        # A graph, a conversion or a score may take seconds; an answer without one does not wait for them.
        self._quick = WorkThreads("answers", 1, settings.max_waiting)
        self._slow = WorkThreads("work", _WORK_THREADS, settings.max_waiting)

    @property
    def waiting(self) -> int:
        """How many questions are waiting for the parser."""
        return self._batcher.waiting

    def is_full(self, path: str) -> bool:
        """Whether a request to this path would be refused whatever it asks."""
        if path == "/parse":
            return self._batcher.is_full
        return path in ("/convert", "/score", "/next_steps") and self._slow.is_full

    def stop(self) -> None:
        """Finish what is in progress, then end the threads."""
        self._batcher.stop()
        self._candidates.stop()
        self._quick.stop()
        self._slow.stop()

    async def parse(self, request: ParseRequest) -> bytes:
        """The answer to one question, or the list of the answers to many."""
        if (request.question is None) == (request.questions is None):
            raise RefusedError(422, "give either question, a string, or questions, a list of strings")
        questions = [request.question] if request.question is not None else request.questions or []
        self._require_some(questions, "questions")
        self._require_short(questions)
        return await self._in_time(self._parsed(questions, request))

    async def _parsed(self, questions: Sequence[str], request: ParseRequest) -> bytes:
        threads = self._slow if request.graph or request.pictures else self._quick
        if threads.is_full:
            raise busy()
        decompositions = await (self._candidates if request.candidates else self._batcher).parse(questions)
        for decomposition in decompositions:
            self._monitor.questions.labels("plan" if decomposition else "no plan").inc()

        def answer(found: Iterable[Decomposition]) -> bytes:
            answers = [
                ParseAnswer.of(each, graph=request.graph, pictures=request.pictures, width=request.width)
                for each in found
            ]
            return (answers[0] if request.question is not None else ParseAnswers(results=answers)).to_json()

        return await threads.run(answer, decompositions)

    def _parse_with_candidates(self, questions: Sequence[str]) -> list[Decomposition]:
        """Parse with a second parser, which is opened for the first request that wants candidates."""
        if self._candidate_parser is None:
            source = self.settings.parser
            if source.model is not None or source.fallback is not None:
                raise RefusedError(422, "this service has no candidates; start it with --candidates")
            try:
                self._candidate_parser = replace(source, candidates=_CANDIDATES).open()
            except QDecompError as error:
                raise RefusedError(422, str(error)) from None
        return list(self._candidate_parser.pipe(questions, batch_size=self.settings.batch_size))

    async def convert(self, request: ConvertRequest) -> bytes:
        """What a user's steps mean."""
        self._require_short([request.question])

        def answer(requests: Iterable[ConvertRequest]) -> bytes:
            (each,) = requests
            found = ConvertAnswer.of_written(
                each.question, each.decomposition, pictures=each.pictures, width=each.width
            )
            return found.to_json()

        return await self._in_time(self._slow.run(answer, [request]))

    async def next_steps(self, request: NextStepsRequest) -> bytes:
        """What can be asked when some steps have answers."""
        self._require_short([request.question])

        def answer(requests: Iterable[NextStepsRequest]) -> bytes:
            (each,) = requests
            try:
                return NextStepsAnswer(**next_steps(each.question, each.decomposition, each.answers)).to_json()
            except QDecompError as error:  # steps that cannot be read, or the number of no step
                raise RefusedError(422, str(error)) from None

        return await self._in_time(self._slow.run(answer, [request]))

    async def score(self, request: ScoreRequest) -> bytes:
        """The scores of one pair, or of many with their means."""
        metrics = _chosen_metrics(request.metrics)
        asked = _pairs(request)
        self._require_some(asked, "pairs")
        self._require_short([pair.question for pair in asked])
        seconds = min(_GED_SECONDS, self.settings.max_seconds)

        def answer(pairs: Iterable[ScoredPair]) -> bytes:
            try:
                functions = {
                    metric: metric.load(seconds=seconds) if metric.name == "ged" else metric.load()
                    for metric in metrics
                }
            except DataError as error:  # a metric whose packages are not installed
                raise RefusedError(422, str(error)) from None
            results = [ScoreAnswer.of(pair, functions) for pair in pairs]
            return (results[0] if request.pairs is None else ScoreAnswers.of(results)).to_json()

        return await self._in_time(self._slow.run(answer, asked))

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


def _chosen_metrics(names: Sequence[str] | None) -> tuple[Metric, ...]:
    """The metrics of a request; an unknown name is refused."""
    try:
        metrics = choose_metrics(names if names is not None else DEFAULT_METRICS)
    except DataError as error:
        raise RefusedError(422, str(error)) from None
    if not metrics:
        raise RefusedError(422, "metrics is empty; leave it out for the usual ones")
    return metrics


def _pairs(request: ScoreRequest) -> list[ScoredPair]:
    question, prediction, gold = request.question, request.prediction, request.gold
    given = [value is not None for value in (question, prediction, gold)]
    if request.pairs is not None and not any(given):
        return request.pairs
    if request.pairs is not None or question is None or prediction is None or gold is None:
        raise RefusedError(422, "give either question, prediction and gold, or pairs, a list of objects with these")
    return [ScoredPair(question=question, prediction=prediction, gold=gold)]


class WorkThreads:
    """A few threads for one kind of work; a request that finds ``max_waiting`` others is refused."""

    def __init__(self, name: str, threads: int, max_waiting: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=f"qdecomp-{name}")
        self._max_waiting = max_waiting
        self._waiting = 0

    @property
    def is_full(self) -> bool:
        """Whether a job would be refused."""
        return self._waiting >= self._max_waiting

    async def run(self, work: Callable[[Iterable[_T]], _R], items: Sequence[_T]) -> _R:
        """The result of the work; when the request is gone or its time is up, the work gets no further item."""
        if self.is_full:
            raise busy()
        gone = threading.Event()

        def while_awaited() -> Iterator[_T]:
            for item in items:
                if gone.is_set():
                    raise asyncio.CancelledError
                yield item

        self._waiting += 1
        try:
            return await asyncio.wrap_future(self._executor.submit(work, while_awaited()))
        finally:
            gone.set()
            self._waiting -= 1

    def stop(self) -> None:
        """End the threads when their work is done."""
        self._executor.shutdown()


class MicroBatcher:
    """A thread that parses whatever is waiting, at most ``batch_size`` questions at a time.

    Nothing waits for more questions to arrive: while one batch is parsed, the next one gathers. A question whose
    request is gone (its client disconnected or its time is up) is not parsed.
    """

    def __init__(
        self,
        parse_many: Callable[[Sequence[str]], Sequence[Decomposition]],
        *,
        batch_size: int = 32,
        max_waiting: int = 64,
        on_batch: Callable[[int], None] = lambda size: None,
    ) -> None:
        self._parse_many = parse_many
        self._batch_size = batch_size
        self._max_waiting = max_waiting
        self._on_batch = on_batch
        self._jobs: deque[tuple[str, asyncio.Future[Decomposition]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="qdecomp-parser")
        self._working: asyncio.Task[None] | None = None
        self._room = max_waiting

    @property
    def waiting(self) -> int:
        """How many questions are waiting."""
        return len(self._jobs)

    @property
    def is_full(self) -> bool:
        """Whether any question would be refused."""
        return len(self._jobs) >= self._room

    async def parse(self, questions: Sequence[str]) -> list[Decomposition]:
        """The decomposition of each question; too many questions are refused."""
        # A request that is larger than the limit is accepted if nothing else is waiting.
        if self._jobs and len(self._jobs) + len(questions) > self._room:
            raise busy()
        loop = asyncio.get_running_loop()
        jobs = [(question, loop.create_future()) for question in questions]
        self._jobs.extend(jobs)
        if self._working is None or self._working.done():
            self._working = loop.create_task(self._work())
        return list(await asyncio.gather(*(answer for _, answer in jobs)))

    def stop(self) -> None:
        """End the thread when its batch is done."""
        self._thread.shutdown()

    async def _work(self) -> None:
        while self._jobs:
            batch = [self._jobs.popleft() for _ in range(min(self._batch_size, len(self._jobs)))]
            batch = [(question, answer) for question, answer in batch if not answer.done()]
            if batch:
                self._on_batch(len(batch))
                await self._answer(batch)

    async def _answer(self, batch: Sequence[tuple[str, asyncio.Future[Decomposition]]]) -> None:
        questions = [question for question, _ in batch]
        start = time.monotonic()
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._parse_many, questions)
            answers = list(zip(batch, found, strict=True))
        except Exception as error:
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        seconds = max(time.monotonic() - start, 0.001)
        # Half a batch may always wait: the first questions take longer than all others, and single ones than many.
        timely = max(int(_LONGEST_WAIT * len(batch) / seconds), self._batch_size // 2)
        self._room = min(timely, self._max_waiting)
        for (_, answer), decomposition in answers:
            if not answer.done():
                answer.set_result(decomposition)
