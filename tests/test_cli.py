from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.cli import main
from qdecomp.version import VERSION

HEAVY = ("torch", "allennlp", "transformers", "spacy", "ortools", "scipy", "matplotlib", "pandas", "lemminflect")


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("convert", "evaluate", "report"))


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert VERSION in capsys.readouterr().out


def test_an_unknown_command_is_bad_usage() -> None:
    assert run("fly") == 2


def test_an_error_of_ours_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "missing.csv")
    assert run("evaluate", "--gold", missing, "--predictions", missing) == 2
    shown = capsys.readouterr().err
    assert "missing.csv" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("module", ["qdecomp", "qdecomp.data_structures", "qdecomp.cli", "qdecomp.evaluation"])
def test_imports_stay_light(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


@pytest.mark.parametrize(("shell", "current_word"), [("bash", "1"), ("zsh", "1"), ("fish", "ev")])
def test_the_shell_can_complete_commands(shell: str, current_word: str) -> None:
    command = [sys.executable, "-c", "from qdecomp.cli import main; main()"]

    def shown(asked_for: str) -> str:
        words = {"COMP_WORDS": "qdecomp ev", "COMP_CWORD": current_word, "_QDECOMP_COMPLETE": f"{shell}_{asked_for}"}
        done = subprocess.run(command, env={**os.environ, **words}, capture_output=True, text=True, check=False)
        return done.stdout

    assert f"{shell}_complete" in shown("source")
    assert "evaluate" in shown("complete")
