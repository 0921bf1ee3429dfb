"""What ``allennlp evaluate --predictions-output-file`` writes: the same records as ``allennlp predict``."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from allennlp.data import DataLoader
from allennlp.evaluation.serializers.serializers import Serializer

from qdecomp.files.writing.output_stream import UNENCODABLE
from qdecomp.parsers.decomposition import Decomposition

__all__ = ["RECORD_SERIALIZER", "RecordSerializer", "record_line"]

RECORD_SERIALIZER = "decomposition_records"
"""The name by which AllenNLP knows it."""


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
        predictions: list[Decomposition] = output_dict["predictions"]
        pairs = zip(predictions, batch["metadata"], strict=True)
        records = (replace(prediction, question_id=entry["question_id"]).to_record() for prediction, entry in pairs)
        return "\n".join(map(record_line, records))


def record_line(record: dict[str, Any]) -> str:
    """A record as one line of JSON that can always be written, whatever is in it."""
    return json.dumps(record, ensure_ascii=False).encode(errors=UNENCODABLE).decode()
