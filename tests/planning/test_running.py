from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from qdecomp import Decomposition, SubQuestion
from qdecomp.data_structures.errors import DataError
from qdecomp.planning.plan import Calls, Plan
from qdecomp.planning.running import Outcome

DIAMOND = "return a ;return b of #1 ;return c of #1 ;return d ;return #2 that are like #3 ;return number of #5"


@pytest.fixture
def plan() -> Plan:
    return Decomposition.of_text("q", DIAMOND).plan()


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def echo(question: SubQuestion) -> list[str]:
    return [str(question)]


def test_the_number_of_calls_is_known_beforehand(plan: Plan) -> None:
    assert plan.calls == Calls(expected=5, most=6)
    assert plan.run(echo).calls == 5
    assert plan.run(echo, combine=False).calls == 6


def test_steps_get_the_answers_that_they_need(plan: Plan) -> None:
    run = plan.run(lambda question: f"<{question.step.number}>")
    assert run.steps[1].question == "What is the b of <1>?"
    assert run.steps[4].question.answers == {2: "<2>", 3: "<3>"}
    assert [step.number for step in run.steps] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "odd",
    [["9" * 5000], [10**5000], "9" * 5000, [float("inf"), 1], [{}, []], [Unprintable()], {"a": Unprintable()}, [b"1"]],
    ids=["digits in a list", "integer", "digits", "infinity", "empty", "object", "mapping", "bytes"],
)
def test_an_odd_answer_costs_its_step_and_not_the_run(odd: Any) -> None:
    plan = Decomposition.of_text("q", "return ages ;return sum of #1 ;return dogs ;return if #2 is more than #3").plan()
    run = plan.run(lambda question: odd if question.step.number == 1 else 3)
    assert [step.number for step in run.steps] == [1, 2, 3, 4]
    assert run.steps[2].answer == 3
    assert all(map(str, run.steps))
    assert "<table" in run._repr_html_()


def test_steps_of_one_level_are_asked_at_the_same_time(plan: Plan) -> None:
    together = threading.Barrier(2, timeout=30)

    def answer(question: SubQuestion) -> str:
        if question.step.number in (2, 3):
            together.wait()
        return "x"

    assert plan.run(answer, concurrency=4)


def test_with_a_concurrency_of_one_nothing_overlaps(plan: Plan) -> None:
    lock = threading.Lock()

    def answer(question: SubQuestion) -> str:
        assert lock.acquire(blocking=False)
        lock.release()
        return "x"

    assert plan.run(answer, concurrency=1)


def test_an_error_stays_where_it_happened(plan: Plan) -> None:
    def answer(question: SubQuestion) -> str:
        if question.step.number == 2:
            raise TimeoutError("too slow")
        return "x"

    run = plan.run(answer)
    outcomes = [step.outcome for step in run.steps]
    assert outcomes == [Outcome.ASKED, Outcome.FAILED, Outcome.ASKED, Outcome.ASKED, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert not run
    assert run.answer is None
    assert run.error == "step 2: TimeoutError: too slow"
    assert isinstance(run.steps[1].error, TimeoutError)
    assert run.steps[4].reason == "step 5 needs the answer of step 2, which has none"
    assert set(run.answers) == {1, 3, 4}
    assert run.calls == 4


def test_none_is_no_answer(plan: Plan) -> None:
    run = plan.run(lambda question: None)
    assert run.error == "step 1 was answered with None; return an empty list if there is nothing"


def test_the_trace_has_times_and_prints_in_lines(plan: Plan) -> None:
    run = plan.run(echo, concurrency=1)
    assert all(step.seconds >= 0 and step.started >= 0 for step in run.steps)
    assert run.seconds >= sum(step.seconds for step in run.steps)
    lines = str(run).splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("1. a → a (asked, 0.")


def test_the_answer_is_that_of_the_step_that_no_other_needs() -> None:
    run = Decomposition.of_text("q", "return number of #2 ;return cubes").plan().run(lambda question: ["x", "y"])
    assert run.final == 1
    assert run.answer == 2


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_concurrency_below_one_is_refused(plan: Plan, concurrency: int) -> None:
    with pytest.raises(DataError, match="give 1 or more"):
        plan.run(echo, concurrency=concurrency)


def test_an_async_function_runs_side_by_side(plan: Plan) -> None:
    async def main() -> tuple[Any, int]:
        inside = most = 0

        async def answer(question: SubQuestion) -> list[str]:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            return ["x"]

        run = await plan.arun(answer, concurrency=2)
        return run, most

    run, most = asyncio.run(main())
    assert run.answer == 1
    assert run.calls == 5
    assert most == 2


def test_errors_of_async_functions_stay_where_they_happened(plan: Plan) -> None:
    async def answer(question: SubQuestion) -> str:
        raise ValueError("no")

    run = asyncio.run(plan.arun(answer))
    assert run.error == "step 1: ValueError: no"
    assert run.steps[3].outcome is Outcome.FAILED


def test_a_cancelled_run_leaves_nothing_behind(plan: Plan) -> None:
    cancelled: list[int] = []

    async def main() -> int:
        started = asyncio.Event()

        async def answer(question: SubQuestion) -> str:
            if question.step.number == 4:
                started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(question.step.number)
                raise
            return "never"

        task = asyncio.create_task(plan.arun(answer))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1
    assert 4 in cancelled


def test_the_wrong_kind_of_function_is_told(plan: Plan) -> None:
    async def asynchronous(question: SubQuestion) -> str:
        return "x"

    with pytest.raises(DataError, match=r"use `await plan\.arun"):
        plan.run(asynchronous)
    with pytest.raises(DataError, match=r"use `plan\.run"):
        asyncio.run(plan.arun(echo))  # type: ignore[arg-type]


def test_notebooks_show_plans_and_runs(plan: Plan) -> None:
    assert "What is the b of #1?" in plan._repr_html_()
    html = plan.run(lambda question: "<b>bold</b>")._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>" not in html
