"""Predict decompositions of questions: one record for every question, whatever the question looks like."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DataLoader, DatasetReader, Instance
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.decoding import DecoderSettings
from qdecomp.files.break_csv import BreakExample, question_from_json
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.training.question_parser import QuestionParser

logger = logging.getLogger(__name__)

PREDICTOR = "question_decomposition"
"""The name by which AllenNLP knows it."""

# What one question may do to a model while others are fine, such as being too large for the memory. torch has no finer
# class for its errors. Everything else is a bug, which no record should hide.
_FAILURES = (QDecompError, RuntimeError, MemoryError)

RECORD_SERIALIZER = "decomposition_records"
"""The name by which AllenNLP knows it."""


@Predictor.register(PREDICTOR)
class QuestionDecompositionPredictor(Predictor):
    """Gives a prediction record for every question; one that cannot be parsed has a record that says why.

    With ``allennlp predict``, questions are plain text (one per line), JSON lines or Break's CSV, see
    :func:`qdecomp.files.break_csv.read_questions`.

    ``decoder`` replaces the model's, for a model that predicts graphs: ``--predictor-args '{"decoder": "ilp"}'`` or
    ``'{"decoder": {"type": "ilp", "time_limit": 0.5}}'``. ``candidates`` asks for this many of the best decompositions
    in every record.
    """

    def __init__(
        self, model: Model, dataset_reader: DatasetReader, decoder: DecoderSettings | None = None, candidates: int = 0
    ) -> None:
        super().__init__(model, dataset_reader)
        if decoder is None and not candidates:
            return
        if not isinstance(model, QuestionParser):
            raise DataError(f"{type(model).__name__} is not a parser of this project, so it has no such options")
        if decoder is not None:
            model.decode_graphs_with(decoder)
        if candidates:
            model.give_candidates(candidates)

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The record of one question, such as ``{"question": "which cubes are red ?"}``."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """What :meth:`predict_json` gives for each of these, in one batch."""
        return self.predict_questions([question_from_json(each) for each in inputs])

    def predict_questions(self, rows: Sequence[BreakExample]) -> list[JsonDict]:
        """The records of rows of a file; that of a row that cannot be read says why."""
        found = iter(self.predictions([row.question for row in rows if row.error is None]))
        answers = [next(found) if row.error is None else failed_decomposition(row.question, row.error) for row in rows]
        return [_record(answer, row.question_id) for answer, row in zip(answers, rows, strict=True)]

    def predictions(self, questions: Sequence[str]) -> list[Decomposition]:
        """What the model says about each of the questions."""
        read: list[Instance | Decomposition] = []
        for question in questions:
            try:
                read.append(self._dataset_reader.text_to_instance(question))
            except QDecompError as error:
                read.append(failed_decomposition(question, error))
        parsed = iter(self._parse([each for each in read if isinstance(each, Instance)]))
        return [next(parsed) if isinstance(each, Instance) else each for each in read]

    def dump_line(self, outputs: JsonDict) -> str:
        """A record as one line of JSON."""
        return f"{json.dumps(outputs, ensure_ascii=False)}\n"

    def _parse(self, instances: list[Instance]) -> list[Decomposition]:
        if not instances:
            return []
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        try:
            outputs: list[dict[str, Any]] = self._model.forward_on_instances(instances)
            return [output["predictions"] for output in outputs]
        except NotImplementedError:
            # A RuntimeError only by inheritance: this is a bug.
            raise
        except _FAILURES as error:
            if len(instances) == 1:
                logger.exception("a question cannot be parsed")
                is_ours = isinstance(error, QDecompError)
                question = instances[0]["metadata"].metadata["question"]  # type: ignore[attr-defined]
                return [failed_decomposition(question, error if is_ours else f"{type(error).__name__}: {error}")]
        # Here and not above, because an error that is being handled keeps the memory of its batch.
        return [prediction for instance in instances for prediction in self._parse([instance])]


@Serializer.register(RECORD_SERIALIZER)
class RecordSerializer(Serializer):
    """One line for each question of a batch; AllenNLP's own has one line of tensors for the whole batch."""

    def __call__(
        self,
        batch: dict[str, Any],
        output_dict: dict[str, Any],
        data_loader: DataLoader,
        output_postprocess_function: Callable[..., Any] | None = None,
    ) -> str:
        """The records of a batch, without a line break at the end."""
        pairs = zip(output_dict["predictions"], batch["metadata"], strict=True)
        records = (_record(prediction, entry["question_id"]) for prediction, entry in pairs)
        return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def _record(decomposition: Decomposition, question_id: str) -> JsonDict:
    return replace(decomposition, question_id=question_id).to_record()
