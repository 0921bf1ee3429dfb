"""What a cluster goes through, on a small scale: workers and schedulers that die, rows that kill, and so on."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError
from qdecomp.files.dask import DaskPool, connect
from qdecomp.files.jobs import Where, in_chunks, spread
from tests.cli_runs import refusal, run_qdecomp
from tests.files import worker_tasks
from tests.files.dask_cluster import SECONDS_TO_START, DaskCluster, dask_cluster

ROWS = [f"row {number}" for number in range(40)]
SHOUTED = [row.upper() for row in ROWS]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(started: DaskCluster) -> DaskCluster:
    """The cluster, started again if the test before ended it."""
    if not started.is_running:
        started.start()
        started.wait()
    return started


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    things = ("cubes", "large red cubes", "rivers", "long rivers in texas", "flights")
    lines = [f"how many {things[number % 5]} are there ?" for number in range(21)]
    # Two that are not questions.
    path.write_text("\n".join([*lines[:10], "...", "?!", *lines[10:]]) + "\n", encoding="utf-8")
    return path


def test_records_are_those_of_a_run_without_dask(cluster: DaskCluster, questions: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    parse = ("parse", "--input", str(questions), "--batch-size", "1", "--output")
    assert run_qdecomp(*parse, str(here)) == 0
    assert run_qdecomp(*parse, str(there), "--cluster", cluster.address) == 0
    assert there.read_bytes() == here.read_bytes()
    assert len(here.read_bytes().splitlines()) == 23
    # A run that stopped in the middle of a line, and of a batch.
    there.write_bytes(here.read_bytes()[:7000])
    assert run_qdecomp(*parse, str(there), "--cluster", cluster.address) == 0
    assert there.read_bytes() == here.read_bytes()

    combine = ("combine", "--predictions", str(here), str(there), "--output")
    assert run_qdecomp(*combine, str(tmp_path / "c.jsonl")) == 0
    assert run_qdecomp(*combine, str(tmp_path / "d.jsonl"), "--cluster", cluster.address) == 0
    assert (tmp_path / "d.jsonl").read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_scores_are_those_of_a_run_without_dask(cluster: DaskCluster, project_root: Path, tmp_path: Path) -> None:
    gold = project_root / "data" / "dev.csv"
    evaluate = ("evaluate", "--gold", str(gold), "--predictions", f"ours={gold}", "--metrics", "em,lf_em")
    written = []
    for name, options in (("here", ()), ("there", ("--cluster", cluster.address))):
        files = tmp_path / f"{name}.json", tmp_path / f"{name}.jsonl"
        assert run_qdecomp(*evaluate, "--json", str(files[0]), "--details", str(files[1]), *options) == 0
        written.append([path.read_bytes() for path in files])
    assert written[0] == written[1]
    assert len(written[0][1].splitlines()) == 83


def test_a_pipe_with_a_dask_client_gives_the_same_answers(cluster: DaskCluster, questions: Path) -> None:
    texts = questions.read_text(encoding="utf-8").splitlines()[:8]
    parser = load()
    with contextlib.closing(connect(cluster.address, SECONDS_TO_START)) as client:
        answers = list(parser.pipe(texts, batch_size=3, executor=client))
    assert [each.to_dict() for each in answers] == [each.to_dict() for each in parser.pipe(texts, batch_size=3)]


def test_a_worker_that_dies_costs_nothing_and_a_poisoned_row_is_one_error(cluster: DaskCluster, tmp_path: Path) -> None:
    rows = [*ROWS[:17], worker_tasks.POISON, *ROWS[17:]]
    work = partial(worker_tasks.shout_after_one_death, tmp_path / "died")
    with Where(cluster=cluster.address).pool() as pool:
        found = list(spread(work, in_chunks(rows, 8), pool, lambda row: f"died: {row}"))
        assert (tmp_path / "died").exists()
        assert [each for part in found for each in part] == [*SHOUTED[:17], "died: poison", *SHOUTED[17:]]
        again = list(spread(work, in_chunks(ROWS, 8), pool, lambda row: f"died: {row}"))
        assert [each for part in again for each in part] == SHOUTED


def test_an_error_of_the_work_is_not_taken_for_a_lost_scheduler(cluster: DaskCluster) -> None:
    with Where(cluster=cluster.address).pool() as pool, pytest.raises(OSError, match="no disk for row 0"):
        list(spread(worker_tasks.fail, in_chunks(ROWS, 8), pool, lambda row: row))


def test_another_version_on_the_worker_is_named(cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qdecomp.files.dask.VERSION", "0.0.7")
    with (
        Where(cluster=cluster.address).pool() as pool,
        pytest.raises(DataError, match=r"but this is 0\.0\.7; install the same version everywhere"),
    ):
        list(spread(worker_tasks.shout, in_chunks(ROWS, 8), pool, lambda row: row))


def test_a_scheduler_that_was_restarted_loses_nothing(cluster: DaskCluster) -> None:
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        if "lost the scheduler; waiting up to 300 seconds for it" in line:
            cluster.start()

    client = connect(cluster.address, SECONDS_TO_START)
    pool = DaskPool(client, reopen=partial(connect, cluster.address), report=tell, patience=SECONDS_TO_START)
    try:
        results = spread(worker_tasks.shout, in_chunks(ROWS, 4), pool, lambda row: f"died: {row}")
        found = [*next(results), *next(results)]
        cluster.kill()
        found.extend(each for part in results for each in part)
    finally:
        pool.close()
    assert found == SHOUTED
    assert "the scheduler is back; continuing" in "\n".join(told)


def test_a_scheduler_that_does_not_come_back_ends_the_work_with_one_line(cluster: DaskCluster) -> None:
    pool = DaskPool(connect(cluster.address, SECONDS_TO_START), patience=0)
    try:
        results = spread(worker_tasks.shout, in_chunks(ROWS, 4), pool, lambda row: row)
        assert next(results) == SHOUTED[:4]
        cluster.kill()
        with pytest.raises(DataError, match="did not come back; start it and run this again: output so far is kept"):
            list(results)
    finally:
        pool.close()


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_scheduler_that_dies_before_anything_is_done_is_one_line(cluster: DaskCluster, seconds: float) -> None:
    client = connect(cluster.address, SECONDS_TO_START)
    pool = DaskPool(client, patience=0)
    cluster.kill()
    # The client notices at once or a little later, and then closes itself in another thread.
    time.sleep(seconds)
    with pytest.raises(DataError, match="the scheduler did not come back"):
        list(spread(worker_tasks.shout, in_chunks(ROWS, 4), pool, lambda row: row))
    client.close(timeout=60)


def test_without_a_scheduler_or_the_extra_one_line_says_so(
    tmp_path: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qdecomp.files.dask.SECONDS_TO_CONNECT", 0.5)
    output = tmp_path / "out.jsonl"
    parse = ("parse", "--input", questions, "--output", output, "--cluster", "tcp://127.0.0.1:1")
    assert "no Dask scheduler answers" in refusal(*parse)
    monkeypatch.delitem(sys.modules, "qdecomp.files.dask", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "--cluster needs more packages: pip install 'question-decomposition[cluster]'" in refusal(*parse)
    assert not output.exists()
