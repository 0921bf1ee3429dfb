"""The notebooks run from top to bottom, and show what is stored in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.run_notebooks import NOTEBOOKS, run_notebook


def test_there_are_notebooks_with_cells_that_show_something() -> None:
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in NOTEBOOKS.glob("*.ipynb")}
    assert {"score_a_language_model", "multi_hop_retrieval"} <= set(found)
    for notebook in found.values():
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert sum(bool(cell["outputs"]) for cell in code) >= 5
        assert notebook["cells"][0]["source"][0].startswith("# ")


@pytest.mark.parametrize("order_of_sets", ["0", "5"])
def test_the_stored_outputs_are_what_the_cells_show(project_root: Path, order_of_sets: str) -> None:
    command = [sys.executable, str(project_root / "scripts" / "run_notebooks.py"), "--check"]
    environment = os.environ | {"PYTHONHASHSEED": order_of_sets}
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


def test_a_cell_that_fails_stops_the_notebook() -> None:
    with pytest.raises(NameError, match="nothing"):
        run_notebook(_notebook("nothing"))
