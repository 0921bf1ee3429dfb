from __future__ import annotations

from allennlp.data import Batch, Instance, Vocabulary

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.training.fields import EDGE_LABELS, NO_EDGE, EdgesField

GRAPH = DependencyGraph(
    ("red", "cubes", "[RSC]", "[DUM]"), (Edge(0, 1, "filter-sub"), Edge(3, 0, "aggregate-arg[count]"))
)


def test_positions_are_in_model_order() -> None:
    assert EdgesField.of_graph(GRAPH).labels == {(2, 3): "filter-sub", (1, 2): "aggregate-arg[count]"}


def test_a_batch_of_known_and_unknown_graphs() -> None:
    instances = [Instance({"graph": EdgesField.of_graph(graph)}) for graph in (GRAPH, None)]
    vocab = Vocabulary.from_instances(instances)
    batch = Batch(instances)
    batch.index_instances(vocab)
    tensors = batch.as_tensor_dict()["graph"]
    assert tensors["known"].tolist() == [True, False]
    assert tensors["edges"].shape == (2, 2, 3)
    assert (tensors["edges"][1] == NO_EDGE).all()
    assert tensors["edges"][0, 0].tolist() == [2, 3, vocab.get_token_index("filter-sub", EDGE_LABELS)]


def test_a_label_that_the_vocabulary_lacks_is_an_edge_without_a_label() -> None:
    field = EdgesField.of_graph(GRAPH)
    field.index(Vocabulary(tokens_to_add={EDGE_LABELS: ["filter-sub"]}))
    assert field.as_tensor({"edges": 2})["edges"].tolist() == [[2, 3, 0], [1, 2, NO_EDGE]]


def test_no_edges_at_all() -> None:
    field = EdgesField.of_graph(GRAPH.with_edges(()))
    field.index(Vocabulary())
    assert field.as_tensor({"edges": 0})["edges"].shape == (0, 3)
    assert field.as_tensor({"edges": 0})["known"].item()
