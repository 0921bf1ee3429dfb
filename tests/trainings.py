"""Short training runs for the tests of several packages: AllenNLP's own classifier, and a parser."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from qdecomp.training.predictor import QuestionDecompositionPredictor


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four lines of letters, labelled with the letter that is frequent in them."""
    chance = random.Random(3)
    path = tmp_path_factory.mktemp("data") / "letters.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for label in "ab" * 12:
            text = " ".join(chance.choices("xyz" + 2 * label, k=4))
            print(json.dumps({"text": text, "label": label}), file=stream)
    return path


@pytest.fixture
def tiny_config(tiny_data: Path) -> dict[str, Any]:
    """With dropout and shuffling, so that a resumed training differs if any random state is lost."""
    # Registers the checkpointer that the config names.
    import qdecomp.training.trainer  # noqa: F401

    embedder = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}}
    return {
        "dataset_reader": {"type": "text_classification_json", "tokenizer": {"type": "whitespace"}},
        "train_data_path": str(tiny_data),
        "validation_data_path": str(tiny_data),
        "model": {
            "type": "basic_classifier",
            "text_field_embedder": embedder,
            "seq2vec_encoder": {"type": "boe", "embedding_dim": 4},
            "dropout": 0.3,
        },
        "data_loader": {"batch_size": 8, "shuffle": True},
        "validation_data_loader": {"batch_size": 8},
        "trainer": {
            "num_epochs": 2,
            "optimizer": {"type": "adam", "lr": 0.05},
            "validation_metric": "+accuracy",
            "checkpointer": {"type": "durable", "keep_most_recent_by_count": 1},
        },
    }


@pytest.fixture
def write_config(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """Write a config to a file of the test."""

    def write(config: dict[str, Any]) -> Path:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    return write


@pytest.fixture
def allennlp(project_root: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start the ``allennlp`` command in its own process group, by default in the project's root."""

    def start(*arguments: str | Path, cwd: Path = project_root) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "allennlp", *map(str, arguments)],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=os.environ | {"ALLENNLP_LOG_LEVEL": "WARNING"},
        )

    return start


# Python imports it at the start of every process, in the place of the suite's own.
_BRAKE = """
import os, sys, time
exec(open({guard!r}).read())

def brake(event, arguments):
    is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if is_write and {name!r} in str(arguments[0]):
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

sys.addaudithook(brake)
"""


@pytest.fixture
def stopped_before(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], AbstractContextManager[None]]:
    """A block: processes that are started in it stop where they would write a file with this in its name.

    So whoever kills them cannot be too late.
    """

    @contextmanager
    def block(name: str) -> Iterator[None]:
        folder = tmp_path / "brake"
        folder.mkdir(exist_ok=True)
        guard = project_root / "tests" / "guard" / "sitecustomize.py"
        (folder / "sitecustomize.py").write_text(_BRAKE.format(guard=str(guard), name=name), encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
            yield

    return block


@pytest.fixture(scope="session")
def archive(tiny_encoder: Path, project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a parser that has seen the sample set once."""
    from allennlp.commands.train import train_model
    from allennlp.common import Params

    import qdecomp.training.plugin  # noqa: F401

    folder = tmp_path_factory.mktemp("trained")
    overrides: dict[str, Any] = {
        "settings.encoder": str(tiny_encoder),
        "settings.edge_dim": 24,
        "settings.label_dim": 12,
        "train_data_path": str(project_root / "data" / "dev.csv"),
        "validation_data_path": str(project_root / "data" / "dev.csv"),
        "settings.epochs": 1,
    }
    config = project_root / "training_config" / "demo.jsonnet"
    train_model(Params.from_file(str(config), params_overrides=overrides), str(folder / "run"))
    return folder / "run" / "model.tar.gz"


@pytest.fixture
def predictor(archive: Path) -> QuestionDecompositionPredictor:
    """The predictor of that parser."""
    from allennlp.predictors import Predictor

    from qdecomp.training.predictor import QuestionDecompositionPredictor

    result = Predictor.from_path(archive)
    assert isinstance(result, QuestionDecompositionPredictor)
    return result
