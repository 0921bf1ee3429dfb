"""A folder of parts in the place of a file: written by three commands, read by all."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdecomp.files import read_json_lines
from qdecomp.files.sources import read_manifest
from tests.cli_runs import run_qdecomp

QUESTIONS = [f"how many {thing} are there ?" for thing in ("cubes", "red cubes", "rivers in texas", "flights", "dogs")]


def lines(path: object) -> list[object]:
    return [record for _, record in read_json_lines(str(path))]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("\n".join(QUESTIONS) + "\n", encoding="utf-8")
    return path


def test_parse_writes_a_folder_and_every_command_reads_it(
    tmp_path: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "parsed.jsonl", tmp_path / "parsed"
    assert run_qdecomp("parse", "--input", questions, "--output", file) == 0
    assert run_qdecomp("parse", "--input", questions, "--output", f"{folder}/", "--part-rows", 2) == 0
    assert lines(folder) == lines(file)
    manifest = read_manifest(folder)
    assert manifest is not None
    assert [*manifest.parts.values()] == [2, 2, 1]
    assert b"".join(path.read_bytes() for path in sorted(folder.glob("part-*"))) == file.read_bytes()

    gold = tmp_path / "gold.csv"
    rows = "".join(f'{number},{question},"return x"\n' for number, question in enumerate(QUESTIONS, start=1))
    gold.write_text("question_id,question_text,decomposition\n" + rows, encoding="utf-8")
    written = []
    for name, source in (("file", file), ("folder", folder)):
        outputs = [tmp_path / f"{name}.{kind}" for kind in ("jsonl", "html", "combined", "again")]
        details, page, combined, again = outputs
        assert run_qdecomp("evaluate", "--gold", gold, f"a={source}", "--metrics", "em", "--details", details) == 0
        assert run_qdecomp("render", "--input", source, "--output", page) == 0
        assert run_qdecomp("combine", "--predictions", source, file, "--output", combined) == 0
        assert run_qdecomp("parse", "--input", source, "--output", again) == 0
        written.append([each.read_text(encoding="utf-8").replace(f"{source.name}<", "x<") for each in outputs])
    assert written[0] == written[1]
    capsys.readouterr()
