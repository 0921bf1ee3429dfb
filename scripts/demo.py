"""The bundled parser, and the main job on the sample data from scratch: convert, train, predict, evaluate and show.

Run it with ``make demo``. It writes only below ``out/demo``, and removes what an earlier run left there.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from textwrap import indent

from qdecomp.files import read_json_lines
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record
from qdecomp.visualization import graph_text

ROOT = Path(__file__).resolve().parents[1]
OUT = Path("out/demo")

PREDICT = f"allennlp predict {OUT}/parser/model.tar.gz --silent --predictor-args '{json.dumps({'decoder': 'ilp'})}'"

# Each step is what it does and the command that does it, as it would be typed in the project's root.
STEPS = (
    (
        "Decompose a question with the parser that comes with the package",
        "qdecomp parse 'Which team scored more points, the Bears or the Lions?'",
    ),
    (
        "Convert decompositions that people wrote to graphs",
        f"qdecomp convert --input data/train.csv --output {OUT}/graphs.jsonl",
    ),
    (
        "Train a small graph parser",
        f"allennlp train training_config/demo.jsonnet -s {OUT}/parser --file-friendly-logging",
    ),
    (
        "Predict the decompositions of other questions",
        f"{PREDICT} data/dev.csv --output-file {OUT}/dev.jsonl --batch-size 32",
    ),
    (
        "Compare them with those that people wrote",
        f"qdecomp evaluate --gold data/dev.csv --predictions {OUT}/dev.jsonl",
    ),
    (
        "Predict the decompositions of questions that nobody has decomposed",
        f"{PREDICT} data/questions.txt --output-file {OUT}/questions.jsonl",
    ),
    (
        "Make a page of them with pictures",
        f"qdecomp render --input {OUT}/questions.jsonl --output {OUT}/questions.html",
    ),
)

# Files only in out/; progress messages; one thread, because two are slow if the cores are busy.
ENVIRONMENT = {
    "ALLENNLP_CACHE_ROOT": str(ROOT / OUT / "cache"),
    "QDECOMP_CACHE": str(ROOT / OUT / "cache"),
    "ALLENNLP_LOG_LEVEL": "ERROR",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONWARNINGS": "ignore",
}


def main() -> None:
    """Run all steps, and stop at the first that fails."""
    started = time.monotonic()
    os.chdir(ROOT)
    shutil.rmtree(OUT, ignore_errors=True)
    for number, (title, command) in enumerate(STEPS, start=1):
        print(f"\n== {number}. {title}\n$ {command}", flush=True)
        run(command)
    print(f"\n== {len(STEPS) + 1}. Show one of them with its graph\n")
    shown = first_decomposed(OUT / "questions.jsonl")
    print(f"{shown.question}\n{indent(str(shown), '  ')}\n\n{graph_text(shown.graph)}")
    print(f"\nDone in {time.monotonic() - started:.0f} seconds; everything is in {OUT}.")


def run(command: str) -> None:
    """Run a command of this environment; if it fails, the demo ends."""
    program, *arguments = shlex.split(command)
    started = time.monotonic()
    code = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments], env=os.environ | ENVIRONMENT
    ).returncode
    if code != 0:
        sys.exit(f"demo: {program} {arguments[0]} ended with exit code {code}")
    print(f"({time.monotonic() - started:.0f} seconds)")


def first_decomposed(path: Path) -> Decomposition:
    """The first decomposition of a file."""
    found = [decomposition_from_record(record) for _, record in read_json_lines(path)]
    for each in found:
        if each:
            return each
    sys.exit(f"demo: none of the {len(found)} questions has a decomposition; the first says: {found[0].error}")


if __name__ == "__main__":
    main()
