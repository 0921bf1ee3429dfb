"""What the ``allennlp`` command does differently once this project is loaded into it.

``allennlp train --recover`` also works after a kill before the first checkpoint. An error in a config or in the data
is one line instead of a traceback, and leaves no folder behind. ``allennlp predict`` and ``evaluate`` load archives as
:mod:`qdecomp.training.archives` does; with our predictor, ``predict`` gives a record for every question of a file.
AllenNLP offers no hook for this: its commands are bound before plugins are loaded. So :func:`install` wraps some of its
functions and replaces others.

A config of ``training_config/`` is computed from its ``settings``: one of them, such as the encoder, may appear in
several places. ``--overrides '{"settings.encoder": "roberta-base"}'`` changes the setting before that, AllenNLP's own
overrides change the result.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import logging
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any

from allennlp.commands import evaluate as evaluate_module
from allennlp.commands import predict as predict_module
from allennlp.commands import train as train_module
from allennlp.commands.predict import _PredictManager
from allennlp.common import params as params_module
from allennlp.common import util as util_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.params import Params
from allennlp.common.util import JsonDict
from allennlp.models.archival import CONFIG_NAME, Archive
from allennlp.predictors import Predictor
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from allennlp.training.trainer import Trainer
from allennlp.training.util import make_vocab_from_params

from qdecomp.data_structures.errors import QDecompError
from qdecomp.files import require_other_files, write_text_atomically
from qdecomp.files.break_csv import BreakExample, read_questions
from qdecomp.training.archives import TRUST_SWITCH, load_archive_safely, registered_only
from qdecomp.training.predictor import PREDICTOR, RECORD_SERIALIZER, QuestionDecompositionPredictor
from qdecomp.training.trainer import STARTS_ANEW

logger = logging.getLogger(__name__)

# Errors of the user, whose message says everything.
_USER_ERRORS = (QDecompError, ConfigurationError, FileNotFoundError)


@functools.cache
def install() -> None:
    """Change this process's ``allennlp`` command as described above; a second call does nothing."""
    train_module.train_model = _careful(train_module.train_model)
    predict_module._get_predictor = _with_checked_options(_guarded(predict_module._get_predictor))  # type: ignore[assignment]
    predict_module._PredictManager = PredictManager  # type: ignore[misc]
    evaluate_module.evaluate_from_archive = _guarded(evaluate_module.evaluate_from_archive)
    for module in (predict_module, evaluate_module):
        module.load_archive = _load_archive  # type: ignore[attr-defined]
    import_all = util_module.import_module_and_submodules

    def import_others(package_name: str, exclude: set[str] | None = None) -> None:
        """``--include-package qdecomp`` stops here: other modules of ours are for libraries that need not be there."""
        if package_name.partition(".")[0] != __package__.partition(".")[0]:
            import_all(package_name, exclude)

    util_module.import_module_and_submodules = import_others
    Params.from_file = classmethod(params_from_file)  # type: ignore[assignment, method-assign]
    _hook_errors()


def _hook_errors() -> None:
    program = Path(sys.argv[0])
    if "allennlp" in (program.name, program.parent.name) and not os.environ.get("ALLENNLP_DEBUG"):
        sys.excepthook = _show_in_one_line


