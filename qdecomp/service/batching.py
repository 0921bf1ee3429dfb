"""Questions of concurrent requests, parsed together in one thread."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from qdecomp.parsers.decomposition import Decomposition
from qdecomp.service.refused_requests import busy

__all__ = ["MicroBatcher"]

ParseMany = Callable[[Sequence[str]], Sequence[Decomposition]]


@dataclass(frozen=True, slots=True)
class _Job:
    question: str
    answer: Future[Decomposition] = field(default_factory=Future)


class MicroBatcher:
    """A thread that parses whatever is waiting, at most ``batch_size`` questions at a time.

    Nothing waits for more questions to arrive: while one batch is parsed, the next one gathers. A question whose
    request is gone (its client disconnected or its time is up) is not parsed.
    """

    def __init__(
        self,
        parse_many: ParseMany,
        *,
        batch_size: int = 32,
        max_waiting: int = 256,
        on_batch: Callable[[int], None] = lambda size: None,
    ) -> None:
        self._parse_many = parse_many
        self._batch_size = batch_size
        self._max_waiting = max_waiting
        self._on_batch = on_batch
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="qdecomp-parser", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Parse what is waiting, then end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether questions can be answered."""
        return self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """How many questions are waiting."""
        return len(self._jobs)

    async def parse(self, questions: Sequence[str]) -> list[Decomposition]:
        """The decomposition of each question; too many questions are refused."""
        jobs = [_Job(question) for question in questions]
        with self._changed:
            # A request that is larger than the limit is accepted if nothing else is waiting.
            if self._jobs and len(self._jobs) + len(jobs) > self._max_waiting:
                raise busy()
            self._jobs.extend(jobs)
            self._changed.notify()
        try:
            return list(await asyncio.gather(*(asyncio.wrap_future(job.answer) for job in jobs)))
        except BaseException:
            for job in jobs:
                job.answer.cancel()
            raise

    def _work(self) -> None:
        while batch := self._next_batch():
            jobs = [job for job in batch if job.answer.set_running_or_notify_cancel()]
            if jobs:
                self._on_batch(len(jobs))
                self._answer(jobs)

    def _next_batch(self) -> list[_Job]:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._stopping)
            return [self._jobs.popleft() for _ in range(min(self._batch_size, len(self._jobs)))]

    def _answer(self, jobs: Sequence[_Job]) -> None:
        try:
            found = self._parse_many([job.question for job in jobs])
            for job, decomposition in zip(jobs, found, strict=True):
                job.answer.set_result(decomposition)
        except Exception as error:
            for job in jobs:
                if not job.answer.done():
                    job.answer.set_exception(error)
