"""Click commands of scripts, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import pytest
from click.testing import CliRunner, Result


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command of a module in ``scripts``, which is called ``command`` or ``main``; its errors are raised."""

    def invoke(script: str, *arguments: object) -> Result:
        module = import_module(script)
        command = getattr(module, "command", None) or module.main
        return CliRunner().invoke(command, [*map(str, arguments)], catch_exceptions=False)

    return invoke
