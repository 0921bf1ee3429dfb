"""``qdecomp render``: show predicted decompositions on a page of pictures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from qdecomp.cli.options import PATH, end_run
from qdecomp.data_structures.errors import DataError, ErrorText, InternalError, as_internal_errors, is_internal
from qdecomp.data_structures.reading import Reading, read_decomposition
from qdecomp.evaluation.differences import compare_steps
from qdecomp.evaluation.formats import problem_lines, reading_lines
from qdecomp.evaluation.metrics.break_text import sari
from qdecomp.evaluation.predictions import ProblemKind, RowProblem, read_gold
from qdecomp.files import BreakExample, Row, RowFile, require_other_files, source_of, write_text_atomically
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record, decomposition_from_text
from qdecomp.terminal import printable, progress
from qdecomp.visualization import PageItem, page_parts


@click.command("render")
@click.option("--input", "input_path", type=PATH, required=True, help="Prediction records (JSON lines).")
@click.option("--gold", "gold_path", type=PATH, help="Break's CSV with gold decompositions, matched by question_id.")
@click.option("--limit", type=click.IntRange(min=1), help="Show at most this many records, the first ones of the file.")
@click.option("--output", "output_path", type=PATH, required=True, help="The HTML page to write.")
def command(input_path: Path, gold_path: Path | None, limit: int | None, output_path: Path) -> None:
    """Show predicted decompositions on a page: steps, step diagrams and dependency graphs, next to gold.

    The page needs no network. For a decomposition without a graph, such as a gold one, it shows the graph that its
    steps convert to.
    """
    if output_path.is_dir():
        raise DataError(f"{output_path}: this is a folder; give a file such as {output_path / 'page.html'}")
    require_other_files({"--output": output_path}, [input_path, gold_path])
    records, problems = _read_records(input_path, limit)
    gold = _read_gold(gold_path, input_path, records, problems) if gold_path is not None else {}
    readings = [record.reading for record in records if record.reading is not None]
    for line in (*problem_lines(input_path, problems), *reading_lines(input_path, readings)):
        print(printable(line), file=sys.stderr)
    items = list(progress((_item(record, gold.get(record.question_id)) for record in records), "Reading", len(records)))
    title = f"{input_path.name} and {gold_path.name}" if gold_path is not None else input_path.name
    internal_errors = 0
    with write_text_atomically(output_path) as stream:
        for part in progress(page_parts(items, title=title), "Drawing", len(items) + 2):
            internal_errors += part.has_internal_error
            stream.write(part.html)
    print(printable(f"{len(items):,} {'question is' if len(items) == 1 else 'questions are'} in {output_path}"))
    end_run(internal_errors)


class _Record(NamedTuple):
    row: int
    question_id: str
    question: str
    prediction: Decomposition
    reading: Reading | None


def _read_records(path: Path, limit: int | None) -> tuple[list[_Record], list[RowProblem]]:
    records: list[_Record] = []
    problems: list[RowProblem] = []
    for row in RowFile(path):
        if limit is not None and len(records) == limit:
            break
        try:
            records.append(_read_record(row))
        except DataError as error:
            problems.append(RowProblem(ProblemKind.MALFORMED, row.number, None, str(error)))
    if not records:
        example = 'one line such as {"question_id": "…", "question": "…", "decomposition": "return …"}'
        found = f"line {problems[0].row}: {problems[0].message}" if problems else "the file is empty"
        raise DataError(f"{path}: there are no prediction records in it ({found}); a record is {example}")
    return records, problems


def _read_record(row: Row) -> _Record:
    if row.error is not None:
        raise DataError(row.error)
    question_id, question, written = (row.fields.get(name) for name in ("question_id", "question", "decomposition"))
    if not isinstance(question_id, str) or not question_id.strip():
        raise DataError("no question_id")
    text = question if isinstance(question, str) else ""
    reading: Reading | None = None
    try:
        with as_internal_errors():
            prediction = decomposition_from_record(row.fields)
            reading = read_decomposition(written) if written else None
    except InternalError as failure:
        prediction = Decomposition(text, written, error=ErrorText.of(failure))
    return _Record(row.number, question_id.strip(), text, prediction, reading)


def _read_gold(
    path: Path, input_path: Path, records: Sequence[_Record], problems: list[RowProblem]
) -> dict[str, BreakExample]:
    """The gold questions by id; records that are not among them are reported, and shown without gold."""
    examples = {example.question_id: example for example in read_gold(path).examples}
    for broken in examples.values():
        if broken.error is not None:
            print(printable(f"{path}: row {broken.row}: {broken.error}; shown without gold"), file=sys.stderr)
    extra = [record for record in records if record.question_id not in examples]
    if len(extra) == len(records):
        raise DataError(f"{input_path}: none of its questions is in {path}; are these the right files?")
    message = "not in the gold file; shown without gold"
    problems += [RowProblem(ProblemKind.EXTRA, record.row, record.question_id, message) for record in extra]
    return examples


def _item(record: _Record, example: BreakExample | None) -> PageItem:
    question = record.question or (example.question if example is not None else "")
    prediction = _with_graph_error(replace(record.prediction, question=question))
    gold = None
    if example is not None and example.decomposition is not None:
        try:
            with as_internal_errors():
                gold = decomposition_from_text(question, example.decomposition)
        except InternalError as failure:
            gold = Decomposition(question, example.decomposition, error=ErrorText.of(failure))
        gold = _with_graph_error(gold)
    # Break's ids begin with the source, as in "CLEVR_dev_17"; others need not.
    source = source_of(record.question_id) if "_" in record.question_id else ""
    return _compared(PageItem(record.question_id, question or record.question_id, prediction, gold, source))


def _compared(item: PageItem) -> PageItem:
    """The item with its SARI and, if LF-EM calls it wrong, with remarks on the steps that differ from gold."""
    gold, predicted = item.gold, item.prediction.text
    if gold is None or gold.text is None or predicted is None:
        return item
    try:
        with as_internal_errors():
            scored = replace(item, scores={"SARI": sari(item.question, predicted, gold.text).value or 0.0})
            steps = None if item.comparison else compare_steps(item.question, predicted, gold.text)
    except InternalError:
        return item
    if steps is None:
        return scored
    return replace(
        scored,
        prediction_remarks=tuple(step.remarks for step in steps.predicted),
        gold_remarks=tuple(step.remarks for step in steps.gold),
    )


def _with_graph_error(decomposition: Decomposition) -> Decomposition:
    """The decomposition; if making its graph failed because of a bug, with that error.

    That steps do not convert to a graph is no error of a decomposition.
    """
    error = decomposition.graph_error
    return replace(decomposition, error=error) if is_internal(error) else decomposition
