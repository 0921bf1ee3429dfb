from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Vocabulary

from qdecomp.data_structures.lf_em import lf_em
from qdecomp.parsers.seq2seq import Source
from qdecomp.training.copy_decoder import CopyDecoder, Memory
from qdecomp.training.copynet import written_predictions
from qdecomp.training.fields import TARGET_NAMESPACE
from tests.training.parser_test_case import SMALL_WRITER, ParserTestCase


class TestCopyNetBert(ParserTestCase):
    config = "copynet_bert_minilm"
    overrides: ClassVar[dict[str, Any]] = SMALL_WRITER

    def test_it_trains_and_is_the_same_after_saving_and_loading(self) -> None:
        self.ensure_model_can_train_save_and_load(self.param_file)

    @pytest.mark.slow
    def test_it_learns_ten_rows_by_heart_and_knows_them_in_every_batch(self) -> None:
        self.load()
        metrics = self.learn_by_heart("lf_em", "valid")
        assert metrics == {"lf_em": 1.0, "valid": 1.0}
        for instance, prediction in zip(self.instances, self.predictions(), strict=True):
            metadata = instance["metadata"].metadata
            assert prediction.text is not None
            assert lf_em(metadata["question"], prediction.text, metadata["decomposition"])
            assert prediction.predicted_graph is None
            assert prediction.score is not None
            assert prediction.score <= 0
        self.check_batch_predictions()


DIM = 6
QUESTIONS = ("of Ann Bob Ann", "Cid of")


@pytest.fixture
def vocab() -> Vocabulary:
    return Vocabulary(tokens_to_add={TARGET_NAMESPACE: [START_SYMBOL, END_SYMBOL, ";", "of", "#1", "#2"]})


@pytest.fixture
def decoder(vocab: Vocabulary) -> CopyDecoder:
    torch.manual_seed(0)
    return CopyDecoder(vocab, DIM).eval()


@pytest.fixture
def memory(decoder: CopyDecoder, vocab: Vocabulary) -> Memory:
    size, of = decoder.vocabulary_size, vocab.get_token_index("of", TARGET_NAMESPACE)
    source_ids = torch.tensor([[of, size + 1, size + 2, size + 1], [size, of, 0, 0]])
    return decoder.memory(torch.randn(2, 4, DIM), source_ids != 0, source_ids)


@torch.no_grad()
def test_decompositions_are_spelled_as_the_question(decoder: CopyDecoder, memory: Memory) -> None:
    sources = [
        Source(question, question.lower().split(), ids, decoder.tokens)
        for question, ids in zip(QUESTIONS, memory.source_ids.tolist(), strict=True)
    ]
    names = [source.names() for source in sources]
    found, predictions = decoder.search(memory, names=names), written_predictions(decoder, memory, QUESTIONS)
    for each, prediction, source in zip(found, predictions, sources, strict=True):
        (best,) = each.hypotheses
        assert prediction.score == best.score
        assert prediction.text == source.text(best)
        words = {word.lower() for word in (prediction.text or "").split()}
        assert words - {"return"} <= {*source.words, *(f";{word}" for word in source.words), *decoder.tokens, ";return"}


@torch.no_grad()
def test_candidates_are_the_best_first_and_begin_with_the_decomposition(
    decoder: CopyDecoder, memory: Memory, vocab: Vocabulary
) -> None:
    decoder._generate.bias[vocab.get_token_index(END_SYMBOL, TARGET_NAMESPACE)] += 2.0
    single, several = (written_predictions(decoder, memory, QUESTIONS, candidates=count) for count in (0, 3))
    for one, many in zip(single, several, strict=True):
        assert not one.candidates
        assert many.text == one.text == many.candidates[0].text
        scores = [each.score for each in many.candidates]
        assert scores == sorted(scores, reverse=True)
        assert len({each.text for each in many.candidates}) == len(many.candidates) == 3