def _show_in_one_line(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if not isinstance(error, _USER_ERRORS):
        sys.__excepthook__(kind, error, traceback)
        return
    print(f"allennlp: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(2)


def _careful(train_model: Callable[..., Any]) -> Callable[..., Any]:
    """``train_model`` that recovers from a kill at any moment and leaves nothing behind when it refuses to start."""

    @functools.wraps(train_model)
    def careful_train_model(
        params: Params,
        serialization_dir: str | os.PathLike[str],
        recover: bool = False,
        force: bool = False,
        **options: Any,
    ) -> Any:
        folder = Path(serialization_dir)
        if recover and force:
            raise ConfigurationError("--recover resumes a training run and --force deletes it; give only one of them")
        _check_trainer(params)
        check_encoders(params)
        keys = set(params.as_flat_dict())
        recover = recover and _prepare_recovery(params, folder)
        was_there = folder.is_dir()
        was_empty = not was_there or not any(folder.iterdir())
        try:
            with _unknown_keys_named("config", keys):
                return train_model(params, serialization_dir, recover, force, **options)
        except _USER_ERRORS as error:
            # Once training has begun, it has something to lose, and an error is not the config's: AllenNLP's own
            # hook, which is in place now, shows where it comes from.
            begun = train_module.TrainModel.run.__code__
            if not any(frame.f_code is begun for frame, _ in walk_tb(error.__traceback__)):
                if was_empty:
                    shutil.rmtree(folder, ignore_errors=True)
                if was_there:
                    folder.mkdir(exist_ok=True)
                _hook_errors()
            raise

    return careful_train_model


def _check_trainer(params: Params) -> None:
    """Refuse unknown keys of the trainer: AllenNLP's own trainer accepts any, and ignores them."""
    trainer = params.get("trainer", {})
    if trainer.get("type", Trainer.default_implementation) != Trainer.default_implementation:
        return
    known = {"type", *inspect.signature(GradientDescentTrainer.from_partial_objects).parameters} - {"kwargs"}
    for key in trainer:
        if key not in known:
            close = [f"; did you mean {name}?" for name in difflib.get_close_matches(key, known, n=1)]
            raise ConfigurationError(f"config: trainer.{key}: there is no such key{''.join(close)}")


@contextmanager
def _unknown_keys_named(source: str, keys: Collection[str]) -> Iterator[None]:
    """Turn Python's error about an unknown argument into one about the key that it comes from."""
    try:
        yield
    except TypeError as error:
        argument = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        places = [key for key in keys if argument and argument[1] in key.split(".")]
        if not places:
            raise
        raise ConfigurationError(f"{source}: {' or '.join(sorted(places))}: there is no such key ({error})") from error


def _with_checked_options(get_predictor: Callable[[Namespace], Predictor]) -> Callable[[Namespace], Predictor]:
    """The function that makes a predictor, with a check that says what is wrong with ``--predictor-args``."""

    def checked_get_predictor(arguments: Namespace) -> Predictor:
        try:
            options = json.loads(arguments.predictor_args.strip() or "{}")
        except ValueError as error:
            raise ConfigurationError(f"--predictor-args: not JSON: {error}") from None
        if not isinstance(options, dict):
            raise ConfigurationError(
                f'--predictor-args: {options!r} is not a JSON object, such as {{"decoder": "ilp"}}'
            )
        with _unknown_keys_named("--predictor-args", options):
            return get_predictor(arguments)

    return checked_get_predictor


def _guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that builds, of what an archive names, only what is safe, unless the environment says to trust it."""
    return lambda *arguments, **options: registered_only(trust=_is_trusted())(command)(*arguments, **options)


def _is_trusted() -> bool:
    return os.environ.get(TRUST_SWITCH) == "1"


def _load_archive(archive_file: str | os.PathLike[str], *arguments: Any, **options: Any) -> Archive:
    """What these commands load archives with; a URL is downloaded first, and AllenNLP caches it."""
    given = dict(zip(("cuda_device", "overrides", "weights_file"), arguments, strict=False)) | options
    archive = load_archive_safely(Path(cached_path(archive_file)), trust=_is_trusted(), **given)
    if archive.model.default_predictor == PREDICTOR and "evaluation" not in archive.config:
        # allennlp evaluate --predictions-output-file should write what allennlp predict writes.
        archive.config["evaluation"] = {"batch_serializer": {"type": RECORD_SERIALIZER}}
    return archive


def _prepare_recovery(params: Params, folder: Path) -> bool:
    """Clean up what a kill left in the folder, and say whether there is anything to recover."""
    if not any(folder.glob("training_state_*.th")):
        logger.warning("%s: %s", folder, STARTS_ANEW)
    if not (folder.is_dir() and any(folder.iterdir())):
        return False
    config = folder / CONFIG_NAME
    if not config.is_file():
        return True
    try:
        json.loads(config.read_text(encoding="utf-8"))
    except ValueError:
        logger.warning("%s was incomplete when the training was killed; it is written again", config)
        with write_text_atomically(config) as stream:
            json.dump(params.as_dict(quiet=True), stream, indent=4)
    if "distributed" in params:
        # With several processes AllenNLP takes the vocabulary as it is, and it may be incomplete.
        shutil.rmtree(folder / "vocabulary", ignore_errors=True)
        make_vocab_from_params(params.duplicate(), folder)
    return True


class PredictManager(_PredictManager):
    """AllenNLP's own, except that with our predictor no question is lost.

    AllenNLP skips blank lines, reads every line by itself, and with ``--use-dataset-reader`` asks the reader for a
    whole file, which leaves out the questions that it cannot use. Our predictor passes every question to the reader
    itself, so that flag changes nothing. For other predictors, nothing changes.
    """

    def __init__(
        self, predictor: Predictor, input_file: str, output_file: str | None, *arguments: Any, **options: Any
    ) -> None:
        self._questions = predictor if isinstance(predictor, QuestionDecompositionPredictor) else None
        if input_file != "-":
            if output_file is not None:
                require_other_files({"--output-file": Path(output_file)}, [Path(input_file)])
            if self._questions is not None:
                # Before the output file is opened: a wrong name should not empty it.
                input_file = cached_path(input_file)
        super().__init__(predictor, input_file, output_file, *arguments, **options)
        if self._questions is not None:
            self._dataset_reader = None

    def _get_json_data(self) -> Iterator[JsonDict]:
        if self._questions is None:
            yield from super()._get_json_data()
            return
        for row in read_questions(self._input_file):
            yield {"question_id": row.question_id, "question": row.question, "error": row.error}

    def _predict_json(self, batch_data: list[JsonDict]) -> Iterator[str]:
        if self._questions is None:
            yield from super()._predict_json(batch_data)
            return
        rows = [
            BreakExample(0, each["question_id"], each["question"], None, error=each["error"]) for each in batch_data
        ]
        yield from map(self._questions.dump_line, self._questions.predict_questions(rows))


_SETTINGS = "settings"
_OVERRIDES = "--overrides"
_SETTING_NAMES = "std.objectFieldsAll(std.get(config, 'settings', {}))"


def params_from_file(
    cls: type[Params],
    params_file: str | os.PathLike[str],
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
        known = _evaluate(path, _SETTING_NAMES, variables)
        for name in filter(known.__contains__, new):
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
    values = params.as_flat_dict()
    encoder = values.get("model.word_encoder.encoder")
    for key, of_pieces in values.items():
        if re.fullmatch(r"dataset_reader\.token_indexers\.\w+\.encoder", key) and encoder not in (None, of_pieces):
            raise ConfigurationError(
                f"config: {key} is {of_pieces!r} and model.word_encoder.encoder is {encoder!r}; "
                "settings.encoder changes both"
            )
