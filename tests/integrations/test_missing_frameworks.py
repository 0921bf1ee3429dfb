"""An adapter whose framework is not installed says how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
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


def test_what_adapters_share_needs_no_framework() -> None:
    heavy = {"haystack", "llama_index", "langchain_core", "torch"}
    program = f"import sys, qdecomp.integrations.asked_steps; print({heavy} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
