"""Settings of the configs: defaults in one place, unknown ones refused, the table of README true, its examples run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import prepare_environment

import qdecomp.training.plugin  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "training_config"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
PARSERS = {"B": "biaffine_graph_parser", "C": "copynet_bert", "L": "latent_rat"}
ENCODERS = (("dataset_reader", "token_indexers", "pieces", "encoder"), ("model", "word_encoder", "encoder"))


@cache
def _evaluated(expression: str) -> Any:
    return json.loads(_jsonnet.evaluate_snippet(str(FOLDER / "snippet.jsonnet"), expression))


def _at(values: dict[str, Any], path: tuple[str, ...]) -> Any:
    for name in path:
        values = values[name]
    return values


def _read(name: str, **overrides: Any) -> dict[str, Any]:
    return dict(Params.from_file(FOLDER / f"{name}.jsonnet", params_overrides=overrides).as_dict(quiet=True))


def _flat(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def test_the_table_has_every_setting_of_every_parser_with_its_default() -> None:
    in_code = {
        (parser, name): value
        for parser, settings in _evaluated("import 'lib/settings.libsonnet'").items()
        for name, value in _flat(settings)
    }
    rows = re.findall(r"^\| `([\w.]+)` \| `(.+?)` \| (.+?) \| ([BCL ]+) \|$", README, flags=re.MULTILINE)
    in_table = {
        (PARSERS[letter], name): json.loads(value) for name, value, _, users in rows for letter in users.split()
    }
    assert in_table == in_code
    assert sum(len(users.split()) for *_, users in rows) == len(in_table), "a setting of a parser stands there twice"


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS.values())
def test_every_setting_is_read(parser: str) -> None:
    """A setting that changes nothing would be a lie, too."""
    config = _evaluated(f"import '{parser}.jsonnet'")
    for name, value in _flat(_evaluated(f"(import 'lib/settings.libsonnet').{parser}")):
        changed = {bool: not value, str: f"{value}x", dict: {"CLEVR": 2}, type(None): 5}.get(type(value), 1_234)
        assert _read(parser, **{f"settings.{name}": changed}) != config, name


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ecnoder_lr", "encoder_lr"),
        ("patience", ""),
        ("weight_decay", ""),
        ("batchsize", "batch_size"),
        ("decoder.hiden_dim", "decoder.hidden_dim"),
    ],
)
def test_an_unknown_setting_is_an_error_that_names_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ConfigurationError, match=f"there is no setting '{name}'.*closest is '{nearest}") as error:
        _read("copynet_bert", **{f"settings.{name}": 1})
    assert "\n" not in str(error.value)
    path, field = name.rpartition(".")[::2]
    run = f"{{ {path}+: {{ {field}: 1 }} }}" if path else f"{{ {field}: 1 }}"
    with pytest.raises(RuntimeError, match=f"there is no setting '{name}'"):
        _evaluated(f"(import 'lib/copynet_bert.libsonnet')({run})")


def test_a_group_of_settings_is_an_object() -> None:
    with pytest.raises(
        ConfigurationError, match="the setting 'decoder' is an object with attention_feedback, beam_size"
    ):
        _read("copynet_bert", **{"settings.decoder": 3})


def test_parts_of_a_group_can_be_left_out_and_extended() -> None:
    replaced = _evaluated("(import 'lib/copynet_bert.libsonnet')({ decoder: { beam_size: 2 } })")["model"]["decoder"]
    assert (replaced["beam_size"], replaced["hidden_dim"]) == (2, 768)
    extended = _evaluated("(import 'copynet_bert_minilm.jsonnet') { settings+: { decoder+: { beam_size: 2 } } }")
    assert (extended["model"]["decoder"]["beam_size"], extended["model"]["decoder"]["hidden_dim"]) == (2, 384)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.jsonnet")), ids=lambda path: path.stem)
def test_one_override_changes_the_encoder_everywhere(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_RUN", "out/first")
    monkeypatch.setenv("BUNDLE", "my_parser")
    before = Params.from_file(path).as_dict(quiet=True)
    after = Params.from_file(path, params_overrides='{"settings.encoder": "other"}').as_dict(quiet=True)
    assert [_at(after, place) for place in ENCODERS] == ["other", "other"]
    text = json.dumps(before)
    assert json.loads(text.replace(json.dumps(_at(before, ENCODERS[0])), '"other"')) == after


def _departures() -> list[tuple[str, str, list[str]]]:
    """The rows of the table: a setting, its value in the paper, and its values in our three configs."""
    section = README.partition("## Where ours differ from the paper")[2]
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \| .+ \| .+ \|$", section, flags=re.MULTILINE)
    return [(name, paper, re.findall(r"`(.+?)`", ours)) for name, paper, ours in rows]


@pytest.mark.parametrize(("name", "paper", "ours"), _departures(), ids=lambda value: str(value)[:30])
def test_the_paper_has_no_departure_and_ours_have_those_of_the_table(name: str, paper: str, ours: list[str]) -> None:
    for number, parser in enumerate(PARSERS.values()):
        values = [
            dict(_complete(config)) | dict(_flat(dict(_complete(config)))) for config in (parser, f"{parser}_minilm")
        ]
        if name == "source_weights":
            assert values[0][name] == {}
            assert values[1][name] == _evaluated("import 'lib/source_weights.libsonnet'")
        elif ours[number] == "none":
            assert name not in values[0]
        else:
            for_this_parser = re.search(rf"`(\w+)` for [^`]*\b{list(PARSERS)[number]}\b", paper)
            assert values[0][name] == json.loads(for_this_parser[1] if for_this_parser else paper.strip("`"))
            assert values[1][name] == json.loads(ours[number])


def test_every_departure_is_in_the_table() -> None:
    """What our configs switch on or off, in contrast to sizes and rates, which fit the encoder."""
    sizes = r"encoder|.*lr|batch_size|epochs|.*dim|.*layers|.*dropout"
    switched = {
        name
        for parser in PARSERS.values()
        for name, value in _flat(_complete(f"{parser}_minilm"))
        if dict(_flat(_complete(parser))).get(name) != value and not re.fullmatch(sizes, name)
    }
    named = {name for name, *_ in _departures()}
    assert {name for name in switched if not name.startswith(("source_weights.", "special_tokens."))} <= named


def _complete(config: str) -> dict[str, Any]:
    values: dict[str, Any] = _evaluated(f"(import '{config}.jsonnet').complete")
    return values


# The examples of README, which run in a folder with the configs, the sample data and an encoder.
COMMANDS = re.findall(r"\$ (allennlp train (?:[^'`$]|'[^']*')+?)\n(?=\$|```)", README)
SNIPPETS = re.findall(r"```jsonnet\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def workplace(tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("training_config", "data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "my_encoder").symlink_to(tiny_encoder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_config_of_readme_builds(snippet: str, workplace: Path, tmp_path: Path) -> None:
    path = workplace / "training_config" / "mine.jsonnet"
    path.write_text(snippet, encoding="utf-8")
    overrides = {"settings.encoder": "my_encoder", "train_data_path": "data/dev.csv"}
    params = Params.from_file(path, params_overrides=overrides)
    prepare_environment(params)
    TrainModel.from_params(params, serialization_dir=str(tmp_path / "run"), local_rank=0)


def _arguments(part: str) -> list[str]:
    """The arguments of the only command of README with this part, behind ``allennlp``."""
    (command,) = (each for each in COMMANDS if part in each)
    return shlex.split(command.partition("\nallennlp:")[0])[1:]


def test_commands_of_readme_override_settings_keys_of_allennlp_and_the_encoder(workplace: Path) -> None:
    read = [
        Params.from_file(config, params_overrides=overrides).as_dict(quiet=True)
        for _, config, *_, overrides in map(_arguments, ("short", "roberta-base"))
    ]
    assert (read[0]["trainer"]["num_epochs"], read[0]["model"]["decoder"]["beam_size"]) == (1, 3)
    assert (read[0]["train_data_path"], read[0]["trainer"]["patience"]) == ("data/dev.csv", 2)
    assert [_at(read[1], path) for path in ENCODERS] == ["roberta-base", "roberta-base"]


@pytest.mark.slow
def test_the_refusal_of_readme_is_what_is_printed(
    workplace: Path, allennlp: Callable[..., subprocess.Popen[str]]
) -> None:
    process = allennlp(*_arguments("ecnoder_lr"), "--include-package", "qdecomp", cwd=workplace)
    output, _ = process.communicate()
    assert process.returncode == 2
    assert output.splitlines() == [line for line in README.splitlines() if line.startswith("allennlp: ")]
    assert not (workplace / "out").exists()
