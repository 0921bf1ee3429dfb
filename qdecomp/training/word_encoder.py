"""The encoder that all parsers share: from word pieces to a state for each word and each special token.

As in section 5 of the paper, the state of a word is the mean of the states of its pieces.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import functools
import logging
from typing import Any, NamedTuple

import torch
from allennlp.common import FromParams
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.modules.scalar_mix import ScalarMix

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import special_tokens_of
from qdecomp.training.indexer import WordPieceIndexer
from qdecomp.training.pretrained import load_pretrained

logger = logging.getLogger(__name__)

PIECES = "pieces"
"""The name of the ``word_pieces`` indexer in the readers' ``token_indexers``."""

POS_TAGS = "pos_tags"
"""The name of the tag indexer, if there is one, and of the tags' namespace in the vocabulary."""

_CPU_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")
"""The names of processor instructions for bfloat16 products; the last one is ARM's."""


class EncodedWords(NamedTuple):
    """States in model order: the special tokens first, then the words of the question, then padding."""

    states: torch.Tensor  # (batch, special + words, dimension)
    mask: torch.Tensor  # (batch, special + words); False for padding


class WordEncoder(torch.nn.Module, FromParams):
    """A pretrained transformer whose pieces are averaged into words.

    ``special_tokens`` are those that are appended to every question, or None. If the reader's ``word_pieces`` indexer
    has them, too, they go through the transformer with the question. Otherwise (with ``special_layers`` above 0) they
    are separate vectors that attend to the question in that many cheap layers. ``training_config/README.md`` lists the
    other parameters; with ``half_precision``, weights and gradients stay in full precision.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        encoder: str,
        special_tokens: str | dict[str, Any] | None = "default",
        special_layers: int = 0,
        special_heads: int = 4,
        mix_layers: bool = False,
        freeze_embeddings: bool = False,
        pos_tag_dim: int = 0,
        transformer_dropout: float | None = None,
        half_precision: bool = False,
    ) -> None:
        super().__init__()
        special = special_tokens_of(special_tokens)
        added = 0 if special_layers or special is None else WordPieceIndexer(encoder, special_tokens).added
        self.transformer = _load_transformer(encoder, transformer_dropout, added)
        self._half_precision = half_precision
        config: Any = self.transformer.config
        if freeze_embeddings:
            self.transformer.embeddings.requires_grad_(False)
        self.layer_mix = ScalarMix(config.num_hidden_layers + 1) if mix_layers else None
        self.special_count = len(special.appended) if special else 0
        self.special_states = (
            SpecialTokenStates(self.special_count, config.hidden_size, special_layers, special_heads)
            if special and special_layers
            else None
        )
        self.pos_embedding = torch.nn.Embedding(vocab.get_vocab_size(POS_TAGS), pos_tag_dim) if pos_tag_dim else None
        self._output_dim = config.hidden_size + pos_tag_dim

    def get_output_dim(self) -> int:
        """The size of a state."""
        return self._output_dim

    def forward(self, question: TextFieldTensors) -> EncodedWords:
        """Encode a batch of questions as the readers make them."""
        pieces = question[PIECES]
        # Shape: (batch, pieces, hidden)
        piece_states = self._transform(pieces["ids"], pieces["mask"], pieces["types"])
        encoded_special = self.special_count if self.special_states is None else 0
        states, mask = average_pieces(piece_states, pieces["words"])
        if states.size(1) <= encoded_special:
            raise DataError("the indexer and the word encoder have different special tokens")
        if self.special_states is not None:
            special = self.special_states(states, mask)
            states = torch.cat([special, states], dim=1)
            mask = torch.cat([mask.new_ones(special.shape[:2]), mask], dim=1)
        if self.pos_embedding is not None:
            # Special tokens have no tags, and get zeros.
            tags = self.pos_embedding(question[POS_TAGS]["tokens"])
            states = torch.cat([states, torch.nn.functional.pad(tags, (0, 0, self.special_count, 0))], dim=-1)
        return EncodedWords(states, mask)

    def _transform(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        kinds = {"token_type_ids": types} if getattr(self.transformer.config, "type_vocab_size", 0) > 1 else {}
        device = ids.device.type
        half = self._half_precision and self.training and trains_in_bfloat16(device)
        with torch.autocast(device, torch.bfloat16, enabled=half):
            output = self.transformer(
                ids, attention_mask=mask, output_hidden_states=self.layer_mix is not None, **kinds
            )
        if self.layer_mix is None:
            return output.last_hidden_state.float()
        return self.layer_mix([states.float() for states in output.hidden_states])


class SpecialTokenStates(torch.nn.Module):
    """A learned vector for each special token, which attends to the question's states, not to the other vectors."""

    def __init__(self, count: int, dimension: int, layers: int, heads: int) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(torch.randn(count, dimension) * 0.1)
        self.layers = torch.nn.ModuleList(_AttendingLayer(dimension, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(dimension)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The states of the special tokens. Shape: (batch, special, dimension)."""
        special = self.vectors.unsqueeze(0).expand(states.size(0), -1, -1)
        for layer in self.layers:
            special = layer(special, states, mask)
        return self.norm(special)


class _AttendingLayer(torch.nn.Module):
    def __init__(self, dimension: int, heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(dimension)
        self.attention = torch.nn.MultiheadAttention(dimension, heads, dropout=dropout, batch_first=True)
        self.feed_forward = torch.nn.Sequential(
            torch.nn.LayerNorm(dimension),
            torch.nn.Linear(dimension, 2 * dimension),
            torch.nn.GELU(),
            torch.nn.Linear(2 * dimension, dimension),
            torch.nn.Dropout(dropout),
        )

    def forward(self, special: torch.Tensor, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found, _ = self.attention(self.norm(special), states, states, key_padding_mask=~mask, need_weights=False)
        special = special + found
        return special + self.feed_forward(special)


def average_pieces(states: torch.Tensor, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean state (batch, words, dimension) of each word's pieces, and the mask of words.

    ``words`` (batch, pieces) has the index of each piece's word, below 0 for pieces without one.
    """
    numbers = torch.arange(int(words.max()) + 1, device=words.device).view(1, -1, 1)
    # Shape: (batch, words, pieces)
    belongs = words.unsqueeze(1) == numbers
    sizes = belongs.sum(-1, keepdim=True)
    weights = belongs.to(states.dtype) / sizes.clamp(min=1)
    return torch.bmm(weights, states), sizes.squeeze(-1) > 0


def _load_transformer(encoder: str, dropout: float | None, added_pieces: int) -> Any:
    """The encoder with this name, with new embeddings for this many pieces."""
    config = load_pretrained("AutoConfig", encoder)
    if dropout is not None:
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    transformer = load_pretrained("AutoModel", encoder, config=config)
    if added_pieces:
        transformer.resize_token_embeddings(config.vocab_size + added_pieces)
    # Its output is never used, and parameters without a gradient break distributed training.
    if getattr(transformer, "pooler", None) is not None:
        transformer.pooler = None
    return transformer


@functools.cache
def trains_in_bfloat16(device_type: str) -> bool:
    """Whether a device of this type (``"cpu"``, ``"cuda"``) has instructions for bfloat16; says so once if not.

    Without them, a processor emulates bfloat16: a product then takes many times as long as in float32.
    """
    found = False
    if device_type == "cuda":
        found = bool(torch.cuda.is_bf16_supported(including_emulation=False))
    elif device_type == "cpu":
        # torch leaves these products to oneDNN, and does not insist on the instructions: AVX-512 is enough for it.
        known = torch.cpu.get_capabilities()
        found = torch.ops.mkldnn._is_mkldnn_bf16_supported() and any(known.get(name) for name in _CPU_INSTRUCTIONS)
    if not found:
        logger.info(
            "half_precision has no effect here: this device (%s) has no instructions for bfloat16, so the encoder is "
            "trained in float32",
            device_type,
        )
    return found
