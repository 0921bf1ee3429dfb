"""The whole chain from a decomposition to a dependency graph and back.

>>> conversion = convert("How many red cubes are there?", "return cubes ;return #1 that are red ;return number of #2")
>>> for edge in conversion.graph.edges:
...     print(conversion.graph.describe(edge.head), edge.tag, conversion.graph.describe(edge.dependent))
1 'many' aggregate-arg[count] 2 'red'
2 'red' filter-sub 3 'cubes'
>>> print(logical_form_from_graph(conversion.graph))
SELECT[](sub=cubes)
FILTER[](sub=#1, condition=red)
AGGREGATE[count](arg=#2)
"""

from __future__ import annotations

from dataclasses import dataclass

from qdecomp.data_structures.alignment.align import Alignment, align
from qdecomp.data_structures.conversion.graph_repair import repair
from qdecomp.data_structures.conversion.lf_to_sdg import logical_form_from_span_graph, span_graph_from_logical_form
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.conversion.sdg_to_dg import to_dependency_graph, to_span_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.lf_em import LfEmResult, lf_em
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr
from qdecomp.data_structures.span_graph import SpanGraph
from qdecomp.data_structures.special_tokens import PRESETS, SpecialTokens
from qdecomp.data_structures.tokenization import check_length, tokenize

CONVERSION_VERSION = "9"  # changes whenever a graph may change; part of the key of every cache of graphs


@dataclass(frozen=True, slots=True)
class Conversion:
    """A question with every form of its decomposition."""

    question: str
    form: LogicalForm
    alignment: Alignment
    span_graph: SpanGraph
    graph: DependencyGraph


def convert(
    question: str, decomposition: str | Qdmr | LogicalForm, *, special: SpecialTokens = PRESETS["default"]
) -> Conversion:
    """Turn an annotated decomposition into its dependency graph; a ``QDecompError`` says where and why it has none."""
    form = decomposition if isinstance(decomposition, LogicalForm) else to_logical_form(decomposition)
    check_length(question)
    words = tokenize(question) + special.words
    alignment = align(form, words)
    span_graph = span_graph_from_logical_form(form, alignment, words)
    # A graph that cannot be read back, for lack of a word or because two references coincide, would teach nonsense.
    logical_form_from_span_graph(span_graph)
    return Conversion(question, form, alignment, span_graph, to_dependency_graph(span_graph, special))


@dataclass(frozen=True, slots=True)
class GraphReading:
    """What a dependency graph says, and what had to be repaired first."""

    span_graph: SpanGraph
    form: LogicalForm
    repairs: tuple[str, ...] = ()

    @property
    def qdmr(self) -> Qdmr:
        """The steps as text, as people write them."""
        return to_qdmr(self.form)


def read_graph(graph: DependencyGraph, *, tolerant: bool = False) -> GraphReading:
    """Read the steps off a dependency graph; one that means nothing is a :class:`GraphError` that says why and where.

    With ``tolerant``, what has one obvious reading is repaired first.
    """
    graph, repairs = repair(graph) if tolerant else (graph, ())
    span_graph = to_span_graph(graph)
    return GraphReading(span_graph, logical_form_from_span_graph(span_graph), repairs)


def logical_form_from_graph(graph: DependencyGraph) -> LogicalForm:
    """The steps that a dependency graph says; one that means nothing is a :class:`GraphError`."""
    return read_graph(graph).form


def check_round_trip(conversion: Conversion) -> LfEmResult:
    """Whether a conversion loses anything: its graph, converted back, compared by LF-EM with what was converted."""
    form = logical_form_from_graph(conversion.graph)
    # What comes back unchanged is equal, also where the published rules have no operator for a step.
    return lf_em(conversion.question, form, form if form == conversion.form else conversion.form)
