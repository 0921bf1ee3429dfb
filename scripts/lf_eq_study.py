"""How LF-Eq, the metric of meaning, does on real data: reproduces all figures about it.

``python scripts/lf_eq_study.py PART`` with one of the parts below; Break and the reference outputs are found as in
the tests (see CONTRIBUTING.md).
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import click
from script_errors import run_script
from shared_data import SWITCH, shared_data

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lexicon import stop_words
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.evaluation.metrics.lf_eq import lf_eq
from qdecomp.evaluation.metrics.lf_eq.changes import changes
from qdecomp.evaluation.scoring import number_of_steps
from qdecomp.files import BreakExample, read_break_csv
from qdecomp.terminal import Table, show_tables

_SYSTEMS = ("a", "b")
_LABELS = Path(__file__).parents[1] / "tests" / "evaluation" / "metrics" / "lf_eq" / "labels.json"
# The attribute of all things serves for some of them, so that another reference often computes the same.
_OFTEN_HARMLESS = "another reference"
_NO_LETTERS = re.compile(r"[\W_]+")


def _folder() -> Path:
    folder = shared_data()
    if folder is None:
        raise DataError(f"set {SWITCH} to a folder with Break and the reference outputs (see CONTRIBUTING.md)")
    return folder


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.2f}%"


def _reference(system: str) -> Iterator[dict[str, Any]]:
    with (_folder() / "reference" / f"lf_em_{system}.jsonl").open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def _examples(*names: str) -> list[BreakExample]:
    return [example for name in names for example in read_break_csv(_folder() / "break" / f"{name}.csv")]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Reproduce the figures about LF-Eq."""


@main.command("changes")
@click.option("--questions", default=6000, show_default=True, help="How many gold decompositions are changed.")
@click.option("--seed", default=19, show_default=True)
@click.option("--show", default=0, show_default=True, help="How many undetected changes to show.")
def changes_command(questions: int, seed: int, show: int) -> None:
    """Changes to gold decompositions: which of them are detected."""
    generator = random.Random(seed)
    examples = generator.sample(_examples("train"), questions)
    words = sorted({word for example in examples[:2000] for word in _content_words(example.question)})
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    missed: list[str] = []
    start = time.process_time()
    for example in examples:
        try:
            gold = parse_qdmr(example.decomposition or "")
        except QDecompError:
            continue
        for change in changes(gold, words, generator):
            if lf_em(example.question, change.decomposition, gold).verdict:
                seen[change.kind]["merged"] += 1
                continue
            result = lf_eq(example.question, change.decomposition, gold)
            seen[change.kind]["changes"] += 1
            seen[change.kind]["equal"] += result.verdict
            seen[change.kind]["errors"] += result.error is not None
            if result.verdict:
                missed.append(f"{change.kind}\n  {gold}\n  {change.decomposition}")
    rows = [_change_row(kind, counts) for kind, counts in seen.items()]
    rows.append(_change_row("all", sum(seen.values(), Counter())))
    without = [counts for kind, counts in seen.items() if kind != _OFTEN_HARMLESS]
    rows.append(_change_row(f"all without {_OFTEN_HARMLESS}", sum(without, Counter())))
    columns = ("change", "changes", "called equal", "different", "with an error", "LF-EM calls equal, not counted")
    show_tables([Table("Changes of gold decompositions", columns, tuple(rows))])
    print(f"{time.process_time() - start:.0f} s CPU, with LF-EM")
    print("\n".join(missed[:show]))


def _content_words(text: str) -> list[str]:
    return [word for word in text.lower().split() if word.isalpha() and len(word) > 3 and word not in stop_words()]


def _change_row(kind: str, counts: Counter[str]) -> tuple[str, ...]:
    total, equal = counts["changes"], counts["equal"]
    return kind, f"{total:,}", str(equal), _share(total - equal, total), str(counts["errors"]), str(counts["merged"])


@main.command("reference")
@click.option("--show", default=0, show_default=True, help="How many pairs to show that LF-EM alone calls equal.")
def reference_command(show: int) -> None:
    """The pairs of the reference: what LF-EM calls equal, and what it calls different."""
    rows = []
    examples: list[str] = []
    for system in _SYSTEMS:
        counts: Counter[str] = Counter()
        start = time.process_time()
        for row in _reference(system):
            result = lf_eq(row["question"], row["prediction"], row["gold"])
            kind = "equal" if row["lf_em"] else "different"
            counts[kind] += 1
            counts[f"{kind}, LF-Eq equal"] += result.verdict
            counts[f"{kind}, error"] += result.error is not None
            if row["lf_em"] and not result.verdict:
                examples.append(f"{result.error}\n  {row['gold']}\n  {row['prediction']}")
        seconds = time.process_time() - start
        total = counts["equal"] + counts["different"]
        rows.append(
            (
                system,
                str(counts["equal"]),
                _share(counts["equal, LF-Eq equal"], counts["equal"]),
                str(counts["equal, error"]),
                str(counts["different"]),
                str(counts["different, LF-Eq equal"]),
                str(counts["different, error"]),
                f"{total / seconds:.0f}",
            )
        )
    columns = (
        "system",
        "LF-EM equal",
        "LF-Eq, too",
        "error",
        "LF-EM different",
        "LF-Eq equal",
        "error",
        "pairs/s (CPU)",
    )
    show_tables([Table("Pairs of the reference", columns, tuple(rows))])
    print("\n".join(examples[:show]))


