from __future__ import annotations

import asyncio
import gc
import json
import random
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing, closing
from datetime import date
from typing import Any
from zlib import crc32

import pytest

from qdecomp import Decomposition, SubQuestion
from qdecomp.data_structures.errors import DataError
from qdecomp.planning.plan import Calls, Plan
from qdecomp.planning.running import Outcome, PlanRun, StepStart
from tests.plans import plan_of

PLAN = plan_of("a; b of #1; c of #1; d; #2 that are like #3; number of #5")


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def echo(question: SubQuestion) -> list[str]:
    return [str(question)]


async def aecho(question: SubQuestion) -> list[str]:
    return echo(question)


def slow_at(*numbers: int) -> Callable[[SubQuestion], list[str]]:
    """Answers all steps but these."""

    def answer(question: SubQuestion) -> list[str]:
        if question.step.number in numbers:
            raise TimeoutError("too slow")
        return echo(question)

    return answer


def test_the_number_of_calls_and_the_answer_follow_from_the_plan() -> None:
    assert PLAN.calls == Calls(expected=5, most=6)
    assert PLAN.run(echo).calls == 5
    assert PLAN.run(echo, combine=False).calls == 6
    last_first = plan_of("number of #2; cubes").run(lambda question: ["x", "y"])
    assert (last_first.final, last_first.answer) == (1, 2)


def test_a_number_with_commas_is_one_number() -> None:
    asked = "Which islands have more than 1,000,000 inhabitants?"
    steps = "return islands ;return inhabitants of #1 ;return #1 where #2 is more than 1,000,000"
    decomposition = Decomposition.of_text(asked, steps)
    assert decomposition.text == steps
    assert decomposition.steps[2] == "#1 where #2 is more than 1,000,000"
    limited = decomposition.plan()
    assert limited.questions()[3] == "For which of #1 is #2 more than 1,000,000?"
    assert limited.final.resolved == "islands where inhabitants of islands is more than 1,000,000"
    run = limited.run(lambda question: ["Arvo", "Brenn"] if question == "islands" else [900_000, 1_200_000])
    assert (run.answer, run.calls) == (["Brenn"], 2)
    # A list of numbers stays one.
    parts = Decomposition.of_text("Were orders 100, 200 paid?", "return orders 100 , 200 ;return #1 paid")
    assert parts.steps[0] == "orders 100 , 200"


def test_steps_get_the_answers_that_they_need() -> None:
    run = PLAN.run(lambda question: f"<{question.step.number}>", concurrency=1)
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
    plan = plan_of("ages; sum of #1; dogs; if #2 is more than #3")
    run = plan.run(lambda question: odd if question.step.number == 1 else 3)
    assert [step.number for step in run.steps] == [1, 2, 3, 4]
    assert run.steps[2].answer == 3
    assert all(map(str, run.steps))
    assert "<table" in run._repr_html_()


def test_steps_of_one_level_are_asked_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=30)

    def answer(question: SubQuestion) -> str:
        if question.step.number in (2, 3):
            together.wait()
        return "x"

    assert PLAN.run(answer, concurrency=4)


def test_with_a_concurrency_of_one_all_calls_are_in_the_callers_thread() -> None:
    # SQLite refuses a connection of another thread.
    with closing(sqlite3.connect(":memory:")) as connection:
        run = PLAN.run(lambda question: connection.execute("select ?", (question,)).fetchone()[0], concurrency=1)
    assert run, run.error


def test_an_error_stays_where_it_happened() -> None:
    run = PLAN.run(slow_at(2))
    outcomes = [step.outcome for step in run.steps]
    assert outcomes == [Outcome.ASKED, Outcome.FAILED, Outcome.ASKED, Outcome.ASKED, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert not run
    assert run.answer is None
    assert run.error == "step 2: TimeoutError: too slow"
    assert isinstance(run.steps[1].error, TimeoutError)
    assert run.steps[4].reason == "step 5 needs the answer of step 2, which has none"
    assert set(run.answers) == {1, 3, 4}
    assert run.calls == 4


def test_an_async_function_runs_side_by_side() -> None:
    async def main() -> tuple[Any, int]:
        inside = most = 0

        async def answer(question: SubQuestion) -> list[str]:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            return ["x"]

        run = await PLAN.arun(answer, concurrency=2)
        return run, most

    run, most = asyncio.run(main())
    assert run.answer == 1
    assert run.calls == 5
    assert most == 2


def test_a_cancelled_run_leaves_nothing_behind() -> None:
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

        task = asyncio.create_task(PLAN.arun(answer))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1
    assert 4 in cancelled


def test_the_wrong_kind_of_function_is_told_without_another_message(
    caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    with pytest.raises(DataError, match=r"use `await plan\.arun"):
        PLAN.run(aecho)
    with pytest.raises(DataError, match=r"use `plan\.run"):
        asyncio.run(PLAN.arun(echo))  # type: ignore[arg-type]
    gc.collect()
    assert not [each for each in caplog.records if each.name == "asyncio"]
    assert not [each for each in recwarn if "never" in str(each.message)]


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"timeout": 0}, {"retries": -1}, {"pause": -1}])
def test_options_out_of_range_are_refused(options: Any) -> None:
    with pytest.raises(DataError, match="give"):
        PLAN.run(echo, **options)


