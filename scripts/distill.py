"""Let trained parsers decompose questions that nobody has annotated, and keep the plans that they are sure of.

    python scripts/distill.py questions.txt more.csv --output distilled.csv --min-confidence 0.7
    python scripts/distill.py questions.txt --parser minilm_break --parser out/graph_bundle --output distilled.csv

The files have one question per line, or are JSON lines or a CSV. The output has the columns of Break's CSV, to be
appended to training rows. An id begins with the name of its file in capitals. That is the row's source, so
``source_weights`` can say how often such rows are seen. Plans are the first parser's; one with a warning is dropped. Of
the plans that are left, those are kept that the other parsers agree with, however they are worded.

What each parser says is kept in the folder ``OUTPUT.records``, from which a stopped run resumes. With another
threshold, the first parser's answers are used again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from break_rows import COLUMNS, read_rows, write_rows
from script_errors import run_script

from qdecomp.cli.parse import command as parse_command
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import normalized_text
from qdecomp.files import BreakExample, read_json_lines, read_questions, source_of, write_text_atomically
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record
from qdecomp.parsers.parser import BUNDLED_NAME

_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Questions that must not become rows, such as those to measure on, and whatever was made from them."""

    questions: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()

    def __contains__(self, row: BreakExample) -> bool:
        # The id of a paraphrase is that of the original with a suffix.
        parts = row.question_id.split("_")
        return words_of(row.question) in self.questions or any(
            "_".join(parts[:end]) in self.ids for end in range(2, len(parts) + 1)
        )


def words_of(question: str) -> str:
    """A question without capitals and punctuation, to find equal ones."""
    return " ".join(_WORDS.findall(question.lower()))


def left_out(paths: Sequence[Path]) -> LeftOut:
    """The questions and ids of Break's CSV files."""
    rows = [row for path in paths for row in read_rows(path)]
    return LeftOut(
        frozenset(words_of(row["question_text"]) for row in rows), frozenset(row["question_id"] for row in rows)
    )


def questions_of(paths: Sequence[Path], without: LeftOut) -> Iterator[BreakExample]:
    """The questions of all files, each once, with ids that begin with the name of the file."""
    sources = [re.sub(r"[^a-zA-Z0-9]", "", path.stem).upper() for path in paths]
    if not all(sources) or len(set(sources)) < len(sources):
        raise DataError(f"the names of the files are the rows' sources, and must differ: {', '.join(map(str, paths))}")
    seen: set[str] = set()
    for source, path in zip(sources, paths, strict=True):
        for row in read_questions(path):
            words = words_of(row.question)
            if row.error is None and words and words not in seen and row not in without:
                seen.add(words)
                yield replace(row, question_id=f"{source}_{row.question_id}")


def answers(parser: str, rows: Sequence[BreakExample], path: Path, options: Sequence[str]) -> list[Decomposition]:
    """What a parser says about each question; the records stay in a file, from which a stopped run resumes."""
    asked = path.with_name(f"{path.stem}_questions.jsonl")
    with write_text_atomically(asked) as stream:
        for row in rows:
            stream.write(json.dumps({"question_id": row.question_id, "question": row.question}) + "\n")
    parse = ["--parser", parser, "--input", str(asked), "--output", str(path), *options]
    parse_command.main(parse, standalone_mode=False)
    return [decomposition_from_record(record) for _, record in read_json_lines(path)]


def problem_of(question: str, plan: Decomposition, min_confidence: float) -> str | None:
    """Why a plan is not kept; None if it is."""
    if plan.text is None or plan.logical_form is None:
        return "no plan"
    if (plan.confidence or 0.0) < min_confidence:
        return "not sure enough"
    return "a warning" if plan.warnings else None


def says_the_same(question: str, plan: Decomposition, other: Decomposition) -> bool:
    """Whether two plans have the same normalised logical form, as LF-EM compares them."""
    try:
        first, second = (normalized_text(question, each.text or "") for each in (plan, other))
    except QDecompError:
        return False
    return first == second


class Distillation:
    """The questions that still have a plan, and how many were dropped for which reason."""

    def __init__(self, rows: Sequence[BreakExample], plans: Sequence[Decomposition], min_confidence: float) -> None:
        self.kept: list[tuple[BreakExample, Decomposition]] = []
        self.dropped: Counter[str] = Counter()
        for row, plan in zip(rows, plans, strict=True):
            problem = problem_of(row.question, plan, min_confidence)
            if problem is None:
                self.kept.append((row, plan))
            else:
                self.dropped[problem] += 1

    def agree(self, others: Sequence[Decomposition]) -> None:
        """Keep the plans that another parser's answers agree with."""
        pairs = zip(self.kept, others, strict=True)
        agreed = [(row, plan) for (row, plan), other in pairs if says_the_same(row.question, plan, other)]
        self.dropped["the parsers differ"] += len(self.kept) - len(agreed)
        self.kept = agreed

    def rows(self) -> list[dict[str, str]]:
        """The plans as rows of Break's CSV."""
        return [
            dict(zip(COLUMNS, (row.question_id, row.question, plan.text or "", "", "train"), strict=True))
            for row, plan in self.kept
        ]

    def report(self) -> str:
        """How many plans were kept for how many questions, why others were not, and how many of each source."""
        lines = [f"{len(self.kept):,} plans kept of {len(self.kept) + self.dropped.total():,} questions"]
        lines += [f"{count:,} dropped: {reason}" for reason, count in self.dropped.most_common()]
        sources = Counter(source_of(row.question_id) for row, _ in self.kept)
        return "\n".join([*lines, *(f"{source}: {count:,} kept" for source, count in sources.most_common())])


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(help=__doc__)
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Break's CSV to write.")
@click.option(
    "--parser", "parsers", multiple=True, default=(BUNDLED_NAME,), show_default=True, help="The first writes."
)
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.7, show_default=True, help="Of the first.")
@click.option("--leave-out", "excluded", multiple=True, type=_FILE, help="Break's CSV with questions to leave out.")
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="How many cores to use.")
@click.option("--overwrite", is_flag=True, help="Parse again instead of resuming from the records of an earlier run.")
def main(
    files: tuple[Path, ...],
    output: Path,
    parsers: tuple[str, ...],
    min_confidence: float,
    excluded: tuple[Path, ...],
    processes: int,
    overwrite: bool,
) -> None:
    """Parse the questions with each parser, choose, and write the rows."""
    folder = output.with_name(f"{output.name}.records")
    options = ["--processes", str(processes), *(["--overwrite"] if overwrite else [])]
    rows = list(questions_of(files, left_out(excluded)))
    found = Distillation(rows, answers(parsers[0], rows, folder / "1.jsonl", options), min_confidence)
    for number, parser in enumerate(parsers[1:], start=2):
        path = folder / f"{number}_from_{min_confidence:g}.jsonl"
        if found.kept:
            found.agree(answers(parser, [row for row, _ in found.kept], path, options))
    write_rows(output, found.rows(), *files)
    click.echo(found.report())


if __name__ == "__main__":
    run_script(main)
