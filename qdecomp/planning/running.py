"""Running a plan: what is asked when, what is computed, and the trace of both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.operators import TextEnum
from qdecomp.planning.answer_values import as_text
from qdecomp.planning.combining import Known, MustAskError, combine
from qdecomp.planning.sub_questions import SubQuestion

if TYPE_CHECKING:
    from qdecomp.planning.plan import Plan, PlanStep


_LONGEST_ANSWER_SHOWN = 300


class Outcome(TextEnum):
    """How a step got its answer, or why it has none."""

    ASKED = "asked"
    COMBINED = "combined"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class StepRun:
    """What became of a step; times are seconds, ``started`` counts from the start of the run."""

    number: int
    question: SubQuestion
    outcome: Outcome
    answer: Any = None
    error: Exception | None = None
    reason: str | None = None
    """Why there is no answer, in words."""
    was_asked: bool = False
    """Whether the function was called for this step."""
    started: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        result = self.reason if self.reason is not None else as_text(self.answer)
        return f"{self.number}. {self.question} → {result} ({self.outcome}, {self.seconds:.2f} s)"


@dataclass(frozen=True, slots=True)
class PlanRun:
    """The trace of a run, step by step in the order of the decomposition. It is truthy if the question is answered."""

    steps: tuple[StepRun, ...]
    final: int
    """The number of the step whose answer is the question's."""
    seconds: float

    def __bool__(self) -> bool:
        return self._last.reason is None

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))

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
        failed = [step for step in self.steps if step.outcome is Outcome.FAILED]
        return None if self or not failed else failed[0].reason

    @property
    def answers(self) -> dict[int, Any]:
        """The answers of the steps that have one, by number."""
        return {step.number: step.answer for step in self.steps if step.reason is None}

    @property
    def calls(self) -> int:
        """How often the function was called."""
        return sum(step.was_asked for step in self.steps)

    def _repr_html_(self) -> str:
        from qdecomp.visualization.fragment import table_html

        rows = (
            (
                str(step.number),
                str(step.question),
                _shortened(as_text(step.answer)) if step.reason is None else step.reason,
                str(step.outcome),
                f"{step.seconds:.2f}",
            )
            for step in self.steps
        )
        return table_html(("step", "question", "answer", "", "seconds"), rows)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ANSWER_SHOWN else f"{text[: _LONGEST_ANSWER_SHOWN - 1]}…"


