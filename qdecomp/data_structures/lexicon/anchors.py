"""The words of a question that point to a step that has no words of its own.

"How many cubes are there?" has no word of the step "number of #1", but "many" shows it. Such a word represents the step
in the graph; it is not part of what the step says.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from qdecomp.data_structures.lexicon import property_words, stop_words
from qdecomp.data_structures.operators import OPERATORS, Operator

__all__ = ["anchor_words", "property_anchors"]


@cache
def anchor_words(operator: Operator, properties: tuple[str, ...]) -> frozenset[str]:
    """The words that may represent a step.

    >>> sorted(anchor_words(Operator.AGGREGATE, ("avg",)))
    ['average', 'averages', 'avg', 'mean']
    """
    general = (words for name, words in _rows(operator) if name is None)
    return property_anchors(operator, properties).union(*general)


@cache
def property_anchors(operator: Operator, properties: tuple[str, ...]) -> frozenset[str]:
    """Those that show the step's property, from ``lexicon/anchors.json`` and the property lexicon."""
    said = {word for name in properties for word in property_words(operator, name)} - stop_words()
    return frozenset(said).union(*(words for name, words in _rows(operator) if name in properties))


@cache
def _rows(operator: Operator) -> tuple[tuple[str | None, frozenset[str]], ...]:
    text = files(__package__).joinpath("anchors.json").read_text(encoding="utf-8")
    rows = [
        (row["property"], frozenset(row["words"].split()))
        for row in json.loads(text)
        if operator.value in row["operators"]
    ]
    unknown = {name for name, _ in rows} - {None, *OPERATORS[operator].properties}
    if unknown:
        raise ValueError(f"anchors.json: {operator} has no property {unknown}")
    return tuple(rows)
