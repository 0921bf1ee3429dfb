"""A run on a real Dask cluster whose parts are killed writes the same, byte for byte, as one without Dask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.files.dask_cluster import SECONDS_TO_START, DaskCluster, dask_cluster

pytestmark = pytest.mark.stress


class Run:
    """The command at work, which can be killed and started again."""

    def __init__(self, command: list[str], output: Path) -> None:
        self._command, self._output = command, output
        self.start()

    def start(self) -> None:
        """Start the command."""
        with self._output.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(self._command, stderr=log)

    def wait_for(self, lines: int) -> None:
        """Wait until it has written this many lines."""
        while not self._output.exists() or self._output.read_bytes().count(b"\n") < lines:
            assert self.process.poll() is None, self._output.with_suffix(".log").read_text()
            time.sleep(0.2)


def kill_a_worker(cluster: DaskCluster) -> None:
    """End one of the workers without warning."""
    from qdecomp.files.dask import connect

    client = connect(cluster.address, SECONDS_TO_START)
    try:
        number = next(iter(client.run(os.getpid).values()))
    finally:
        client.close()
    os.kill(number, signal.SIGKILL)


def test_no_kill_of_a_cluster_changes_what_is_written(tmp_path: Path) -> None:
    things = ("cubes", "large red cubes", "rivers", "long rivers in texas", "flights from denver", "old churches")
    lines = [f"how many {thing} are near the {number}th house ?" for number in range(1, 101) for thing in things]
    (tmp_path / "questions.txt").write_text("\n".join(lines), encoding="utf-8")
    here, there = tmp_path / "without_dask.jsonl", tmp_path / "with_dask.jsonl"
    command = [sys.executable, "-m", "qdecomp", "parse", "--input", str(tmp_path / "questions.txt")]
    command += ["--batch-size", "8", "--output"]
    subprocess.run([*command, str(here), "--processes", "1"], check=True)
    with dask_cluster(tmp_path) as cluster:
        run = Run([*command, str(there), "--cluster", cluster.address], there)
        run.wait_for(120)
        kill_a_worker(cluster)
        run.wait_for(240)
        cluster.kill()
        cluster.start()
        run.wait_for(360)
        run.process.kill()
        run.process.wait()
        run.start()
        assert run.process.wait() == 0
    assert len({json.loads(line)["key"] for line in there.read_bytes().splitlines()}) == 600
    assert here.read_bytes() == there.read_bytes()