class _Progress:
    """The steps that are done and those that are not, while a plan runs."""

    def __init__(self, plan: Plan, concurrency: int, combined: bool) -> None:
        if concurrency < 1:
            raise DataError(f"concurrency is {concurrency}; give 1 or more")
        self.steps = {step.number: step for level in plan for step in level}
        self.final = plan.final.number
        self.combined = combined
        self.waiting = dict(self.steps)
        self.done: dict[int, StepRun] = {}
        self.answers: dict[int, Any] = {}
        self.start = perf_counter()

    def to_ask(self) -> Iterator[SubQuestion]:
        """Compute what need not be asked, and give the questions that can be asked now, each once."""
        found = True
        while found:
            ready = [step for step in self.waiting.values() if all(number in self.done for number in step.needs)]
            found = False
            for step in ready:
                del self.waiting[step.number]
                question = step.question(self.answers)
                settled = self._settled(step, question)
                if settled is None:
                    yield question
                else:
                    self.settle(settled)
                    found = True

    def _settled(self, step: PlanStep, question: SubQuestion) -> StepRun | None:
        missing = [number for number in step.needs if number not in self.answers]
        started = perf_counter()
        if missing:
            reason = f"step {step.number} needs the answer of step {missing[0]}, which has none"
            return StepRun(step.number, question, Outcome.NOT_RUN, reason=reason, started=started - self.start)
        if not self.combined:
            return None
        try:
            answer = combine(step, Known(self.steps, self.answers))
        except MustAskError:
            return None
        except Exception as error:  # an odd answer costs its step, not the run
            return self.failed(question, error, started, was_asked=False)
        return self._finished(question, Outcome.COMBINED, answer, started)

    def asked(self, question: SubQuestion, answer: Any, started: float) -> StepRun:
        """The step with what the function returned."""
        if answer is None:
            error = DataError(
                f"step {question.step.number} was answered with None; return an empty list if there is nothing"
            )
            return self.failed(question, error, started)
        return self._finished(question, Outcome.ASKED, answer, started)

    def _finished(self, question: SubQuestion, outcome: Outcome, answer: Any, started: float) -> StepRun:
        return StepRun(
            question.step.number,
            question,
            outcome,
            answer,
            was_asked=outcome is Outcome.ASKED,
            started=started - self.start,
            seconds=perf_counter() - started,
        )

    def failed(self, question: SubQuestion, error: Exception, started: float, *, was_asked: bool = True) -> StepRun:
        """The step with the error that happened there."""
        said = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        prefix = f"step {question.step.number}"
        return StepRun(
            question.step.number,
            question,
            Outcome.FAILED,
            error=error,
            reason=said if said.startswith(prefix) else f"{prefix}: {said}",
            was_asked=was_asked,
            started=started - self.start,
            seconds=perf_counter() - started,
        )

    def settle(self, run: StepRun) -> None:
        """Record a step that is done."""
        self.done[run.number] = run
        if run.reason is None:
            self.answers[run.number] = run.answer

    def result(self) -> PlanRun:
        """The trace of the whole run."""
        return PlanRun(
            tuple(self.done[number] for number in sorted(self.done)), self.final, perf_counter() - self.start
        )


def run_plan(plan: Plan, answer: Callable[[SubQuestion], Any], concurrency: int, combined: bool) -> PlanRun:
    """Answer a plan with threads; see :meth:`Plan.run`."""
    progress = _Progress(plan, concurrency, combined)

    def ask(question: SubQuestion) -> StepRun:
        started = perf_counter()
        try:
            given = answer(question)
        except Exception as error:  # whatever the user's function raises belongs to the step
            return progress.failed(question, error, started)
        if inspect.isawaitable(given):
            _close(given)
            raise DataError("the answer function is async; use `await plan.arun(answer)`")
        return progress.asked(question, given, started)

    with ThreadPoolExecutor(concurrency, thread_name_prefix="qdecomp-plan") as pool:
        running: set[Future[StepRun]] = set()
        try:
            while True:
                running |= {pool.submit(ask, question) for question in progress.to_ask()}
                if not running:
                    return progress.result()
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    progress.settle(future.result())
        finally:
            for future in running:
                future.cancel()


async def arun_plan(
    plan: Plan, answer: Callable[[SubQuestion], Awaitable[Any]], concurrency: int, combined: bool
) -> PlanRun:
    """Answer a plan with tasks of the running event loop; see :meth:`Plan.arun`."""
    progress = _Progress(plan, concurrency, combined)
    places = asyncio.Semaphore(concurrency)

    async def ask(question: SubQuestion) -> StepRun:
        async with places:
            started = perf_counter()
            try:
                given = answer(question)
                if inspect.isawaitable(given):
                    return progress.asked(question, await given, started)
            except Exception as error:  # whatever the user's function raises belongs to the step
                return progress.failed(question, error, started)
        raise DataError("the answer function is not async; use `plan.run(answer)`")

    running: set[asyncio.Task[StepRun]] = set()
    try:
        while True:
            running |= {asyncio.create_task(ask(question)) for question in progress.to_ask()}
            if not running:
                return progress.result()
            finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                progress.settle(task.result())
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _close(given: Any) -> None:
    """Otherwise, coroutines that are not awaited cause warnings."""
    close: Callable[[], None] | None = getattr(given, "close", None)
    if close is not None:
        close()
