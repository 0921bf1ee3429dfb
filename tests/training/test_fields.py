from __future__ import annotations

from collections import defaultdict

import pytest
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Batch, Instance, Vocabulary

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.training.fields import EDGE_LABELS, NO_EDGE, TARGET_NAMESPACE, CopyField, EdgesField


@pytest.fixture
def vocab() -> Vocabulary:
    # Padding is 0, unknown is 1.
    return Vocabulary(tokens_to_add={TARGET_NAMESPACE: [START_SYMBOL, END_SYMBOL, ";", "of", "#1"]})


def test_only_what_cannot_be_copied_is_counted() -> None:
    counter: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    CopyField(["red", "cubes"], ["cubes", ";", "number", "of", "#1"]).count_vocab_items(counter)
    assert dict(counter[TARGET_NAMESPACE]) == {START_SYMBOL: 1, END_SYMBOL: 1, ";": 1, "number": 1, "of": 1, "#1": 1}


def test_equal_words_have_equal_ids(vocab: Vocabulary) -> None:
    field = CopyField(["colour", "of", "red", "or", "red", "cubes"], ["red", "of", "#1", "zebra"])
    field.index(vocab)
    tensors = field.as_tensor(field.get_padding_lengths())
    assert tensors["source_ids"].tolist() == [7 + 0, 5, 7 + 2, 7 + 3, 7 + 2, 7 + 5]
    assert tensors["target_ids"].tolist() == [7 + 2, 5, 6, 1, vocab.get_token_index(END_SYMBOL, TARGET_NAMESPACE)]


def test_a_batch_is_padded_with_zero(vocab: Vocabulary) -> None:
    batch = Batch(
        [Instance({"copy": CopyField(["a", "b"], ["a"])}), Instance({"copy": CopyField(["of"], ["of", ";"])})]
    )
    batch.index_instances(vocab)
    tensors = batch.as_tensor_dict()["copy"]
    assert tensors["source_ids"].tolist() == [[7, 8], [5, 0]]
    assert tensors["target_ids"].tolist() == [[7, 3, 0], [5, 4, 3]]


def test_without_gold_there_are_no_target_ids(vocab: Vocabulary) -> None:
    field = CopyField(["a"])
    field.index(vocab)
    assert set(field.as_tensor(field.get_padding_lengths())) == {"source_ids"}
    assert len(field) == 1


GRAPH = DependencyGraph(
    ("red", "cubes", "[RSC]", "[DUM]"), (Edge(0, 1, "filter-sub"), Edge(3, 0, "aggregate-arg[count]"))
)


def test_a_batch_of_known_and_unknown_graphs() -> None:
    instances = [Instance({"graph": EdgesField(graph)}) for graph in (GRAPH, None)]
    vocab = Vocabulary.from_instances(instances)
    batch = Batch(instances)
    batch.index_instances(vocab)
    tensors = batch.as_tensor_dict()["graph"]
    assert tensors["known"].tolist() == [True, False]
    assert tensors["edges"].shape == (2, 2, 3)
    assert (tensors["edges"][1] == NO_EDGE).all()
    assert tensors["edges"][0, 0].tolist() == [2, 3, vocab.get_token_index("filter-sub", EDGE_LABELS)]


def test_a_label_that_the_vocabulary_lacks_is_an_edge_without_a_label() -> None:
    field = EdgesField(GRAPH)
    field.index(Vocabulary(tokens_to_add={EDGE_LABELS: ["filter-sub"]}))
    assert field.as_tensor({"edges": 2})["edges"].tolist() == [[2, 3, 0], [1, 2, NO_EDGE]]
