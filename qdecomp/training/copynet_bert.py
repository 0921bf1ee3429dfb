"""CopyNet-BERT: a transformer reads the question, and an LSTM that can copy its words writes the decomposition."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from allennlp.common.lazy import Lazy
from allennlp.data.fields.text_field import TextFieldTensors
from allennlp.data.vocabulary import Vocabulary
from allennlp.models.model import Model

from qdecomp.training.copy_decoder import CopyDecoder
from qdecomp.training.metrics import DecompositionScores
from qdecomp.training.question_parser import QuestionParser
from qdecomp.training.word_encoder import WordEncoder
from qdecomp.training.written_decompositions import make_copy_decoder, written_predictions

__all__ = ["CopyNetBert"]


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
        self._candidates = 0
        self.set_up()

    def search_options(self, options: Mapping[str, Any]) -> None:
        """From now on, search with these options of the decoder."""
        self.decoder.search_options(options)

    def give_candidates(self, count: int) -> None:
        """From now on, give this many of the best decompositions with every prediction."""
        self._candidates = count

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
                output["predictions"] = written_predictions(
                    self.decoder, self.vocab, memory, questions, self._candidates
                )
            if "target_ids" in copy:
                golds = [entry["decomposition"] for entry in metadata]
                self._decompositions(questions, output["predictions"], golds)
        return output

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Outside training, LF-EM and the share of valid decompositions."""
        return {} if self.training else self._decompositions.get_metric(reset)
