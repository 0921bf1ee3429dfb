"""The parser that comes with the package: its files belong together, and damage is noticed."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import METRIC_VERSION, lf_em
from qdecomp.files import read_break_csv
from qdecomp.parsers.bundle import BUNDLED, CARD, WEIGHTS, Seq2SeqConfig, read_config, write_config
from qdecomp.training.weights import Int8Rows, read_weights

_MOST_BYTES = 30_000_000


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(BUNDLED, tmp_path / "copy")
    return tmp_path / "copy"


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) <= _MOST_BYTES


def test_the_config_fits_the_weights() -> None:
    config = read_config(BUNDLED)
    weights = read_weights(BUNDLED / WEIGHTS)
    assert isinstance(config, Seq2SeqConfig)
    tokens = weights["decoder._embedding.weight"]
    assert isinstance(tokens, Int8Rows)
    assert len(tokens.values) == len(config.tokens)


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


@pytest.mark.parametrize("name", ["weights.safetensors", "vocab.txt", "encoder.onnx", "step.onnx", CARD])
def test_a_damaged_file_is_noticed(copy: Path, name: str) -> None:
    path = copy / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}: damaged, or part of another parser"):
        load(copy)


@pytest.mark.parametrize("name", ["weights.safetensors", "vocab.txt", "encoder.onnx", "step.onnx", CARD])
def test_a_missing_file_is_noticed(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(DataError, match=rf"{name}: cannot be read"):
        load(copy)


def test_a_graph_that_cannot_be_opened_is_one_line(copy: Path) -> None:
    (copy / "step.onnx").write_bytes(b"no graph")
    write_config(copy, read_config(BUNDLED))
    with pytest.raises(DataError, match=r"step\.onnx: the network cannot be opened") as raised:
        load(copy)
    assert "\n" not in str(raised.value)


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "oracle"}, "kind is 'oracle'; it must be one of graph, seq2seq"),
        ({"kind": True}, "kind is True"),
        ({"heads": 0}, "heads is 0; it must be a whole number from 1 to 10,000"),
        ({"heads": True}, "heads is True"),
        ({"beam_size": 101}, "beam_size is 101; it must be a whole number from 1 to 100"),
        ({"max_steps": 10**400}, "max_steps is 1000.*whole number from 1 to 1,000"),
        ({"epsilon": "small"}, "epsilon is 'small'"),
        ({"epsilon": math.inf}, "it is not JSON"),
        ({"scores": {"lf_em": math.nan}}, "it is not JSON"),
        ({"tokens": "abc"}, "tokens is 'abc'; it must be a list of different strings"),
        ({"tokens": ["a", "a"]}, "it must be a list of different strings"),
        ({"start": "nowhere"}, "start is 'nowhere'; it must be one of the tokens"),
        ({"plan_rules": [3]}, "plan_rules is"),
        ({"plan_rules": ["no_nonsense"]}, "no plan rule 'no_nonsense'"),
        ({"coverage_penalty": -1}, "coverage_penalty is '-1'"),
        ({"calibration": {"weights": {}, "bias": 10**400}}, "a calibration must have"),
        ({"colour": "red"}, "there is no field 'colour'"),
    ],
)
def test_a_config_that_makes_no_sense_is_one_line(copy: Path, change: dict[str, Any], message: str) -> None:
    path = copy / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(DataError, match=message) as raised:
        load(copy)
    assert "\n" not in str(raised.value)


def test_a_field_that_is_missing_is_named(copy: Path) -> None:
    path = copy / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    del values["beam_size"]
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(DataError, match="there is no beam_size"):
        load(copy)


@pytest.fixture(scope="module")
def questions(project_root: Path) -> list[str]:
    return [example.question for example in read_break_csv(project_root / "data" / "dev.csv")[:60]]


def test_an_answer_does_not_depend_on_its_batch(questions: list[str]) -> None:
    parser = load(candidates=2)
    expected = [parser.parse(question).to_dict() for question in questions]
    for size in (3, 32):
        assert [each.to_dict() for each in parser.pipe(questions, batch_size=size)] == expected
    assert [each.to_dict() for each in parser.predict(questions[::-1])] == expected[::-1]


def test_an_answer_does_not_depend_on_threads_or_the_process(questions: list[str]) -> None:
    program = (
        "import json, sys, qdecomp; "
        "print(json.dumps([each.to_dict() for each in qdecomp.load().pipe(json.loads(sys.argv[1]))]))"
    )
    expected = [each.to_dict() for each in load().pipe(questions[:20])]
    for threads in ("1", "4"):
        environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps(questions[:20])],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == expected


def test_without_onnxruntime_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(QDecompError, match=r"question-decomposition\[parser\]"):
        load()
