"""The parser that comes with the package: its files belong together, and damage is noticed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import METRIC_VERSION, lf_em
from qdecomp.files import read_break_csv
from qdecomp.parsers.bundle import BUNDLED, CARD, read_config
from qdecomp.parsers.bundle_config import WriterConfig
from qdecomp.parsers.weights import read_weights

_MOST_BYTES = 30_000_000


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(BUNDLED, tmp_path / "copy")
    return tmp_path / "copy"


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) <= _MOST_BYTES


def test_config_and_weights_belong_together() -> None:
    config = read_config(BUNDLED)
    weights = read_weights(BUNDLED / "weights.safetensors")
    assert isinstance(config, WriterConfig)
    tokens = weights["decoder._embedding.weight"]
    assert len(getattr(tokens, "values", tokens)) == len(config.tokens) == len(set(config.tokens))
    assert {config.start, config.end, config.unknown, config.padding} <= set(config.tokens)
    assert all(value.size for value in (getattr(each, "values", each) for each in weights.values()))


def test_the_card_says_what_was_measured() -> None:
    config = read_config(BUNDLED)
    card = (BUNDLED / CARD).read_text(encoding="utf-8")
    scores = config.scores
    assert scores["metric_version"] == METRIC_VERSION
    for name, score in {"all": scores["lf_em"], **scores["lf_em_by_source"]}.items():
        assert f"| {name} | {score['questions']:,} | {score['mean']:.3f} |" in card
    assert config.encoder in card
    assert f"{scores['questions_a_second']:.0f} questions a second" in card
    assert scores["hardware"] in card
    for word in ("MIT licence", "Apache License 2.0", "Break", "What it cannot do well", "$"):
        assert (word in card) == (word != "$")


def test_the_parser_is_as_good_as_the_card_says(shared_path: Path) -> None:
    scores = read_config(BUNDLED).scores
    examples = read_break_csv(shared_path / "break" / scores["gold"])
    assert len(examples) == scores["questions"]
    right = sum(
        lf_em(example.question, decomposition.text or "", example.decomposition or "").verdict
        for decomposition, example in load().pipe(((example.question, example) for example in examples), as_tuples=True)
    )
    assert right / len(examples) == pytest.approx(scores["lf_em"]["mean"], abs=0.003)


def test_neither_torch_nor_allennlp_nor_pickle_is_loaded() -> None:
    program = (
        "import sys, pickle; pickle.load = pickle.loads = pickle.Unpickler = None; "
        "import qdecomp; assert qdecomp.load().parse('how many cubes are red ?'); "
        "print(*({'torch', 'allennlp', 'transformers', 'spacy'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert output.split() == []


@pytest.mark.parametrize("name", ["weights.safetensors", "vocab.txt", CARD])
def test_a_damaged_file_is_noticed(copy: Path, name: str) -> None:
    path = copy / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}: damaged, or part of another parser"):
        load(copy)


@pytest.mark.parametrize("name", ["weights.safetensors", "vocab.txt", CARD])
def test_a_missing_file_is_noticed(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(DataError, match=rf"{name}: cannot be read"):
        load(copy)


def test_weights_that_were_cut_off_are_noticed(copy: Path) -> None:
    path = copy / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DataError, match="damaged"):
        load(copy)
    with pytest.raises(DataError, match="the weights cannot be read"):
        read_weights(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "\x00"])
def test_a_config_of_something_else_is_noticed(copy: Path, text: str) -> None:
    (copy / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="not the config of a bundled parser"):
        load(copy)


def test_another_format_is_noticed(copy: Path) -> None:
    path = copy / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"format": 99}), encoding="utf-8")
    with pytest.raises(DataError, match="bundled for another version"):
        load(copy)


def test_tokens_of_another_parser_are_noticed(copy: Path) -> None:
    path = copy / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(values | {"tokens": values["tokens"][:-1]}), encoding="utf-8")
    with pytest.raises(DataError, match="tokens"):
        load(copy)
