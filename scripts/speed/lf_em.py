"""LF-EM of this clone and of another one: pairs per CPU second, and whether every verdict is the same.

The pairs are those of the reference files, and generated ones: a decomposition of Break against itself with a few
changes of the kind that parsers make. Each clone scores all of them in a separate process.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from shared_data import shared_data_option

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv, read_json_lines
from qdecomp.terminal import Table, show_tables
from speed.measuring import write_results

Row = tuple[str, str, str]

_WORDS = ("the", "of", "red", "largest", "number", "that are", "for each", "not", "both", "and", ",", "is", "#1")
# Scores the rows of a file and writes the results, one line for each; run with the clone's folder on the path.
_SCORE = """
import json, sys, time
from pathlib import Path
from qdecomp.data_structures import lf_em as module
# What is installed elsewhere may take the place of what the tree does not have.
assert Path(sys.argv[3]) in Path(module.__file__).parents, "it has no LF-EM"
lf_em = module.lf_em
lf_em("How many red cubes are there?", "return red cubes ;return number of #1", "return cubes ;return #1 in red")
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
seconds = {False: 0.0, True: 0.0}
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for start in range(0, len(rows), 2000):
        for strict in (False, True):
            started = time.process_time()
            found = [lf_em(*row, strict=strict) for row in rows[start : start + 2000]]
            seconds[strict] += time.process_time() - started
            for each in found:
                values = (each.verdict, each.error, each.prediction_normalized, each.gold_normalized)
                out.write(json.dumps(values) + "\\n")
