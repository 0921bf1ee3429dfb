"""The bundled graph parser: the probabilities of edges and labels, and a decoder that makes a graph of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qdecomp.data_structures.errors import QDecompError
from qdecomp.decoding import Decoder
from qdecomp.parsers.bundle import VOCABULARY, GraphConfig
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_decoded, failed_decomposition
from qdecomp.parsers.network import Array, encoder_inputs, open_session
from qdecomp.parsers.pieces import PieceIds, WordPieces, make_ready


class GraphParser:
    """A network, the names of its labels and special tokens, and a decoder."""

    def __init__(self, folder: Path, config: GraphConfig, decoder: Decoder) -> None:
        self._session = open_session(folder / config.graphs[0])
        self._pieces = WordPieces(folder / VOCABULARY, config.max_pieces)
        self.labels, self._special = config.labels, config.special_tokens.appended
        self._decoder = decoder

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A decomposition for each question of a batch; one that cannot be parsed has an error."""
        ready = make_ready(questions, self._pieces)
        pairs = zip(ready.words.items(), ready.pieces, strict=True)
        return ready.with_answers([self._parse(questions[number], words, pieces) for (number, words), pieces in pairs])

    def scored(self, words: Sequence[str]) -> tuple[tuple[str, ...], Array, Array]:
        """The tokens of a question's graph, and their probabilities before decoding: of edges, and of labels."""
        return self._scored(words, self._pieces(words))

    def _scored(self, words: Sequence[str], pieces: PieceIds) -> tuple[tuple[str, ...], Array, Array]:
        edges, labels = self._session.run(["edges", "labels"], encoder_inputs([pieces]))
        return (*words, *self._special), edges, labels

    def _parse(self, question: str, words: Sequence[str], pieces: PieceIds) -> Decomposition:
        try:
            decoded = self._decoder.decode(*self._scored(words, pieces), self.labels)
        except QDecompError as error:
            return failed_decomposition(question, error)
        return decomposition_from_decoded(question, decoded)
