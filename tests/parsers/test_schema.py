"""A bundle with a wrong config or wrong tensors is refused with one line, whatever is wrong; none answers nonsense."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import read_config, write_bundle
from qdecomp.parsers.bundle_config import BundleConfig, GraphConfig, WriterConfig
from qdecomp.parsers.schema import tensor_shapes
from qdecomp.parsers.weights import to_bytes

safetensors = pytest.importorskip("safetensors.numpy")

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "how", "many", "cubes"]
ENCODER = {"pieces": len(PIECES), "hidden": 8, "positions": 16, "types": 2, "layers": 2, "inner": 12}
SHARED: dict[str, Any] = {"name": "tiny", "encoder": "x", "heads": 2, "epsilon": 1e-12, "max_pieces": 16, "scores": {}}
GRAPH = GraphConfig(
    **SHARED,
    special_heads=2,
    resources=("number",),
    duplicates=1,
    dummies=1,
    labels=("span", "filter-sub"),
    decoder={"type": "ilp", "time_limit": 0.1},
)
GRAPH_SIZES = {
    **ENCODER,
    "special_layers": 1,
    "special_inner": 16,
    "edge": 6,
    "edge_layers": 2,
    "label": 4,
    "label_layers": 1,
}
WRITER = WriterConfig(
    **SHARED,
    tokens=("@@PADDING@@", "@@UNKNOWN@@", "@start@", "@end@", "@@SEP@@", "cubes", "number", "of"),
    padding="@@PADDING@@",
    unknown="@@UNKNOWN@@",
    start="@start@",
    end="@end@",
    beam_size=2,
    max_steps=5,
    plan_rules=False,
)
WRITER_SIZES = {**ENCODER, "decoder": 6, "decoder_layers": 2, "embedding": 5}
KINDS = {"graph": (GRAPH, GRAPH_SIZES), "writer": (WRITER, WRITER_SIZES)}
QUESTION = "how many cubes"
RESHAPED: tuple[Callable[[Any], Any], ...] = (
    lambda array: array[:-1],
    lambda array: array[None],
    lambda array: array.reshape(-1)[:0],
    lambda array: array.T,
)


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A complete bundle of either kind, with random weights."""
    config, sizes = KINDS[request.param]
    return written(tmp_path / "bundle", config, sizes)


def written(folder: Path, config: BundleConfig, sizes: dict[str, int]) -> Path:
    numbers = np.random.default_rng(0)
    weights: dict[str, Any] = {
        name: numbers.normal(size=shape).astype(np.float32) for name, shape in tensor_shapes(config, sizes).items()
    }
    for name, array in weights.items():
        if name.endswith("embeddings.weight"):
            weights[name] = to_bytes(array)
    write_bundle(folder, config, weights, "\n".join(PIECES), "A card.")
    return folder


