import json
import subprocess
import sys
from pathlib import Path

import pytest

ROW = {
    "question": "How many spheres are there?",
    "prediction": "return spheres ;return number of #1",
    "gold": "return spheres ;return number of #1",
}


def run(project_root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = project_root / "scripts" / "benchmark.py"
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    for name in ("lf_em_a.jsonl", "lf_em_b.jsonl"):
        (tmp_path / name).write_text((json.dumps(ROW) + "\n") * 3)
    return tmp_path


def test_metrics_prints_a_table_and_writes_json(project_root: Path, reference: Path) -> None:
    out = reference / "out.json"
    arguments = ("--reference", str(reference), "--metrics", "lf_em", "--rows", "2", "--json", str(out))
    result = run(project_root, "metrics", *arguments)
    assert result.returncode == 0, result.stderr
    assert "pairs/CPU s" in result.stdout
    written = json.loads(out.read_text())
    assert [(each["file"], each["pairs"]) for each in written["metrics"]] == [
        ("lf_em_a.jsonl", 2),
        ("lf_em_b.jsonl", 2),
    ]
    assert all(each["pairs_per_cpu_second"] > 0 and each["memory_mb"] > 1 for each in written["metrics"])


def test_a_missing_reference_is_one_line_and_exit_code_2(project_root: Path, tmp_path: Path) -> None:
    result = run(project_root, "metrics", "--reference", str(tmp_path / "none"))
    assert result.returncode == 2
    assert "there is no such file" in result.stderr
    assert result.stderr.count("\n") == 1
