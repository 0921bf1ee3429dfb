from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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


def run_command(
    *arguments: str, program: str = "from qdecomp.cli import main; main()", **options: Any
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **options)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("parse", "how many cubes are red ?"), ("parse", "how many cubes are red ?", "--format", "json")],
)
def test_a_full_device_is_one_line_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        result = run_command(*arguments, stdout=full)
    assert result.returncode == 2
    assert result.stderr == "qdecomp: output cannot be written (No space left on device)\n"


def test_a_terminal_without_the_letters_is_one_line_and_exit_code_2() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run_command("parse", "which rivers are in é ?", env=environment, stdout=subprocess.DEVNULL)
    assert result.returncode == 2
    assert result.stderr.startswith("qdecomp: standard output (ascii) cannot show '\\xe9'")
    assert result.stderr.count("\n") == 1


INTERRUPTED = """
import importlib, os, signal, sys
from qdecomp.cli import main

class InterruptsWhileImporting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, InterruptsWhileImporting())
main()
"""


@pytest.mark.parametrize("module", ["qdecomp.cli.parse", "rich.console", "onnxruntime", "qdecomp.parsers.seq2seq"])
def test_an_interrupt_while_modules_are_imported_is_exit_code_130(module: str) -> None:
    result = run_command("parse", "which rivers ?", program=INTERRUPTED.format(module=module), stdout=subprocess.PIPE)
    assert result.returncode == 130
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_an_interrupt_while_the_package_is_imported_is_quiet(tmp_path: Path, project_root: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "qdecomp.planning":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
""",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{project_root}"}
    command = [sys.executable, "-m", "qdecomp", "--version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
    # In a program of another name, Python's own handler stays.
    done = subprocess.run([sys.executable, "-c", "import qdecomp"], env=environment, capture_output=True, text=True)
    assert "KeyboardInterrupt" in done.stderr


def test_an_interrupt_with_several_processes_is_exit_code_130(tmp_path: Path, project_root: Path) -> None:
    header, *rows = (project_root / "data" / "dev.csv").read_text(encoding="utf-8").splitlines()
    many = tmp_path / "many.csv"
    many.write_text("\n".join([header, *rows * 20]), encoding="utf-8")
    output = tmp_path / "out.jsonl"
    arguments = ["convert", "--input", str(many), "--output", str(output), "--processes", "2"]
    errors = tmp_path / "errors"
    with errors.open("w") as stream:
        run = subprocess.Popen(
            [sys.executable, "-m", "qdecomp", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )
        while run.poll() is None and not (output.exists() and output.stat().st_size):
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait() == 130
    assert "Traceback" not in errors.read_text(encoding="utf-8")
