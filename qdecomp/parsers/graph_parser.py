"""Makes predictions with the bundled networks of a graph parser."""

from __future__ import annotations

from collections.abc import Sequence

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.decoding import Decoder
from qdecomp.parsers.calibration import Calibration
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_decoded, failed_decomposition
from qdecomp.parsers.graph_network import EncodedQuestion, GraphNetwork
from qdecomp.parsers.questions import make_ready
from qdecomp.parsers.word_pieces import WordPieces

__all__ = ["GraphParser"]


class GraphParser:
    """Networks, the names of their labels and special tokens, and a decoder."""

    def __init__(
        self,
        network: GraphNetwork,
        word_pieces: WordPieces,
        labels: Sequence[str],
        special_tokens: Sequence[str],
        decoder: Decoder,
    ) -> None:
        if (network.label_count, network.special_count) != (len(labels), len(special_tokens)):
            raise DataError("the weights and the names of labels or special tokens do not match")
        self._network = network
        self._word_pieces = word_pieces
        self.labels = tuple(labels)
        self._special = tuple(special_tokens)
        self._decoder = decoder
        self.calibration: Calibration | None = None

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A prediction for each question, in one batch; one that cannot be parsed has an error."""
        ready = make_ready(questions, self._word_pieces)
        encoded = self._network.encode(ready.pieces) if ready.pieces else iter(())
        answers = [
            self._decode(questions[number], (*words, *self._special), each)
            for (number, words), each in zip(ready.words.items(), encoded, strict=True)
        ]
        return ready.with_answers(answers)

    def scored(self, words: Sequence[str]) -> tuple[tuple[str, ...], EncodedQuestion]:
        """The tokens of a question's graph and their probabilities, before decoding."""
        (encoded,) = self._network.encode([self._word_pieces(words)])
        return (*words, *self._special), encoded

    def _decode(self, question: str, tokens: tuple[str, ...], encoded: EncodedQuestion) -> Decomposition:
        try:
            decoded = self._decoder.decode(tokens, encoded.edge_probabilities, encoded.label_probabilities, self.labels)
        except QDecompError as error:
            return failed_decomposition(question, error)
        return decomposition_from_decoded(question, decoded)