def test_known_answers_are_not_asked_again() -> None:
    run = PLAN.run(echo, answers=PLAN.run(slow_at(2, 4)).answers)
    assert run.answers == PLAN.run(echo).answers
    assert [str(step.outcome) for step in run.steps] == ["given", "asked", "given", "asked", "asked", "combined"]
    assert run.calls == 3


@pytest.mark.parametrize(
    ("answers", "reason"),
    [({9: "x"}, "answers has 9; the steps are 1 to 6"), ({1: None}, "given answer of step 1 is None")],
)
def test_answers_that_are_given_are_checked(answers: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        PLAN.run(echo, answers=answers)


def test_an_error_is_tried_again() -> None:
    asked: Counter[int] = Counter()

    def flaky(question: SubQuestion) -> Any:
        asked[question.step.number] += 1
        if asked[question.step.number] < 3:
            raise ConnectionError("busy")
        return ["x"]

    assert PLAN.run(flaky, retries=1, pause=0).error == "step 1: ConnectionError: busy"
    asked.clear()
    run = PLAN.run(flaky, retries=2, pause=0)
    assert run.answer == 1
    assert [step.attempts for step in run.steps] == [3, 3, 3, 3, 3, 0]
    assert run.calls == sum(asked.values()) == 15


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_step_has_a_time_limit(concurrency: int) -> None:
    free, is_next_asked = threading.Event(), threading.Event()

    def hang(question: SubQuestion) -> str:
        if question.step.number == 2:
            free.wait()
        is_next_asked.set()
        return "x"

    # Of the third step, a busy machine may not have the answer in time.
    run = PLAN.run(hang, timeout=0.2, concurrency=concurrency, answers={1: "x", 4: "x"})
    assert is_next_asked.wait(60)
    free.set()
    assert run.error == "step 2: TimeoutError: no answer within 0.2 s"
    assert {1, 4} <= set(run.answers)

    async def ahang(question: SubQuestion) -> str:
        if question.step.number == 2:
            await asyncio.Event().wait()
        return "x"

    assert asyncio.run(PLAN.arun(ahang, timeout=0.01)).error == "step 2: TimeoutError: no answer within 0.01 s"


def test_a_cache_keeps_answers_between_runs() -> None:
    cache: dict[str, Any] = {}
    first = PLAN.run(echo, cache=cache)
    again = PLAN.run(echo, cache=cache)
    assert again.answers == first.answers
    assert (first.calls, again.calls) == (5, 0)
    assert str(again.steps[1].outcome) == "cached"
    assert cache["What is the b of a?"] == ["What is the b of a?"]


def test_events_come_as_steps_start_and_finish() -> None:
    async def main() -> list[Any]:
        return [event async for event in PLAN.astream(aecho, concurrency=1, answers={4: "d"})]

    *events, run = asyncio.run(main())
    shown = [(event.number, "start" if isinstance(event, StepStart) else str(event.outcome)) for event in events]
    assert shown == [
        (4, "given"),
        *((number, what) for number in (1, 2, 3, 5) for what in ("start", "asked")),
        (6, "combined"),
    ]
    assert isinstance(run, PlanRun)
    assert run.answer == 1


def test_a_stream_that_is_left_stops_what_it_asked() -> None:
    async def main() -> int:
        async def never(question: SubQuestion) -> str:
            await asyncio.Event().wait()
            return "never"

        async with aclosing(PLAN.astream(never)) as events:
            async for event in events:
                assert isinstance(event, StepStart)
                break
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize(
    "answer", [echo, lambda question: {"a", "b"}, lambda question: {"x": date(2024, 3, 1)}, lambda question: None]
)
def test_plans_and_runs_come_back_from_json(answer: Any) -> None:
    assert Plan.from_dict(json.loads(json.dumps(PLAN.to_dict()))) == PLAN
    run = PLAN.run(answer)
    again = PlanRun.from_dict(json.loads(json.dumps(run.to_dict())))
    assert again == run
    assert again.answers == run.answers
    assert again.error == run.error


@pytest.mark.parametrize("record", [{}, {"plan": {}}, {"plan": None, "steps": [], "seconds": 0}])
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(DataError, match="not the record of a"):
        PlanRun.from_dict(record)


MANY = [
    "animals; size of #1; #1 where #2 is highest; keeper of #3",
    "a; b; price of #1; price of #2; the sum of #3 and #4",
    "a; #1 in b; size of #2; #2 where #3 is more than 4; number of #4",
    "a; b; size of #1; size of #2; which is highest of #3 , #4",
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
        plans = [PLAN, *map(plan_of, MANY)]
        expected = [plan.run(true_answer, concurrency=1).answers for plan in plans]
        done = [await one(plans[n % len(plans)]) for n in range(1000)]
        assert [run.answers for run, _ in done] == [expected[n % len(plans)] for n in range(1000)]
        return sum(resumes for _, resumes in done)

    assert asyncio.run(main()) > 300


def test_notebooks_show_plans_and_runs() -> None:
    assert "What is the b of #1?" in PLAN._repr_html_()
    html = PLAN.run(lambda question: "<b>bold</b>")._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>" not in html
