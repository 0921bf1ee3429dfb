from __future__ import annotations

import asyncio
import gc
import json
import random
import re
import sqlite3
import threading
from collections import Counter
from contextlib import aclosing, closing
from datetime import date
from typing import Any
from zlib import crc32

import pytest

from qdecomp import Decomposition, SubQuestion
from qdecomp.data_structures.errors import DataError
from qdecomp.planning.plan import Calls, Plan
from qdecomp.planning.running import Outcome, PlanRun, StepStart

DIAMOND = "return a ;return b of #1 ;return c of #1 ;return d ;return #2 that are like #3 ;return number of #5"


@pytest.fixture
def plan() -> Plan:
    return Decomposition.of_text("q", DIAMOND).plan()


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def echo(question: SubQuestion) -> list[str]:
    return [str(question)]


def test_the_number_of_calls_and_the_answer_follow_from_the_plan(plan: Plan) -> None:
    assert plan.calls == Calls(expected=5, most=6)
    assert plan.run(echo).calls == 5
    assert plan.run(echo, combine=False).calls == 6
    last_first = Decomposition.of_text("q", "return number of #2 ;return cubes").plan().run(lambda question: ["x", "y"])
    assert (last_first.final, last_first.answer) == (1, 2)


def test_steps_get_the_answers_that_they_need(plan: Plan) -> None:
    run = plan.run(lambda question: f"<{question.step.number}>", concurrency=1)
    assert re.match(r"1\. a → <1> \(asked, \d+\.\d\d s\)", str(run))
    assert run.seconds >= sum(step.seconds for step in run.steps)
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


def test_with_a_concurrency_of_one_all_calls_are_in_the_callers_thread(plan: Plan) -> None:
    # SQLite refuses a connection of another thread.
    with closing(sqlite3.connect(":memory:")) as connection:
        run = plan.run(lambda question: connection.execute("select ?", (question,)).fetchone()[0], concurrency=1)
    assert run, run.error


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


def test_the_wrong_kind_of_function_is_told_without_another_message(
    plan: Plan, caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    async def asynchronous(question: SubQuestion) -> str:
        return "x"

    with pytest.raises(DataError, match=r"use `await plan\.arun"):
        plan.run(asynchronous)
    with pytest.raises(DataError, match=r"use `plan\.run"):
        asyncio.run(plan.arun(echo))  # type: ignore[arg-type]
    gc.collect()
    assert not [each for each in caplog.records if each.name == "asyncio"]
    assert not [each for each in recwarn if "never" in str(each.message)]


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"timeout": 0}, {"retries": -1}, {"pause": -1}])
def test_options_out_of_range_are_refused(plan: Plan, options: Any) -> None:
    with pytest.raises(DataError, match="give"):
        plan.run(echo, **options)


def test_known_answers_are_not_asked_again(plan: Plan) -> None:
    def offline(question: SubQuestion) -> list[str]:
        if question.step.number in (2, 4):
            raise ConnectionError
        return echo(question)

    broken = plan.run(offline)
    run = plan.run(echo, answers=broken.answers)
    assert run.answers == plan.run(echo).answers
    assert [str(step.outcome) for step in run.steps] == ["given", "asked", "given", "asked", "asked", "combined"]
    assert run.calls == 3


