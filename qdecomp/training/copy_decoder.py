"""The LSTM decoder of the seq2seq parsers: it generates tokens of a vocabulary or copies words of the question.

At each step, the LSTM reads the previous token: its embedding plus, if the question has it, what the question says
about it (the projected mean state of its places). It does not read the attention of the previous step. So in training,
where the tokens are known, all steps run through the LSTM in one call, and attention, generation and copy scores of all
steps are a few matrix products. A further layer reads what the layer below has attended to, and so knows this for all
steps up to its own. CopyNet, as in the paper, does read the previous step's attention: with ``attention_feedback``.

Ids are those of the extended vocabulary (:class:`~qdecomp.training.fields.CopyField`).
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from allennlp.common.from_params import FromParams
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data.vocabulary import Vocabulary
from torch import Tensor, nn

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR
from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.plan_rules import NamePlaces, PlanRules, TokenIds
from qdecomp.parsers.search import BeamSearch, Cost, Found, NextTokens
from qdecomp.parsers.seq2seq import SearchSettings
from qdecomp.training.fields import TARGET_NAMESPACE


@dataclass(frozen=True, slots=True)
class Memory:
    """A batch of encoded questions, prepared for the decoder."""

    states: Tensor  # (batch, positions, encoder_dim)
    mask: Tensor  # (batch, positions)
    keys: tuple[Tensor, ...]  # for each layer (batch, hidden_dim, positions)
    source_ids: Tensor  # (batch, words)
    word_embeddings: Tensor  # (batch, words, embedding_dim, or encoder_dim with attention feedback)
    copy_keys: Tensor  # (batch, hidden_dim, words)

    @property
    def mean(self) -> Tensor:
        """The mean state, (batch, encoder_dim)."""
        weights = self.mask.to(self.states.dtype)
        return torch.einsum("bnd,bn->bd", self.states, weights / weights.sum(dim=1, keepdim=True))

    def select(self, examples: Tensor) -> "Memory":
        """Only these examples of the batch."""
        return Memory(
            self.states[examples],
            self.mask[examples],
            tuple(keys[examples] for keys in self.keys),
            self.source_ids[examples],
            self.word_embeddings[examples],
            self.copy_keys[examples],
        )


_Hidden = tuple[tuple[Tensor, Tensor], ...]
"""The output and the cell of each layer's LSTM, (batch, hypotheses, hidden_dim)."""


@dataclass(frozen=True, slots=True)
class _SearchState:
    """The state for :class:`~qdecomp.parsers.search.BeamSearch`: every question has ``width`` places for hypotheses."""

    decoder: "CopyDecoder"
    memory: Memory
    hidden: _Hidden
    width: int
    places: TokenIds

    def next_tokens(
        self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int
    ) -> tuple[NextTokens, "_SearchState"]:
        last = np.zeros((len(self.memory.states), self.width), dtype=np.int64)
        last.reshape(-1)[self.places] = tokens
        log_probabilities, hidden = self.decoder.advance(self._tensor(last), self.memory, self.hidden)
        rows = log_probabilities.flatten(0, 1)[self._tensor(self.places)]
        for row, ids in zip(rows, forbidden, strict=True):
            row[self._tensor(ids)] = -torch.inf
        scores, best = rows.topk(min(count, rows.shape[1]), dim=1)
        return NextTokens(best.tolist(), scores.tolist()), replace(self, hidden=hidden)

    def follow(self, parents: TokenIds, places: TokenIds) -> "_SearchState":
        numbers = np.arange(len(self.memory.states) * self.width)
        numbers[places] = self.places[parents]
        order = self._tensor(numbers)
        hidden = _each(self.hidden, lambda state: state.flatten(0, 1)[order].view_as(state))
        return replace(self, hidden=hidden, places=places)

    def select(self, questions: TokenIds) -> "_SearchState":
        chosen = self._tensor(questions)
        numbers, ranks = np.divmod(self.places, self.width)
        places = np.searchsorted(questions, numbers) * self.width + ranks
        hidden = _each(self.hidden, lambda state: state[chosen])
        return replace(self, memory=self.memory.select(chosen), hidden=hidden, places=places)

    def _tensor(self, array: TokenIds) -> Tensor:
        return torch.from_numpy(array).to(self.memory.states.device)


def _each(hidden: _Hidden, change: Callable[[Tensor], Tensor]) -> _Hidden:
    return tuple((change(output), change(cell)) for output, cell in hidden)


