"""The memory of the service stays bounded under mixed requests, no two of which are the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from speed.measuring import tree_memory_mb
from speed.serve_load import ask_steadily, mixed_requests

from qdecomp.files import read_break_csv
from tests.service.processes import running_service

pytest.importorskip("fastapi")

# What all caches together hold when they are full. Without bounds, the service took this much in five minutes.
MOST_GROWTH = 70.0


@pytest.mark.stress
def test_memory_under_mixed_requests(project_root: Path) -> None:
    minutes = float(os.environ.get("QDECOMP_LOAD_MINUTES", "20"))
    questions = [row.question for row in read_break_csv(project_root / "data" / "train.csv")]
    sizes: list[float] = []
    with running_service() as service:
        pid = service.process.pid
        statuses = ask_steadily(
            service.port, 24, 60 * minutes, mixed_requests(questions), 60, lambda now: sizes.append(tree_memory_mb(pid))
        )
        assert service.stop()[0] == 0
    assert statuses[200] > sum(statuses.values()) / 2
    # The first minute loads what is loaded on demand.
    assert max(sizes[1:]) - sizes[1] < MOST_GROWTH, sizes
