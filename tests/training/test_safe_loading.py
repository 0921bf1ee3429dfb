from __future__ import annotations

import io
import json
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import evaluate as evaluate_module
from allennlp.commands import predict as predict_module
from allennlp.common.registrable import Registrable
from allennlp.data import TokenIndexer, Tokenizer, Vocabulary
from allennlp.models import Model
from allennlp.modules import Backbone, TokenEmbedder
from allennlp.nn import Initializer
from allennlp.predictors import Predictor

from qdecomp import load
from qdecomp.cli import main
from qdecomp.data_structures.errors import DataError
from qdecomp.training import plugin  # noqa: F401
from qdecomp.training.archives import TRUST_SWITCH, registered_only

READER = {"type": "break_graph"}


def archive_of(path: Path, config: str, weights: bytes = b"no weights") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in (("config.json", config.encode()), ("weights.th", weights)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def hostile(marker: Path) -> list[dict[str, Any]]:
    """Configs that would run code, each in another place."""
    run = {"type": "os.system", "command": f"touch {marker}"}
    return [
        {"dataset_reader": run, "model": {"type": "biaffine_graph_parser"}},
        {"dataset_reader": {"type": "subprocess.call", "args": ["touch", str(marker)]}, "model": {"type": "x"}},
        {"dataset_reader": {**READER, "token_indexers": {"a": run}}, "model": run},
        {"dataset_reader": {**READER, "token_indexers": {"a": "os.getcwd"}}, "model": "os.getcwd"},
    ]


@pytest.mark.parametrize("number", range(4))
def test_what_an_archive_names_is_not_run(tmp_path: Path, temporary: Path, number: int) -> None:
    marker = tmp_path / "marker"
    path = archive_of(tmp_path / "x.tar.gz", json.dumps(hostile(marker)[number]))
    for open_archive in (load, predict_module.load_archive, evaluate_module.load_archive):
        with pytest.raises(DataError) as caught:
            open_archive(path)
        assert "\n" not in str(caught.value)
    assert not marker.exists()
    assert list(temporary.iterdir()) == []


def test_a_name_with_a_dot_says_what_trust_is_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = archive_of(tmp_path / "x.tar.gz", json.dumps(hostile(tmp_path / "marker")[0]))
    with pytest.raises(SystemExit) as end:
        main(["parse", "--parser", str(path), "how many cubes are red ?"])
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert "'os.system', which is code to run" in told
    assert "--trust" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("[]", "a JSON list"),
        ("null", "a JSON NoneType"),
        ("{}", "describes no model"),
        ('{"model": {}, "dataset_reader": []}', "describes no dataset_reader"),
        ("", "is not JSON"),
        ("local x = std.extVar('HOME'); {model: {type: x}, dataset_reader: {}}", "is not JSON"),
        (
            '{"model": {"type": "no_such_model"}, "dataset_reader": {"type": "no_such_reader"}}',
            "not in acceptable choices",
        ),
    ],
)
def test_what_is_no_config_is_one_line(tmp_path: Path, temporary: Path, config: str, reason: str) -> None:
    path = archive_of(tmp_path / "x.tar.gz", config)
    with pytest.raises(DataError, match=reason) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Model, "from_archive"),
        (TokenIndexer, "pretrained_transformer"),
        (TokenEmbedder, "pretrained_transformer_mismatched"),
        (Backbone, "vilbert_from_huggingface"),
        (Vocabulary, "from_pretrained_transformer"),
        (Tokenizer, "spacy"),
        (Initializer, "pretrained"),
    ],
)
def test_what_opens_other_files_or_code_is_refused(kind: type[Registrable], name: str) -> None:
    with registered_only(), pytest.raises(DataError, match="that may open other files or code"):
        kind.by_name(name)
    kind.by_name(name)


