"""Work for requests in separate threads, so that the service keeps listening."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from qdecomp.service.refused_requests import busy

__all__ = ["WorkThread"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class WorkThread:
    """One thread for one kind of work; more than ``max_waiting`` jobs are refused."""

    def __init__(self, name: str, max_waiting: int) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"qdecomp-{name}")
        self._max_waiting = max_waiting
        self._waiting = 0

    async def run(self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """The function's result; a job whose request is gone is not started."""
        if self._waiting > self._max_waiting:
            raise busy()
        self._waiting += 1
        try:
            return await asyncio.wrap_future(self._executor.submit(function, *args, **kwargs))
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """End the thread when its work is done."""
        self._executor.shutdown()
