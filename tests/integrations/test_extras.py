"""The error of an adapter without its framework."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("dspy", "dspy", "dspy"),
        ("haystack", "haystack", "haystack"),
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
    ],
)
def test_the_error_names_the_extra(module: str, framework: str, extra: str) -> None:
    program = f"import sys; sys.modules[{framework!r}] = None; import qdecomp.integrations.{module}"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1
    assert f"pip install 'question-decomposition[{extra}]'" in result.stderr.splitlines()[-1]
