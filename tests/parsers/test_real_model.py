"""A real model behind llama.cpp, which knows every form: QDECOMP_MODEL_URL has its address, QDECOMP_MODEL its name.

A small model is too weak for good plans. What counts is that every answer has the form of a plan or a reason, and that
all ends.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import qdecomp
from qdecomp.parsers.language_model import ModelError

URL, MODEL = os.environ.get("QDECOMP_MODEL_URL", ""), os.environ.get("QDECOMP_MODEL", "model")
QUESTIONS = ("How many red mugs are on the shelf?", "Which of the rivers in Texas is longest?")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not URL, reason="QDECOMP_MODEL_URL has no address of a model")]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("form", ["json_schema", "grammar", "text"])
def test_every_answer_has_the_form_of_a_plan_or_a_reason(form: str) -> None:
    parser = qdecomp.load(URL, model=MODEL, k=0, form=form, max_tokens=40, timeout=300, retries=0)
    answers = list(parser.pipe(QUESTIONS))
    for found in answers:
        assert found.answered is not None
        assert 1 <= found.answered.calls <= 2
        assert found.answered.completion_tokens <= 40 * found.answered.calls
        assert found.logical_form is not None or f"{MODEL} gave no plan, asked 2 times: " in str(found.error)
    assert parser.usage is not None
    asked = parser.usage.calls
    # The second time, nothing is asked.
    assert list(parser.pipe(QUESTIONS)) == answers
    assert parser.usage.calls == asked


def test_the_bundled_parser_answers_what_the_model_does_not() -> None:
    parser = qdecomp.load(URL, model=MODEL, k=0, form="text", max_tokens=20, timeout=300, fallback="minilm_break")
    found = parser.parse(QUESTIONS[0])
    assert found.steps
    assert found.answered is not None
    assert found.answered.by in (MODEL, "minilm_break")


def test_a_model_that_is_too_slow_is_given_up() -> None:
    with pytest.raises(ModelError, match=r"no answer within 0\.01 seconds"):
        qdecomp.load(URL, model=MODEL, timeout=0.01).parse(QUESTIONS[1])