class _Layer(nn.Module):
    """An LSTM, attention from its outputs to the question, and a combination of both."""

    def __init__(self, input_dim: int, encoder_dim: int, hidden_dim: int, dropout: float) -> None:
        super().__init__()
        self.initial = nn.Linear(encoder_dim, 2 * hidden_dim)
        self.lstm = nn.LSTM(input_dim, hidden_dim, batch_first=True)
        self.keys = nn.Linear(encoder_dim, hidden_dim, bias=False)
        self.joined = nn.Linear(hidden_dim + encoder_dim, hidden_dim)
        self.dropout = nn.Dropout(dropout)

    def attend(self, outputs: Tensor, keys: Tensor, memory: Memory) -> Tensor:
        """Combine outputs (batch, steps, hidden_dim) with what they attend to."""
        context = _attended(outputs, keys, memory)
        joined: Tensor = self.dropout(self.joined(torch.cat([outputs, context], dim=-1)).tanh())
        return joined

    def step(self, inputs: Tensor, hidden: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """One step for (batch, hypotheses, input_dim): the LSTM's next output and cell."""
        flat = (hidden[0].flatten(0, 1), hidden[1].flatten(0, 1))
        output, cell = torch.lstm_cell(inputs.flatten(0, 1), flat, *self.lstm.all_weights[0])
        return output.view(*inputs.shape[:2], -1), cell.view(*inputs.shape[:2], -1)


class AttentionFeedback(nn.Module):
    """An LSTM that reads the previous token, what its last output attends to, and where the token was copied from.

    The last of these is the mean state of the token's places in the question, weighted by the scores of copying each of
    them. A step depends on the previous one, so steps run one after another in training, too.
    """

    def __init__(self, embedding_dim: int, encoder_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.initial = nn.Linear(encoder_dim, 2 * hidden_dim)
        self.keys = nn.Linear(encoder_dim, hidden_dim, bias=False)
        self.inputs = nn.Linear(embedding_dim + 2 * encoder_dim, hidden_dim)
        self.lstm = nn.LSTMCell(hidden_dim, hidden_dim)

    def forward(
        self, token: Tensor, copied_from: Tensor, hidden: tuple[Tensor, Tensor], memory: Memory
    ) -> tuple[Tensor, Tensor]:
        """One step for (batch, hypotheses): the LSTM's next output and cell, each with hidden_dim numbers.

        ``token`` is the embedding of the previous token, ``copied_from`` the state that it was copied from.
        """
        output, cell = hidden
        inputs = self.inputs(torch.cat([token, _attended(output, memory.keys[0], memory), copied_from], dim=-1))
        flat = self.lstm(inputs.flatten(0, 1), (output.flatten(0, 1), cell.flatten(0, 1)))
        return flat[0].view_as(output), flat[1].view_as(cell)


def _attended(outputs: Tensor, keys: Tensor, memory: Memory) -> Tensor:
    """What outputs (batch, steps, hidden_dim) attend to, (batch, steps, encoder_dim)."""
    scores = outputs.matmul(keys) * outputs.shape[-1] ** -0.5  # (batch, steps, positions)
    return scores.masked_fill(~memory.mask[:, None, :], -torch.inf).softmax(dim=-1).matmul(memory.states)


class CopyDecoder(nn.Module, FromParams):
    """Scores given target tokens, or searches for the best ones.

    The question's states have the size ``encoder_dim``. ``training_config/README.md`` lists the other parameters
    (``decoder.…``). Those of the search, see :data:`qdecomp.parsers.plan_rules.PLAN_RULES` and
    :mod:`qdecomp.decoding.coverage`, do not change the training.
    """

    _never: Tensor

    def __init__(
        self,
        vocab: Vocabulary,
        encoder_dim: int,
        hidden_dim: int = 768,
        embedding_dim: int = 256,
        num_layers: int = 1,
        dropout: float = 0.1,
        beam_size: int = 5,
        max_steps: int = 150,
        plan_rules: bool | list[str] = True,
        coverage_penalty: float = 0.0,
        attention_feedback: bool = False,
    ) -> None:
        super().__init__()
        if attention_feedback and num_layers != 1:
            raise DataError(
                f"a decoder with attention_feedback must have one layer, not {num_layers}; set num_layers to 1"
            )
        self.vocabulary_size = vocab.get_vocab_size(TARGET_NAMESPACE)
        self._start = vocab.get_token_index(START_SYMBOL, TARGET_NAMESPACE)
        self._end = vocab.get_token_index(END_SYMBOL, TARGET_NAMESPACE)
        self._unknown = vocab.get_token_index(vocab._oov_token, TARGET_NAMESPACE)
        tokens = vocab.get_index_to_token_vocabulary(TARGET_NAMESPACE)
        self.tokens = tuple(tokens[index] for index in range(self.vocabulary_size))
        self._search_with(SearchSettings(beam_size, max_steps, plan_rules, coverage_penalty=coverage_penalty))
        never = torch.zeros(self.vocabulary_size)
        never[[0, self._start]] = -torch.inf
        self.register_buffer("_never", never, persistent=False)
        self._embedding = nn.Embedding(self.vocabulary_size, embedding_dim)
        self._feedback = AttentionFeedback(embedding_dim, encoder_dim, hidden_dim) if attention_feedback else None
        if not attention_feedback:
            self._word_embedding = nn.Linear(encoder_dim, embedding_dim, bias=False)
        input_dims = [] if attention_feedback else [embedding_dim] + [hidden_dim] * (num_layers - 1)
        self._layers = nn.ModuleList(_Layer(size, encoder_dim, hidden_dim, dropout) for size in input_dims)
        self._generate = nn.Linear(hidden_dim, self.vocabulary_size)
        self._copy = nn.Linear(encoder_dim, hidden_dim)
        self._dropout = nn.Dropout(dropout)

    def search_options(self, options: Mapping[str, Any]) -> None:
        """From now on, search with another ``beam_size``, ``max_steps``, ``plan_rules`` or ``coverage_penalty``."""
        self._search_with(self.settings.with_options(options))

    def _search_with(self, settings: SearchSettings) -> None:
        self.settings = settings
        self._rules = PlanRules(self.tokens, STEP_SEPARATOR, END_SYMBOL, settings.plan_rules)

    def memory(self, states: Tensor, mask: Tensor, source_ids: Tensor) -> Memory:
        """Prepare encoded questions: states (batch, positions, encoder_dim), mask (batch, positions).

        ``source_ids`` (batch, words) are the ids of the words that can be copied; they are at the last positions.
        """
        word_states = states[:, states.shape[1] - source_ids.shape[1] :]
        keys = tuple(layer.keys(states).transpose(1, 2) for layer in self._decoder_layers)
        copy_keys = self._copy(word_states).tanh().transpose(1, 2)
        words = word_states if self._feedback else self._word_embedding(word_states)
        return Memory(states, mask, keys, source_ids, words, copy_keys)

    def forward(self, memory: Memory, target_ids: Tensor) -> Tensor:
        """The negative logarithm of the probability of each example's target ids, (batch)."""
        written = target_ids != 0
        # Padding has no score; any token that has one will do, because it is not counted.
        target_ids = target_ids.masked_fill(~written, self._end)
        previous = torch.cat([torch.full_like(target_ids[:, :1], self._start), target_ids[:, :-1]], dim=1)
        generated, copied = self._scores(self._outputs(previous, memory), memory)
        everything = torch.logaddexp(generated.logsumexp(dim=-1), copied.logsumexp(dim=-1))
        losses = everything - _scores_of(target_ids, generated, copied, memory.source_ids)  # (batch, steps)
        return (losses * written).sum(dim=1)

    def search(
        self,
        memory: Memory,
        wanted: int = 1,
        cost: Cost | None = None,
        names: Sequence[NamePlaces | None] | None = None,
    ) -> list[Found]:
        """The most probable decompositions for each question, the best first, by beam search.

        ``names`` are those of the questions, which the plan rule for names needs.
        """
        width = max(self.settings.beam_size, wanted)
        search = BeamSearch(self._start, self._rules, width, self.settings.max_steps, wanted)
        hidden = _each(self._initial(memory), lambda state: state.expand(-1, width, -1))
        count = len(memory.states)
        return search(
            _SearchState(self, memory, hidden, width, np.arange(count) * width), names or [None] * count, cost
        )

    def extended_log_probabilities(self, generated: Tensor, copied: Tensor, source_ids: Tensor) -> Tensor:
        """From the scores of generating and copying to log probabilities of the ids of the extended vocabulary.

        The places of a word share its probability, also with generation if the vocabulary has the word.
        """
        probabilities = torch.cat([generated, copied], dim=-1).softmax(dim=-1)
        words = probabilities[:, :, self.vocabulary_size :]
        extended = torch.cat([probabilities[:, :, : self.vocabulary_size], torch.zeros_like(words)], dim=-1)
        extended.scatter_add_(2, source_ids[:, None, :].expand_as(words), words)
        return extended.log()

    @property
    def has_feedback(self) -> bool:
        """Whether the LSTM reads what the previous step attended to and copied."""
        return self._feedback is not None

    @property
    def _decoder_layers(self) -> "list[_Layer | AttentionFeedback]":
        return [self._feedback] if self._feedback else cast("list[_Layer | AttentionFeedback]", list(self._layers))

    def _initial(self, memory: Memory) -> _Hidden:
        """The state before the first step, with one hypothesis."""
        pairs = (layer.initial(memory.mean).tanh().chunk(2, dim=-1) for layer in self._decoder_layers)
        return tuple((output[:, None], cell[:, None]) for output, cell in pairs)

    def _outputs(self, previous: Tensor, memory: Memory) -> Tensor:
        """What the last layer gives for the previous tokens, (batch, steps, hidden_dim)."""
        hidden = self._initial(memory)
        if self._feedback:
            outputs = []
            for number in range(previous.shape[1]):
                output, hidden = self._step(previous[:, number : number + 1], memory, hidden)
                outputs.append(output)
            return torch.cat(outputs, dim=1)
        layer_input = self._inputs(previous, memory)
        for layer, keys, (output, cell) in zip(cast("list[_Layer]", self._layers), memory.keys, hidden, strict=True):
            before = (output.transpose(0, 1).contiguous(), cell.transpose(0, 1).contiguous())
            layer_input = layer.attend(layer.lstm(layer_input, before)[0], keys, memory)
        return layer_input

    def _step(self, previous: Tensor, memory: Memory, hidden: _Hidden) -> tuple[Tensor, _Hidden]:
        """One step after these tokens (batch, hypotheses): what the last layer gives, and the next state."""
        if self._feedback:
            token = self._dropout(self._embedded(previous))
            # The states that the tokens were copied from, by the outputs that wrote them.
            same = previous[:, :, None] == memory.source_ids[:, None, :]
            shares = weights_of_places(same, hidden[0][0].matmul(memory.copy_keys))
            after = self._feedback(token, shares.matmul(memory.word_embeddings), hidden[0], memory)
            return self._dropout(after[0]), (after,)
        layer_input, states = self._inputs(previous, memory), []
        for layer, keys, before in zip(cast("list[_Layer]", self._layers), memory.keys, hidden, strict=True):
            states.append(layer.step(layer_input, before))
            layer_input = layer.attend(states[-1][0], keys, memory)
        return layer_input, tuple(states)

    def _embedded(self, previous: Tensor) -> Tensor:
        embedded: Tensor = self._embedding(previous.masked_fill(previous >= self.vocabulary_size, self._unknown))
        return embedded

    def _inputs(self, previous: Tensor, memory: Memory) -> Tensor:
        """What the first layer reads for the previous tokens, (batch, steps, embedding_dim)."""
        same = (previous[:, :, None] == memory.source_ids[:, None, :]).to(memory.states.dtype)
        shares = same / same.sum(dim=-1, keepdim=True).clamp(min=1)
        inputs: Tensor = self._dropout(self._embedded(previous) + shares.matmul(memory.word_embeddings))
        return inputs

    def _scores(self, outputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """The scores of generating each token (batch, steps, vocabulary) and of copying each word."""
        copied = outputs.matmul(memory.copy_keys).masked_fill(memory.source_ids[:, None, :] == 0, -torch.inf)
        generated = nn.functional.linear(outputs, self._generate.weight, self._generate.bias + self._never)
        return generated, copied

    def advance(self, tokens: Tensor, memory: Memory, hidden: _Hidden) -> tuple[Tensor, _Hidden]:
        """The log probabilities of what may follow these last tokens (batch, hypotheses), and the next state."""
        outputs, hidden = self._step(tokens, memory, hidden)
        generated, copied = self._scores(outputs, memory)
        generated[:, :, self._unknown] = -torch.inf
        return self.extended_log_probabilities(generated, copied, memory.source_ids), hidden


def _scores_of(ids: Tensor, generated: Tensor, copied: Tensor, source_ids: Tensor) -> Tensor:
    """The joint score of all ways to write each id (batch, steps): generating it and copying it from each place."""
    known = ids < generated.shape[2]
    # Unknown ids are looked up at padding, which is never generated: its score is minus infinity.
    by_generating = generated.gather(2, ids.masked_fill(~known, 0)[:, :, None])
    by_copying = copied.masked_fill(ids[:, :, None] != source_ids[:, None, :], -torch.inf)
    return torch.cat([by_generating, by_copying], dim=-1).logsumexp(dim=-1)


def weights_of_places(same: Tensor, scores: Tensor) -> Tensor:
    """The shares of the places of a token, (batch, hypotheses, words), by their scores; all zero if it has none."""
    # Not infinity: if no place is the token's, a softmax over infinities has no gradient.
    lowest = torch.finfo(scores.dtype).min / 2
    return scores.masked_fill(~same, lowest).softmax(dim=-1) * same
