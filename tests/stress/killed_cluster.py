"""Parse a file on a real Dask cluster while killing its parts, and compare with a run without Dask, byte for byte.

    python -m tests.stress.killed_cluster questions.txt --folder out/killed_cluster

A scheduler and two worker processes run on this machine. On the way, a worker is killed, the scheduler and all workers
are killed and started again, and the command is killed and started again, each with SIGKILL. If this program is stopped
and started again, the run without Dask resumes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.files.dask_cluster import DaskCluster, dask_cluster

_SECONDS_BETWEEN_LOOKS = 0.2


def main() -> int:
    """Run both and say whether they are equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where both outputs and the logs go")
    parser.add_argument("--batch-size", type=int, default=8, help="how many questions a partition has")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    here, there = options.folder / "without_dask.jsonl", options.folder / "with_dask.jsonl"
    there.unlink(missing_ok=True)
    command = [sys.executable, "-m", "qdecomp", "parse", "--input", str(options.questions)]
    command += ["--batch-size", str(options.batch_size), "--output"]
    subprocess.run([*command, str(here), "--processes", "1"], check=True)
    total = lines_of(here)
    with dask_cluster(options.folder) as cluster:
        run = Run([*command, str(there), "--cluster", cluster.address], there, options.folder / "command.log")
        run.wait_for(total // 5)
        kill_a_worker(cluster)
        told("a worker was killed", there, total)
        run.wait_for(2 * total // 5)
        cluster.kill()
        told("the scheduler and the workers were killed", there, total)
        cluster.start()
        run.wait_for(3 * total // 5)
        run.kill()
        told("the command was killed", there, total)
        run.start()
        code = run.process.wait()
    keys = [json.loads(line)["key"] for line in there.read_bytes().splitlines()]
    is_equal = here.read_bytes() == there.read_bytes()
    told(f"exit code {code}; {len(set(keys)):,} different keys; {'equal' if is_equal else 'NOT equal'}", there, total)
    return 0 if is_equal and code == 0 else 1


class Run:
    """The command at work, which can be killed and started again."""

    def __init__(self, command: list[str], output: Path, log: Path) -> None:
        self._command = command
        self._output = output
        self._log = log
        log.unlink(missing_ok=True)
        self.start()

    def start(self) -> None:
        """Start the command."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stderr=log)

    def wait_for(self, lines: int) -> None:
        """Wait until it has written this many lines."""
        while lines_of(self._output) < lines:
            if self.process.poll() is not None:
                raise SystemExit(f"the command ended with {self.process.returncode}; see {self._log}")
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def kill(self) -> None:
        """End the command without warning."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def kill_a_worker(cluster: DaskCluster) -> None:
    """End one of the workers without warning."""
    from qdecomp.files.dask import connect

    client = connect(cluster.address, 60)
    try:
        number = next(iter(client.run(os.getpid).values()))
    finally:
        client.close()
    os.kill(number, signal.SIGKILL)


def lines_of(path: Path) -> int:
    """How many lines a file has; none if it is not there."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def told(event: str, output: Path, total: int) -> None:
    """Print what happened and how far the command was."""
    print(f"{lines_of(output):,} of {total:,} records: {event}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
