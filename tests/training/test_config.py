"""Configs are read by their settings, and every mistake in a config or an override is one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

import qdecomp.training.plugin  # noqa: F401
from qdecomp.training.config import check_encoders

_CONFIG = """
{
  settings:: { size: 3, decoder: { width: 5, depth: 1 } },
  model: { width: $.settings.decoder.width, depth: $.settings.decoder.depth, size: $.settings.size },
}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "a config.jsonnet"
    path.write_text(_CONFIG, encoding="utf-8")
    return path


def _read(path: Path, overrides: str | dict[str, Any] = "") -> dict[str, Any]:
    return dict(Params.from_file(path, params_overrides=overrides).as_dict(quiet=True))


def test_what_is_computed_from_a_setting_follows_it(config: Path) -> None:
    assert _read(config)["model"] == {"width": 5, "depth": 1, "size": 3}
    assert _read(config, {"settings.decoder.width": 7})["model"] == {"width": 7, "depth": 1, "size": 3}
    both = '{"settings": {"size": 4}, "settings.decoder": {"width": 1, "depth": 2}, "model.size": 9}'
    assert _read(config, both)["model"] == {"width": 1, "depth": 2, "size": 9}


def test_settings_are_not_part_of_the_config(config: Path) -> None:
    assert set(_read(config, {"settings.size": 4})) == {"model"}


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
def test_a_mistake_in_an_override_is_one_line(config: Path, overrides: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as error:
        _read(config, overrides)
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
def test_a_mistake_in_a_config_is_one_line(config: Path, text: str, message: str) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=message) as error:
        _read(config)
    assert "\n" not in str(error.value)
    assert str(config) in str(error.value)


def test_a_config_without_settings_has_none_to_override(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model": {"size": 3}}), encoding="utf-8")
    assert _read(path, {"model.size": 4, "new": True}) == {"model": {"size": 4}, "new": True}
    with pytest.raises(ConfigurationError, match="defines no settings, so there is no size"):
        _read(path, {"settings.size": 4})


def test_the_environment_is_seen(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("{ model: std.extVar('SOMETHING') }", encoding="utf-8")
    monkeypatch.setenv("SOMETHING", "there")
    assert _read(config) == {"model": "there"}


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
