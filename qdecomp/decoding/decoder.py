"""Decoders by name, so that a config can say ``greedy`` or ``ilp``, and what they all return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from qdecomp.data_structures.conversion.chain import logical_form_from_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.decoding.scores import LabelProbabilities, Scores


@dataclass(frozen=True, slots=True)
class Decoded:
    """A graph whose edges carry their probabilities.

    ``score`` is the logarithm of the graph's probability, minus penalties. ``method`` says how it was found:
    ``greedy``, ``ilp``, or ``repair`` if edges were removed from the greedy graph. ``optimal`` says that no valid graph
    has a higher score (for greedy decoding, that it is the graph asked for), and ``broken`` names the constraints that
    the greedy graph breaks, if they were checked.
    """

    graph: DependencyGraph
    score: float
    method: str
    optimal: bool = True
    broken: tuple[str, ...] = ()
    others: tuple[tuple[DependencyGraph, float], ...] = ()
    """The next most probable valid graphs with their scores, if the decoder was asked for them."""
    read: Callable[[DependencyGraph], LogicalForm] = logical_form_from_graph
    """How the steps are read off the graph."""


class Decoder(ABC):
    """Turns the probabilities of one question into a graph."""

    __slots__ = ()

    def decode(
        self,
        tokens: Sequence[str],
        edge_probabilities: npt.ArrayLike,
        label_probabilities: LabelProbabilities,
        labels: Sequence[str],
    ) -> Decoded:
        """Decode edge probabilities [n, n] and, for every pair, label probabilities [n, n, number of labels].

        The latter may be a function that gives them for some pairs, see
        :data:`~qdecomp.decoding.scores.LabelProbabilities`.

        The first index is the head's. Bad numbers or shapes are a
        :class:`~qdecomp.data_structures.errors.DataError`.
        """
        return self.decode_scores(Scores(tokens, edge_probabilities, label_probabilities, labels))

    @abstractmethod
    def decode_scores(self, scores: Scores) -> Decoded:
        """Decode probabilities that were checked."""


DECODERS: Mapping[str, str] = MappingProxyType(
    {
        "greedy": "greedy.GreedyDecoder",
        "greedy_valid": "greedy.GreedyValidDecoder",
        "ilp": "ilp.IlpDecoder",
        "projection": "projection.ProjectionDecoder",
    }
)
"""The module and class of each decoder, in this package."""

DecoderSettings = str | Mapping[str, Any]
"""What a config says about a decoder: its name, or an object with the name as ``type`` and its options."""


def make_decoder(settings: DecoderSettings, **options: Any) -> Decoder:
    """The decoder of these settings, with further options.

    >>> make_decoder("ilp", time_limit=2.0)
    IlpDecoder(time_limit=2.0, candidates=0, coverage_penalty=0.0)
    >>> make_decoder({"type": "ilp", "time_limit": 0.5})
    IlpDecoder(time_limit=0.5, candidates=0, coverage_penalty=0.0)
    """
    given: dict[str, Any] = dict(settings) if isinstance(settings, Mapping) else {"type": settings}
    name = given.pop("type", None)
    if not isinstance(name, str) or name not in DECODERS:
        raise DataError(f"there is no decoder {name!r}; choose from {', '.join(DECODERS)}")
    module, _, class_name = DECODERS[name].partition(".")
    make: Callable[..., Decoder] = getattr(import_module(f"{__package__}.{module}"), class_name)
    given.update(options)
    known = signature(make).parameters
    for option in given:
        if option not in known:
            raise DataError(
                f"decoder {name!r}: there is no option {option!r}; known options: {', '.join(known) or 'none'}"
            )
    return make(**given)


def with_candidates(decoder: Decoder, count: int) -> Decoder:
    """The same decoder, giving this many graphs; a decoder that can give only one is a :class:`DataError`."""
    if not is_dataclass(decoder) or "candidates" not in {each.name for each in fields(decoder)}:
        raise DataError("greedy decoding gives only one graph; candidates need the decoder 'ilp'")
    changed: Decoder = replace(decoder, candidates=count)
    return changed
