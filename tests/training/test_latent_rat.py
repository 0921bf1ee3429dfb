from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader
from torch import Tensor

from qdecomp.data_structures.errors import DataError, GraphError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.decoding import Decoded
from qdecomp.decoding.ilp import IlpDecoder
from qdecomp.training.latent_rat import RelationAwareEncoder, RelationAwareLayer, RelationLabels, RelationNet, Relations
from tests.training.parser_test_case import SMALL_WRITER, ParserTestCase


class TestLatentRat(ParserTestCase):
    config = "latent_rat_minilm"
    overrides: ClassVar[dict[str, Any]] = {
        **SMALL_WRITER,
        "model.relation_encoder.dropout": 0.0,
        "model.relation_encoder.relation_dim": 24,
        "model.relation_encoder.feed_forward_dim": 48,
    }

    def test_it_trains_and_is_the_same_after_saving_and_loading(self) -> None:
        # A constant that is added to all keys of a query changes no attention.
        self.ensure_model_can_train_save_and_load(
            self.param_file, gradients_to_ignore={"relation_encoder.layers.0.key.bias"}
        )

    @pytest.mark.slow
    def test_both_heads_learn_ten_rows_by_heart_and_know_them_in_every_batch(self) -> None:
        self.load()
        metrics = self.learn_by_heart("lf_em", "decoder_lf_em", "graph_lf_em", "valid", "labeled_f1")
        assert metrics["lf_em"] == metrics["decoder_lf_em"] == metrics["graph_lf_em"] == metrics["valid"] == 1.0
        assert metrics["labeled_f1"] == 1.0
        for head in ("decoder", "graph"):
            self.model._predict_with = head
            for instance, prediction in zip(self.instances, self.predictions(), strict=True):
                metadata = instance["metadata"].metadata
                assert prediction.text is not None
                assert lf_em(metadata["question"], prediction.text, metadata["decomposition"])
                assert (prediction.predicted_graph is not None) == (head == "graph")
            self.check_batch_predictions()

    def test_a_question_without_gold_is_parsed_by_the_head_that_is_asked(self) -> None:
        self.load(**{"model.predict_with": "graph"})
        self.model.eval()
        reader = self.reader()
        instance = reader.text_to_instance("how many red cubes are there ?")
        reader.apply_token_indexers(instance)
        batch = Batch([instance])
        batch.index_instances(self.vocab)
        self.model.decoder.search = None  # nobody may ask the decoder
        output = self.model(**batch.as_tensor_dict())
        assert set(output) == {"predictions"}
        assert output["predictions"][0].graph.tokens[:3] == ("how", "many", "red")

    def test_a_row_whose_graph_is_not_known_still_teaches_the_decoder(self) -> None:
        self.load()
        batch = self.dataset.as_tensor_dict()
        batch["graph"]["known"] = torch.zeros_like(batch["graph"]["known"])
        self.model.train()
        self.model(**batch)["loss"].backward()
        assert self.model.get_metrics()["graph_loss"] == 0.0
        assert float(self.model.decoder._generate.weight.grad.abs().sum()) > 0

    def test_the_decoder_of_graphs_may_be_an_object_with_options(self) -> None:
        self.load(**{"model.predict_with": "graph", "model.graph_decoder": {"type": "ilp", "time_limit": 0.1}})
        assert self.model.graph_decoder == IlpDecoder(time_limit=0.1)
        # Even without any time there is a valid graph.
        self.model.decode_graphs_with({"type": "ilp", "time_limit": 0})
        assert all(prediction.logical_form is not None for prediction in self.predictions())
        with pytest.raises(DataError, match="there is no option 'time'; known options: time_limit"):
            self.load(**{"model.graph_decoder": {"type": "ilp", "time": 0.5}})

    def test_a_decoder_of_graphs_that_nobody_asks_is_refused(self) -> None:
        with pytest.raises(DataError, match="decoder, graph"):
            self.load(**{"model.predict_with": "both"})
        self.load(**{"model.predict_with": "decoder"})
        with pytest.raises(DataError, match=r"set model\.predict_with to graph"):
            self.model.decode_graphs_with("ilp")

    def test_a_question_without_a_valid_graph_says_so_and_the_others_have_theirs(self) -> None:
        self.load(**{"model.predict_with": "graph"})
        first, *others = self.predictions()
        decoder = self.model.graph_decoder

        class FailsOnFirst:
            def decode(self, tokens: Sequence[str], *arguments: Any) -> Decoded:
                if first.graph is not None and tuple(tokens) == first.graph.tokens:
                    raise GraphError("decoding", "there is none")
                return decoder.decode(tokens, *arguments)

        self.model.graph_decoder = FailsOnFirst()
        failed, *same = self.predictions()
        assert (failed.error, failed.graph) == ("decoding: there is none", None)
        assert same == others

    def reader(self) -> Any:
        return DatasetReader.from_params(Params.from_file(self.param_file)["dataset_reader"])


