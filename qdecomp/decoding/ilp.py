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

from .choices import EdgeChoice
from .decoder import Decoded, Decoder
from .scores import Scores
from .validity import broken_constraints, drop_broken_choices

__all__ = ["DEFAULT_TIME_LIMIT", "IlpDecoder"]

logger = logging.getLogger(__name__)

DEFAULT_TIME_LIMIT = 1.0

# Nats. Most graphs are repaired by choices much more probable than this.
_FIRST_BOUND = 3.0
_HIGHEST_COST = 50.0
_LARGEST_PROGRAM = 2000
# How many of the cheapest choices are tried alone; if none of these is a graph, others are unlikely to be.
_MOST_ALONE = 20_000
# Choices of equal cost may differ by rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class IlpDecoder(Decoder):
    """Greedy if that gives a valid graph; otherwise a program that may run for about ``time_limit`` seconds.

    They are measured by the solver's own clock, so that two runs give the same graphs. If they do not suffice for any
    graph, the answer is the greedy one without the edges that break constraints. With a trained parser, a question
    takes milliseconds; with one that knows nothing yet, it takes the whole time limit, so validate it greedily.

    With ``candidates`` above 1, this many graphs are searched for, each the best of those that remain, and each within
    the time limit.
    """

    time_limit: float = DEFAULT_TIME_LIMIT
    candidates: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, int) or self.candidates < 0:
            raise DataError(f"decoder 'ilp': candidates is {self.candidates!r}; give a whole number, 0 or more")
        if not isinstance(self.time_limit, (int, float)) or not self.time_limit >= 0:
            raise DataError(f"decoder 'ilp': the time limit is {self.time_limit!r}; give seconds, 0 or more")

    def decode_scores(self, scores: Scores) -> Decoded:
        """The best valid graph found; if no graph at all is valid, a :class:`GraphError`."""
        greedy = scores.graph_of(scores.greedy())
        broken = broken_constraints(greedy)
        if not broken:
            graph, method, optimal = greedy, "greedy", True
        else:
            graph, method, optimal = self._mend(scores)
        others = tuple((other, scores.log_score(other)) for other in self._others(scores, graph))
        return Decoded(graph, scores.log_score(graph), method, optimal, broken, others)

    def _others(self, scores: Scores, best: DependencyGraph) -> Iterator[DependencyGraph]:
        """The best graphs other than this one, as far as they are found in time."""
        found = [frozenset(EdgeChoice(*pair, label) for pair, label in best.labels().items())]
        for _ in range(self.candidates - 1):
            choices, _ = _cheapest(scores, found[0], self.time_limit, excluded=found)
            if not choices:
                break
            found.append(frozenset(choices))
            yield scores.graph_of(choices)

    def _mend(self, scores: Scores) -> tuple[DependencyGraph, str, bool]:
        repaired = _repaired(scores)
        found, optimal = _cheapest(scores, repaired, self.time_limit)
        if found:
            if not optimal:
                logger.info("decoding: the graph is valid, but a more probable valid one may exist")
            return scores.graph_of(found), "ilp", optimal
        if not repaired:
            raise GraphError("decoding", "no valid graph of these tokens and labels was found")
        logger.warning("decoding: no graph found within %s s; the greedy one is repaired", self.time_limit)
        return scores.graph_of(repaired), "repair", False


def _cheapest(
    scores: Scores,
    hint: Collection[EdgeChoice],
    time_limit: float,
    excluded: Sequence[Collection[EdgeChoice]] = (),
) -> tuple[tuple[EdgeChoice, ...], bool]:
    """The choices of the cheapest valid graph that was found in time, and whether no other is cheaper."""
    found: tuple[EdgeChoice, ...] = ()
    cost, bound, optimal = math.inf, _FIRST_BOUND, False
    while time_limit > 0 and not optimal:
        from .graph_program import solve_graph  # the solver is loaded by the first graph that needs it

        candidates = scores.candidates(bound, _LARGEST_PROGRAM, also=hint)
        solution = solve_graph(scores.tokens, candidates, found or hint, time_limit, excluded)
        if solution.cost < cost:
            found, cost = solution.choices, solution.cost
        optimal = solution.proven and solution.cost <= candidates.complete_below
        if not solution.proven or candidates.complete_below < bound:
            break
        bound = min(cost + _ROUNDING, 2 * bound if bound < _HIGHEST_COST else math.inf)
        time_limit -= solution.seconds
        if not optimal:
            logger.debug("decoding: choices that cost up to %.1f are added", bound)
    return found, optimal


def _repaired(scores: Scores) -> tuple[EdgeChoice, ...]:
    """The best choice of each pair, as far as they are compatible; or else the cheapest one that is valid alone."""
    best = scores.candidates(_ROUNDING, limit=4 * len(scores.tokens))
    kept = drop_broken_choices(scores.tokens, best.choices)
    for limit in (200, _MOST_ALONE):
        if not kept:
            cheapest = scores.candidates(float("inf"), limit)
            in_order = sorted(zip(cheapest.costs, cheapest.choices, strict=True), key=lambda pair: pair[0])
            kept = next((part for _, choice in in_order if (part := drop_broken_choices(scores.tokens, [choice]))), ())
    return kept
