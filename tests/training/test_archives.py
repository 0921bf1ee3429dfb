"""Archives are unpacked with care and build only what is safe, and options of their parsers are kept."""

from __future__ import annotations

import gzip
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
from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.ilp import IlpDecoder
from qdecomp.training import (
    archives,
    plugin,  # noqa: F401
)
from qdecomp.training.archives import TRUST_SWITCH, load_archived_parser, registered_only, unpacked

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content) if kind == tarfile.REGTYPE else 0
    return info, content


def packed(*members: Member) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def claimed(size: int, **headers: str) -> bytes:
    """An archive of a few bytes whose only file claims to be large, or to be mostly a hole."""
    info = tarfile.TarInfo("weights.th")
    info.size, info.pax_headers = size, headers
    return gzip.compress(info.tobuf(tarfile.PAX_FORMAT) + bytes(1024))


HOLE = {
    "GNU.sparse.major": "0",
    "GNU.sparse.minor": "1",
    "GNU.sparse.numblocks": "1",
    "GNU.sparse.map": "10000000000,0",
}
WHOLE = packed(member("config.json", bytes(range(256)) * 400))
BAD_MEMBERS = (
    *(member(name) for name in ("/tmp/outside", "../outside", "a/../../outside", "C:\\outside")),
    member("link", kind=tarfile.SYMTYPE, link="/etc/passwd"),
    member("link", kind=tarfile.LNKTYPE, link="../outside"),
    member("device", kind=tarfile.CHRTYPE),
    member("pipe", kind=tarfile.FIFOTYPE),
)
DAMAGED = (
    *(WHOLE[: len(WHOLE) // 2], WHOLE[:40] + bytes(20) + WHOLE[60:], b"", b"no archive at all"),
    *(gzip.compress(b"no archive at all"), gzip.compress(b"x" * 2000)),
)
REFUSED = [
    *((packed(member("config.json"), each), "a link, a device, sparse or outside") for each in BAD_MEMBERS),
    (claimed(0, **HOLE, **{"GNU.sparse.size": "9000000000"}), "a link, a device, sparse or outside"),
    (claimed(10**11), "far more"),
    (packed(member("zeros", bytes(10_000_000))), "far more"),
    (packed(*(member(f"{number}") for number in range(6))), "more than 5 files"),
    *((each, "not the archive of a parser, or damaged|there is no file") for each in DAMAGED),
]


# Their bytes differ by the time of packing, and so would ids that are made of them.
@pytest.mark.parametrize(("content", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_dangerous_too_large_or_damaged_is_refused_in_one_line(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 200_000)
    monkeypatch.setattr(archives, "MOST_ARCHIVE_FILES", 5)
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught, unpacked(path) as folder:
        # An archive without any file is found out when its config is looked for.
        raise DataError("was read" if list(folder.iterdir()) else "there is no file")
    assert "\n" not in str(caught.value)
    assert list(temporary.iterdir()) == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["temporary", "x.tar.gz"]


READER = {"type": "break_graph"}


def archive_of_config(path: Path, config: str) -> Path:
    path.write_bytes(packed(member("config.json", config.encode()), member("weights.th")))
    return path


RUN = {"type": "os.system", "command": "touch MARKER"}


@pytest.mark.parametrize(
    "config",
    [
        {"dataset_reader": RUN, "model": {"type": "biaffine_graph_parser"}},
        {"dataset_reader": {"type": "subprocess.call", "args": ["touch", "MARKER"]}, "model": {"type": "x"}},
        {"dataset_reader": {**READER, "token_indexers": {"a": RUN}}, "model": RUN},
        {"dataset_reader": {**READER, "token_indexers": {"a": "os.getcwd"}}, "model": "os.getcwd"},
    ],
)
def test_what_an_archive_names_is_not_run(tmp_path: Path, temporary: Path, config: dict[str, Any]) -> None:
    marker = tmp_path / "marker"
    path = archive_of_config(tmp_path / "x.tar.gz", json.dumps(config).replace("MARKER", str(marker)))
    for open_archive in (load, predict_module.load_archive, evaluate_module.load_archive):
        with pytest.raises(DataError) as caught:
            open_archive(path)
        if isinstance(config["model"], dict):
            assert "which is code to run" in str(caught.value)
            assert "--trust" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert not marker.exists()
    assert list(temporary.iterdir()) == []


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
    path = archive_of_config(tmp_path / "x.tar.gz", config)
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
        path = archive_of_config(tmp_path / f"{number}.tar.gz", json.dumps(config))
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
            assert is_tried.wait(60)
            assert Predictor.by_name(dotted) is not None

    def careful() -> None:
        with registered_only():
            assert is_open.wait(60)
            try:
                with pytest.raises(DataError, match="not a registered component"):
                    Predictor.by_name(dotted)
            finally:
                is_tried.set()

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(trusting), pool.submit(careful)]:
            future.result()


def test_the_allennlp_command_is_trusted_by_an_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"dataset_reader": {"type": "no.such.reader"}, "model": {"type": "x"}}
    path = archive_of_config(tmp_path / "x.tar.gz", json.dumps(config))
    monkeypatch.setenv(TRUST_SWITCH, "1")
    with pytest.raises(DataError, match="unable to import module"):
        predict_module.load_archive(str(path))


def test_our_own_archives_and_their_folders_are_loaded(archive: Path, temporary: Path) -> None:
    for source in (archive, archive.parent):
        decomposition = load(source).parse("how many cubes are red ?")
        assert decomposition.steps or decomposition.error
    assert predict_module.load_archive(str(archive), cuda_device=-1).model is not None
    assert list(temporary.iterdir()) == []


def _model(archive: Path, decoder: str | None, options: dict[str, Any]) -> Any:
    return load_archived_parser(archive, decoder, options).__self__._model  # type: ignore[attr-defined]


@pytest.mark.parametrize("decoder", [None, "ilp"])
def test_a_time_limit_and_candidates_are_kept(archive: Path, decoder: str | None) -> None:
    found = _model(archive, decoder, {"time_limit": 0.25, "candidates": 2})
    assert found.graph_decoder == IlpDecoder(time_limit=0.25, candidates=2)
