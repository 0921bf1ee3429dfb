import json
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = [
    ("How many red cubes are there?", "return cubes ;return #1 that are red ;return number of #2"),
    ("What is the longest river in Texas?", "return rivers ;return #1 in texas ;return the longest of #2"),
]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "train.csv").write_text(
        "question_id,question_text,decomposition\n"
        + "".join(f"GEO_train_{place},{question},{steps}\n" for place, (question, steps) in enumerate(ROWS))
    )
    for name in ("lf_em_a.jsonl", "lf_em_b.jsonl"):
        records = [{"question": question, "prediction": "return cubes", "gold": steps} for question, steps in ROWS]
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return ["--reference", str(tmp_path), "--data", str(tmp_path / "train.csv"), "--generated", "50"]


def run(project_root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = project_root / "scripts" / "benchmark.py"
    command = [sys.executable, str(script), "lf_em", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_tree_gives_the_verdicts_of_itself(project_root: Path, tmp_path: Path, arguments: list[str]) -> None:
    out = tmp_path / "out.json"
    result = run(project_root, "--against", str(project_root), *arguments, "--json", str(out))
    assert result.returncode == 0, result.stderr
    written = json.loads(out.read_text())
    assert written["differences"] == {"lf_em_a": 0, "lf_em_b": 0, "generated": 0}
    assert [(each["pairs_of"], each["pairs"]) for each in written["speeds"]][::2] == [
        ("lf_em_a", 2),
        ("lf_em_b", 2),
        ("generated", 50),
    ]


def test_another_verdict_is_counted_and_exit_code_1(project_root: Path, tmp_path: Path, arguments: list[str]) -> None:
    package = tmp_path / "other" / "qdecomp" / "data_structures"
    package.mkdir(parents=True)
    (package / "lf_em.py").write_text(
        "from types import SimpleNamespace\n"
        "def lf_em(*row, strict=False):\n"
        "    return SimpleNamespace(verdict=None, error='', prediction_normalized='', gold_normalized='')\n"
    )
    result = run(project_root, "--against", str(tmp_path / "other"), *arguments)
    assert result.returncode == 1
    assert "100" in result.stdout


def test_a_folder_without_the_package_is_one_line(project_root: Path, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "empty" / "qdecomp").mkdir(parents=True)
    (tmp_path / "empty" / "qdecomp" / "__init__.py").write_text("")
    result = run(project_root, "--against", str(tmp_path / "empty"), *arguments)
    assert result.returncode == 2
    assert "its LF-EM cannot be run" in result.stderr
    assert result.stderr.count("\n") == 1