print(json.dumps([seconds[False], seconds[True]]))
"""


@dataclass(frozen=True, slots=True)
class TreeSpeed:
    """How fast a clone scored some pairs, as published and then strictly."""

    tree: str
    pairs_of: str
    pairs: int
    cpu_seconds: float
    strict_cpu_seconds: float


def generate_pairs(rows: Sequence[tuple[str, str]], count: int, seed: int) -> Iterator[Row]:
    """Pairs from questions with decompositions: a decomposition with some changes, and itself.

    >>> rows = [("How many red cubes are there?", "return cubes ;return #1 that are red ;return number of #2")]
    >>> list(generate_pairs(rows, 2, seed=1)) == list(generate_pairs(rows, 2, seed=1))
    True
    """
    chance = random.Random(seed)
    for _ in range(count):
        question, gold = chance.choice(rows)
        steps = [step.strip().removeprefix("return").strip() for step in gold.split(";")]
        for _ in range(chance.randrange(4)):
            # A change that does not apply, such as to a second step if there is only one, changes nothing.
            with suppress(IndexError, ValueError):
                chance.choice(_CHANGES)(steps, chance)
        yield question, " ;".join(f"return {step}" for step in steps), gold


def _change_words(steps: list[str], chance: random.Random) -> None:
    """A word is replaced, added or dropped."""
    place = chance.randrange(len(steps))
    words = steps[place].split()
    at = chance.randrange(len(words))
    words[at : at + chance.randrange(2)] = [chance.choice(_WORDS)][: chance.randrange(2)]
    steps[place] = " ".join(words)


def _change_reference(steps: list[str], chance: random.Random) -> None:
    place = chance.randrange(len(steps))
    old, new = (f"#{chance.randrange(1, len(steps) + 2)}" for _ in range(2))
    steps[place] = steps[place].replace(old, new)


def _swap_steps(steps: list[str], chance: random.Random) -> None:
    first, second = chance.sample(range(len(steps)), 2)
    steps[first], steps[second] = steps[second], steps[first]


def _drop_step(steps: list[str], chance: random.Random) -> None:
    if len(steps) > 1:
        del steps[chance.randrange(len(steps))]


def _repeat_step(steps: list[str], chance: random.Random) -> None:
    steps.append(chance.choice(steps))


def _upper_case(steps: list[str], chance: random.Random) -> None:
    place = chance.randrange(len(steps))
    steps[place] = steps[place].title()


_CHANGES = (_change_words, _change_reference, _swap_steps, _drop_step, _repeat_step, _upper_case)


def score_in_tree(tree: Path, pairs_of: str, rows: Sequence[Row], folder: Path) -> tuple[TreeSpeed, Path]:
    """Score rows with the code of a clone; the file has LF-EM's results, line by line."""
    given, found = folder / f"{pairs_of}.jsonl", folder / f"{pairs_of}.{abs(hash(str(tree)))}.jsonl"
    with given.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    run = subprocess.run(
        [sys.executable, "-c", _SCORE, str(given), str(found), str(tree.resolve())],
        env={**os.environ, "PYTHONPATH": str(tree.resolve())},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise DataError(f"{tree}: its LF-EM cannot be run ({run.stderr.strip().splitlines()[-1:]})")
    loose, strict = json.loads(run.stdout)
    return TreeSpeed(tree.resolve().name, pairs_of, len(rows), loose, strict), found


def count_differences(one: Path, other: Path) -> int:
    """In how many lines two files of results differ."""
    with one.open(encoding="utf-8") as first, other.open(encoding="utf-8") as second:
        return sum(left != right for left, right in zip(first, second, strict=True))


def _rows(reference: Path, data: Path, generated: int, limit: int | None, seed: int) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for name in ("lf_em_a", "lf_em_b"):
        records = [record for _, record in read_json_lines(reference / f"{name}.jsonl")][:limit]
        rows[name] = [(record["question"], record["prediction"], record["gold"]) for record in records]
    examples = [(each.question, each.decomposition) for each in read_break_csv(data) if each.decomposition]
    rows["generated"] = list(generate_pairs(examples, generated, seed))
    return rows


def _table(speeds: Sequence[TreeSpeed], differences: dict[str, int]) -> Table:
    cells = [
        (
            each.pairs_of,
            each.tree,
            f"{each.pairs:,}",
            f"{each.pairs / each.cpu_seconds:,.0f}",
            f"{2 * each.pairs / (each.cpu_seconds + each.strict_cpu_seconds):,.0f}",
            f"{differences[each.pairs_of]:,}",
        )
        for each in speeds
    ]
    columns = ("pairs of", "tree", "pairs", "pairs/CPU s", "both metrics", "different")
    note = "Both metrics: verdicts per CPU second if the strict one follows for the same pairs, as in qdecomp evaluate."
    return Table("LF-EM, two clones side by side", columns, tuple(cells), text_columns=2, note=note)


@click.command("lf_em")
@click.option(
    "--against",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="The folder of another clone.",
)
@shared_data_option("--reference", "reference", meaning="The folder with lf_em_a.jsonl and lf_em_b.jsonl.")
@shared_data_option("--data", "break", "train.csv", meaning="Break's CSV, whose decompositions give the pairs.")
@click.option("--generated", type=click.IntRange(min=0), default=200_000, show_default=True, help="How many of these.")
@click.option("--rows", type=click.IntRange(min=1), help="Only the first rows of each reference file.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the generated pairs.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(
    against: Path, reference: Path, data: Path, generated: int, rows: int | None, seed: int, json_path: Path | None
) -> None:
    """Score the same pairs with two clones, and count verdicts, errors and normal forms that differ.

    Exits with code 1 if any does.
    """
    here = Path(__file__).resolve().parents[2]
    speeds: list[TreeSpeed] = []
    differences: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for pairs_of, pairs in _rows(reference, data, generated, rows, seed).items():
            results = [score_in_tree(tree, pairs_of, pairs, Path(folder)) for tree in (against, here) if pairs]
            speeds += [speed for speed, _ in results]
            if results:
                differences[pairs_of] = count_differences(results[0][1], results[1][1])
    show_tables([_table(speeds, differences)])
    if json_path is not None:
        write_results(json_path, {"speeds": [asdict(speed) for speed in speeds], "differences": differences})
    if any(differences.values()):
        raise SystemExit(1)
