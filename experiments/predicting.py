"""The jobs that use trained parsers: predictions for development questions, and how long an answer takes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from .cells import Cell, archive_file, given_predictions, questions_file
from .settings import Settings
from .training import run_logged

__all__ = ["measure_times", "predict"]

_BATCH_SIZE = 64


def predict(cell: Cell, settings: Settings, base: Path) -> None:
    """Write the cell's predictions: the given ones, or those that its parser makes now."""
    output = base / cell.predictions
    output.parent.mkdir(parents=True, exist_ok=True)
    # A unique name, because a job that outlived its killed run may be writing the same predictions.
    temporary = output.with_name(f".{output.name}.{os.getpid()}")
    given = given_predictions(cell.system, cell.split, settings)
    try:
        if given is not None:
            shutil.copyfile(given, temporary)
        else:
            archive = str(base / archive_file(cell, settings))
            questions = str(base / questions_file(cell.split, settings))
            arguments = ["-m", "allennlp", "predict", archive, questions, "--output-file", str(temporary)]
            arguments += [
                "--silent",
                "--batch-size",
                str(_BATCH_SIZE),
                "--overrides",
                json.dumps(dict(cell.system.overrides)),
            ]
            run_logged(arguments, base, output.with_suffix(".log"))
        os.replace(temporary, output)
    finally:
        temporary.unlink(missing_ok=True)


def measure_times(cells: Sequence[Cell], settings: Settings, base: Path, output: Path) -> None:
    """Ask all parsers the same questions, one at a time and in turns, and write the times."""
    arguments = ["scripts/benchmark.py", "inference", "--questions", str(settings.dev), "--batch-sizes", "1"]
    arguments += ["--count", str(settings.timed_questions), "--threads", "1", "--json", str(output)]
    for cell in cells:
        overrides = json.dumps(dict(cell.system.overrides))
        arguments += ["--parser", cell.system.name, str(base / archive_file(cell, settings)), overrides]
    run_logged(arguments, base, output.with_suffix(".log"))