@main.command("kinds")
def kinds_command() -> None:
    """What LF-EM calls different and LF-Eq equal, by the first kind in this list that fits."""
    counts: Counter[str] = Counter()
    for system in _SYSTEMS:
        for row in _reference(system):
            pair = (row["question"], row["prediction"], row["gold"])
            if not row["lf_em"] and lf_eq(*pair).verdict:
                counts[_kind(*pair)] += 1
    rows = tuple((kind, str(count)) for kind, count in counts.most_common())
    show_tables([Table("Different to LF-EM, equal to LF-Eq", ("kind", "pairs"), (*rows, ("all", str(counts.total()))))])


def _kind(question: str, prediction: str, gold: str) -> str:
    found = lf_em(question, prediction, gold)
    if found.error is not None:
        return "LF-EM cannot read a step"
    if found.verdict:
        return "inflections that the published code misses"
    forms = [to_logical_form(side).steps for side in (prediction, gold)]
    counts = [Counter(step.operator for step in steps) for steps in forms]
    differ = {operator for operator in Operator if counts[0][operator] != counts[1][operator]}
    if not differ - {Operator.SELECT, Operator.FILTER}:
        return "the same operators in other words: numbers, units, inflections"
    for operator, kind in _KINDS:
        if operator in differ:
            return kind
    return "other"


_KINDS = (
    (Operator.AGGREGATE, "counted, or asked whether there are any, or all the same"),
    (Operator.INTERSECTION, "an intersection, or filters in a row"),
    (Operator.DISCARD, "besides, or not"),
    (Operator.PROJECT, "tied by a filter, or by a projection"),
)


@main.command("labels")
def labels_command() -> None:
    """Pairs that LF-EM calls different, labelled by a reader who did not know what LF-Eq says."""
    pairs = {(system, row["question_id"]): row for system in _SYSTEMS for row in _reference(system)}
    rows = []
    for part, labelled in json.loads(_LABELS.read_text(encoding="utf-8")).items():
        counts: Counter[tuple[bool, bool]] = Counter()
        for system, question_id, label in labelled:
            row = pairs[system, question_id]
            counts[label, lf_eq(row["question"], row["prediction"], row["gold"]).verdict] += 1
        right, wrong, missed = counts[True, True], counts[False, True], counts[True, False]
        precision, recall = _share(right, right + wrong), _share(right, right + missed)
        rows.append((part, str(len(labelled)), str(right + missed), str(right), str(wrong), precision, recall))
    columns = ("sample", "pairs", "equal to the reader", "and to LF-Eq", "to LF-Eq alone", "precision", "recall")
    show_tables([Table("Labelled pairs", columns, tuple(rows))])


@main.command("people")
def people_command() -> None:
    """Two people's decompositions of one question: how often they agree, by number of steps."""
    by_question: dict[str, list[BreakExample]] = defaultdict(list)
    for example in _examples("train", "dev"):
        if example.decomposition is not None:
            by_question[_NO_LETTERS.sub(" ", example.question.lower()).strip()].append(example)
    pairs = [pair for group in by_question.values() for pair in combinations(group, 2)]
    verdicts = _verdicts([(one.question, other.decomposition or "", one.decomposition or "") for one, other in pairs])
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for (one, _), verdict in zip(pairs, verdicts, strict=True):
        steps = number_of_steps(one.decomposition or "")
        groups[str(steps) if steps < 6 else "6 and more"].append(verdict)
    groups = dict(sorted(groups.items())) | {"all": verdicts}
    rows = [
        (name, str(len(each)), _share(sum(v[0] for v in each), len(each)), _share(sum(v[1] for v in each), len(each)))
        for name, each in groups.items()
    ]
    show_tables([Table("Agreement of people", ("steps", "pairs", "LF-EM", "LF-Eq"), tuple(rows))])


def _verdicts(pairs: Sequence[tuple[str, str, str]]) -> list[tuple[bool, bool]]:
    metrics: tuple[Callable[..., Any], ...] = (lf_em, lf_eq)
    return [tuple(bool(metric(*pair).verdict) for metric in metrics) for pair in pairs]  # type: ignore[misc]


if __name__ == "__main__":
    run_script(main)
