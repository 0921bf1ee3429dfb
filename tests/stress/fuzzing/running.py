"""Runs targets in a separate process, so that an input that kills it, or never ends, is also found and reported."""

from __future__ import annotations

import mmap
import multiprocessing
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from qdecomp.data_structures.errors import InternalError, QDecompError
from qdecomp.terminal import printable

from .inputs import INPUTS_OF_A_DRAW, draws, pieces_of
from .targets import TARGETS

__all__ = ["Finding", "Outcome", "finding_to_json", "run_target"]

MOST_SECONDS = 2.0
"""CPU seconds that an input may take: wall time depends on what else the machine does."""
MOST_MEGABYTES = 1024
# After this long without a sign of life, a process counts as hanging.
_SILENT_SECONDS = 300.0
_LAST_INPUT_BYTES = 65536
_LONGEST_INPUT_SHOWN = 4000
_DRAWS_AT_A_TIME = 20
# How often a slow target reports its progress.
_SECONDS_OF_A_ROUND = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that should not be, and an input that shows it."""

    target: str
    kind: str
    input: str


@dataclass(slots=True)
class Outcome:
    """The results for the inputs of a target; each kind of finding is there once, with a count."""

    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    megabytes: float = 0.0
    """The peak memory of the process."""
    findings: dict[str, Finding] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Outcome) -> None:
        """Add what another run found."""
        self.inputs += other.inputs
        self.refused += other.refused
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.megabytes = max(self.megabytes, other.megabytes)
        self.findings = {**other.findings, **self.findings}
        self.counts += other.counts


class _Trial:
    """Tries inputs of one target and keeps what it sees."""

    def __init__(self, name: str, last: mmap.mmap | None = None) -> None:
        self.name = name
        self.target = TARGETS[name]
        self.outcome = Outcome()
        self._last = last

    def draw(self, draw: tuple[list[str], int], most: int, end: float) -> None:
        # Measuring memory and CPU time may take longer than an input does, so memory is measured once.
        memory = _peak_megabytes()
        slowest: tuple[float, Any] = (0.0, None)
        for pieces in pieces_of(draw):
            if self.outcome.inputs >= most or (self.outcome.inputs and time.monotonic() >= end):
                break
            value = self.target.make(pieces)
            took = self.attempt(value)
            if took >= slowest[0]:
                slowest = (took, value)
        if _peak_megabytes() - memory > MOST_MEGABYTES:
            self._found(f"over {MOST_MEGABYTES} MB", slowest[1])

    def attempt(self, value: Any) -> float:
        """Try an input and return the seconds that it took (wall time)."""
        if self._last is not None:
            shown = repr(value).encode("utf-8", "replace")[: _LAST_INPUT_BYTES - 9]
            self._last[: len(shown) + 9] = len(shown).to_bytes(8, "big") + shown + b"\0"
        started = time.perf_counter()
        try:
            self.target.attempt(value)
        except InternalError as error:
            self._found(f"a mistake: {error.reason}", value)
        except QDecompError as error:
            self.outcome.refused += 1
            if "\n" in printable(str(error)):
                self._found(f"an error of several lines: {type(error).__name__}", value)
        except Exception as error:
            self._found(_kind_of(error), value)
        took = time.perf_counter() - started
        self.outcome.inputs += 1
        if took > MOST_SECONDS:
            # Wall time includes other programs, too.
            took = self._processor_seconds(value)
            if took > MOST_SECONDS:
                self._found(f"over {MOST_SECONDS:g} s", value)
        self.outcome.slowest = max(self.outcome.slowest, took)
        return took

    def _processor_seconds(self, value: Any) -> float:
        started = time.process_time()
        with suppress(Exception):
            self.target.attempt(value)
        return time.process_time() - started

    def _found(self, kind: str, value: Any) -> None:
        self.outcome.counts[kind] += 1
        shown = repr(value)
        known = self.outcome.findings.get(kind)
        # The shortest input says most.
        if known is None or len(shown) < len(known.input):
            self.outcome.findings[kind] = Finding(self.name, kind, shown[:_LONGEST_INPUT_SHOWN])


def _kind_of(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = f": {error}" if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}{what}"[:200]


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_target(
    name: str, start: int, seconds: float, inputs: int, tell: Callable[[Outcome], None] = lambda outcome: None
) -> Outcome:
    """Try inputs of a target for a number of seconds or of inputs, whichever is reached first.

    What is known so far is reported from time to time.
    """
    TARGETS[name].prepare()
    last = mmap.mmap(-1, _LAST_INPUT_BYTES)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, last, name, start, seconds, inputs), daemon=True)
    process.start()
    there.close()
    total = Outcome()
    finished = False
    while not finished and here.poll(_SILENT_SECONDS):
        try:
            message = here.recv()
        except EOFError:
            break
        finished = message is None
        if message is not None:
            total.add(message)
            tell(total)
    if not finished:
        process.join(1.0)
        hangs = process.is_alive()
        process.kill()
        process.join()
        kind = "does not end" if hangs else f"the process died with code {process.exitcode}"
        shown = last[8 : 8 + int.from_bytes(last[:8], "big")].decode("utf-8", "replace")
        total.add(Outcome(findings={kind: Finding(name, kind, shown)}, counts=Counter([kind])))
    process.join()
    return total


def _work(out: Connection, last: mmap.mmap, name: str, start: int, seconds: float, inputs: int) -> None:
    # More than this is a finding long before, and would bring down the machine.
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, 16 * 2**30))
    end = time.monotonic() + seconds
    left = inputs
    round_number = 0
    while left > 0 and (time.monotonic() < end or round_number == 0):
        round_end = min(end, time.monotonic() + _SECONDS_OF_A_ROUND)
        outcome = _round(_Trial(name, last), start + round_number, left, round_end)
        left -= outcome.inputs
        round_number += 1
        out.send(outcome)
    out.send(None)


def _round(trial: _Trial, first: int, most: int, end: float) -> Outcome:
    """Let Hypothesis draw for a while."""
    began = time.monotonic()

    @seed(first)
    @settings(
        max_examples=min(_DRAWS_AT_A_TIME, -(-most // INPUTS_OF_A_DRAW)),
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(draws())
    def draw_and_try(draw: tuple[list[str], int]) -> None:
        if time.monotonic() < end or not trial.outcome.inputs:
            trial.draw(draw, most, end)

    draw_and_try()
    trial.outcome.seconds = time.monotonic() - began
    trial.outcome.megabytes = _peak_megabytes()
    return trial.outcome


def finding_to_json(finding: Finding, count: int) -> dict[str, Any]:
    """For ``json.dumps``."""
    return {**asdict(finding), "count": count}
