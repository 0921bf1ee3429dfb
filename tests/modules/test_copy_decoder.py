from __future__ import annotations

import pytest
import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Vocabulary
from torch import Tensor

from qdecomp.data.copy_field import TARGET_NAMESPACE
from qdecomp.models.written_decompositions import target_words
from qdecomp.modules.copy_decoder import CopyDecoder, Memory

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


@pytest.fixture(params=[1, 2], ids=["one layer", "two layers"])
def decoder(vocab: Vocabulary, request: pytest.FixtureRequest) -> CopyDecoder:
    torch.manual_seed(0)
    return CopyDecoder(
        vocab, DIM, TARGET_NAMESPACE, ";", hidden_dim=8, embedding_dim=5, num_layers=request.param, max_steps=20
    ).eval()


def memory_of(decoder: CopyDecoder, extra_positions: int = 1) -> Memory:
    """Two questions; before the words there may be positions that can be attended to and not copied."""
    torch.manual_seed(1)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    mask = torch.cat([torch.ones(2, extra_positions, dtype=torch.bool), mask], dim=1)
    return decoder.memory(torch.randn(2, 4 + extra_positions, DIM), mask, SOURCE)


def log_probabilities_step_by_step(decoder: CopyDecoder, memory: Memory, row: int) -> list[Tensor]:
    """The extended distribution before each token of a target, by the loop that the search runs."""
    single = memory.select(torch.tensor([row]))
    mean = single.states[single.mask].mean(dim=0, keepdim=True)
    hidden = [layer.initial_state(mean) for layer in decoder._decoder_layers]
    previous, result = START, []
    for token in TARGET[row][TARGET[row] != 0].tolist():
        layer_input = decoder._inputs(torch.tensor([[previous]]), single)
        for number, layer in enumerate(decoder._decoder_layers):
            output, cell = layer.step(layer_input, (hidden[number][0][:, None], hidden[number][1][:, None]))
            hidden[number] = (output[:, 0], cell[:, 0])
            layer_input = layer.attend(output, single.keys[number], single)
        scores = decoder._scores(layer_input, single)
        result.append(decoder.extended_log_probabilities(*scores, single.source_ids)[0, 0])
        previous = token
    return result


def test_the_distribution_over_generated_and_copied_tokens_sums_to_one(decoder: CopyDecoder) -> None:
    memory = memory_of(decoder)
    scores = decoder._scores(torch.randn(2, 3, 8), memory)
    probabilities = decoder.extended_log_probabilities(*scores, SOURCE).exp()
    assert probabilities.shape == (2, 3, VOCABULARY + 4)
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(2, 3))
    assert (probabilities[:, :, [0, START]] == 0).all()


def test_places_of_a_word_share_its_probability(decoder: CopyDecoder) -> None:
    memory = memory_of(decoder)
    scores = decoder._scores(torch.randn(2, 1, 8), memory)
    extended = decoder.extended_log_probabilities(*scores, SOURCE).exp()[0, 0]
    single = torch.cat(scores, dim=-1).softmax(dim=-1)[0, 0]
    torch.testing.assert_close(extended[VOCABULARY + 1], single[VOCABULARY + 1] + single[VOCABULARY + 3])
    torch.testing.assert_close(extended[OF], single[OF] + single[VOCABULARY])
    assert extended[VOCABULARY + 3] == 0


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
    assert all(torch.isfinite(parameter.grad).all() for parameter in decoder.parameters())


def test_the_unknown_token_is_learned_and_never_written(decoder: CopyDecoder) -> None:
    with torch.no_grad():
        decoder._generate.bias[1] = 100.0
        memory = memory_of(decoder)
        assert (decoder(memory, torch.tensor([[1], [1]])) < 1e-3).all()
        assert all(1 not in found.tokens for (found,) in decoder.search(memory))


def test_what_the_search_finds_has_no_empty_step_and_no_reference_to_a_later_one(
    decoder: CopyDecoder, vocab: Vocabulary
) -> None:
    with torch.no_grad():
        for favourite in (SEPARATOR, REF_1, REF_2, END):
            decoder._generate.bias[favourite] += 5.0
            for (found,) in decoder.search(memory_of(decoder)):
                steps = " ".join(target_words(vocab, found.tokens, "a b c d")).split(";")
                assert all(step.strip() for step in steps[:-1] if found.finished)
                for number, step in enumerate(steps, start=1):
                    assert all(int(word[1:]) < number for word in step.split() if word[0] == "#")


def test_it_learns_to_copy_and_to_generate(vocab: Vocabulary) -> None:
    torch.manual_seed(0)
    decoder = CopyDecoder(vocab, DIM, TARGET_NAMESPACE, ";", hidden_dim=16, embedding_dim=8, dropout=0.0)
    states, mask = torch.randn(2, 4, DIM), SOURCE != 0
    optimizer = torch.optim.Adam(decoder.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        decoder(decoder.memory(states, mask, SOURCE), TARGET).mean().backward()
        optimizer.step()
    with torch.no_grad():
        memory = decoder.memory(states, mask, SOURCE)
        found, losses = [best for (best,) in decoder.search(memory)], decoder(memory, TARGET)
    for row in range(2):
        assert [*found[row].tokens, END] == TARGET[row][TARGET[row] != 0].tolist()
        assert found[row].finished
        assert found[row].score == pytest.approx(-float(losses[row]), abs=1e-3)


@torch.no_grad()
def test_every_step_but_the_last_is_used_unless_the_rules_are_turned_off(vocab: Vocabulary) -> None:
    def unused(plan_rules: bool | list[str]) -> list[bool]:
        torch.manual_seed(3)
        decoder = CopyDecoder(
            vocab, DIM, TARGET_NAMESPACE, ";", hidden_dim=8, embedding_dim=5, max_steps=40, plan_rules=plan_rules
        ).eval()
        decoder._generate.bias[SEPARATOR] += 2.0
        found = [each for several in decoder.search(memory_of(decoder), wanted=80) for each in several]
        plans = [" ".join(target_words(vocab, each.tokens, "a b c d")) for each in found if each.finished]
        assert any(";" in plan for plan in plans)
        # The vocabulary has no reference to a third step.
        return [any(f"#{number}" not in plan for number in range(1, min(plan.count(";"), 2) + 1)) for plan in plans]

    assert not any(unused(True))
    assert any(unused(["only_earlier_references", "no_empty_steps"]))
