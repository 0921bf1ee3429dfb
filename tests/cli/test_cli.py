from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from qdecomp.version import VERSION
from tests.cli_runs import run_qdecomp, told_by_us


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [("--help", 0, ["convert", "evaluate", "report"]), ("--version", 0, [VERSION]), ("fly", 2, ["No such command"])],
)
def test_usage(capsys: pytest.CaptureFixture[str], arguments: str, code: int, words: list[str]) -> None:
    assert run_qdecomp(arguments) == code
    told = capsys.readouterr()
    assert all(word in told.out + told.err for word in words)


def test_help_imports_no_command() -> None:
    code = """
import atexit, sys
from qdecomp.cli import main
atexit.register(lambda: print([name for name in sys.modules if name.startswith("qdecomp.cli.")]))
main()
"""
    assert run_command("--help", program=code, stdout=subprocess.PIPE).stdout.endswith("\n[]\n")


def test_the_shell_can_complete_commands() -> None:
    words = {"COMP_WORDS": "qdecomp ev", "COMP_CWORD": "1", "_QDECOMP_COMPLETE": "bash_complete"}
    assert run_command(env={**os.environ, **words}, stdout=subprocess.PIPE).stdout == "plain,evaluate\n"


def run_command(
    *arguments: str, program: str = "from qdecomp.cli import main; main()", **options: Any
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **options)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("parse", "how many cubes are red ?")],
)
def test_a_full_device_is_one_line_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        result = run_command(*arguments, stdout=full)
    assert result.returncode == 2
    assert told_by_us(result.stderr) == ["qdecomp: output cannot be written (No space left on device)"]


def test_a_terminal_without_the_letters_is_one_line_and_exit_code_2() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run_command("parse", "which rivers are in é ?", env=environment, stdout=subprocess.DEVNULL)
    assert result.returncode == 2
    (line,) = told_by_us(result.stderr)
    assert line.startswith("qdecomp: standard output (ascii) cannot show '\\xe9'")


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


@pytest.mark.parametrize("module", ["qdecomp.cli.parse", "onnxruntime"])
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
    # So many that the run cannot end before the interrupt comes.
    many.write_text("\n".join([header, *rows * 500]), encoding="utf-8")
    output = tmp_path / "out.jsonl"
    arguments = ["convert", "--input", str(many), "--output", str(output), "--processes", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "qdecomp", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": ""},
        start_new_session=True,
    ) as run:
        while run.poll() is None and not (output.exists() and output.stat().st_size):
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        # Also of the process that tidies up when the others have ended.
        errors = run.communicate()[1]
    assert run.returncode == 130
    assert "Traceback" not in errors
    assert "Warning" not in errors
