"""The three readers on the sample set: what is in an instance, what is left out, and files without gold."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from allennlp.data import Batch, Vocabulary

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.training.dataset_readers import BreakGraphReader, BreakMultitaskReader, BreakReader, BreakSeq2SeqReader
from qdecomp.training.indexer import WordPieceIndexer

TARGETS = {BreakGraphReader: {"graph"}, BreakSeq2SeqReader: {"copy"}, BreakMultitaskReader: {"copy", "graph"}}


@pytest.fixture(params=TARGETS, ids=lambda reader: reader.__name__)
def reader(request: pytest.FixtureRequest, tiny_encoder: Path) -> BreakReader:
    result: BreakReader = request.param(token_indexers={"pieces": WordPieceIndexer(str(tiny_encoder))})
    return result


def test_sample_rows_become_one_batch(reader: BreakReader, project_root: Path) -> None:
    instances = list(reader.read(project_root / "data" / "dev.csv"))
    assert len(instances) == 83
    for instance in instances:
        reader.apply_token_indexers(instance)
    batch = Batch(instances)
    batch.index_instances(Vocabulary.from_instances(instances))
    tensors = batch.as_tensor_dict()
    assert set(tensors) == {"question", "metadata", *TARGETS[type(reader)]}
    assert len(tensors["question"]["pieces"]["ids"]) == 83


def test_metadata_has_the_tokens_of_the_graph(reader: BreakReader) -> None:
    metadata = reader.text_to_instance("Red cubes?", "id 1")["metadata"].metadata
    assert metadata["tokens"] == ("Red", "cubes", "?", *PRESETS["default"].appended)
    assert (metadata["question_id"], metadata["question"]) == ("id 1", "Red cubes?")
    assert metadata["decomposition"] is None


@pytest.mark.parametrize(
    ("question", "reason"),
    [("", "empty"), (" \t", "empty"), ("?! ...", "no word"), ("cube " * 5000, "too long"), ("zqzqzq " * 60, "encoder")],
)
def test_questions_that_cannot_be_used(reader: BreakReader, question: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        reader.text_to_instance(question)


def test_rows_that_cannot_be_used_are_counted_by_reason(
    reader: BreakReader, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "rows.csv"
    rows = ["question_id,question_text,decomposition", "1,,return cubes", "2,?,return cubes", "3, ,return cubes"]
    rows += ["4,red cubes,return #1", "5,red cubes,return cubes ;return #1 that are red", "6,green cubes,"]
    path.write_text("\n".join(rows), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        instances = [reader.text_to_instance("green cubes"), *reader.read(path)]
    assert [instance["metadata"].metadata["question_id"] for instance in instances[1:]] == ["4", "5", "6"]
    assert "2 of 6 rows: left out: the question is empty" in caplog.text
    assert "1 of 6 rows: left out: the question has no word in it" in caplog.text
    if reader.needs_graph:
        assert "1 of 6 rows: there is no gold graph (qdmr: refers to itself)" in caplog.text
        assert instances[1]["graph"].labels is None
        assert instances[2]["graph"].labels is not None


def test_tags_are_those_of_spacy(tiny_encoder: Path) -> None:
    reader = BreakGraphReader(token_indexers={"pieces": WordPieceIndexer(str(tiny_encoder))}, pos_tags=True)
    tokens = reader.text_to_instance("How many cubes are red ?")["question"].tokens
    assert [token.pos_ for token in tokens][2:5] == ["NOUN", "AUX", "ADJ"]
