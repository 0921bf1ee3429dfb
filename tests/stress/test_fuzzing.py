"""Inputs that nobody would write, for every entry point: each is refused in one line or works, quickly.

``QDECOMP_FUZZ_DRAWS`` says how many draws of 200 inputs each target gets, ``QDECOMP_FUZZ_SEED`` which.
"""

from __future__ import annotations

import os
import resource
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from qdecomp.data_structures.errors import InternalError, QDecompError
from qdecomp.terminal import printable
from tests.stress.fuzz_targets import TARGETS, Target
from tests.stress.fuzzed_inputs import draws, pieces_of

MOST_SECONDS = 2.0
"""CPU seconds that an input may take."""
MOST_MEGABYTES = 1024
"""By how much an input may raise the peak of the memory."""


def problem_of(target: Target, value: Any) -> str | None:
    """What should not have happened when this input was tried; an error that is not ours is raised."""
    started, memory = time.process_time(), _peak_megabytes()
    try:
        target.attempt(value)
    except InternalError as error:
        return f"a bug: {error.reason}"
    except QDecompError as error:
        if "\n" in printable(str(error)):
            return f"an error of several lines: {type(error).__name__}"
    if time.process_time() - started > MOST_SECONDS:
        return f"over {MOST_SECONDS:g} s"
    return f"over {MOST_MEGABYTES} MB" if _peak_megabytes() - memory > MOST_MEGABYTES else None


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.stress
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_takes_what_nobody_would_write(name: str) -> None:
    target = TARGETS[name]
    target.prepare()

    @seed(int(os.environ.get("QDECOMP_FUZZ_SEED", "0")))
    @settings(
        max_examples=int(os.environ.get("QDECOMP_FUZZ_DRAWS", "3")),
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(draws())
    def draw_and_try(draw: tuple[list[str], int]) -> None:
        for pieces in pieces_of(draw):
            value = target.make(pieces)
            try:
                problem = problem_of(target, value)
            except Exception as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {value!a}") from error
            assert problem is None, f"{name}: {problem}: {value!a}"

    draw_and_try()
