from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.parser import opened_on_worker
from qdecomp.parsers.source import ParserSource


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"candidates": count}, "a whole number from 0 to 100") for count in (-1, 101, 1.5, 10**400)),
        *(({"min_confidence": value}, "a number from 0 to 1") for value in (-0.1, 1.5, math.nan, "much")),
        ({"options": (("beam_size", True),)}, "beam_size is True; give a whole number from 1 to"),
        ({"options": (("time_limit", 1.0),)}, "no option 'time_limit'"),
        ({"decoder": "greedy"}, "takes no decoder"),
    ],
)
def test_a_wrong_setting_is_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ParserSource(BUNDLED, **options).open()
