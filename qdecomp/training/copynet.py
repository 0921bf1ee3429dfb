"""CopyNet-BERT (section 5 of the paper): a seq2seq parser with a copy mechanism, after Gu et al. (2016).

A transformer reads the question, and an LSTM decodes the decomposition token by token; each token comes from the
vocabulary or is a word of the question (:mod:`qdecomp.training.copy_decoder`). Training is by maximum likelihood.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from allennlp.common.lazy import Lazy
from allennlp.data.fields.text_field import TextFieldTensors
from allennlp.data.vocabulary import Vocabulary
from allennlp.models.model import Model

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.seq2seq import Source, coverage_cost, decomposition_of
from qdecomp.training.copy_decoder import CopyDecoder, Memory
from qdecomp.training.fields import TARGET_NAMESPACE
from qdecomp.training.metrics import DecompositionScores
from qdecomp.training.question_parser import QuestionParser
from qdecomp.training.word_encoder import WordEncoder


@Model.register("copynet_bert")
class CopyNetBert(QuestionParser):
    """Reads instances of ``break_seq2seq``; all other parameters are those of :class:`QuestionParser`.

    # Parameters

    vocab : `Vocabulary`
    word_encoder : `WordEncoder`
        It needs no special tokens: only the question's words are read.
    decoder : `CopyDecoder`
        The size of the question's states comes from the encoder.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        word_encoder: WordEncoder,
        decoder: Lazy[CopyDecoder],
        dropout: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, word_encoder, dropout, **kwargs)
        self.decoder = make_copy_decoder(decoder, vocab, word_encoder.get_output_dim())
        self._decompositions = DecompositionScores()
        self.set_up()

    def set_options(self, options: Mapping[str, Any]) -> None:
        """From now on, search with these options of the decoder."""
        self.decoder.search_options(options)

    def forward(
        self,
        question: TextFieldTensors,
        copy: dict[str, torch.Tensor],
        metadata: Sequence[dict[str, Any]],
    ) -> dict[str, Any]:
        """``loss`` if there is gold and, unless the parser is in training, ``predictions``."""
        encoded = self.word_encoder(question)
        memory = self.decoder.memory(self.dropout(encoded.states), encoded.mask, copy["source_ids"])
        output: dict[str, Any] = {}
        if "target_ids" in copy:
            output["loss"] = self.decoder(memory, copy["target_ids"]).mean()
        if not self.training:
            questions = [entry["question"] for entry in metadata]
            with torch.no_grad():
                output["predictions"] = written_predictions(self.decoder, memory, questions, self._candidates)
            if "target_ids" in copy:
                self._decompositions(output["predictions"], [entry["decomposition"] for entry in metadata])
        return output

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Outside training, LF-EM and the share of valid decompositions."""
        return {} if self.training else self._decompositions.get_metric(reset)


def make_copy_decoder(decoder: Lazy[CopyDecoder], vocab: Vocabulary, encoder_dim: int) -> CopyDecoder:
    """Build a decoder of the readers' target tokens."""
    return decoder.construct(vocab=vocab, encoder_dim=encoder_dim, namespace=TARGET_NAMESPACE, separator=STEP_SEPARATOR)


def written_predictions(
    decoder: CopyDecoder, memory: Memory, questions: Sequence[str], candidates: int = 0
) -> list[Decomposition]:
    """The most probable decompositions, spelled as in the questions, with further candidates."""
    sources = [Source(each, tuple(word.lower() for word in tokenize(each)), decoder.tokens) for each in questions]
    names = [source.names(ids) for source, ids in zip(sources, memory.source_ids.tolist(), strict=True)]
    found = decoder.search(memory, max(1, candidates), coverage_cost(sources, decoder.coverage_penalty), names)
    return [decomposition_of(*pair, candidates=candidates) for pair in zip(found, sources, strict=True)]
