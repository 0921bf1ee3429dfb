"""Reads training configs: settings are overridden by name, and every error is one line.

A config of ``training_config/`` is computed from its ``settings``, so one of them, such as the encoder, may appear in
several places of the result. ``--overrides '{"settings.encoder": "roberta-base"}'`` changes the setting before that,
while AllenNLP's own overrides change the result. AllenNLP offers no hook for this, so its ``Params.from_file`` is
replaced.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from allennlp.common import params as params_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.params import Params

_SETTINGS = "settings"
_OVERRIDES = "--overrides"
_SETTING_NAMES = "std.objectFieldsAll(std.get(config, 'settings', {}))"


def params_from_file(
    cls: type[Params],
    params_file: str | PathLike[str],
    params_overrides: str | dict[str, Any] = "",
    ext_vars: dict[str, Any] | None = None,
) -> Params:
    """Like AllenNLP's own, with overrides of settings; an error is a ``ConfigurationError`` of one line."""
    path = Path(cached_path(params_file))
    variables = {**params_module._environment_variables(), **(ext_vars or {})}
    settings, others = _overrides(params_overrides, variables)
    values = _evaluate(path, _with_settings(settings), variables)
    if settings and _SETTINGS in values:
        raise ConfigurationError(f"{_OVERRIDES}: {params_file} defines no settings, so there is no {min(settings)}")
    new = [name for name in others if "." not in name and name not in values]
    if new:
        for name in set(new) & set(_evaluate(path, _SETTING_NAMES, variables)):
            raise ConfigurationError(f"{_OVERRIDES}: {name} is a setting; write settings.{name}")
    try:
        return cls(params_module.with_overrides(values, others) if others else values)
    except ValueError as error:
        raise ConfigurationError(f"{_OVERRIDES}: {error}") from None


def _overrides(given: str | dict[str, Any], variables: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings by their paths, such as ``decoder.beam_size``, and AllenNLP's own overrides."""
    text = json.dumps(given) if isinstance(given, dict) else given
    with _errors_in_one_line(_OVERRIDES):
        found = params_module.parse_overrides(text, ext_vars=dict(variables))
    if not isinstance(found, dict):
        raise ConfigurationError(f'{_OVERRIDES}: {found!r} is not an object, such as {{"settings.epochs": 3}}')
    nested = found.pop(_SETTINGS, {})
    if not isinstance(nested, dict):
        raise ConfigurationError(f"{_OVERRIDES}: settings must be an object, not {nested!r}")
    prefix = f"{_SETTINGS}."
    settings = {name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)}
    return {**nested, **settings}, {name: value for name, value in found.items() if not name.startswith(prefix)}


def _with_settings(settings: Mapping[str, Any]) -> str:
    """A jsonnet expression of the config with these settings changed."""
    expression = "config"
    for path, value in settings.items():
        *above, last = (json.dumps(name) for name in (_SETTINGS, *path.split(".")))
        change = f"{{ {last}: {json.dumps(value)} }}"
        for name in reversed(above):
            change = f"{{ {name}+: {change} }}"
        expression += f" + {change}"
    return expression


def _evaluate(path: Path, expression: str, variables: Mapping[str, str]) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    program = f"local config = import {json.dumps(path.name)}; {expression}"
    with _errors_in_one_line(str(path)):
        options = {"ext_vars": dict(variables), "native_callbacks": {"closest": (("names",), _closest)}}
        return json.loads(params_module.evaluate_snippet(str(path), program, **options))


def _closest(names: str) -> str:
    """The name that looks most like the first of these; jsonnet passes on no lists."""
    name, *known = names.split()
    return difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]


@contextmanager
def _errors_in_one_line(source: str) -> Iterator[None]:
    """Turn jsonnet's errors, which have a line for each stack frame, into one line."""
    try:
        yield
    except RuntimeError as error:
        message, *places = str(error).splitlines() or [type(error).__name__]
        message = re.sub(r"^(RUNTIME|STATIC) ERROR: ", "", message)
        if variable := re.fullmatch(r"undefined external variable: (\w+)", message):
            message = f"the environment variable {variable[1]} is not set"
        elif places and "object_assert" not in places[0]:
            # A failed assertion says everything; for anything else, the reader needs the place.
            place, _, _ = places[0].strip().partition("\t")
            message += f" ({place})"
        raise ConfigurationError(f"{source}: {message}") from None


def check_encoders(params: Params) -> None:
    """Refuse a config that makes pieces for one encoder and feeds them to another."""
    config = params.as_dict(quiet=True)
    indexers = _part(config, "dataset_reader", "token_indexers")
    encoder = _part(config, "model", "word_encoder").get("encoder")
    for name, indexer in indexers.items():
        if indexer.get("type") == "word_pieces" and encoder not in (None, indexer.get("encoder")):
            raise ConfigurationError(
                f"config: dataset_reader.token_indexers.{name}.encoder is {indexer.get('encoder')!r} and "
                f"model.word_encoder.encoder is {encoder!r}; settings.encoder changes both"
            )


def _part(config: Mapping[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        config = config.get(name, {}) if isinstance(config, Mapping) else {}
    return dict(config) if isinstance(config, Mapping) else {}
