"""Logical form to span graph, using an alignment, and back.

On the way back, the tokens of a node are the words of its step. The edges name the operator, its properties and the
arguments that are references; the words go to the arguments that the operator's row names for them. Graphs hold no
auxiliary words, so that parsers need not learn which of them an annotator wrote: those that are next to a node's tokens
in the question are put back ("from Denver"), and words that were split are joined again. LF-EM sees no difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cache
from itertools import pairwise

from qdecomp.data_structures.alignment.align import Alignment
from qdecomp.data_structures.edge_tags import EdgeTag
from qdecomp.data_structures.errors import GraphError, LogicalFormSyntaxError, Reason
from qdecomp.data_structures.lexicon import anchor_words, property_phrases
from qdecomp.data_structures.logical_form import Argument, LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.special_tokens import question_length

_STAGE = "span graph"
_ARTICLES = frozenset(("the", "a"))
_LINKS = frozenset(("of", "in", "on", "to", "from", "with"))
_FILLERS = _ARTICLES | _LINKS
_QUESTION_WORDS = frozenset(("when", "where", "who", "how", "what", "which", "why"))
_PREPOSITIONS = _LINKS | frozenset(("for", "by", "at", "about", "into", "through", "under", "over", "between", "after"))
_HYPHENS = frozenset("-–")
_QUOTES = frozenset("'\"‘“`")
# In a step, a comma is a separate token, "#" begins a reference and ";" ends the step.
_STEP_TOKEN = re.compile(r"[^,#;]+|[,#]")


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
    """The steps that a span graph says; one that means nothing or, with ``complete``, lacks arguments is an error."""
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
        references.setdefault(edge.tag.argument, []).append(f"#{edge.target + 1}")
    words = _words(graph, node, operator, properties)
    arguments: list[Argument] = []
    for name, targets in references.items():
        members = [[target] for target in targets] if name in OPERATORS[operator].listed else [targets]
        arguments += [Argument(name, tuple(member)) for member in members]
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


def phrase_of(
    tokens: Sequence[str],
    positions: Sequence[int],
    operator: Operator,
    *,
    others: Set[int] = frozenset(),
    before_reference: bool = False,
) -> tuple[str, ...]:
    """The words of a step whose node holds these positions; ``others`` are those of other nodes."""
    if not positions:
        return ("of",) if operator is Operator.PROJECT else ()
    end = question_length(tokens)
    words = [*_before(tokens, positions, operator, others), _word(tokens, positions[0])]
    for left, right in pairwise(positions):
        between = tokens[left + 1 : right] if right < end else ()
        if len(between) == 1 and between[0] in _HYPHENS:
            words[-1] = f"{words[-1]}-{tokens[right]}"
            continue
        if all(token.lower() in _FILLERS for token in between):
            words.extend(between)
        words.append(_word(tokens, right))
    if before_reference or operator is Operator.PROJECT:
        words.extend(_after(tokens, positions[-1], words, operator))
    return tuple(piece for word in words for piece in _STEP_TOKEN.findall(word))


def _word(tokens: Sequence[str], position: int) -> str:
    """A token as it reads; a quoted article, as in the letter 'a', keeps its quote, or it would not count."""
    word = tokens[position]
    quoted = position > 0 and tokens[position - 1] in _QUOTES
    return f"'{word}" if quoted and word.lower() in _ARTICLES else word


def _before(tokens: Sequence[str], positions: Sequence[int], operator: Operator, others: Set[int]) -> Sequence[str]:
    """The preposition of a condition; in "to the left of the brown ball", that before "brown" belongs to the ball."""
    if operator is not Operator.FILTER or positions[-1] + 1 in others:
        return ()
    start = positions[0]
    if start and tokens[start - 1].lower() in _ARTICLES:
        start -= 1
    return tokens[start - 1 : positions[0]] if start and tokens[start - 1].lower() in _LINKS else ()


def _after(tokens: Sequence[str], last: int, words: Sequence[str], operator: Operator) -> Sequence[str]:
    """The preposition before a reference."""
    if words[-1].lower() in _PREPOSITIONS:
        return ()
    is_projection = operator is Operator.PROJECT
    if is_projection and words[-1].lower() in _aggregating_words():
        return ("in",)
    if last + 1 < question_length(tokens) and tokens[last + 1].lower() in _LINKS:
        return (tokens[last + 1],)
    return ("of",) if is_projection and words[0].lower() not in _QUESTION_WORDS else ()


@cache
def _aggregating_words() -> frozenset[str]:
    """Words that turn a step into an aggregate if only "of" is between them and a reference."""
    return frozenset(phrase[-1] for row in property_phrases(Operator.AGGREGATE) for phrase in row.phrases) - _LINKS