def test_code_that_comes_with_an_encoder_is_not_run(tmp_path: Path) -> None:
    """AllenNLP's own indexer would pass the arguments on to transformers, which would import the file."""
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    marker = tmp_path / "marker"
    (encoder / "config.json").write_text('{"model_type": "mine", "auto_map": {"AutoConfig": "code.Mine"}}')
    (encoder / "code.py").write_text(f"from pathlib import Path\nPath({str(marker)!r}).touch()\n")
    by_allennlp = {
        "type": "pretrained_transformer",
        "model_name": str(encoder),
        "tokenizer_kwargs": {"trust_remote_code": True},
    }
    by_us = {"type": "word_pieces", "encoder": str(encoder)}
    for number, indexer in enumerate((by_allennlp, by_us)):
        config = {"dataset_reader": {**READER, "token_indexers": {"pieces": indexer}}, "model": {"type": "x"}}
        path = archive_of(tmp_path / f"{number}.tar.gz", json.dumps(config))
        with pytest.raises(DataError):
            load(path)
    assert not marker.exists()
    with pytest.raises(DataError):
        load(tmp_path / "0.tar.gz", trust=True)
    assert marker.exists()


def test_trust_in_one_thread_opens_nothing_in_another() -> None:
    dotted = "qdecomp.training.predictor.QuestionDecompositionPredictor"
    is_open, is_tried = threading.Event(), threading.Event()

    def trusting() -> None:
        with registered_only(trust=True):
            is_open.set()
            assert is_tried.wait(10)
            assert Predictor.by_name(dotted) is not None

    def careful() -> None:
        with registered_only():
            assert is_open.wait(10)
            try:
                with pytest.raises(DataError, match="not a registered component"):
                    Predictor.by_name(dotted)
            finally:
                is_tried.set()

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(trusting), pool.submit(careful)]:
            future.result()


def test_archives_are_loaded_in_threads_with_and_without_trust(tmp_path: Path) -> None:
    config = {"dataset_reader": {"type": "no.such.reader"}, "model": {"type": "x"}}
    hostile_archive = archive_of(tmp_path / "x.tar.gz", json.dumps(config))

    def reason(number: int) -> str:
        with pytest.raises(DataError) as caught:
            load(hostile_archive, trust=number % 2 == 0)
        return str(caught.value)

    with ThreadPoolExecutor(4) as pool:
        reasons = list(pool.map(reason, range(40)))
    assert all("unable to import module" in each for each in reasons[::2])
    assert all("not a registered component" in each for each in reasons[1::2])


def test_only_registered_names_are_built() -> None:
    dotted = "qdecomp.training.predictor.QuestionDecompositionPredictor"
    with registered_only():
        assert Predictor.by_name("question_decomposition") is not None
        with pytest.raises(DataError, match="not a registered component"):
            Predictor.by_name(dotted)
    with registered_only(trust=True):
        assert Predictor.by_name(dotted) is not None


def test_the_allennlp_command_is_trusted_by_an_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"dataset_reader": {"type": "no.such.reader"}, "model": {"type": "x"}}
    path = archive_of(tmp_path / "x.tar.gz", json.dumps(config))
    monkeypatch.setenv(TRUST_SWITCH, "1")
    with pytest.raises(DataError, match="unable to import module"):
        predict_module.load_archive(str(path))


def test_trust_is_asked_for_again_by_each_command(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict_module.load_archive(str(archive), cuda_device=-1)
    config = {"dataset_reader": {"type": "no.such.reader"}, "model": {"type": "x"}}
    path = archive_of(tmp_path / "x.tar.gz", json.dumps(config))
    with pytest.raises(DataError, match="not a registered component"):
        predict_module.load_archive(str(path))
    monkeypatch.setenv(TRUST_SWITCH, "1")
    with pytest.raises(DataError, match="unable to import module"):
        predict_module.load_archive(str(path))


def test_our_own_archives_and_their_folders_are_loaded(archive: Path, temporary: Path) -> None:
    for source in (archive, archive.parent):
        decomposition = load(source).parse("how many cubes are red ?")
        assert decomposition.steps or decomposition.error
    assert predict_module.load_archive(str(archive), cuda_device=-1).model is not None
    assert list(temporary.iterdir()) == []
