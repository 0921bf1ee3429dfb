"""Running a plan: what is asked when, what is computed, and the trace of both.

:class:`_Progress` knows which steps are due and what became of the others; :func:`run_plan` asks in the caller's
thread or in several, :func:`astream_plan` in tasks of an event loop.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.operators import TextEnum
from qdecomp.planning.answer_values import answer_from_json, answer_to_json, as_text, plain_answer
from qdecomp.planning.combining import Known, MustAskError, combine
from qdecomp.planning.sub_questions import SubQuestion

if TYPE_CHECKING:
    from qdecomp.planning.plan import Plan, PlanStep

_LONGEST_ANSWER_SHOWN = 300


class Outcome(TextEnum):
    """How a step got its answer, or why it has none."""

    GIVEN = "given"
    ASKED = "asked"
    CACHED = "cached"
    COMBINED = "combined"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class StepStart:
    """A step whose question is being asked."""

    number: int
    question: SubQuestion


@dataclass(frozen=True, slots=True)
class StepRun:
    """What became of a step; times are seconds, ``started`` counts from the start of the run."""

    number: int
    question: SubQuestion
    outcome: Outcome
    answer: Any = None
    error: Exception | None = field(default=None, compare=False)
    """What was raised; a run that was read from a record has only the reason."""
    reason: str | None = None
    """Why there is no answer, in words."""
    attempts: int = 0
    """How often the function was called for this step."""
    started: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        result = self.reason if self.reason is not None else as_text(self.answer)
        return f"{self.number}. {self.question} → {result} ({self.outcome}, {self.seconds:.2f} s)"

    def to_dict(self) -> dict[str, Any]:
        """The step for ``json.dumps``."""
        return {
            "number": self.number,
            "question": str(self.question),
            "outcome": str(self.outcome),
            "answer": answer_to_json(self.answer),
            "reason": self.reason,
            "attempts": self.attempts,
            "started": self.started,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class PlanRun:
    """The trace of a run, step by step in the order of the decomposition. It is truthy if the question is answered."""

    plan: Plan
    steps: tuple[StepRun, ...]
    seconds: float

    def __bool__(self) -> bool:
        return self._last.reason is None

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))

    @property
    def final(self) -> int:
        """The number of the step whose answer is the question's."""
        return self.plan.final.number

    @property
    def _last(self) -> StepRun:
        return next(step for step in self.steps if step.number == self.final)

    @property
    def answer(self) -> Any:
        """The answer to the question; None if there is none, and ``error`` says why."""
        return self._last.answer

    @property
    def error(self) -> str | None:
        """Why there is no answer: the first step that failed."""
        failed = (step.reason for step in self.steps if step.outcome is Outcome.FAILED)
        return None if self else next(failed, None)

    @property
    def answers(self) -> dict[int, Any]:
        """The answers of the steps that have one, by number; ``plan.run(answer, answers=…)`` goes on from them."""
        return {step.number: step.answer for step in self.steps if step.reason is None}

    @property
    def calls(self) -> int:
        """How often the function was called."""
        return sum(step.attempts for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """The plan and the trace for ``json.dumps``; errors are their texts."""
        return {"plan": self.plan.to_dict(), "steps": [step.to_dict() for step in self.steps], "seconds": self.seconds}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> PlanRun:
        """What :meth:`to_dict` was called on."""
        from qdecomp.planning.plan import Plan

        try:
            plan = Plan.from_dict(record["plan"])
            numbered = {step.number: step for step in plan.steps}
            answers = {row["number"]: answer_from_json(row["answer"]) for row in record["steps"]}
            steps = []
            for row in record["steps"]:
                step = numbered[row["number"]]
                question = SubQuestion(row["question"], step, {number: answers[number] for number in step.needs})
                known = {"question": question, "outcome": Outcome(row["outcome"]), "answer": answers[step.number]}
                steps.append(StepRun(**(row | known)))
            return cls(plan, tuple(steps), record["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not the record of a run: {type(error).__name__}: {error}") from None

    def _repr_html_(self) -> str:
        from qdecomp.visualization import table_html

        shown = ((step, step.reason or as_text(step.answer)[:_LONGEST_ANSWER_SHOWN]) for step in self.steps)
        rows = (
            (str(step.number), str(step.question), text, str(step.outcome), f"{step.seconds:.2f}")
            for step, text in shown
        )
        return table_html(("step", "question", "answer", "", "seconds"), rows)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a plan is run; see :meth:`Plan.run`."""

    concurrency: int = 4
    combine: bool = True
    answers: Mapping[int, Any] | None = None
    timeout: float | None = None
    retries: int = 0
    pause: float = 1.0
    cache: MutableMapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise DataError(f"concurrency is {self.concurrency}; give 1 or more")
        if self.timeout is not None and not self.timeout > 0:
            raise DataError(f"timeout is {self.timeout}; give seconds, or None for no limit")
        if self.retries < 0 or self.pause < 0:
            raise DataError(f"retries and pause are {self.retries} and {self.pause}; give 0 or more")


class _Progress:
    """The steps that are done and those that are not, while a plan runs."""

    def __init__(self, plan: Plan, options: RunOptions) -> None:
        self.plan, self.options = plan, options
        self.steps = {step.number: step for step in plan.steps}
        given = options.answers or {}
        if unknown := [number for number in given if number not in self.steps]:
            raise DataError(f"answers has {unknown[0]!r}; the steps are 1 to {len(self.steps)}")
        self.given = {number: plain_answer(given[number], f"the given answer of step {number}") for number in given}
        self.waiting = dict(self.steps)
        self.to_ask: deque[SubQuestion] = deque()
        self.asking = 0
        self.done: dict[int, StepRun] = {}
        self.answers: dict[int, Any] = {}
        self.start = time.perf_counter()

    def due(self) -> Iterator[StepRun | StepStart]:
        """What happens without waiting: the steps that need not be asked, and those whose question can be asked now."""
        while ready := [step for step in self.waiting.values() if all(number in self.done for number in step.needs)]:
            for step in ready:
                del self.waiting[step.number]
                question = step.question(self.answers)
                if (settled := self._settled(step, question)) is None:
                    self.to_ask.append(question)
                else:
                    yield self.settle(settled)
        while self.to_ask and self.asking < self.options.concurrency:
            question = self.to_ask.popleft()
            self.asking += 1
            yield StepStart(question.step.number, question)

    def _settled(self, step: PlanStep, question: SubQuestion) -> StepRun | None:
        started = time.perf_counter()
        if step.number in self.given:
            return self._step(question, Outcome.GIVEN, started, answer=self.given[step.number])
        if missing := [number for number in step.needs if number not in self.answers]:
            reason = f"step {step.number} needs the answer of step {missing[0]}, which has none"
            return self._step(question, Outcome.NOT_RUN, started, reason=reason)
        if self.options.combine:
            try:
                answer = combine(step, Known(self.steps, self.answers))
                return self._step(question, Outcome.COMBINED, started, answer=answer)
            except MustAskError:
                pass
            except Exception as error:  # an odd answer costs its step, not the run
                return self.failed(question, error, started, 0)
        cache = self.options.cache
        if cache is not None and str(question) in cache:
            known = plain_answer(cache[str(question)], f"the cached answer of step {step.number}")
            return self._step(question, Outcome.CACHED, started, answer=known)
        return None

    def _step(self, question: SubQuestion, outcome: Outcome, started: float, **fields: Any) -> StepRun:
        number, seconds = question.step.number, time.perf_counter() - started
        return StepRun(number, question, outcome, started=started - self.start, seconds=seconds, **fields)

    def asked(self, question: SubQuestion, answer: Any, started: float, attempts: int) -> StepRun:
        return self._step(question, Outcome.ASKED, started, answer=plain_answer(answer), attempts=attempts)

    def failed(self, question: SubQuestion, error: Exception, started: float, attempts: int) -> StepRun:
        prefix = f"step {question.step.number}"
        said = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        reason = said if said.startswith(prefix) else f"{prefix}: {said}"
        return self._step(question, Outcome.FAILED, started, error=error, reason=reason, attempts=attempts)

    def settle(self, run: StepRun | DataError) -> StepRun:
        """Record a step that is done, or raise what is wrong with the function."""
        if isinstance(run, DataError):
            raise run
        self.done[run.number] = run
        if run.reason is None:
            self.answers[run.number] = run.answer
        if run.attempts:
            self.asking -= 1
        if run.outcome is Outcome.ASKED and self.options.cache is not None:
            self.options.cache[str(run.question)] = run.answer
        return run

    def result(self) -> PlanRun:
        steps = tuple(self.done[number] for number in sorted(self.done))
        return PlanRun(self.plan, steps, time.perf_counter() - self.start)


def run_plan(plan: Plan, answer: Callable[[SubQuestion], Any], options: RunOptions) -> PlanRun:
    """Answer a plan in this thread or in several; see :meth:`Plan.run`."""
    progress = _Progress(plan, options)

    def ask(question: SubQuestion) -> StepRun | DataError:
        started = time.perf_counter()
        for attempt in range(1, options.retries + 2):
            try:
                given = _within(options.timeout, lambda: answer(question))
                if inspect.isawaitable(given):
                    # Otherwise, a coroutine that is not awaited causes a warning.
                    getattr(given, "close", lambda: None)()
                    return DataError("the answer function is async; use `await plan.arun(answer)`")
                return progress.asked(question, given, started, attempt)
            except Exception as error:  # whatever the user's function raises belongs to the step
                failed = progress.failed(question, error, started, attempt)
            if attempt <= options.retries:
                time.sleep(options.pause * 2 ** (attempt - 1))
        return failed

    if options.concurrency == 1:
        while due := next((event for event in progress.due() if isinstance(event, StepStart)), None):
            progress.settle(ask(due.question))
        return progress.result()
    with ThreadPoolExecutor(options.concurrency, thread_name_prefix="qdecomp-plan") as pool:
        running: set[Future[StepRun | DataError]] = set()
        try:
            while True:
                questions = [event.question for event in progress.due() if isinstance(event, StepStart)]
                running |= {pool.submit(copy_context().run, ask, question) for question in questions}
                if not running:
                    return progress.result()
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    progress.settle(future.result())
        finally:
            for future in running:
                future.cancel()


def _within(timeout: float | None, call: Callable[[], Any]) -> Any:
    """What a function returns if it does so in time; otherwise its thread is left to itself."""
    if timeout is None:
        return call()
    result: Future[Any] = Future()

    def work() -> None:
        try:
            result.set_result(call())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=copy_context().run, args=(work,), daemon=True, name="qdecomp-answer").start()
    if not wait([result], timeout).done:
        raise TimeoutError(f"no answer within {timeout:g} s")
    return result.result()


async def astream_plan(
    plan: Plan, answer: Callable[[SubQuestion], Awaitable[Any]], options: RunOptions
) -> AsyncGenerator[StepStart | StepRun | PlanRun, None]:
    """Answer a plan with tasks of the running event loop; see :meth:`Plan.astream`."""
    progress = _Progress(plan, options)

    async def ask(question: SubQuestion) -> StepRun | DataError:
        started = time.perf_counter()
        for attempt in range(1, options.retries + 2):
            try:
                given = answer(question)
                if not inspect.isawaitable(given):
                    return DataError("the answer function is not async; use `plan.run(answer)`")
                return progress.asked(question, await _awaited(given, options.timeout), started, attempt)
            except Exception as error:  # whatever the user's function raises belongs to the step
                failed = progress.failed(question, error, started, attempt)
            if attempt <= options.retries:
                await asyncio.sleep(options.pause * 2 ** (attempt - 1))
        return failed

    running: set[asyncio.Task[StepRun | DataError]] = set()
    try:
        while True:
            for event in progress.due():
                if isinstance(event, StepStart):
                    running.add(asyncio.create_task(ask(event.question)))
                yield event
            if not running:
                break
            finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for run in [task.result() for task in finished]:
                yield progress.settle(run)
        yield progress.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _awaited(given: Awaitable[Any], timeout: float | None) -> Any:
    """What is awaited if it is there in time; otherwise it is cancelled."""
    if timeout is None:
        return await given
    task = asyncio.ensure_future(given)
    # An error after the time limit has nobody left to be told.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait({task}, timeout=timeout)
        if not task.done():
            raise TimeoutError(f"no answer within {timeout:g} s")
        return task.result()
    finally:
        task.cancel()
