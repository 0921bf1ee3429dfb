from __future__ import annotations

from typing import Any

import pytest
import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Vocabulary
from torch import Tensor

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.search import Hypothesis
from qdecomp.training.copy_decoder import AttentionFeedback, CopyDecoder, Memory
from qdecomp.training.fields import TARGET_NAMESPACE

DIM = 6
# Padding is 0, unknown 1.
START, END, SEPARATOR, OF, REF_1, REF_2 = range(2, 8)
VOCABULARY = 8
# Words of the first question: of, two that the vocabulary has not, one of them twice; the second is padded.
SOURCE = torch.tensor([[OF, VOCABULARY + 1, VOCABULARY + 2, VOCABULARY + 1], [VOCABULARY, OF, 0, 0]])
TARGET = torch.tensor([[VOCABULARY + 1, SEPARATOR, VOCABULARY + 2, OF, REF_1, END], [OF, END, 0, 0, 0, 0]])


@pytest.fixture
def vocab() -> Vocabulary:
    return Vocabulary(tokens_to_add={TARGET_NAMESPACE: [START_SYMBOL, END_SYMBOL, ";", "of", "#1", "#2"]})


KINDS: dict[str, dict[str, Any]] = {
    "one layer": {"num_layers": 1},
    "two layers": {"num_layers": 2},
    "attention feedback": {"attention_feedback": True},
}


@pytest.fixture(params=KINDS)
def decoder(vocab: Vocabulary, request: pytest.FixtureRequest) -> CopyDecoder:
    torch.manual_seed(0)
    size: dict[str, Any] = {"hidden_dim": 8, "embedding_dim": 5, "max_steps": 20}
    return CopyDecoder(vocab, DIM, **size, **KINDS[request.param]).eval()


def memory_of(decoder: CopyDecoder, extra_positions: int = 1) -> Memory:
    """Two questions; before the words there may be positions that can be attended to and not copied."""
    torch.manual_seed(1)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    mask = torch.cat([torch.ones(2, extra_positions, dtype=torch.bool), mask], dim=1)
    return decoder.memory(torch.randn(2, 4 + extra_positions, DIM), mask, SOURCE)


def log_probabilities_step_by_step(decoder: CopyDecoder, memory: Memory, row: int) -> list[Tensor]:
    """The extended distribution before each token of a target, one after the other, without the search."""
    single = memory.select(torch.tensor([row]))
    hidden = [(output[:, 0], cell[:, 0]) for output, cell in decoder._initial(single)]
    previous, result = START, []
    for token in TARGET[row][TARGET[row] != 0].tolist():
        if isinstance(decoder._feedback, AttentionFeedback):
            hidden = [_step_with_feedback(decoder, decoder._feedback, single, previous, *hidden[0])]
            output = hidden[0][0][None]
        else:
            output = decoder._inputs(torch.tensor([[previous]]), single)
            for number, layer in enumerate(decoder._layers):
                below, cell = layer.step(output, (hidden[number][0][:, None], hidden[number][1][:, None]))
                hidden[number] = (below[:, 0], cell[:, 0])
                output = layer.attend(below, single.keys[number], single)
        scores = decoder._scores(output, single)
        result.append(decoder.extended_log_probabilities(*scores, single.source_ids)[0, 0])
        previous = token
    return result


def _step_with_feedback(
    decoder: CopyDecoder, feedback: AttentionFeedback, memory: Memory, previous: int, output: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor]:
    """CopyNet's equations for one question, with loops over its places."""
    places = [place for place in range(memory.states.shape[1]) if memory.mask[0, place]]
    attended = torch.stack([feedback.keys(memory.states[0, place]) @ output[0] for place in places]) * 8**-0.5
    context = sum(share * memory.states[0, place] for share, place in zip(attended.softmax(0), places, strict=True))
    first_word = memory.states.shape[1] - memory.source_ids.shape[1]
    copied_from = torch.zeros(DIM)
    same = [word for word, token in enumerate(memory.source_ids[0].tolist()) if token == previous]
    if same:
        states = [memory.states[0, first_word + word] for word in same]
        scores = torch.stack([decoder._copy(state).tanh() @ output[0] for state in states])
        copied_from = sum((share * state for share, state in zip(scores.softmax(0), states, strict=True)), copied_from)
    known = previous if previous < VOCABULARY else 1
    inputs = feedback.inputs(torch.cat([decoder._embedding.weight[known], context, copied_from]))
    after: tuple[Tensor, Tensor] = feedback.lstm(inputs[None], (output, cell))
    return after


