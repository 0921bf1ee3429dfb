from __future__ import annotations

import shutil
from pathlib import Path

from qdecomp.parsers.fingerprint import fingerprint


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
