"""CopyNet-BERT (section 5 of the paper): a seq2seq parser with a copy mechanism, after Gu et al. (2016).

A transformer reads the question, and an LSTM decodes the decomposition token by token; each token comes from the
vocabulary or is a word of the question (:mod:`qdecomp.training.copy_decoder`). Training is by maximum likelihood.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.common.lazy import Lazy
from allennlp.data.fields.text_field import TextFieldTensors
from allennlp.data.vocabulary import Vocabulary
from allennlp.models.model import Model

from qdecomp.data_structures.tokenization import tokenize
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.seq2seq import Source, coverage_cost, decomposition_of
from qdecomp.training.copy_decoder import CopyDecoder, Memory
from qdecomp.training.question_parser import DecompositionScores, Entries, QuestionParser, Tensors
from qdecomp.training.word_encoder import WordEncoder


@Model.register("copynet_bert")
class CopyNetBert(QuestionParser):
    """Reads instances of ``break_seq2seq``; other parameters are those of :class:`QuestionParser`."""

    def __init__(
        self,
        vocab: Vocabulary,
        word_encoder: WordEncoder,
        decoder: Lazy[CopyDecoder],
        dropout: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, word_encoder, dropout, **kwargs)
        self.decoder = decoder.construct(vocab=vocab, encoder_dim=word_encoder.get_output_dim())
        self._decompositions = DecompositionScores()
        self._metrics = (self._decompositions,)
        self.set_up()

    def forward(self, question: TextFieldTensors, copy: Tensors, metadata: Entries) -> dict[str, Any]:
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


def written_predictions(
    decoder: CopyDecoder, memory: Memory, questions: Sequence[str], candidates: int = 0
) -> list[Decomposition]:
    """The most probable decompositions, spelled as in the questions, with further candidates."""
    sources = [
        Source(question, [word.lower() for word in tokenize(question)], ids, decoder.tokens)
        for question, ids in zip(questions, memory.source_ids.tolist(), strict=True)
    ]
    names, cost = [source.names() for source in sources], coverage_cost(sources, decoder.settings.coverage_penalty)
    found = decoder.search(memory, max(1, candidates), cost, names)
    return [decomposition_of(*pair, candidates=candidates) for pair in zip(found, sources, strict=True)]