def best_of(decoder: CopyDecoder, memory: Memory) -> list[Hypothesis]:
    return [found.hypotheses[0] for found in decoder.search(memory)]


def test_the_distribution_over_generated_and_copied_tokens_sums_to_one(decoder: CopyDecoder) -> None:
    memory = memory_of(decoder)
    scores = decoder._scores(torch.randn(2, 3, 8), memory)
    probabilities = decoder.extended_log_probabilities(*scores, SOURCE).exp()
    assert probabilities.shape == (2, 3, VOCABULARY + 4)
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(2, 3))
    assert (probabilities[:, :, [0, START]] == 0).all()


def test_training_computes_what_the_search_computes_step_by_step(decoder: CopyDecoder) -> None:
    memory = memory_of(decoder)
    losses = decoder(memory, TARGET)
    for row in range(2):
        steps = log_probabilities_step_by_step(decoder, memory, row)
        tokens = TARGET[row][TARGET[row] != 0].tolist()
        expected = -sum(step[token] for step, token in zip(steps, tokens, strict=True))
        torch.testing.assert_close(losses[row], expected)


def test_padding_changes_nothing_and_gives_no_gradient_without_a_number(decoder: CopyDecoder) -> None:
    memory = memory_of(decoder)
    single = decoder.memory(memory.states[1:, :3], memory.mask[1:, :3], SOURCE[1:, :2])
    losses = decoder(memory, TARGET)
    torch.testing.assert_close(losses[1:], decoder(single, TARGET[1:, :2]))
    losses.sum().backward()
    # Every weight is used; where a parameter had no gradient, training on several devices would wait for it.
    assert all(torch.isfinite(parameter.grad).all() for parameter in decoder.parameters())


def test_the_unknown_token_is_learned_and_never_written(decoder: CopyDecoder) -> None:
    with torch.no_grad():
        decoder._generate.bias[1] = 100.0
        memory = memory_of(decoder)
        assert (decoder(memory, torch.tensor([[1], [1]])) < 1e-3).all()
        assert all(1 not in found.tokens for found in best_of(decoder, memory))


@pytest.mark.parametrize("feedback", [False, True])
def test_it_learns_to_copy_and_to_generate(vocab: Vocabulary, feedback: bool) -> None:
    torch.manual_seed(0)
    size: dict[str, Any] = {"hidden_dim": 16, "embedding_dim": 8, "dropout": 0.0}
    decoder = CopyDecoder(vocab, DIM, **size, attention_feedback=feedback)
    states, mask = torch.randn(2, 4, DIM), SOURCE != 0
    optimizer = torch.optim.Adam(decoder.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        decoder(decoder.memory(states, mask, SOURCE), TARGET).mean().backward()
        optimizer.step()
    with torch.no_grad():
        memory = decoder.memory(states, mask, SOURCE)
        found, losses = best_of(decoder, memory), decoder(memory, TARGET)
    for row in range(2):
        assert [*found[row].tokens, END] == TARGET[row][TARGET[row] != 0].tolist()
        assert found[row].finished
        assert found[row].score == pytest.approx(-float(losses[row]), abs=1e-3)


def test_attention_feedback_is_for_one_layer(vocab: Vocabulary) -> None:
    with pytest.raises(DataError, match="must have one layer, not 2"):
        CopyDecoder(vocab, DIM, num_layers=2, attention_feedback=True)


@torch.no_grad()
def test_the_search_takes_other_options(decoder: CopyDecoder) -> None:
    memory = memory_of(decoder)
    decoder._generate.bias[END] = -100.0
    assert {len(found.tokens) for found in best_of(decoder, memory)} == {20}
    decoder.search_options({"max_steps": 3, "plan_rules": False})
    assert {len(found.tokens) for found in best_of(decoder, memory)} == {3}
    assert (decoder.settings.beam_size, decoder.settings.plan_rules) == (5, False)
    with pytest.raises(
        DataError, match="no option 'time_limit'; the options are beam_size, max_steps, plan_rules, cov"
    ):
        decoder.search_options({"time_limit": 1})
