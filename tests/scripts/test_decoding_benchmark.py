import json
import subprocess
import sys
from pathlib import Path


def run(project_root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project_root / "scripts" / "benchmark.py"), "decoding", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_gold_graphs_with_noise_are_decoded(project_root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    gold = str(project_root / "data" / "dev.csv")
    result = run(project_root, "--gold", gold, "--rows", "40", "--noise", "1.2", "--json", str(out))
    assert result.returncode == 0, result.stderr
    assert "ILP, if valid" in result.stdout
    (outcome,) = json.loads(out.read_text())["decoding"]
    assert outcome["questions"] == 40
    assert 0 < outcome["greedy_invalid"] < 40
    assert outcome["ilp_invalid"] == 0
    assert outcome["ilp_as_gold"] >= outcome["greedy_as_gold"]


def test_noise_that_tells_nothing_is_one_line_and_exit_code_2(project_root: Path) -> None:
    gold = str(project_root / "data" / "dev.csv")
    result = run(project_root, "--gold", gold, "--rows", "5", "--noise", "0.01")
    assert result.returncode == 2
    assert "all or none of the greedy graphs are valid" in result.stderr
    assert result.stderr.count("\n") == 1
