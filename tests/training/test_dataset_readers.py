"""The three readers on the sample set: what is in an instance, what is left out, and files without gold."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path

import pytest
from allennlp.data import Batch, DatasetReader, Vocabulary

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.files import BreakExample
from qdecomp.training.dataset_readers import (
    BreakGraphReader,
    BreakMultitaskReader,
    BreakReader,
    BreakSeq2SeqReader,
    read_examples,
)
from qdecomp.training.indexer import WordPieceIndexer
from tests.files.test_rows import forty_rows

READERS = (BreakGraphReader, BreakSeq2SeqReader, BreakMultitaskReader)
TARGETS = {BreakGraphReader: {"graph"}, BreakSeq2SeqReader: {"copy"}, BreakMultitaskReader: {"copy", "graph"}}


@pytest.fixture(params=READERS, ids=lambda reader: reader.__name__)
def reader(request: pytest.FixtureRequest, tiny_encoder: Path, tmp_path: Path) -> BreakReader:
    result: BreakReader = request.param(
        token_indexers={"pieces": WordPieceIndexer(str(tiny_encoder))}, cache_folder=str(tmp_path / "cache")
    )
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


def test_questions_without_gold_have_no_target(reader: BreakReader) -> None:
    instance = reader.text_to_instance("How many cubes are there?")
    assert "graph" not in instance.fields
    if "copy" in instance.fields:
        assert instance["copy"].target is None


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("", "empty"),
        (" \t", "empty"),
        ("?! ...", "no word"),
        ("cube " * 5000, "too long"),
    ],
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


def test_of_broken_rows_all_with_a_usable_question_are_read(reader: BreakReader, project_root: Path) -> None:
    path = project_root / "data" / "broken.csv"
    read = [instance["metadata"].metadata["question_id"] for instance in reader.read(path)]
    assert read == [row.question_id for row in read_examples(path) if is_usable(reader, row)]
    assert "BROKEN_sample_blank_question" not in read
    assert "BROKEN_sample_blank_decomposition" in read


def is_usable(reader: BreakReader, row: BreakExample) -> bool:
    try:
        reader.text_to_instance(row.question)
    except DataError:
        return False
    return row.error is None


def test_text_and_json_lines(tmp_path: Path) -> None:
    text = tmp_path / "questions.txt"
    text.write_text("red cubes?\n\nblue cubes?\n", encoding="utf-8")
    assert [example.question for example in read_examples(text)] == ["red cubes?", "", "blue cubes?"]
    lines = tmp_path / "questions.jsonl"
    records = [{"question": "red cubes?"}, {"question_id": "b", "question_text": "blue?", "decomposition": "return x"}]
    lines.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    examples = read_examples(lines)
    assert [example.question_id for example in examples] == ["1", "b"]
    assert [example.decomposition for example in examples] == [None, "return x"]
    lines.write_text('{"text": "red"}', encoding="utf-8")
    with pytest.raises(DataError, match="the first object has no question_text or question"):
        read_examples(lines)


def test_tags_are_those_of_spacy(tiny_encoder: Path) -> None:
    reader = BreakGraphReader(token_indexers={"pieces": WordPieceIndexer(str(tiny_encoder))}, pos_tags=True)
    tokens = reader.text_to_instance("How many cubes are red ?")["question"].tokens
    assert [token.pos_ for token in tokens][2:5] == ["NOUN", "AUX", "ADJ"]


@pytest.mark.parametrize("name", ["break_graph", "break_seq2seq", "break_multitask"])
def test_readers_are_registered(name: str) -> None:
    assert DatasetReader.by_name(name) in READERS


def test_a_compressed_csv_is_a_csv(tmp_path: Path) -> None:
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(forty_rows().encode()))
    (tmp_path / "rows.csv").write_text(forty_rows())
    assert read_examples(tmp_path / "rows.csv.gz") == read_examples(tmp_path / "rows.csv")


def test_a_row_whose_quotes_are_not_closed_is_left_out_and_named(
    tiny_encoder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(forty_rows(broken=11))
    reader = BreakSeq2SeqReader(token_indexers={"pieces": WordPieceIndexer(str(tiny_encoder))})
    with caplog.at_level(logging.WARNING):
        assert len(list(reader.read(path))) == 39
    assert "row 11 is left out: line 12: a quotation mark" in caplog.text
