"""The parser that comes with the package: its files belong together, and damage is noticed."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.files import read_break_csv
from qdecomp.parsers.bundle import BUNDLED, Seq2SeqConfig, read_config, write_config
from qdecomp.training.bundling import read_weights

CONFIG = json.loads((BUNDLED / "config.json").read_text(encoding="utf-8"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUNDLED, tmp_path / "copy"))


@pytest.fixture
def with_config(tmp_path: Path) -> Callable[[str], Path]:
    """A folder with the bundled parser's files, but another config."""

    def write(text: str) -> Path:
        for path in BUNDLED.iterdir():
            (tmp_path / path.name).symlink_to(path)
        (tmp_path / "config.json").unlink()
        (tmp_path / "config.json").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_it_is_small_and_its_config_fits_the_weights() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) <= 30_000_000
    config = read_config(BUNDLED)
    assert isinstance(config, Seq2SeqConfig)
    assert len(read_weights(BUNDLED)["decoder._embedding.weight"]) == len(config.tokens)


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


@pytest.mark.parametrize("name", ["weights.safetensors", "step.onnx"])
def test_a_damaged_or_missing_file_is_noticed(copy: Path, name: str) -> None:
    path = copy / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}: damaged, or part of another parser"):
        load(copy)
    path.unlink()
    with pytest.raises(DataError, match=rf"{name}: cannot be read"):
        load(copy)


def test_a_graph_that_cannot_be_opened_is_one_line(copy: Path) -> None:
    (copy / "step.onnx").write_bytes(b"no graph")
    write_config(copy, read_config(BUNDLED))
    with pytest.raises(DataError, match=r"step\.onnx: the network cannot be opened") as raised:
        load(copy)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "\x00"])
def test_a_config_of_something_else_is_noticed(with_config: Callable[[str], Path], text: str) -> None:
    with pytest.raises(DataError, match="not the config of a bundled parser"):
        load(with_config(text))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "bundled for another version"),
        ({"kind": "oracle"}, "kind is 'oracle'; it must be one of graph, seq2seq"),
        ({"heads": "many"}, "heads is 'many'; it must be a whole number"),
        ({"heads": True}, "heads is True"),
        ({"beam_size": 101}, "beam_size is 101; give a whole number from 1 to 100"),
        ({"max_steps": 10**400}, "max_steps is 1000.*whole number from 1 to 1,000"),
        ({"epsilon": math.inf}, "it is not JSON"),
        ({"tokens": "abc"}, "tokens is 'abc'; it must be a list of strings"),
        ({"tokens": ["a", "a"]}, "tokens has a token twice"),
        ({"start": "nowhere"}, "start is 'nowhere'; it must be one of the tokens"),
        ({"plan_rules": [3]}, "no plan rule 3"),
        ({"plan_rules": ["no_nonsense"]}, "no plan rule 'no_nonsense'"),
        ({"coverage_penalty": -1}, "coverage_penalty is '-1'"),
        ({"calibration": {"weights": {}, "bias": 10**400}}, "a calibration must have"),
        ({"colour": "red"}, "there is no field 'colour'"),
        ({"beam_size": ...}, "there is no beam_size"),
    ],
)
def test_a_config_that_makes_no_sense_is_one_line(
    with_config: Callable[[str], Path], change: dict[str, Any], message: str
) -> None:
    values = {name: value for name, value in (CONFIG | change).items() if value is not ...}
    with pytest.raises(DataError, match=message) as raised:
        load(with_config(json.dumps(values)))
    assert "\n" not in str(raised.value)


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
