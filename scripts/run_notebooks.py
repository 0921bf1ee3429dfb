"""Run the notebooks in docs/notebooks from top to bottom and store their output.

    python scripts/run_notebooks.py            # run them and store the outputs
    python scripts/run_notebooks.py --check    # exit with 1 if a stored output is not what the cell shows

Cells are plain Python. The value of a last line that is an expression is shown, as Jupyter does.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "docs" / "notebooks"


def run_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the current outputs of its cells; a cell that raises an error stops it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell["cell_type"] == "code":
            outputs = _outputs("".join(cell["source"]), f"cell {number}", names)
            cell = cell | {"execution_count": None, "outputs": outputs}
        cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(code: str, place: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(code, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    """Run all notebooks, and store or compare their outputs."""
    parser = argparse.ArgumentParser(description="Run the notebooks and store what they show.")
    parser.add_argument("--check", action="store_true", help="only say whether the stored outputs are current")
    check = parser.parse_args().check
    old = []
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        now = run_notebook(stored)
        if now != stored:
            old.append(path.name)
            if not check:
                path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name}: {'as stored' if now == stored else 'out of date' if check else 'stored'}")
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