TOKENS, DIM, LABELS = 3, 4, 5


def relations(count: int) -> list[Relations]:
    torch.manual_seed(3)
    return [Relations(*torch.randn(2, 2, TOKENS, TOKENS, DIM)) for _ in range(count)]


@pytest.fixture
def head() -> RelationLabels:
    torch.manual_seed(0)
    return RelationLabels(DIM, LABELS)


def test_the_loss_is_that_of_a_loop_over_pairs_layers_keys_and_values(head: RelationLabels) -> None:
    layers = relations(2)
    gold = torch.randint(0, LABELS + 1, (2, TOKENS, TOKENS))
    gold[0, 1, 2] = -1
    counted = torch.rand(2, TOKENS, TOKENS) > 0.3
    places = (counted & (gold >= 0)).nonzero().tolist()
    total = 0.0
    for question, i, j in places:
        for layer in layers:
            for linear, relation in ((head.keys, layer.keys), (head.values, layer.values)):
                total -= float(linear(relation[question, i, j]).softmax(dim=-1)[gold[question, i, j]].log().detach())
    assert float(head.loss(layers, gold, counted).detach()) == pytest.approx(total / len(places), rel=1e-5)


def test_a_prediction_is_the_product_of_both_distributions(head: RelationLabels) -> None:
    layer = relations(1)[0]
    probabilities = head.log_probabilities(layer).exp()
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(2, TOKENS, TOKENS))
    product = head.keys(layer.keys).softmax(dim=-1) * head.values(layer.values).softmax(dim=-1)
    torch.testing.assert_close(probabilities, product / product.sum(dim=-1, keepdim=True))
    assert torch.equal(probabilities.argmax(dim=-1), product.argmax(dim=-1))


SIZE, HEADS, WORDS = 12, 3, 5


@pytest.fixture
def states() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(2, WORDS, SIZE)


@pytest.fixture
def mask() -> Tensor:
    return torch.tensor([[True] * 5, [True, True, True, False, False]])


def new_layer() -> RelationAwareLayer:
    torch.manual_seed(0)
    return RelationAwareLayer(SIZE, HEADS, 7, relation_dim=6, relation_layers=3, dropout=0.1)


def relations_by_hand(net: RelationNet, states: Tensor) -> Tensor:
    """The net over the differences of all states, layer by layer: (words, words, size of a head)."""
    values = net.first(states[:, None] - states[None])
    for layer in net.others:
        values = layer(values.relu())
    return values


def attention_by_hand(layer: RelationAwareLayer, states: Tensor) -> Tensor:
    """The formulas of the paper for one question, head by head; each head adds the same relations."""
    keys, values = (relations_by_hand(net, states) for net in (layer.key_relations, layer.value_relations))
    heads = zip(*(each(states).chunk(HEADS, dim=-1) for each in (layer.query, layer.key, layer.value)), strict=True)
    attended = []
    for query, key, value in heads:
        scores = torch.einsum("id,ijd->ij", query, key[None] + keys) / math.sqrt(SIZE // HEADS)
        attended.append(torch.einsum("ij,ijd->id", scores.softmax(dim=-1), value[None] + values))
    return torch.cat(attended, dim=-1)


@torch.no_grad()
def test_attention_is_that_of_the_formulas(states: Tensor, mask: Tensor) -> None:
    layer = new_layer().eval()
    relations = Relations(layer.key_relations(states), layer.value_relations(states))
    attended = layer.attend(states, mask, relations)
    for row in range(2):
        length = int(mask[row].sum())
        by_hand = attention_by_hand(layer, states[row, :length])
        torch.testing.assert_close(attended[row, :length], by_hand, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_padding_changes_nothing(states: Tensor, mask: Tensor) -> None:
    encoder = RelationAwareEncoder(SIZE, num_heads=HEADS).eval()
    padded, relations = encoder(states, mask)
    alone, relations_alone = encoder(states[1:, :3], mask[1:, :3])
    torch.testing.assert_close(padded[1:, :3], alone)
    assert len(relations) == len(relations_alone) == 4
    torch.testing.assert_close(relations[3].values[1:, :3, :3], relations_alone[3].values)
