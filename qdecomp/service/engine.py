"""What answers the requests of one process: a thread with the parser, and threads for all other work.

Nothing but the parsing of JSON happens on the event loop. Every queue is short: who would wait long is refused at once.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from starlette.responses import Response

from qdecomp.data_structures.limits import above
from qdecomp.evaluation.metrics import DEFAULT_METRICS, Metric, MetricFunction, choose_metrics
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser import Parser
from qdecomp.service.middleware import Monitor, RefusedError, busy
from qdecomp.service.runs import Runs
from qdecomp.service.schemas import (
    AnyAnswer,
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
_AnswerT = TypeVar("_AnswerT", bound=AnyAnswer)

_GED_SECONDS = 5.0
# An alignment is solved outside of the interpreter's lock, so a few of them do not hold up the others.
_WORK_THREADS = 4
# On a slow machine, fewer questions than allowed may wait, so that they do not wait for longer than this.
_LONGEST_WAIT = 3.0
# The plan, and two others.
_CANDIDATES = 3


class Engine:
    """Parses, converts and scores within the limits of the settings; what its methods say is the documentation."""

    def __init__(self, settings: ServiceSettings, parser: Parser, monitor: Monitor) -> None:
        self.settings = settings
        self.parser = parser
        self._monitor = monitor
        model = settings.parser.language_model
        self.batcher = MicroBatcher(
            lambda questions: list(parser.pipe(questions, batch_size=settings.batch_size)),
            settings.batch_size,
            settings.max_waiting,
            monitor.batches.observe,
            1 if model is None else model.concurrency,
        )
        # Searching for candidates takes longer, so that only requests that want them pay for it.
        self._candidates = MicroBatcher(self._parse_with_candidates, settings.batch_size, settings.max_waiting)
        self._candidate_parser: Parser | None = parser if settings.parser.candidates else None
        # A graph, a conversion or a score may take seconds; an answer without one does not wait for them.
        self._quick = WorkThreads(1, settings.max_waiting)
        self.runs = None if model is None or not model.url else Runs(model, settings)
        self._slow = WorkThreads(_WORK_THREADS, settings.max_waiting)

    def is_full(self, path: str) -> bool:
        """Whether a request to this path would be refused whatever it asks."""
        if path == "/parse":
            return self.batcher.is_full
        if path == "/run":
            return self.runs is not None and self.runs.is_full
        return path in ("/convert", "/score", "/next_steps") and self._slow.is_full

    def stop(self) -> None:
        """Finish what is in progress, then end the threads."""
        for threads in (self.batcher, self._candidates, self._quick, self._slow, self.runs):
            if threads is not None:
                threads.stop()

    async def parse(self, request: ParseRequest) -> Response:
        """The prediction record of the question, with its steps and its plan; for many, results in order."""
        if (request.question is None) == (request.questions is None):
            raise RefusedError(422, "give either question, a string, or questions, a list of strings")
        questions = [request.question] if request.question is not None else request.questions or []
        self._check(questions)
        return await self._in_time(self._parsed(questions, request))

    async def _parsed(self, questions: Sequence[str], request: ParseRequest) -> Response:
        threads = self._slow if request.graph or request.pictures else self._quick
        if threads.is_full:
            raise busy()
        decompositions = await (self._candidates if request.candidates else self.batcher).parse(questions)
        for decomposition in decompositions:
            self._monitor.questions.labels("plan" if decomposition else "no plan").inc()

        def answer(found: Decomposition) -> ParseAnswer:
            return ParseAnswer.of(found, graph=request.graph, pictures=request.pictures, width=request.width)

        many = None if request.questions is None else lambda results: ParseAnswers(results=results)
        return await threads.run(answer, decompositions, many, is_accepted=True)

    def _parse_with_candidates(self, questions: Sequence[str]) -> list[Decomposition]:
        """Parse with a second parser, which is opened for the first request that wants candidates."""
        if self._candidate_parser is None:
            source = self.settings.parser
            if source.model is not None or source.fallback is not None:
                raise RefusedError(422, "this service has no candidates; start it with --candidates")
            self._candidate_parser = replace(source, candidates=_CANDIDATES).open()
        return list(self._candidate_parser.pipe(questions, batch_size=self.settings.batch_size))

    async def convert(self, request: ConvertRequest) -> Response:
        """The logical form, the plan and the graph of your steps, or why they have none."""
        self._check([request.question])

        def answer(each: ConvertRequest) -> ConvertAnswer:
            return ConvertAnswer.of_written(each.question, each.decomposition, pictures=each.pictures, width=each.width)

        return await self._in_time(self._slow.run(answer, [request]))

    async def next_steps(self, request: NextStepsRequest) -> Response:
        """The sub-questions that can be asked, what follows from the answers, and in the end the answer."""
        self._check([request.question])

        def answer(each: NextStepsRequest) -> NextStepsAnswer:
            return NextStepsAnswer.of(each.question, each.decomposition, each.answers)

        return await self._in_time(self._slow.run(answer, [request]))

    async def run(self, request: NextStepsRequest) -> Response:
        """Answer the steps that have no answer with the language model behind the service.

        The answer is a stream of server-sent events: `start` for a step that is asked, with its number and question;
        `step` for one that is done, with its outcome and its answer or the reason why it has none; at the end `answer`
        with the answer to the question, or an `error`.
        """
        self._check([request.question])
        if self.runs is None:
            raise RefusedError(
                422,
                "this service has no language model; start it with --fallback and an address, or use /next_steps",
            )
        return await self.runs.stream(request)

    async def score(self, request: ScoreRequest) -> Response:
        """A value for each metric, both normalised forms of LF-EM, and reasons if a side cannot be read."""
        pairs = _pairs(request)
        self._check([pair.question for pair in pairs], "pairs")
        seconds = min(_GED_SECONDS, self.settings.max_seconds / max(len(pairs), 1))
        metrics = choose_metrics(DEFAULT_METRICS if request.metrics is None else request.metrics)
        if not metrics:
            raise RefusedError(422, "metrics is empty; leave it out for the usual ones")
        functions: dict[Metric, MetricFunction] = {}

        def answer(pair: ScoredPair) -> ScoreAnswer:
            # Loading takes time, too.
            for metric in () if functions else metrics:
                functions[metric] = metric.load(seconds=seconds) if metric.name == "ged" else metric.load()
            return ScoreAnswer.of(pair, functions)

        many = None if request.pairs is None else ScoreAnswers.of
        return await self._in_time(self._slow.run(answer, pairs, many))

    async def _in_time(self, work: Awaitable[_T]) -> _T:
        seconds = self.settings.max_seconds
        try:
            return await asyncio.wait_for(work, seconds)
        except (TimeoutError, asyncio.TimeoutError):
            reason = f"there was no answer within {seconds:g} seconds; ask for less at a time"
            raise RefusedError(504, reason) from None

    def _check(self, questions: Sequence[str], what: str = "questions") -> None:
        """Refuse none, too many, and those that are too long."""
        if not questions:
            raise RefusedError(422, f"{what} is empty")
        if reason := above(self.settings.max_questions, len(questions), what):
            raise RefusedError(422, reason)
        for number, question in enumerate(questions, start=1):
            if reason := above(self.settings.max_question_length, len(question), "characters"):
                which = "the question" if len(questions) == 1 else f"question {number}"
                raise RefusedError(422, f"{which} is too long: {reason}")


def _pairs(request: ScoreRequest) -> list[ScoredPair]:
    question, prediction, gold = request.question, request.prediction, request.gold
    if request.pairs is not None and (question, prediction, gold) == (None, None, None):
        return request.pairs
    if request.pairs is not None or question is None or prediction is None or gold is None:
        raise RefusedError(422, "give either question, prediction and gold, or pairs, a list of objects with these")
    return [ScoredPair(question=question, prediction=prediction, gold=gold)]


class WorkThreads:
    """A few threads for one kind of work; a request that finds ``max_waiting`` others is refused."""

    def __init__(self, threads: int, max_waiting: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="qdecomp-work")
        self._max_waiting = max_waiting
        self._waiting = 0

    @property
    def is_full(self) -> bool:
        """Whether a job would be refused."""
        return self._waiting >= self._max_waiting

    async def run(
        self,
        answer: Callable[[_T], _AnswerT],
        items: Sequence[_T],
        many: Callable[[list[_AnswerT]], AnyAnswer] | None = None,
        *,
        is_accepted: bool = False,
    ) -> Response:
        """The answer to the one item or, with ``many``, to all; when the request is gone, no further item is begun.

        A request that was accepted before is not refused: its questions are already parsed.
        """
        if self.is_full and not is_accepted:
            raise busy()
        gone = threading.Event()

        def while_awaited() -> Iterator[_AnswerT]:
            for item in items:
                if gone.is_set():
                    raise asyncio.CancelledError
                yield answer(item)

        def work() -> bytes:
            answers = list(while_awaited())
            return (answers[0] if many is None else many(answers)).to_json()

        self._waiting += 1
        try:
            content = await asyncio.wrap_future(self._executor.submit(work))
            return Response(content, media_type="application/json")
        finally:
            gone.set()
            self._waiting -= 1

    def stop(self) -> None:
        """End the threads when their work is done."""
        self._executor.shutdown()


class MicroBatcher:
    """A thread that parses whatever is waiting, at most ``batch_size`` questions at a time.

    Nothing waits for more questions to arrive: while one batch is parsed, the next one gathers. A question whose
    request is gone (its client disconnected or its time is up) is not parsed. If a batch fails, as when the endpoint of
    a language model refuses one of its questions, each question is parsed alone, so many at a time as there are
    ``calls``, and an error is that of its question.
    """

    def __init__(
        self,
        parse_many: Callable[[Sequence[str]], Sequence[Decomposition]],
        batch_size: int = 32,
        max_waiting: int = 64,
        on_batch: Callable[[int], Any] = lambda size: None,
        calls: int = 1,
    ) -> None:
        self._parse_many = parse_many
        self._calls = calls
        self._batch_size = batch_size
        self._max_waiting = self._room = max_waiting
        self._on_batch = on_batch
        self._jobs: deque[tuple[str, asyncio.Future[Decomposition]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="qdecomp-parser")
        self._working: asyncio.Task[None] | None = None

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
        found: list[Decomposition | Exception]
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._outcomes, questions)
        except RuntimeError as error:  # the thread has been stopped
            found = [error] * len(batch)
        seconds = max(time.monotonic() - start, 0.001)
        # Half a batch may always wait: the first questions take longer than all others, and single ones than many.
        timely = max(int(_LONGEST_WAIT * len(batch) / seconds), self._batch_size // 2)
        self._room = min(timely, self._max_waiting)
        for (_, answer), outcome in zip(batch, found, strict=True):
            if answer.done():
                continue
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

    def _outcomes(self, questions: Sequence[str]) -> list[Decomposition | Exception]:
        """What is found for each question, or its error."""
        try:
            return list(self._parse_many(questions))
        except Exception as error:
            if len(questions) == 1:
                return [error]
        with ThreadPoolExecutor(self._calls) as executor:
            return [found for (found,) in executor.map(lambda question: self._outcomes([question]), questions)]
