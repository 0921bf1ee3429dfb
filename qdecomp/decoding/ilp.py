"""Decoding to the most probable *valid* graph, by an integer program if the greedy graph is not valid.

The program has only the choices that cost less than some bound. If the graph that it finds costs less than the bound,
no other choice can be in a better graph; if not, the bound is raised.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import DataError, GraphError
from qdecomp.decoding.constraints import EdgeChoice
from qdecomp.decoding.coverage import Coverage, check_penalty, coverage_of
from qdecomp.decoding.decoder import NO_VALID_GRAPH, Decoded, Decoder, compatible_choices
from qdecomp.decoding.scores import ROUNDING, Scores
from qdecomp.decoding.validity import is_valid

logger = logging.getLogger(__name__)

# Nats. Most graphs are repaired by choices much more probable than this.
_FIRST_BOUND = 3.0
_HIGHEST_COST = 50.0
_LARGEST_PROGRAM = 2000


@dataclass(frozen=True, slots=True)
class IlpDecoder(Decoder):
    """Greedy if that gives a valid graph; otherwise a program that may run for about ``time_limit`` seconds.

    They are measured by the solver's own clock, so that two runs give the same graphs. If they do not suffice for any
    graph, the answer is the greedy one without the edges that break constraints. With a trained parser, a question
    takes milliseconds; with one that knows nothing yet, it takes the whole time limit, so validate it greedily.

    With ``candidates`` above 1, this many graphs are searched for, each the best of those that remain, and each within
    the time limit. Each word of the question that a graph leaves out takes ``coverage_penalty`` off its score, see
    :mod:`~qdecomp.decoding.coverage`.
    """

    time_limit: float = 1.0
    candidates: int = 0
    coverage_penalty: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, int) or self.candidates < 0:
            raise DataError(f"decoder 'ilp': candidates is {self.candidates!r}; give a whole number, 0 or more")
        if not isinstance(self.time_limit, (int, float)) or not self.time_limit >= 0:
            raise DataError(f"decoder 'ilp': the time limit is {self.time_limit!r}; give seconds, 0 or more")
        check_penalty(self.coverage_penalty)

    def decode_scores(self, scores: Scores) -> Decoded:
        """The best valid graph found."""
        problem = _Problem(scores, coverage_of(scores.tokens, self.coverage_penalty), self.time_limit)
        graph = problem.best()
        others = tuple((other, problem.score(other)) for other in problem.others(graph, self.candidates - 1))
        return Decoded(graph, problem.score(graph), others)


@dataclass(frozen=True, slots=True)
class _Problem:
    """The probabilities of a question, the words that its graph should have, and the time limit for a graph."""

    scores: Scores
    coverage: Coverage
    time_limit: float

    def score(self, graph: DependencyGraph) -> float:
        """The logarithm of a graph's probability, minus the penalties for words that it leaves out."""
        return self.scores.log_score(graph) - self.coverage.cost(graph.labels())

    def best(self) -> DependencyGraph:
        """The greedy graph if it is valid, or one that is better because it leaves out fewer words; or else another."""
        chosen: Sequence[EdgeChoice] = self.scores.greedy()
        graph = self.scores.graph_of(chosen)
        if is_valid(graph):
            cost = self.coverage.cost(graph.labels())
            found = self._cheapest(chosen, bound=min(cost, _FIRST_BOUND)) if cost else ()
            return self.scores.graph_of(found) if found else graph
        chosen = compatible_choices(self.scores)
        found = self._cheapest(chosen)
        if not found:
            if not chosen:
                raise GraphError("decoding", NO_VALID_GRAPH)
            logger.warning("decoding: no graph found within %s s; the greedy one is repaired", self.time_limit)
        return self.scores.graph_of(found or chosen)

    def others(self, best: DependencyGraph, count: int) -> Iterator[DependencyGraph]:
        """The best graphs other than this one, as far as they are found in time."""
        found = [frozenset(EdgeChoice(*pair, label) for pair, label in best.labels().items())]
        for _ in range(count):
            choices = self._cheapest(found[0], excluded=found)
            if not choices:
                break
            found.append(frozenset(choices))
            yield self.scores.graph_of(choices)

    def _cheapest(
        self, hint: Collection[EdgeChoice], excluded: Sequence[Collection[EdgeChoice]] = (), bound: float = _FIRST_BOUND
    ) -> tuple[EdgeChoice, ...]:
        """The choices of the cheapest valid graph that was found in time."""
        found: tuple[EdgeChoice, ...] = ()
        cost, seconds = math.inf, self.time_limit
        while seconds > 0:
            # The solver is loaded by the first graph that needs it.
            from qdecomp.decoding.graph_program import solve_graph

            candidates = self.scores.candidates(bound, _LARGEST_PROGRAM, also=hint)
            solution = solve_graph(self.scores.tokens, candidates, found or hint, seconds, excluded, self.coverage)
            if solution.cost < cost:
                found, cost = solution.choices, solution.cost
            is_best = solution.cost <= candidates.complete_below
            if is_best or not solution.proven or candidates.complete_below < bound:
                break
            bound = min(cost + ROUNDING, 2 * bound if bound < _HIGHEST_COST else math.inf)
            seconds -= solution.seconds
        return found
