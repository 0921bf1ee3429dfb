"""One order for graphs that mean the same: chains of filters are sorted, nodes are numbered by level and label."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from graphlib import CycleError
from itertools import groupby

from qdecomp.data_structures import qdmr
from qdecomp.data_structures.errors import QDecompError
from qdecomp.evaluation.metrics.break_text import REFERENCE, StepGraph, mention

_FILTER = re.compile(r"FILTER\(@@(\d+)@@,@@(\d+)@@\)")
# A step that mentions another twice doubles its text, so a few steps can make an endless text.
_LONGEST_KEY = 100_000


class NormalizationError(QDecompError):
    """A graph has no normal form."""


class _NotAChainError(Exception):
    """Following a chain leads into a cycle."""


def sort_filter_chains(graph: StepGraph) -> StepGraph:
    """Sort filters that are applied one after another by the texts of their conditions.

    A graph with a cycle stays as it is.
    """
    chains = _FilterChains(graph)
    if not chains.inner or levels_of(graph) is None:
        return graph
    chains.sort()
    return StepGraph(chains.labels, {node: tuple(targets) for node, targets in chains.targets.items()})


class _FilterChains:
    """The graph while its chains change.

    Which nodes are inside a chain is determined once, before any change. A chain that crosses another one may therefore
    meet a node that is no longer a filter; the graph then has no normal form, as in the official evaluator.
    """

    def __init__(self, graph: StepGraph) -> None:
        self.labels = dict(graph.labels)
        self.targets = {node: dict.fromkeys(targets) for node, targets in graph.edges.items()}
        self._sources: dict[int, dict[int, None]] = {node: {} for node in self.labels}
        for node, targets in self.targets.items():
            for target in targets:
                self._sources[target][node] = None
        inner = (node for node, label in self.labels.items() if _FILTER.fullmatch(label) and self._is_inner(node))
        self.inner = dict.fromkeys(inner)

    def sort(self) -> None:
        """Sort every chain."""
        visited: set[int] = set()
        for node in self.inner:
            if node not in visited:
                with suppress(_NotAChainError):
                    chain = self._chain_around(node)
                    visited.update(chain)
                    self._relink(chain, sorted(chain, key=lambda each: self._expanded(self._arguments(each)[1], ())))

    def _is_inner(self, node: int) -> bool:
        """Whether exactly one node needs this one, and that node filters it further."""
        sources = list(self._sources[node])
        outer = _FILTER.fullmatch(self.labels[sources[0]]) if len(sources) == 1 else None
        return outer is not None and int(outer[1]) == node

    def _arguments(self, node: int) -> tuple[int, int]:
        match = _FILTER.fullmatch(self.labels[node])
        if match is None:
            raise NormalizationError(f"node {node} is not a filter any more")
        return int(match[1]), int(match[2])

    def _chain_around(self, node: int) -> list[int]:
        """The chain that a node is in: from the first filter to the one that no further filter needs."""
        head, seen = node, set[int]()
        while (filtered := self._arguments(head)[0]) in self.inner:
            if filtered in seen:
                raise _NotAChainError
            seen.add(filtered)
            head = filtered
        chain = [head]
        while chain[-1] in self.inner:
            following = next(iter(self._sources[chain[-1]]), None)
            if following is None:
                raise NormalizationError(f"nothing needs node {chain[-1]} any more")
            if following in chain:
                raise _NotAChainError
            chain.append(following)
        return chain

    def _expanded(self, node: int, below: tuple[int, ...]) -> str:
        """The text of a node, with the texts of the nodes that it refers to."""
        if node in below:
            raise _NotAChainError
        if node not in self.labels:
            raise NormalizationError(f"there is no node {node}")
        path = (*below, node)
        text = REFERENCE.sub(lambda match: self._expanded(int(match[1]), path), self.labels[node])
        if len(text) > _LONGEST_KEY:
            raise _NotAChainError
        return text

    def _relink(self, chain: list[int], ordered: list[int]) -> None:
        filtered = [self._arguments(node)[0] for node in chain]
        old_end, new_end = chain[-1], ordered[-1]
        users = list(self._sources[old_end])
        for node, target in zip(chain, [filtered[0], *chain[:-1]], strict=True):
            self._remove_edge(node, target)
        for user in users:
            self._remove_edge(user, old_end)
        old_targets = dict(zip(chain, filtered, strict=True))
        for node, target in zip(ordered, [filtered[0], *ordered[:-1]], strict=True):
            self._redirect(node, old_targets[node], target)
        for user in users:
            self._redirect(user, old_end, new_end)

    def _remove_edge(self, node: int, target: int) -> None:
        if target not in self.targets[node]:
            raise NormalizationError(f"node {node} does not need node {target} any more")
        del self.targets[node][target], self._sources[target][node]

    def _redirect(self, node: int, old: int, new: int) -> None:
        self.labels[node] = self.labels[node].replace(mention(old), mention(new))
        self.targets[node][new] = None
        self._sources[new][node] = None


def number_by_level(graph: StepGraph) -> dict[int, str]:
    """New numbers for the nodes, from 1: by level, then by label; equal nodes become one.

    A graph with a cycle keeps its numbers. A node without a level also keeps its number and label, unless another node
    gets that number: then it is lost.
    """
    levels = levels_of(graph)
    if levels is None:
        return dict(graph.labels)
    numbers: dict[int, int] = {}
    labels: dict[int, str] = {}
    for _, nodes in groupby(sorted(levels, key=levels.__getitem__), levels.__getitem__):
        renamed = {node: _rename(graph.labels[node], numbers) for node in nodes}
        number_of_label = {label: number for number, label in enumerate(sorted({*renamed.values()}), len(labels) + 1)}
        numbers.update((node, number_of_label[label]) for node, label in renamed.items())
        labels.update((number, label) for label, number in number_of_label.items())
    return {node: label for node, label in graph.labels.items() if node not in levels} | labels


def _rename(label: str, numbers: Mapping[int, int]) -> str:
    def renamed(match: re.Match[str]) -> str:
        number = int(match[1])
        if number not in numbers:
            raise NormalizationError(f"a node refers to node {number}, which leads to nothing")
        return mention(numbers[number])

    return REFERENCE.sub(renamed, label)


def levels_of(graph: StepGraph) -> dict[int, int] | None:
    """How far each node is from the nodes without edges, by the longest path; None if there is a cycle.

    A node that leads to no such node (it refers to itself, for example) has no level.
    """
    grounded = {node for node, targets in graph.edges.items() if not targets}
    while new := {node for node, targets in graph.edges.items() if not grounded.isdisjoint(targets)} - grounded:
        grounded |= new
    try:
        return qdmr.levels_of({node: grounded.intersection(graph.edges[node]) for node in grounded})
    except CycleError:
        return None
