from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.source import ParserSource, opened_on_worker


def fingerprint(path: Path) -> tuple[str, ...]:
    return ParserSource(path).contents()


def test_the_content_counts_and_the_place_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "parser"
    (folder / "part").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "part" / "weights").write_bytes(b"\0" * 3_000_000)
    before = fingerprint(folder)
    assert fingerprint(Path(shutil.copytree(folder, tmp_path / "copy"))) == before
    (folder / "part" / "weights").write_bytes(b"\0" * 2_999_999 + b"\1")
    assert fingerprint(folder) != before
    one, other = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    one.write_bytes(b"weights")
    other.write_bytes(b"weights")
    assert fingerprint(one) == fingerprint(other)


def test_logs_of_a_training_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "best.th").write_bytes(b"weights")
    before = fingerprint(tmp_path)
    (tmp_path / "out.log").write_text("a line")
    assert fingerprint(tmp_path) == before
    (tmp_path / "best.th").write_bytes(b"better")
    assert fingerprint(tmp_path) != before


def test_a_worker_opens_the_same_parser_wherever_it_has_it(tmp_path: Path) -> None:
    remote = ParserSource(BUNDLED, min_confidence=0.25).for_workers()
    assert remote.path == Path("minilm_break")
    assert opened_on_worker(remote).source == ParserSource(BUNDLED, min_confidence=0.25)
    elsewhere = Path(shutil.copytree(BUNDLED, tmp_path / "copy"))
    remote = ParserSource(elsewhere).for_workers()
    (elsewhere / "MODEL_CARD.md").write_text("another one")
    with pytest.raises(DataError, match="a worker has a different parser there"):
        opened_on_worker(remote)
    shutil.rmtree(elsewhere)
    with pytest.raises(DataError, match="a worker does not have this parser"):
        opened_on_worker(remote)


@pytest.mark.parametrize("candidates", [-1, 101, 1.5, 10**400])
def test_candidates_are_bounded(candidates: int) -> None:
    with pytest.raises(DataError, match="a whole number from 0 to 100"):
        ParserSource(BUNDLED, candidates=candidates)


def test_beams_and_steps_are_bounded() -> None:
    for name, value in (("beam_size", 101), ("max_steps", 1001), ("beam_size", True)):
        with pytest.raises(DataError, match=f"{name} is {value}; give a whole number from 1 to"):
            ParserSource(BUNDLED, options=((name, value),)).open()
