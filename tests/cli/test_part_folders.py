"""A folder of parts in the place of a file: written by three commands, read by all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qdecomp.files import read_json_lines
from qdecomp.files.parts import read_manifest
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
    assert [part.rows for part in manifest.parts] == [2, 2, 1]
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


def test_combine_and_convert_write_folders_that_go_on(tmp_path: Path, project_root: Path) -> None:
    gold = project_root / "data" / "dev.csv"
    assert run_qdecomp("convert", "--input", gold, "--output", tmp_path / "graphs.jsonl", "--processes", 1) == 0
    assert run_qdecomp("convert", "--input", gold, "--output", f"{tmp_path}/graphs.jsonl.gz/", "--part-rows", 50) == 0
    assert lines(tmp_path / "graphs.jsonl.gz") == lines(tmp_path / "graphs.jsonl")
    assert sorted(path.name for path in (tmp_path / "graphs.jsonl.gz").iterdir()) == [
        "_manifest.json",
        "part-000000.jsonl.gz",
        "part-000001.jsonl.gz",
    ]
    # A run that ended before its second part.
    folder = tmp_path / "consensus"
    combine = ("combine", "--predictions", gold, gold, "--questions", gold, "--output")
    assert run_qdecomp(*combine, tmp_path / "consensus.jsonl") == 0
    assert run_qdecomp(*combine, f"{folder}/", "--part-rows", 40) == 0
    manifest = json.loads((folder / "_manifest.json").read_text(encoding="utf-8"))
    manifest.update(complete=False, parts=manifest["parts"][:1])
    (folder / "_manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.glob("part-*")}
    for name in ("part-000001.jsonl", "part-000002.jsonl"):
        (folder / name).unlink()
    assert run_qdecomp(*combine, folder) == 0
    assert {path.name: path.read_bytes() for path in folder.glob("part-*")} == before
    assert lines(folder) == lines(tmp_path / "consensus.jsonl")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--input", "q.txt", "--output", "out.jsonl", "--part-rows", "5"), "--part-rows only works with a folder"),
        (("how many cubes ?", "--output", "out/"), "a folder only works with a file of questions"),
        (("--input", "out", "--output", "out/part-000000.jsonl"), "would overwrite out"),
    ],
)
def test_what_makes_no_sense_is_said(
    tmp_path: Path,
    questions: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "_manifest.json").write_text("{}", encoding="utf-8")
    (tmp_path / "q.txt").write_bytes(questions.read_bytes())
    assert run_qdecomp("parse", *arguments) == 2
    assert reason in capsys.readouterr().err
