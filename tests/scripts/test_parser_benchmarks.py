from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file

import qdecomp.training.plugin  # noqa: F401


def run(project_root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = project_root / "scripts" / "benchmark.py"
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def archive(project_root: Path, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CopyNet-BERT that has learned next to nothing."""
    folder = tmp_path_factory.mktemp("archive") / "run"
    rows = folder.parent / "rows.csv"
    rows.write_text("\n".join((project_root / "data" / "train.csv").read_text().splitlines()[:12]))
    overrides = {
        "train_data_path": str(rows),
        "validation_data_path": str(rows),
        "dataset_reader.token_indexers.pieces.encoder": str(tiny_encoder),
        "model.word_encoder.encoder": str(tiny_encoder),
        "model.decoder.max_steps": 20,
        "trainer.num_epochs": 1,
    }
    config = project_root / "training_config" / "copynet_bert_minilm.jsonnet"
    train_model_from_file(str(config), str(folder), overrides=json.dumps(overrides))
    return folder / "model.tar.gz"


def test_parsers_answer_the_same_questions_side_by_side(project_root: Path, archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run(
        project_root,
        *("inference", "--questions", str(project_root / "data" / "questions.txt"), "--count", "5"),
        *("--parser", "beam 5", str(archive), "{}"),
        *("--parser", "greedy", str(archive), '{"model.decoder.beam_size": 1}'),
        *("--batch-sizes", "1,2", "--threads", "1", "--json", str(out)),
    )
    assert result.returncode == 0, result.stderr
    measured = json.loads(out.read_text())["inference"]
    assert [(each["parser"], each["batch_size"], each["questions"]) for each in measured] == [
        ("beam 5", 1, 5),
        ("greedy", 1, 5),
        ("beam 5", 2, 5),
        ("greedy", 2, 5),
    ]
    assert all(each["cpu_seconds"] > 0 for each in measured)


def test_an_archive_that_is_not_there_is_one_line_and_exit_code_2(project_root: Path, tmp_path: Path) -> None:
    result = run(
        project_root,
        *("inference", "--questions", str(project_root / "data" / "questions.txt")),
        *("--parser", "none", str(tmp_path / "none.tar.gz"), "{}"),
    )
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith(f"there is no archive {tmp_path / 'none.tar.gz'}")


def test_a_parser_that_is_not_there_is_one_line_and_exit_code_2(project_root: Path) -> None:
    questions = str(project_root / "data" / "everyday.csv")
    result = run(project_root, "parse", "--questions", questions, "--against", "nowhere")
    assert result.returncode == 2
    assert "there is no parser 'nowhere'" in result.stderr
    assert result.stderr.count("\n") == 1
