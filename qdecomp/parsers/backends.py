"""What can compute the networks of a parser that writes.

``numpy`` is always there. ``onnxruntime`` is two to three times as fast; its products are of whole numbers, so that
scores differ from the second digit on, and one answer in eleven is another, on the whole neither better nor worse.
With either of them, an answer does not depend on the other questions of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.backend_names import BACKEND_NAMES
from qdecomp.parsers.beam_search import SearchState
from qdecomp.parsers.layers import Array
from qdecomp.parsers.word_pieces import PieceIds

__all__ = ["BACKENDS", "NetworkOfWriter", "writer_backend"]


class NetworkOfWriter(Protocol):
    """From the pieces of questions to a state that the search begins with."""

    @property
    def token_count(self) -> int:
        """How many tokens can be generated."""

    @property
    def first_word(self) -> int:
        """The id of the first word of a question that is not among the tokens."""

    def encode(self, questions: Sequence[PieceIds]) -> list[Array]:
        """The states of each question's words."""

    def begin(self, encoded: Sequence[Array], source_ids: Sequence[Sequence[int]], width: int) -> SearchState:
        """The state of encoded questions of one group before anything is written.

        ``source_ids`` has the id of each word; equal words have equal ids. A question has up to ``width`` hypotheses.
        """


def _numpy() -> Callable[..., NetworkOfWriter]:
    from qdecomp.parsers.writer_network import WriterNetwork

    return WriterNetwork


def _onnxruntime() -> Callable[..., NetworkOfWriter]:
    from qdecomp.parsers.byte_writer import ByteWriterNetwork

    return ByteWriterNetwork


BACKENDS: dict[str, Callable[[], Callable[..., NetworkOfWriter]]] = dict(
    zip(BACKEND_NAMES, (_numpy, _onnxruntime), strict=True)
)
"""How to import the networks of each backend."""


def writer_backend(name: str) -> Callable[..., NetworkOfWriter]:
    """The networks of a backend, which are made of weights; any other name is a :class:`DataError`."""
    if name not in BACKENDS:
        raise DataError(f"there is no backend {name!r}; choose from {', '.join(BACKENDS)}")
    return BACKENDS[name]()
