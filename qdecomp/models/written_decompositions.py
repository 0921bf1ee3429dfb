"""What the parsers that write decompositions share: their decoder, and the predictions that its tokens make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from allennlp.common.lazy import Lazy
from allennlp.data.vocabulary import Vocabulary

from qdecomp.data.copy_field import TARGET_NAMESPACE
from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR, text_from_target_tokens
from qdecomp.data_structures.prediction import Candidate, Prediction, prediction_from_text
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.modules.copy_decoder import CopyDecoder, Memory

__all__ = ["make_copy_decoder", "target_words", "written_predictions"]


def make_copy_decoder(decoder: Lazy[CopyDecoder], vocab: Vocabulary, encoder_dim: int) -> CopyDecoder:
    """Build a decoder that writes the readers' target tokens."""
    return decoder.construct(vocab=vocab, encoder_dim=encoder_dim, namespace=TARGET_NAMESPACE, separator=STEP_SEPARATOR)


def written_predictions(
    decoder: CopyDecoder, vocab: Vocabulary, memory: Memory, questions: Sequence[str], candidates: int = 0
) -> list[Prediction]:
    """The most probable decompositions, spelled as in the questions, with further candidates."""
    predictions = []
    for found, question in zip(decoder.search(memory, max(1, candidates)), questions, strict=True):
        texts = [text_from_target_tokens(target_words(vocab, each.tokens, question), question) for each in found]
        pairs = list(zip(texts, found, strict=True))
        kept = [pairs[0], *(pair for pair in pairs[1:] if pair[1].finished)] if candidates else []
        given = tuple(Candidate(text, each.score) for text, each in kept)
        predictions.append(replace(prediction_from_text(texts[0], found[0].score), candidates=given))
    return predictions


def target_words(vocab: Vocabulary, ids: Sequence[int], question: str) -> list[str]:
    """The tokens with these ids; ids beyond the vocabulary are words of the question."""
    size = vocab.get_vocab_size(TARGET_NAMESPACE)
    source = tokenize(question)
    return [
        vocab.get_token_from_index(index, TARGET_NAMESPACE) if index < size else source[index - size].lower()
        for index in ids
    ]
