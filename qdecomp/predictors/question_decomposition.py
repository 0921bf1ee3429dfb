"""Predict decompositions of questions: one record out for every question in, whatever the question looks like."""

import csv
import json
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.prediction import Prediction, failed_prediction, prediction_record
from qdecomp.decoding import make_decoder

__all__ = ["QuestionDecompositionPredictor"]

logger = logging.getLogger(__name__)

_QUESTION_COLUMN = "question_text"
_ROWS = "rows"
# A quoted field of a CSV that goes on for so many lines was never closed.
_MAX_LINES_OF_A_ROW = 20


@Predictor.register("question_decomposition")
class QuestionDecompositionPredictor(Predictor):
    """Reads questions as plain text (one a line), JSON lines or Break's CSV, and writes prediction records.

    The format is seen from the lines themselves: a line that is a JSON object is one; a first line that names the
    column ``question_text`` is the header of a CSV; every other line is a question. A question that cannot be parsed
    gives a record that says why.

    ``decoder`` replaces the model's, for a model that draws graphs: ``--predictor-args '{"decoder": "ilp"}'``.
    """

    def __init__(self, model: Model, dataset_reader: DatasetReader, decoder: str | None = None) -> None:
        super().__init__(model, dataset_reader)
        if decoder is not None:
            if not hasattr(model, "decoder"):
                raise DataError(f"{type(model).__name__} draws no graphs, so it takes no decoder")
            model.decoder = make_decoder(decoder)  # type: ignore[assignment]
        self._lines = 0
        self._header: list[str] | None = None
        self._open_row = ""

    def predict(self, question: str, question_id: str = "") -> JsonDict:
        """The record of one question."""
        return self.predict_questions([(question_id, question)])[0]

    def predict_questions(self, questions: Sequence[tuple[str, str]]) -> list[JsonDict]:
        """The records of questions, given as pairs (question_id, question)."""
        instances: dict[int, Instance] = {}
        predictions: dict[int, Prediction] = {}
        for number, (question_id, question) in enumerate(questions):
            try:
                instances[number] = self._dataset_reader.text_to_instance(question, question_id)
            except QDecompError as error:
                predictions[number] = failed_prediction(error)
        predictions.update(zip(instances, self._parse(list(instances.values())), strict=True))
        return [
            prediction_record(predictions[number], question_id, question)
            for number, (question_id, question) in enumerate(questions)
        ]

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The records of one line, as ``{"rows": […]}``."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """The records of several lines, each as ``{"rows": […]}``; the header of a CSV has no row."""
        lines = [line[_ROWS] if _ROWS in line else [_row_of_json(line, "")] for line in inputs]
        records = iter(self.predict_questions([row for rows in lines for row in rows]))
        return [{_ROWS: [next(records) for _ in rows]} for rows in lines]

    def predict_instance(self, instance: Instance) -> JsonDict:
        """The record of a reader's instance."""
        return self.predict_batch_instance([instance])[0]

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The records of a reader's instances."""
        metadata = [instance["metadata"].metadata for instance in instances]  # type: ignore[attr-defined]
        return [
            prediction_record(prediction, entry["question_id"], entry["question"])
            for prediction, entry in zip(self._parse(instances), metadata, strict=True)
        ]

    def load_line(self, line: str) -> JsonDict:
        """The questions of a line, as ``{"rows": [[question_id, question], …]}``."""
        self._lines += 1
        return {_ROWS: list(self._rows(line))}

    def dump_line(self, outputs: JsonDict) -> str:
        """One line of JSON for each record."""
        records = outputs.get(_ROWS, [outputs])
        return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)

    def _parse(self, instances: list[Instance]) -> list[Prediction]:
        if not instances:
            return []
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        try:
            outputs: list[dict[str, Any]] = self._model.forward_on_instances(instances)
        except Exception as error:
            # Whatever one question does to the model, the others are to be answered.
            if len(instances) > 1:
                return [prediction for instance in instances for prediction in self._parse([instance])]
            logger.exception("a question cannot be parsed")
            return [failed_prediction(f"{type(error).__name__}: {error}")]
        return [output["predictions"] for output in outputs]

    def _rows(self, line: str) -> Iterator[tuple[str, str]]:
        if self._header is not None:
            yield from self._rows_of_csv(line)
            return
        text = line.strip().lstrip("\ufeff")
        if self._lines == 1 and (header := _csv_header(text)) is not None:
            self._header = header
            return
        value = _json_object(text)
        yield _row_of_json(value, str(self._lines)) if value is not None else (str(self._lines), text)

    def _rows_of_csv(self, line: str) -> Iterator[tuple[str, str]]:
        """A row may have several lines, if a field in quotes has; it comes with the last of them."""
        assert self._header is not None
        self._open_row += line
        if self._open_row.count('"') % 2 and self._open_row.count("\n") < _MAX_LINES_OF_A_ROW:
            return
        for cells in csv.reader(self._open_row.splitlines(keepends=True)):
            row = dict(zip(self._header, cells, strict=False))
            yield row.get("question_id") or str(self._lines), row.get(_QUESTION_COLUMN, "")
        self._open_row = ""


def _csv_header(line: str) -> list[str] | None:
    cells = [cell.strip() for cell in next(csv.reader([line]), [])]
    return cells if _QUESTION_COLUMN in cells else None


def _json_object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _row_of_json(value: JsonDict, default_id: str) -> tuple[str, str]:
    question = value.get("question", value.get(_QUESTION_COLUMN))
    return str(value.get("question_id") or default_id), question if isinstance(question, str) else ""
