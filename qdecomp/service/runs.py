"""Runs of plans that the service streams: its language model answers, and the client sees each step as it happens."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from starlette.responses import Response, StreamingResponse

from qdecomp.data_structures.operators import Operator
from qdecomp.parsers.language_model import ModelSettings, open_model
from qdecomp.planning import PlanRun, StepRun, StepStart, SubQuestion
from qdecomp.service.middleware import busy, refusal_for
from qdecomp.service.schemas import NextStepsRequest, plan_with_answers
from qdecomp.service.settings import ServiceSettings

_INSTRUCTIONS = (
    "Answer with the bare answer and nothing else: no sentence, no explanation. Write several answers one to a line. "
    "If the question asks about several things, write one line for each, in their order. If there is none, write none."
)
_THOUGHTS = re.compile(r".*</think>", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
# The answer of such a step is one value; that of others is a list, even of one thing, which can be counted.
_ONE_VALUE = (Operator.AGGREGATE, Operator.ARITHMETIC, Operator.BOOLEAN, Operator.COMPARISON)
_TRUTH = {"yes": True, "true": True, "no": False, "false": False}


class Runs:
    """Runs plans, each in a thread, as many at a time as the model has calls."""

    def __init__(self, model: ModelSettings, settings: ServiceSettings) -> None:
        self.model = open_model(replace(model, k=0))
        self._settings = settings
        self._threads = ThreadPoolExecutor(model.concurrency, thread_name_prefix="qdecomp-run")
        self._calls = ThreadPoolExecutor(model.concurrency, thread_name_prefix="qdecomp-call")
        self._running = 0

    @property
    def is_full(self) -> bool:
        """Whether a run would be refused."""
        return self._running >= self.model.settings.concurrency

    def stop(self) -> None:
        """End the threads, and the calls for clients that have gone."""
        self.model.cancel()
        self._threads.shutdown()
        self._calls.shutdown()

    async def stream(self, request: NextStepsRequest) -> Response:
        """The events of a run as they happen; when the client is gone, nothing else is asked."""
        plan, known = await asyncio.to_thread(
            plan_with_answers, request.question, request.decomposition, request.answers
        )
        # Not before: while plans were made, others may have begun to run.
        if self.is_full:
            raise busy()
        loop, told, gone = asyncio.get_running_loop(), asyncio.Queue[bytes](), threading.Event()

        def tell(kind: str, fields: dict[str, Any]) -> None:
            if gone.is_set():
                raise asyncio.CancelledError
            data = json.dumps(fields, ensure_ascii=False, allow_nan=False)
            loop.call_soon_threadsafe(told.put_nowait, f"event: {kind}\ndata: {data}\n\n".encode())

        async def follow() -> None:
            options = {"answers": plan.names | known, "concurrency": self.model.settings.concurrency}
            async with aclosing(plan.astream(self._answer, **options)) as events:
                async for event in events:
                    tell(*_shown(event))

        async def in_time() -> None:
            seconds = self._settings.max_seconds
            try:
                await asyncio.wait_for(follow(), seconds)
            except (TimeoutError, asyncio.TimeoutError):
                tell("error", {"error": f"the run took longer than {seconds:g} seconds"})
            except Exception as error:
                tell("error", {"error": refusal_for(error).message})
            finally:
                loop.call_soon_threadsafe(told.put_nowait, b"")

        async def events() -> AsyncIterator[bytes]:
            self._running += 1
            try:
                self._threads.submit(asyncio.run, in_time())
                while event := await told.get():
                    yield event
            finally:
                gone.set()
                self._running -= 1

        # A reverse proxy would otherwise keep events until there are many.
        return StreamingResponse(events(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def _answer(self, question: SubQuestion) -> Any:
        messages = [{"role": "system", "content": _INSTRUCTIONS}, {"role": "user", "content": str(question)}]
        call = self._calls.submit(self.model.complete, messages)
        return answer_in(await asyncio.wrap_future(call), question.step.operator)


def _shown(event: StepStart | StepRun | PlanRun) -> tuple[str, dict[str, Any]]:
    """The name of an event and its fields."""
    if isinstance(event, PlanRun):
        return "answer", {"answer": event.answer, "error": event.error, "calls": event.calls, "seconds": event.seconds}
    fields: dict[str, Any] = {"number": event.number, "question": str(event.question)}
    if isinstance(event, StepStart):
        return "start", fields
    fields |= {"outcome": str(event.outcome), "answer": event.answer, "reason": event.reason, "seconds": event.seconds}
    return "step", fields


def answer_in(text: str, operator: Operator | None) -> Any:
    """The answer that a model wrote: its lines, or the value that a step of this operator asks for.

    >>> answer_in("1. Lima\\n2. Oslo", Operator.SELECT), answer_in("740", Operator.AGGREGATE), answer_in("None.", None)
    (['Lima', 'Oslo'], '740', [])
    """
    lines = [_BULLET.sub("", line).strip() for line in _THOUGHTS.sub("", text).splitlines()]
    # A sentence ends with a full stop, an abbreviation has more than one.
    lines = [line.removesuffix(".") if line.count(".") == 1 else line for line in lines if line]
    if [line.casefold() for line in lines] == ["none"]:
        return []
    if operator is Operator.BOOLEAN and len(lines) == 1:
        return _TRUTH.get(lines[0].casefold(), lines[0])
    return lines[0] if operator in _ONE_VALUE and len(lines) == 1 else lines
