"""What the tests of all adapters share: how to install the frameworks, a parser with fixed plans, examples."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from qdecomp import Decomposition, Parser
from qdecomp.parsers.decomposition import failed_decomposition
from qdecomp.parsers.source import ParserSource

CHAIN = "Which river flows through the capital of Norland?"
COMPARISON = "Which has more inhabitants, Arvo or Brenn?"
PLANS = {
    CHAIN: "return Norland ;return capital of #1 ;return river that flows through #2",
    COMPARISON: "return Arvo ;return Brenn ;return population of #1 ;return population of #2 ;"
    "return which is highest of #3 , #4",
}
ANSWERS = {
    "What is the capital of Norland?": "Hestvik",
    "What is the river that flows through Hestvik?": "Ulla",
    "What is the population of Arvo?": "740",
    "What is the population of Brenn?": "120",
}

_WITHOUT_NETWORK = """
import runpy, socket, sys
def refuse(*arguments): raise OSError("no network here")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
sys.path.insert(0, sys.argv[1])
runpy.run_path(f"{sys.argv[1]}/{sys.argv[2]}", run_name="__main__")
"""


def require(module: str, install: str = "make adapters") -> None:
    """Skip the tests of a file if a framework is missing."""
    pytest.importorskip(module, reason=f"{module} is not installed: {install}", exc_type=ImportError)


class FixedParser(Parser):
    """Knows the plans of a few questions, and the sizes of its batches."""

    def __init__(self) -> None:
        super().__init__(ParserSource(Path("fixed")), self._answers)
        self.batches: list[int] = []

    def _answers(self, questions: Sequence[str]) -> list[Decomposition]:
        self.batches.append(len(questions))
        return [
            Decomposition.of_text(question, PLANS[question])
            if question in PLANS
            else failed_decomposition(question, "not a question")
            for question in questions
        ]


def run_example(project_root: Path, name: str) -> str:
    """What an example prints, in a process without a network."""
    command = [sys.executable, "-c", _WITHOUT_NETWORK, str(project_root / "examples"), name]
    result = subprocess.run(command, cwd=project_root, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout
