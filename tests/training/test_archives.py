"""Archives are unpacked with care and build only what is safe, and options of their parsers are kept."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import threading
from collections.abc import Callable
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


def archive_of(path: Path, *members: Member) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def test_files_are_there_until_the_end(tmp_path: Path, temporary: Path) -> None:
    path = archive_of(tmp_path / "x.tar.gz", member("config.json", b"{}"), member("vocabulary/tokens.txt"))
    with unpacked(path) as folder:
        assert (folder / "config.json").read_text() == "{}"
        assert (folder / "vocabulary" / "tokens.txt").is_file()
    assert list(temporary.iterdir()) == []


def test_a_folder_is_given_as_it_is(tmp_path: Path) -> None:
    with unpacked(tmp_path) as folder:
        assert folder == tmp_path
    assert tmp_path.is_dir()


@pytest.mark.parametrize(
    "bad",
    [
        member("/tmp/outside"),
        member("../outside"),
        member("a/../../outside"),
        member("C:\\outside"),
        member("link", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        member("link", kind=tarfile.LNKTYPE, link="../outside"),
        member("device", kind=tarfile.CHRTYPE),
        member("pipe", kind=tarfile.FIFOTYPE),
    ],
    ids=lambda each: each[0].name,
)
def test_nothing_is_written_outside(tmp_path: Path, temporary: Path, bad: Member) -> None:
    path = archive_of(tmp_path / "x.tar.gz", member("config.json"), bad)
    with pytest.raises(DataError, match="a link, a device, sparse or outside") as caught, unpacked(path):
        pass
    assert "\n" not in str(caught.value)
    assert list(temporary.iterdir()) == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["temporary", "x.tar.gz"]


def test_a_file_behind_a_link_is_not_overwritten(tmp_path: Path, temporary: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = member("a", kind=tarfile.SYMTYPE, link=str(tmp_path))
    path = archive_of(tmp_path / "x.tar.gz", link, member("a/victim", b"yours"))
    with pytest.raises(DataError), unpacked(path):
        pass
    assert victim.read_text() == "mine"


def test_a_bomb_is_given_up_in_the_middle(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 100_000)
    path = archive_of(tmp_path / "x.tar.gz", member("zeros", bytes(10_000_000)))
    with pytest.raises(DataError, match="far more"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


def sparse_archive(path: Path, kind: str, size: int) -> Path:
    """An archive of a few bytes whose only file claims to be mostly a hole of this size."""
    info = tarfile.TarInfo("weights.th")
    if kind == "gnu":
        info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
        header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        # One piece of no bytes at the end, and the real size.
        for place, number in ((386, size), (398, 0), (483, size)):
            header[place : place + 12] = b"%011o\0" % number
        header[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(header))[0]
        content = bytes(header)
    else:
        info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.numblocks": "1"}
        info.pax_headers |= {"GNU.sparse.map": f"{size},0", "GNU.sparse.size": str(size)}
        content = info.tobuf(tarfile.PAX_FORMAT)
    path.write_bytes(gzip.compress(content + bytes(1024)))
    return path


@pytest.mark.parametrize("kind", ["gnu", "pax"])
def test_a_sparse_file_is_refused(tmp_path: Path, temporary: Path, kind: str) -> None:
    path = sparse_archive(tmp_path / "x.tar.gz", kind, 2_500_000_000)
    assert path.stat().st_size < 1000
    with tarfile.open(path) as archive:
        (found,) = archive
        assert found.issparse()
        assert found.size == 2_500_000_000
    with pytest.raises(DataError, match="sparse"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


def test_a_size_that_a_member_claims_is_enough_to_refuse_it(tmp_path: Path, temporary: Path) -> None:
    info = tarfile.TarInfo("weights.th")
    info.size = 10**11
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf() + bytes(1024)))
    with pytest.raises(DataError, match="far more"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


def test_too_many_files_are_refused(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_ARCHIVE_FILES", 5)
    path = archive_of(tmp_path / "x.tar.gz", *(member(f"{number}") for number in range(6)))
    with pytest.raises(DataError, match="more than 5 files"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"no archive at all",
        lambda data: gzip.compress(b"no archive at all"),
        lambda data: gzip.compress(b"x" * 2000),
        lambda data: data[:40] + bytes(20) + data[60:],
    ],
)
def test_a_damaged_archive_is_one_line(tmp_path: Path, temporary: Path, damage: Callable[[bytes], bytes]) -> None:
    path = archive_of(tmp_path / "x.tar.gz", member("config.json", bytes(range(256)) * 400))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError) as caught, unpacked(path) as folder:
        # An archive without any file is found out when its config is looked for.
        raise DataError("no config" if not list(folder.iterdir()) else "was read")
    assert "was read" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(temporary.iterdir()) == []


READER = {"type": "break_graph"}


def archive_of_config(path: Path, config: str, weights: bytes = b"no weights") -> Path:
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
    path = archive_of_config(tmp_path / "x.tar.gz", json.dumps(hostile(marker)[number]))
    for open_archive in (load, predict_module.load_archive, evaluate_module.load_archive):
        with pytest.raises(DataError) as caught:
            open_archive(path)
        assert "\n" not in str(caught.value)
    assert not marker.exists()
    assert list(temporary.iterdir()) == []


def test_a_name_with_a_dot_says_what_trust_is_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = archive_of_config(tmp_path / "x.tar.gz", json.dumps(hostile(tmp_path / "marker")[0]))
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
    hostile_archive = archive_of_config(tmp_path / "x.tar.gz", json.dumps(config))

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
    path = archive_of_config(tmp_path / "x.tar.gz", json.dumps(config))
    monkeypatch.setenv(TRUST_SWITCH, "1")
    with pytest.raises(DataError, match="unable to import module"):
        predict_module.load_archive(str(path))


def test_trust_is_asked_for_again_by_each_command(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict_module.load_archive(str(archive), cuda_device=-1)
    config = {"dataset_reader": {"type": "no.such.reader"}, "model": {"type": "x"}}
    path = archive_of_config(tmp_path / "x.tar.gz", json.dumps(config))
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


def _model(archive: Path, decoder: str | None, options: dict[str, Any]) -> Any:
    return load_archived_parser(archive, decoder, options).__self__._model  # type: ignore[attr-defined]


@pytest.mark.parametrize("decoder", [None, "ilp"])
def test_a_time_limit_is_kept(archive: Path, decoder: str | None) -> None:
    assert _model(archive, decoder, {"time_limit": 0.25}).decoder == IlpDecoder(time_limit=0.25)


def test_candidates_and_a_time_limit_are_kept_together(archive: Path) -> None:
    parser = load(archive, time_limit=0.25, candidates=2)
    assert parser.parse("How many cubes are red?").question == "How many cubes are red?"
    found = _model(archive, None, {"time_limit": 0.25, "candidates": 2})
    assert found.decoder == IlpDecoder(time_limit=0.25, candidates=2)


def test_an_option_that_there_is_not_is_named(archive: Path) -> None:
    with pytest.raises(DataError, match="there is no option 'limit'"):
        load(archive, limit=3)
