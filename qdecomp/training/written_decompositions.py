"""What the parsers that write decompositions share: their decoder, and the predictions made from its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from allennlp.common.lazy import Lazy
from allennlp.data.vocabulary import Vocabulary

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR, text_from_target_tokens
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.decoding.coverage import unsaid_words
from qdecomp.parsers.decomposition import Candidate, Decomposition, decomposition_from_text
from qdecomp.parsers.hypothesis import Hypothesis
from qdecomp.training.copy_decoder import CopyDecoder, Memory
from qdecomp.training.copy_field import TARGET_NAMESPACE

__all__ = ["make_copy_decoder", "target_words", "written_predictions"]


def make_copy_decoder(decoder: Lazy[CopyDecoder], vocab: Vocabulary, encoder_dim: int) -> CopyDecoder:
    """Build a decoder that writes the readers' target tokens."""
    return decoder.construct(vocab=vocab, encoder_dim=encoder_dim, namespace=TARGET_NAMESPACE, separator=STEP_SEPARATOR)


def written_predictions(
    decoder: CopyDecoder, vocab: Vocabulary, memory: Memory, questions: Sequence[str], candidates: int = 0
) -> list[Decomposition]:
    """The most probable decompositions, spelled as in the questions, with further candidates."""
    penalty = decoder.coverage_penalty
    wanted = max(1, candidates, decoder.beam_size if penalty else 0)
    predictions = []
    for found, question in zip(decoder.search(memory, wanted), questions, strict=True):
        # An unfinished decomposition is given only if there is no other.
        ended = [each for each in found if each.finished] if penalty or candidates else []
        pairs = [_text_and_score(each, vocab, question, penalty) for each in ended or found[:1]]
        pairs.sort(key=lambda pair: -pair[1])
        given = tuple(Candidate(*pair) for pair in pairs[:candidates])
        predictions.append(replace(decomposition_from_text(question, *pairs[0]), candidates=given))
    return predictions


def _text_and_score(hypothesis: Hypothesis, vocab: Vocabulary, question: str, penalty: float) -> tuple[str, float]:
    text = text_from_target_tokens(target_words(vocab, hypothesis.tokens, question), question)
    return text, hypothesis.score - (penalty * len(unsaid_words(question, text)) if penalty else 0.0)


def target_words(vocab: Vocabulary, ids: Sequence[int], question: str) -> list[str]:
    """The tokens with these ids; ids beyond the vocabulary are words of the question."""
    size = vocab.get_vocab_size(TARGET_NAMESPACE)
    source = tokenize(question)
    return [
        vocab.get_token_from_index(index, TARGET_NAMESPACE) if index < size else source[index - size].lower()
        for index in ids
    ]
