"""Probabilities to decode, by hand and at random, and a definition of valid without the table of constraints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.lf_to_sdg import logical_form_from_span_graph
from qdecomp.data_structures.conversion.qdmr_to_lf import to_qdmr
from qdecomp.data_structures.conversion.sdg_to_dg import to_span_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.edge_tags import tag_vocabulary
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.special_tokens import SpecialTokens
from tests.data_structures.graph_strategies import TOKENS

LABELS = (
    *("span", "duplicate", "unused", "filter-sub", "filter-condition", "project-sub", "aggregate-arg[count]"),
    *("comparison-arg[max]", "superlative-sub[max]", "superlative-attribute[max]", "arithmetic-left[diff]"),
    *("arithmetic-right[diff]", "union-sub", "duplicate&filter-sub", "nonsense"),
)


@dataclass(frozen=True)
class Problem:
    tokens: tuple[str, ...]
    edges: np.ndarray
    label_probabilities: np.ndarray
    labels: tuple[str, ...] = LABELS

    @property
    def arguments(self):
        return self.tokens, self.edges, self.label_probabilities, self.labels


def problem(*edges, tokens=TOKENS, labels=LABELS, otherwise=0.001):
    """Edges are (head, dependent, label, probability); there is hardly a doubt about the label."""
    size = len(tokens)
    found = Problem(tokens, np.full((size, size), otherwise), np.full((size, size, len(labels)), 1e-5), labels)
    for head, dependent, label, probability in edges:
        found.edges[head, dependent] = probability
        found.label_probabilities[head, dependent, labels.index(label)] = 1 - 1e-4
    return found


def random_problem(rng, tokens, labels, pairs=None):
    """Any probabilities; with ``pairs``, all but this many pairs have no edge."""
    size = len(tokens)
    edges = rng.random((size, size))
    if pairs is not None:
        mask = np.zeros(size * size, dtype=bool)
        mask[rng.choice(size * size, pairs, replace=False)] = True
        edges = np.where(mask.reshape(size, size), edges, 0.0)
    return Problem(tokens, edges, rng.dirichlet(np.full(len(labels), 0.5), (size, size)), labels)


def means_something(graph: DependencyGraph) -> bool:
    """Whether a graph says a decomposition in which no single argument stands twice."""
    try:
        span_graph = to_span_graph(graph)
        to_qdmr(logical_form_from_span_graph(span_graph))
    except QDecompError:
        return False
    counts = Counter((edge.source, edge.tag.operator, edge.tag.argument) for edge in span_graph.edges)
    return not any(
        count > 1 and argument in OPERATORS[operator].single for (_, operator, argument), count in counts.items()
    )


# Words that upset readers of steps, and words that only show an operator.
words = st.sampled_from(["cubes", "red", "many", "each", "difference", "sum", "highest", "of", "#1", "a,b", "return"])
specials = st.builds(
    SpecialTokens, st.sampled_from([(), ("size",)]), duplicates=st.integers(0, 2), dummies=st.integers(0, 2)
)


@st.composite
def token_lists(draw, more_words=()):
    """A short question followed by special tokens."""
    question = draw(st.lists(words | st.sampled_from(list(more_words)) if more_words else words, max_size=5))
    return (*question, *draw(specials).appended)


@st.composite
def problems(draw):
    """Anything from flat to almost certain probabilities."""
    tokens = draw(token_lists(more_words=(";", "é", "שלום", "🙂")))
    labels = tuple(draw(st.lists(st.sampled_from([*LABELS, *tag_vocabulary()]), min_size=1, max_size=12, unique=True)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    found = random_problem(rng, tokens, labels)
    sharpness = draw(st.sampled_from([1, 8, 40]))
    return Problem(tokens, found.edges**sharpness, found.label_probabilities, labels)
