"""The bundled graph parser: the probabilities of edges and labels, and a decoder that makes a graph of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qdecomp.data_structures.errors import QDecompError
from qdecomp.decoding import Decoder
from qdecomp.parsers.bundle import VOCABULARY, GraphConfig
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_decoded, failed_decomposition
from qdecomp.parsers.network import Array, encoder_inputs, open_session
from qdecomp.parsers.pieces import Asked, PieceIds, WordPieces, answers_of


class GraphParser:
    """A network, the names of its labels and special tokens, and a decoder."""

    def __init__(self, folder: Path, config: GraphConfig, decoder: Decoder) -> None:
        self._session = open_session(folder / config.graphs[0])
        self.pieces = WordPieces(folder / VOCABULARY, config.max_pieces)
        self._labels, self._special = config.labels, config.special_tokens.appended
        self._decoder = decoder

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A decomposition for each question of a batch; one that cannot be parsed has an error."""
        return answers_of(questions, self.pieces, lambda ready: map(self._parse, ready))

    def scored(self, words: Sequence[str], pieces: PieceIds) -> tuple[tuple[str, ...], Array, Array]:
        """The tokens of a question's graph, and their probabilities before decoding: of edges, and of labels."""
        edges, labels = self._session.run(["edges", "labels"], encoder_inputs([pieces]))
        return (*words, *self._special), edges, labels

    def _parse(self, asked: Asked) -> Decomposition:
        try:
            decoded = self._decoder.decode(*self.scored(asked.words, asked.pieces), self._labels)
        except QDecompError as error:
            return failed_decomposition(asked.question, error)
        return decomposition_from_decoded(asked.question, decoded)
