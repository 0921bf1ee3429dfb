"""Logical form to span graph, using an alignment, and back.

On the way back, the tokens of a node are the words of its step. The edges name the operator, its properties and the
arguments that are references; the words go to the arguments that the operator's row names for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from qdecomp.data_structures.alignment import Alignment
from qdecomp.data_structures.conversion.phrasing import phrase_of
from qdecomp.data_structures.edge_tags import EdgeTag
from qdecomp.data_structures.errors import GraphError, LogicalFormSyntaxError, Reason
from qdecomp.data_structures.lexicon import anchor_words
from qdecomp.data_structures.logical_form import Argument, LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import reference_to
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph

__all__ = ["logical_form_from_span_graph", "span_graph_from_logical_form"]

_STAGE = "span graph"


def span_graph_from_logical_form(form: LogicalForm, alignment: Alignment, tokens: Sequence[str]) -> SpanGraph:
    """A node per step with its aligned tokens, and an edge per reference."""
    edges = [
        SpanEdge(number, target - 1, EdgeTag(step.operator, argument.name, step.properties))
        for number, step in enumerate(form.steps)
        for argument in step.arguments
        for target in argument.references
    ]
    return SpanGraph(tuple(tokens), alignment.steps, tuple(edges))


def logical_form_from_span_graph(graph: SpanGraph, *, complete: bool = True) -> LogicalForm:
    """The steps that a span graph says; a step that means nothing is a :class:`GraphError`.

    Without ``complete``, a step may lack arguments that its operator requires.
    """
    steps = []
    for node in range(len(graph.nodes)):
        try:
            step = _step(graph, node)
        except LogicalFormSyntaxError as error:
            raise GraphError(_STAGE, error.reason, node + 1) from None
        if complete:
            _check(step, node)
        steps.append(step)
    return LogicalForm(tuple(steps))


def _step(graph: SpanGraph, node: int) -> LogicalStep:
    operator, properties = graph.signature(node)
    references: dict[str, list[str]] = {}
    for edge in graph.outgoing(node):
        references.setdefault(edge.tag.argument, []).append(reference_to(edge.target + 1))
    words = _words(graph, node, operator, properties)
    arguments: list[Argument] = []
    for name, targets in references.items():
        if name in OPERATORS[operator].listed:
            arguments.extend(Argument(name, (target,)) for target in targets)
        else:
            arguments.append(Argument(name, tuple(targets)))
    if words:
        arguments = _with_words(operator, arguments, words)
    return LogicalStep(operator, properties, tuple(arguments))


def _words(graph: SpanGraph, node: int, operator: Operator, properties: tuple[str, ...]) -> tuple[str, ...]:
    positions = graph.nodes[node]
    # If an operator describes things, a word that shows it is also a word that people write there.
    if not OPERATORS[operator].describes:
        known = anchor_words(operator, properties)
        if all(word.lower() in known for word in graph.words(node)):
            positions = ()
    others = {position for number, other in enumerate(graph.nodes) if number != node for position in other}
    before_reference = any(edge.tag.argument == OPERATORS[operator].word_arguments[0] for edge in graph.outgoing(node))
    words = phrase_of(graph.tokens, positions, operator, others=others, before_reference=before_reference)
    # Without a property, a comparison is written "#1 where #2 is red", and only read in that form.
    return ("is", *words) if operator is Operator.COMPARATIVE and not properties else words


def _with_words(operator: Operator, arguments: list[Argument], words: Sequence[str]) -> list[Argument]:
    used = {argument.name for argument in arguments}
    if operator is Operator.ARITHMETIC and "arg" in used:
        return [*arguments, Argument("arg", tuple(words))]
    names = OPERATORS[operator].word_arguments
    name = next((name for name in names if name not in used), names[0])
    for place, argument in enumerate(arguments):
        if argument.name == name:
            filled = Argument(name, (*words, *argument.tokens))
            return [*arguments[:place], filled, *arguments[place + 1 :]]
    return [*arguments, Argument(name, tuple(words))]


def _check(step: LogicalStep, node: int) -> None:
    signature = OPERATORS[step.operator]
    for name, count in signature.required.items():
        found = sum(argument.name == name for argument in step.arguments)
        if found < count:
            times, counts = ("{} times ", (count,)) if count > 1 else ("", ())
            reason = Reason(f"{step.operator} needs {times}{name}; it has {{}}", *counts, found)
            raise GraphError(_STAGE, reason, node + 1)
    if len(step.arguments) < signature.operands:
        raise GraphError(_STAGE, Reason("{} needs {} operands", step.operator, signature.operands), node + 1)