def change_config(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    values = json.loads((folder / "config.json").read_text())
    change(values)
    for name in values["checksums"] if isinstance(values.get("checksums"), dict) else ():
        values["checksums"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(values))


def change_tensors(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "weights.safetensors"
    arrays = dict(safetensors.load_file(path))
    change(arrays)
    safetensors.save_file(arrays, path)
    change_config(folder, lambda values: None)


def refusal(folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_whole_bundle_is_loaded_and_answers(folder: Path) -> None:
    config = read_config(folder)
    assert config.sizes == KINDS[config.kind][1]
    decomposition = load(folder).parse(QUESTION)
    assert decomposition.steps or decomposition.error


def test_every_tensor_is_needed(folder: Path) -> None:
    names = list(safetensors.load_file(folder / "weights.safetensors"))
    whole = (folder / "weights.safetensors").read_bytes()
    for name in names:
        (folder / "weights.safetensors").write_bytes(whole)
        change_tensors(folder, lambda arrays, name=name: arrays.pop(name))  # type: ignore[misc]
        assert name.removesuffix(".factors") in refusal(folder)


def test_every_shape_is_checked(folder: Path) -> None:
    names = list(safetensors.load_file(folder / "weights.safetensors"))
    whole = (folder / "weights.safetensors").read_bytes()
    for name in names:
        for change in RESHAPED:
            (folder / "weights.safetensors").write_bytes(whole)
            array = safetensors.load_file(folder / "weights.safetensors")[name]
            changed = np.ascontiguousarray(change(array))
            if changed.shape == array.shape:
                continue
            change_tensors(folder, lambda arrays, name=name, changed=changed: arrays.update({name: changed}))  # type: ignore[misc]
            assert name.removesuffix(".factors") in refusal(folder)


@pytest.mark.parametrize("kind", ["int8", "int64", "float64", "bool", "uint8"])
def test_every_type_is_checked(folder: Path, kind: str) -> None:
    name = "word_encoder.transformer.embeddings.LayerNorm.weight"
    change_tensors(folder, lambda arrays: arrays.update({name: arrays[name].astype(kind)}))
    assert name in refusal(folder)
    change_tensors(folder, lambda arrays: arrays.update({name: arrays[name].astype("float32")}))
    rows = "word_encoder.transformer.embeddings.word_embeddings.weight"
    change_tensors(folder, lambda arrays: arrays.update({rows: arrays[rows].astype("uint8")}))
    assert rows in refusal(folder)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_are_finite(folder: Path, value: float) -> None:
    name = "word_encoder.transformer.encoder.layer.1.output.dense.bias"

    def spoil(arrays: dict[str, Any]) -> None:
        arrays[name] = np.full_like(arrays[name], value)

    change_tensors(folder, spoil)
    assert f"{name} has numbers that are not finite" in refusal(folder)


def test_a_tensor_that_no_part_has_is_noticed(folder: Path) -> None:
    change_tensors(folder, lambda arrays: arrays.update(other=np.zeros(3, np.float32)))
    assert "there is an unknown tensor other" in refusal(folder)


def test_every_field_of_the_config_is_needed_and_checked(folder: Path) -> None:
    whole = (folder / "config.json").read_text()
    values = json.loads(whole)
    for name in set(values) - {"sizes", "calibration", "kind", "coverage_penalty"}:
        (folder / "config.json").write_text(whole)
        change_config(folder, lambda values, name=name: values.pop(name))  # type: ignore[misc]
        refusal(folder)
    wrong: list[Any] = [None, [], {}, "", -1, 0.5, 10**400, "x", [None], [[]], {"a": []}, True, ["a", "a"]]
    texts = {"name", "encoder"}
    for name in set(values) - {"scores", "calibration", "plan_rules", "decoder", "checksums"}:
        for value in wrong:
            if (name in texts and value == "x") or (name in ("sizes", "calibration") and not value):
                continue
            (folder / "config.json").write_text(whole)
            change_config(folder, lambda values, name=name, value=value: values.update({name: value}))  # type: ignore[misc]
            if value == [] and name == "resources":
                assert "special_states.vectors" in refusal(folder)
            elif not (name in ("epsilon", "coverage_penalty") and value == 0.5):
                refusal(folder)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("max_pieces", 17, "16 positions"),
        ("heads", 3, "cannot share"),
        ("format", 99, "another version"),
        ("kind", "magic", "it must be one of graph, writer"),
        ("decoder", {"type": "magic"}, "there is no"),
        ("decoder", 3, ""),
        ("plan_rules", {"a": 1}, ""),
        ("sizes", {"hidden": 8}, ""),
        ("more", 1, "there is no field 'more'"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, field: str, value: Any, reason: str) -> None:
    change_config(folder, lambda values: values.update({field: value}))
    assert reason in refusal(folder)


@pytest.mark.parametrize("text", ["", "[]", "null", "1", "{", '"x"', "[" * 100_000, "\ufeff{}"])
def test_what_is_no_config_is_one_line(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    assert "config.json" in refusal(folder)


def test_the_vocabulary_fits_the_network(folder: Path) -> None:
    whole = (folder / "vocab.txt").read_text()
    (folder / "vocab.txt").write_text(whole + "\nmore")
    change_config(folder, lambda values: None)
    assert "8 pieces in the vocabulary, but 7 have vectors" in refusal(folder)
    (folder / "vocab.txt").write_text(whole.replace("[SEP]", "sep"))
    change_config(folder, lambda values: None)
    assert "there is no [SEP]" in refusal(folder)
    (folder / "vocab.txt").write_bytes(b"\xff\xfe")
    change_config(folder, lambda values: None)
    assert "vocab.txt" in refusal(folder)


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, (2**62).to_bytes(8, "little") + b"{}"])
def test_what_are_no_weights_is_one_line(folder: Path, content: bytes) -> None:
    (folder / "weights.safetensors").write_bytes(content)
    change_config(folder, lambda values: None)
    assert "the weights cannot be read" in refusal(folder)


def test_a_layer_that_is_missing_altogether_is_noticed(folder: Path) -> None:
    def cut(arrays: dict[str, Any]) -> None:
        for name in [name for name in arrays if ".layer.1." in name]:
            del arrays[name]

    change_tensors(folder, cut)
    assert "encoder.layer.1" in refusal(folder)
