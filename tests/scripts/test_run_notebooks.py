"""The notebooks run from top to bottom, and show what is stored in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts.run_notebooks import NOTEBOOKS, run_notebook


def test_the_stored_outputs_are_what_the_cells_show(project_root: Path) -> None:
    command = [sys.executable, str(project_root / "scripts" / "run_notebooks.py"), "--check"]
    environment = os.environ | {"PYTHONHASHSEED": "5"}
    result = subprocess.run(command, cwd=project_root, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, f"{result.stdout}{result.stderr}\nto store them: python scripts/run_notebooks.py"
    assert result.stdout.count("as stored") == len(list(NOTEBOOKS.glob("*.ipynb")))


def _notebook(*cells: str) -> dict[str, object]:
    return {"cells": [{"cell_type": "code", "source": [cell], "outputs": []} for cell in cells]}


def test_cells_share_names_and_show_prints_and_the_last_value() -> None:
    ran = run_notebook(_notebook("x = 2\nprint('two')", "x + 1", "x;\ny = 1", "None"))
    first, second, third, fourth = (cell["outputs"] for cell in ran["cells"])
    assert first == [{"name": "stdout", "output_type": "stream", "text": ["two\n"]}]
    assert second[0]["data"] == {"text/plain": ["3"]}
    assert third == fourth == []
