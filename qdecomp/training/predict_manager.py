"""What ``allennlp predict`` does with a file of questions: it writes one record for each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from allennlp.commands.predict import _PredictManager
from allennlp.common.file_utils import cached_path
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError
from qdecomp.files import open_text, require_other_files
from qdecomp.training.question_decomposition import QuestionDecompositionPredictor

__all__ = ["PredictManager"]

_STANDARD_INPUT = "-"


class PredictManager(_PredictManager):
    """AllenNLP's own, except that with our predictor no question is lost.

    AllenNLP skips blank lines, does not say when the file has ended, and with ``--use-dataset-reader`` asks the reader
    for a whole file, which leaves out the questions that it cannot use. Our predictor passes every question to the
    reader itself, so that flag changes nothing. For other predictors, nothing changes.
    """

    def __init__(
        self, predictor: Predictor, input_file: str, output_file: str | None, *arguments: Any, **options: Any
    ) -> None:
        if output_file is not None and input_file != _STANDARD_INPUT:
            require_other_files({"--output-file": Path(output_file)}, [Path(input_file)])
        self._questions = predictor if isinstance(predictor, QuestionDecompositionPredictor) else None
        if self._questions is not None and input_file != _STANDARD_INPUT:
            # Before the output file is opened: a wrong name should not empty it.
            input_file = cached_path(input_file)
        super().__init__(predictor, input_file, output_file, *arguments, **options)
        if self._questions is not None:
            self._dataset_reader = None

    def _get_json_data(self) -> Iterator[JsonDict]:
        if self._questions is None:
            yield from super()._get_json_data()
            return
        with _open_questions(self._input_file) as lines:
            for line in lines:
                yield from _one_by_one(self._questions.load_line(line))
        yield from _one_by_one(self._questions.load_rest())

    def _maybe_print_to_console_and_file(self, index: int, prediction: str, model_input: str | None = None) -> None:
        """Print a question as it is, not as it comes from the file."""
        if self._questions is not None and model_input is not None:
            model_input = json.loads(prediction)["question"]
        super()._maybe_print_to_console_and_file(index, prediction, model_input)  # type: ignore[arg-type]


def _one_by_one(rows: JsonDict) -> Iterator[JsonDict]:
    """Each row of a line separately, so that batches have the requested number of questions; a header has none."""
    for row in rows["rows"]:
        yield {"rows": [row]}


@contextmanager
def _open_questions(name: str) -> Iterator[TextIO]:
    if name != _STANDARD_INPUT:
        with open_text(name) as stream:
            yield stream
        return
    try:
        yield sys.stdin
    except UnicodeDecodeError as error:
        raise DataError(f"standard input: not UTF-8 text ({error.reason} at byte {error.start})") from None
