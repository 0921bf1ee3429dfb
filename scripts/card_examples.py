"""Show in the card of a bundled parser what it gets wrong: for each kind of question, the plan furthest from gold.

    python scripts/card_examples.py --parser FOLDER --gold data/everyday.csv

The card quotes the questions and their gold decompositions, so take rows that may be published with the parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from model_card import renew_section
from script_errors import run_script

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.evaluation.metrics.sari import sari
from qdecomp.evaluation.predictions import read_gold
from qdecomp.parsers.bundle import is_bundle
from qdecomp.parsers.parser import load
from qdecomp.parsers.parser_source import parser_path

_HEADING = "### Questions that it gets wrong"


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with gold, what the parser said, and whether that is right."""

    kind: str
    question: str
    gold: str
    plan: str | None
    confidence: float
    is_right: bool

    @property
    def similarity(self) -> float:
        """How near the plan is to gold, by SARI."""
        return sari(self.question, self.plan or "", self.gold).value or 0.0


def answers_of(parser: Path, gold: Path) -> list[Answer]:
    """The answers of a parser to all rows of a file that have a gold decomposition."""
    examples = [example for example in read_gold(gold).examples if example.decomposition]
    answers = []
    for example, found in zip(examples, load(parser).pipe([each.question for each in examples]), strict=True):
        plan = str(found.qdmr) if found else None
        right = plan is not None and bool(lf_em(example.question, plan, example.decomposition or ""))
        confidence = found.confidence or 0.0
        answers.append(Answer(example.source, example.question, example.decomposition or "", plan, confidence, right))
    return answers


def section_of(answers: Iterable[Answer], name: str) -> str:
    """The text of the section: how often each kind is wrong, and the wrong plan of each that is furthest from gold."""
    by_kind: dict[str, list[Answer]] = {}
    for answer in answers:
        by_kind.setdefault(answer.kind, []).append(answer)
    wrong = {kind: [each for each in found if not each.is_right] for kind, found in by_kind.items()}
    total, missed = sum(map(len, by_kind.values())), sum(map(len, wrong.values()))
    lines = [
        f"Of the plans for the {total:,} questions of `{name}`, {missed:,} are wrong by LF-EM. For each kind of "
        "question,",
        "this is the wrong plan that is furthest from gold by SARI. LF-EM is strict: some would lead to the answer.",
        "",
        "| kind | wrong | question | its plan | gold | confidence |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [_row(kind, by_kind, wrong) for kind in sorted(by_kind) if wrong[kind]])


def _row(kind: str, by_kind: Mapping[str, list[Answer]], wrong: Mapping[str, list[Answer]]) -> str:
    furthest = min(wrong[kind], key=lambda answer: answer.similarity)
    cells = (
        kind.lower(),
        f"{len(wrong[kind])} of {len(by_kind[kind])}",
        furthest.question,
        _steps(furthest.plan),
        _steps(furthest.gold),
        f"{furthest.confidence:.2f}",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _steps(decomposition: str | None) -> str:
    if decomposition is None:
        return "none"
    return "; ".join(step.strip().removeprefix("return ") for step in decomposition.split(";"))


@click.command()
@click.option("--parser", "source", required=True, help="The folder of a bundled parser.")
@click.option("--gold", type=click.Path(path_type=Path), required=True, help="Break's CSV; the card quotes its rows.")
def main(source: str, gold: Path) -> None:
    """Write into the card of a bundled parser what it gets wrong."""
    parser = parser_path(source)
    if not (parser.is_dir() and is_bundle(parser)):
        raise DataError(f"{parser}: not a bundled parser, so it has no card")
    text = section_of(answers_of(parser, gold), gold.name)
    renew_section(parser, _HEADING, text)
    print(text)


if __name__ == "__main__":
    run_script(main)
