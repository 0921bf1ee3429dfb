"""How often each warning fires: on gold decompositions, where it should not, and on right and wrong predictions.

python scripts/warning_study.py --gold break/train.csv
python scripts/warning_study.py --gold break/dev.csv --predictions out/dev.jsonl
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from script_errors import run_script

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.evaluation.predictions import read_gold, read_predictions
from qdecomp.planning.checks import PLAN_CHECKS, failed_checks

_ANY = "any of these"
Judged = tuple[str, str, bool]
"""A question, its decomposition, and whether that is right."""


def gold_plans(path: Path) -> Iterator[Judged]:
    """The gold decompositions of a file, which count as right."""
    for example in read_gold(path).examples:
        if example.decomposition:
            yield example.question, example.decomposition, True


def predicted_plans(path: Path, gold_path: Path) -> Iterator[Judged]:
    """The predictions of a file, judged by LF-EM."""
    gold = read_gold(gold_path)
    for example, row in zip(gold.examples, read_predictions(path, gold).predictions, strict=True):
        if row.text is not None and example.decomposition:
            right = bool(lf_em(example.question, row.text, example.decomposition))
            yield example.question, row.text, right


def study(plans: Iterable[Judged]) -> str:
    """A table with a row for each warning: on how many plans it fires, and how many of them are wrong."""
    fired: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    total = all_wrong = 0
    for question, decomposition, is_right in plans:
        try:
            names = failed_checks(question, parse_qdmr(decomposition))
        except QDecompError:
            continue
        total += 1
        all_wrong += not is_right
        found = [*names, *([_ANY] if names else [])]
        fired.update(found)
        wrong.update(found if not is_right else ())
    lines = ["| warning | plans | share | of these, wrong |", "|---|---|---|---|"]
    for name in (*PLAN_CHECKS, _ANY):
        lines.append(f"| {name} | {fired[name]:,} | {fired[name] / max(1, total):.2%} | {wrong[name]:,} |")
    return "\n".join([*lines, f"| all plans | {total:,} | 100% | {all_wrong:,} |"])


@click.command()
@click.option("--gold", type=click.Path(path_type=Path), required=True, help="Break's CSV.")
@click.option("--predictions", type=click.Path(path_type=Path), help="What a parser wrote for these rows.")
def main(gold: Path, predictions: Path | None) -> None:
    """Count how often each warning fires on gold decompositions or on predictions."""
    print(study(gold_plans(gold) if predictions is None else predicted_plans(predictions, gold)))


if __name__ == "__main__":
    run_script(main)