@pytest.mark.parametrize(
    ("answers", "reason"),
    [({9: "x"}, "answers has 9; the steps are 1 to 6"), ({1: None}, "given answer of step 1 is None")],
)
def test_answers_that_are_given_are_checked(plan: Plan, answers: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        plan.run(echo, answers=answers)


def test_an_error_is_tried_again(plan: Plan) -> None:
    asked: Counter[int] = Counter()

    def flaky(question: SubQuestion) -> Any:
        asked[question.step.number] += 1
        if asked[question.step.number] < 3:
            raise ConnectionError("busy")
        return ["x"]

    assert plan.run(flaky, retries=1, pause=0).error == "step 1: ConnectionError: busy"
    asked.clear()
    run = plan.run(flaky, retries=2, pause=0)
    assert run.answer == 1
    assert [step.attempts for step in run.steps] == [3, 3, 3, 3, 3, 0]
    assert run.calls == sum(asked.values()) == 15


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_step_has_a_time_limit(plan: Plan, concurrency: int) -> None:
    free, is_next_asked = threading.Event(), threading.Event()

    def hang(question: SubQuestion) -> str:
        if question.step.number == 2:
            free.wait()
        is_next_asked.set()
        return "x"

    # Of the third step, a busy machine may not have the answer in time.
    run = plan.run(hang, timeout=0.2, concurrency=concurrency, answers={1: "x", 4: "x"})
    assert is_next_asked.wait(60)
    free.set()
    assert run.error == "step 2: TimeoutError: no answer within 0.2 s"
    assert {1, 4} <= set(run.answers)

    async def ahang(question: SubQuestion) -> str:
        if question.step.number == 2:
            await asyncio.Event().wait()
        return "x"

    assert asyncio.run(plan.arun(ahang, timeout=0.01)).error == "step 2: TimeoutError: no answer within 0.01 s"


def test_a_cache_keeps_answers_between_runs(plan: Plan) -> None:
    cache: dict[str, Any] = {}
    first = plan.run(echo, cache=cache)
    again = plan.run(echo, cache=cache)
    assert again.answers == first.answers
    assert (first.calls, again.calls) == (5, 0)
    assert str(again.steps[1].outcome) == "cached"
    assert cache["What is the b of a?"] == ["What is the b of a?"]


def test_events_come_as_steps_start_and_finish(plan: Plan) -> None:
    async def main() -> list[Any]:
        async def answer(question: SubQuestion) -> list[str]:
            return ["x"]

        return [event async for event in plan.astream(answer, concurrency=1, answers={4: "d"})]

    *events, run = asyncio.run(main())
    shown = [(event.number, "start" if isinstance(event, StepStart) else str(event.outcome)) for event in events]
    assert shown == [
        (4, "given"),
        *((number, what) for number in (1, 2, 3, 5) for what in ("start", "asked")),
        (6, "combined"),
    ]
    assert isinstance(run, PlanRun)
    assert run.answer == 1


def test_a_stream_that_is_left_stops_what_it_asked(plan: Plan) -> None:
    async def main() -> int:
        async def never(question: SubQuestion) -> str:
            await asyncio.Event().wait()
            return "never"

        async with aclosing(plan.astream(never)) as events:
            async for event in events:
                assert isinstance(event, StepStart)
                break
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize(
    "answer", [echo, lambda question: {"a", "b"}, lambda question: {"x": date(2024, 3, 1)}, lambda question: None]
)
def test_plans_and_runs_come_back_from_json(plan: Plan, answer: Any) -> None:
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    run = plan.run(answer)
    again = PlanRun.from_dict(json.loads(json.dumps(run.to_dict())))
    assert again == run
    assert again.answers == run.answers
    assert again.error == run.error


@pytest.mark.parametrize("record", [{}, {"plan": {}}, {"plan": None, "steps": [], "seconds": 0}])
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(DataError, match="not the record of a"):
        PlanRun.from_dict(record)


MANY = [
    DIAMOND,
    "return animals ;return size of #1 ;return #1 where #2 is highest ;return keeper of #3",
    "return a ;return b ;return price of #1 ;return price of #2 ;return the sum of #3 and #4",
    "return a ;return #1 in b ;return size of #2 ;return #2 where #3 is more than 4 ;return number of #4",
    "return a ;return b ;return size of #1 ;return size of #2 ;return which is highest of #3 , #4",
]


def true_answer(question: SubQuestion) -> Any:
    """An answer that depends on the question alone."""
    number = crc32(question.encode()) % 9
    if "size" in question or "price" in question:
        members = next(iter(question.answers.values()))
        sizes = [crc32(str(member).encode()) % 9 for member in members] if isinstance(members, list) else number
        return sizes if "size" in question else f"${number}.50"
    return [f"{question.step.text}{n}" for n in range(1 + number % 3)]


@pytest.mark.slow
def test_failures_time_outs_and_resumes_change_no_answer() -> None:
    """Of 1,000 runs with random failures, each is resumed until it is done, partly after a journey as JSON."""
    chance = random.Random(0)

    async def flaky(question: SubQuestion) -> Any:
        if chance.random() < 0.25:
            raise ConnectionError
        if chance.random() < 0.1:
            await asyncio.Event().wait()
        return None if chance.random() < 0.05 else true_answer(question)

    async def one(plan: Plan) -> tuple[PlanRun, int]:
        resumes = 0
        run = await plan.arun(flaky, timeout=0.002, retries=1, pause=0)
        while not run or len(run.answers) < len(plan.steps):
            resumes += 1
            if resumes % 2:
                run = PlanRun.from_dict(json.loads(json.dumps(run.to_dict())))
            run = await plan.arun(flaky, timeout=0.002, retries=1, pause=0, answers=run.answers)
        return run, resumes

    async def main() -> int:
        plans = [Decomposition.of_text("q", text).plan() for text in MANY]
        expected = [plan.run(true_answer, concurrency=1).answers for plan in plans]
        done = [await one(plans[n % len(plans)]) for n in range(1000)]
        assert [run.answers for run, _ in done] == [expected[n % len(plans)] for n in range(1000)]
        return sum(resumes for _, resumes in done)

    assert asyncio.run(main()) > 300


def test_notebooks_show_plans_and_runs(plan: Plan) -> None:
    assert "What is the b of #1?" in plan._repr_html_()
    html = plan.run(lambda question: "<b>bold</b>")._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>" not in html
