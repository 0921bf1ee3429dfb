"""The reader of parsers that learn both to write decompositions and to predict graphs."""

from __future__ import annotations

from allennlp.data import DatasetReader

from qdecomp.training.graph_reader import BreakGraphReader
from qdecomp.training.seq2seq_reader import BreakSeq2SeqReader

__all__ = ["BreakMultitaskReader"]


@DatasetReader.register("break_multitask")
class BreakMultitaskReader(BreakGraphReader, BreakSeq2SeqReader):
    """Adds ``copy`` as ``break_seq2seq`` does and ``graph`` as ``break_graph`` does."""
