"""Whole files: parse all questions in one, or combine the predictions of several systems.

    parse_file(load(), "questions.csv", "predictions.jsonl", where=Where(processes=4))

A run that was stopped resumes; see :mod:`qdecomp.files.jobs` for where the work is done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError, QDecompError, as_internal_errors
from qdecomp.files.break_csv import BreakExample, example_store, iterate_break_csv, read_questions
from qdecomp.files.jobs import ALL_CORES, HERE, ROW_KILLED_WORKERS, Job, Where, run
from qdecomp.files.predictions import JoinedQuestion, join_predictions
from qdecomp.files.rows import STANDARD_INPUT
from qdecomp.parsers.consensus import Answers, consensus
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record, failed_decomposition
from qdecomp.parsers.parser import BATCHES_SORTED_TOGETHER, Parser, in_length_batches
from qdecomp.version import VERSION

# Parsing fewer questions takes less time than loading the parser in other processes.
_QUESTIONS_FOR_PROCESSES = 200
_NO_ROW = "the system has no row for this question"


@dataclass(slots=True)
class FileSummary:
    """How many questions there are, how many of them were there before this run, and how many have no answer.

    ``internal_errors`` counts those that have none because of a bug, and ``asked`` those for which a language model was
    asked, with its calls and tokens, those of earlier runs and of the cache included.
    """

    questions: int = 0
    resumed: int = 0
    failed: int = 0
    internal_errors: int = 0
    asked: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add_record(self, record: Mapping[str, Any]) -> None:
        """Count the question of a record."""
        answered = record.get("answered") or {}
        calls = answered.get("calls", 0)
        self.failed += record["decomposition"] is None
        self.internal_errors += "internal_error" in record
        self.asked += calls > 0
        self.calls += calls
        self.prompt_tokens += answered.get("prompt_tokens", 0)
        self.completion_tokens += answered.get("completion_tokens", 0)


def parse_file(
    parser: Parser,
    input_path: str | Path,
    output_path: str | Path,
    *,
    column: str | None = None,
    batch_size: int = 32,
    where: Where = ALL_CORES,
    overwrite: bool = False,
    part_rows: int | None = None,
) -> FileSummary:
    """Write a prediction record for every question in a file, in its order.

    See :func:`~qdecomp.files.break_csv.read_questions` for ``input_path`` and ``column``, and
    :func:`~qdecomp.files.outputs.write_records` for the output.
    """
    questions, where = _questions(parser, input_path, column, where)
    job = _parsing(parser, batch_size, where, _settings(parser, batch_size))
    return _run(questions, job, output_path, where, overwrite, part_rows)


def parse_records(
    parser: Parser,
    input_path: str | Path,
    *,
    column: str | None = None,
    batch_size: int = 32,
    where: Where = ALL_CORES,
) -> Iterator[dict[str, Any]]:
    """The records that :func:`parse_file` writes, without their keys, as they come."""
    questions, where = _questions(parser, input_path, column, where)
    job = _parsing(parser, batch_size, where, None)
    with where.pool() as pool:
        yield from map(dict, job.records(questions, pool))


def _run(
    rows: Sequence[Any], job: Job[Any], output: str | Path, where: Where, overwrite: bool, part_rows: int | None
) -> FileSummary:
    summary = FileSummary(len(rows))
    summary.resumed = run(rows, job, output, where, count=summary.add_record, overwrite=overwrite, part_rows=part_rows)
    return summary


def _questions(
    parser: Parser, path: str | Path, column: str | None, where: Where
) -> tuple[Sequence[BreakExample], Where]:
    """The questions of a file, and where they are parsed: here, unless several processes are quicker."""
    questions = example_store(read_questions(path, column))
    if not len(questions):
        name = "standard input" if Path(path) == STANDARD_INPUT else path
        raise DataError(f"{name}: there are no questions in it")
    # One process asks a language model several things at once.
    is_asked_here = where == ALL_CORES and parser.source.language_model is not None
    return questions, HERE if is_asked_here else where.for_rows(len(questions), _QUESTIONS_FOR_PROCESSES)


def _settings(parser: Parser, batch_size: int) -> str:
    """What all answers of a run depend on."""
    source = parser.source
    key = [*source.contents(), batch_size if source.depends_on_batches else None]
    return json.dumps([VERSION, key, source.decoder, source.candidates, source.min_confidence, *source.options])


def _parsing(parser: Parser, batch_size: int, where: Where, settings: str | None) -> Job[BreakExample]:
    def arrange(rows: Iterable[BreakExample], work: Callable[..., Iterator[Sequence[Any]]]) -> Iterator[Any]:
        return (found for _, found in in_length_batches(rows, lambda row: len(row.question), batch_size, work))

    return Job(
        "parsing",
        partial(_parsed, parser.predictor(where), settings),
        partial(_question_key, settings or ""),
        lambda row: _record(row, failed_decomposition(row.question, ROW_KILLED_WORKERS), settings),
        arrange,
        BATCHES_SORTED_TOGETHER * batch_size,
    )


def _question_key(settings: str, row: BreakExample) -> str:
    content = [settings, row.question_id, row.question, row.error]
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


def _parsed(predict: Answers, settings: str | None, rows: Sequence[BreakExample]) -> list[dict[str, Any]]:
    answers = predict([row.question for row in rows])
    return [_record(row, answer, settings) for row, answer in zip(rows, answers, strict=True)]


def _record(row: BreakExample, answer: Decomposition, settings: str | None) -> dict[str, Any]:
    if row.error is not None:
        answer = failed_decomposition(row.question, row.error)
    record = replace(answer, question_id=row.question_id).to_dict()
    return record if settings is None else {**record, "key": _question_key(settings, row)}


# Combining.


def read_joined(
    paths: Sequence[Path], questions_path: Path | None = None
) -> tuple[Sequence[JoinedQuestion], list[Path]]:
    """The questions of prediction files, and the files without predictions.

    ``questions_path`` is Break's CSV with the texts that the files lack.
    """
    texts = None if questions_path is None else example_store(iterate_break_csv(questions_path))
    return join_predictions(paths, texts, check=decomposition_from_record)


def predictions_of(question: JoinedQuestion) -> tuple[Decomposition, ...]:
    """What each system says about a question."""
    return tuple(
        failed_decomposition(question.question, _NO_ROW)
        if record is None
        else decomposition_from_record(json.loads(record))
        for record in question.records
    )


def combine_files(
    joined: Sequence[JoinedQuestion],
    output_path: str | Path,
    weights: Sequence[float],
    *,
    where: Where = HERE,
    overwrite: bool = False,
    part_rows: int | None = None,
) -> FileSummary:
    """Write the consensus of several systems on each question."""
    settings = json.dumps([VERSION, *weights])
    job: Job[JoinedQuestion] = Job(
        "combining",
        partial(_combined, tuple(weights), settings),
        lambda question: f"{question.fingerprint} {settings}",
        lambda question: _consensus_record(
            question, failed_decomposition(question.question, ROW_KILLED_WORKERS), settings
        ),
    )
    return _run(joined, job, output_path, where, overwrite, part_rows)


def _combined(weights: Sequence[float], settings: str, questions: Sequence[JoinedQuestion]) -> list[dict[str, Any]]:
    records = []
    for question in questions:
        try:
            with as_internal_errors():
                answer = consensus(question.question, predictions_of(question), weights)
        except QDecompError as error:
            answer = failed_decomposition(question.question, error)
        records.append(_consensus_record(question, answer, settings))
    return records


def _consensus_record(question: JoinedQuestion, answer: Decomposition, settings: str) -> dict[str, Any]:
    record = replace(answer, question_id=question.question_id, question=question.question).to_record()
    return {**record, "key": f"{question.fingerprint} {settings}"}
