"""Search for hyper-parameters of any training config with Optuna: ``python -m experiments tune CONFIG``.

Each trial is a training run with some settings changed, and its value is the best validation score that the config
asks for (``trainer.validation_metric``). Trials are kept in OUT/trials.log; the same command goes on after a
kill, also in the middle of a training run, and with more --trials after the end. OUT/best.json has the best settings,
OUT/trials.csv all trials, and OUT/runs the logs and metrics of each, with the archive of the best one.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.data_structures.errors import DataError
from qdecomp.files import write_text_atomically

from .training import alone, digest, params_of, run_logged, train_command

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

_Space = dict[str, Any]
_RANGE = re.compile(r"(?P<low>[^\s,]+?)\.\.(?P<high>[^\s,]+)(?:\s+(?:(?P<log>log)|step\s+(?P<step>\S+)))?")
_INPUTS = "inputs"
_METRICS = "metrics.json"


def parse_searched(text: str) -> tuple[str, Any]:
    """The setting that one ``--search`` names, and the values that may be tried as one of Optuna's distributions.

    >>> parse_searched("settings.lr=1e-4..3e-3 log")
    ('settings.lr', FloatDistribution(high=0.003, log=True, low=0.0001, step=None))
    >>> parse_searched('settings.graph_decoder="greedy","ilp"')
    ('settings.graph_decoder', CategoricalDistribution(choices=('"greedy"', '"ilp"')))
    """
    try:
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    except ImportError:
        raise DataError("Optuna is not installed; make install installs it") from None
    name, _, values = (part.strip() for part in text.partition("="))
    try:
        if not name or not values:
            raise ValueError
        found = _RANGE.fullmatch(values)
        if not found:
            # As text, because Optuna's own choices may be neither lists nor objects.
            return name, CategoricalDistribution([json.dumps(each) for each in json.loads(f"[{values}]")])
        low, high, step = (json.loads(found[part] or "null") for part in ("low", "high", "step"))
        if any(isinstance(each, bool | str) for each in (low, high, step)) or low >= high:
            raise ValueError
        if isinstance(low, int) and isinstance(high, int):
            return name, IntDistribution(low, high, log=bool(found["log"]), step=1 if step is None else step)
        return name, FloatDistribution(low, high, log=bool(found["log"]), step=step)
    except (TypeError, ValueError):
        raise DataError(
            f"--search {text}: say KEY=LOW..HIGH, KEY='LOW..HIGH log', KEY='LOW..HIGH step STEP' or KEY=VALUE,VALUE, "
            "each value as JSON, such as settings.lr='1e-4..3e-3 log'"
        ) from None


@click.command(help=__doc__)
@click.argument("config", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--search",
    "searched",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
    help="A setting (settings.lr) or key of the config, with a range (1e-4..3e-3 log, 8..32 step 8) or with values "
    "(0.1,0.2,0.3); may be repeated.",
)
@click.option("--trials", type=click.IntRange(min=1), default=20, show_default=True, help="How many, in all runs.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder of the search."
)
@click.option("--overrides", default="{}", metavar="JSON", help="What all trials change, as for allennlp train.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the search.")
def tune(config: Path, searched: Sequence[str], trials: int, out: Path, overrides: str, seed: int) -> None:
    """Search for the best settings."""
    space = dict(map(parse_searched, searched))
    try:
        shared = json.loads(overrides)
    except ValueError:
        shared = None
    if not isinstance(shared, dict):
        raise DataError(f"--overrides {overrides}: not a JSON object")
    config, out = config.absolute(), out.absolute()
    if not config.is_file():
        raise DataError(f"{config}: there is no such file")
    # Before anything is trained, every key is tried once.
    first = {name: each.low if hasattr(each, "low") else each.choices[0] for name, each in space.items()}
    params = params_of(config, shared | _values(first))
    metric = str(params.get("trainer", {}).get("validation_metric", "-loss"))
    name = f"best_validation_{metric.lstrip('+-')}"
    tried = sorted(map(str, space.items()))
    inputs = digest(json.dumps(params, sort_keys=True).encode(), json.dumps([tried, seed]).encode())
    out.mkdir(parents=True, exist_ok=True)
    with alone(out):
        study = _study(out, inputs, metric, seed)
        while len(_ended(study)) < trials:
            _try(study, config, space, shared, name, out)
        _report(study, config, space, shared, name, out)


def _study(out: Path, inputs: str, metric: str, seed: int) -> Study:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import TrialState

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(out / "trials.log"))),
        study_name="tune",
        direction="maximize" if metric.startswith("+") else "minimize",
        load_if_exists=True,
    )
    if study.user_attrs.get(_INPUTS, inputs) != inputs:
        raise DataError(
            f"{out}: holds a search with another config, other settings or another seed; give another --out"
        )
    study.set_user_attr(_INPUTS, inputs)
    known = study.get_trials(deepcopy=False)
    # A search that goes on does not draw the numbers of its beginning again.
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(known))
    for trial in known:
        if trial.state is TrialState.RUNNING:
            # It was killed: its settings come first now, and its training run goes on.
            study.enqueue_trial(trial.params)
            study.tell(trial.number, state=TrialState.PRUNED)
    return study


def _ended(study: Study) -> list[FrozenTrial]:
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))


def _try(study: Study, config: Path, space: _Space, shared: Mapping[str, Any], name: str, out: Path) -> None:
    """Train with the settings of the next trial, or go on where that was killed."""
    from optuna.trial import TrialState

    trial = study.ask(space)
    chosen = _values(trial.params)
    folder = _folder(out, chosen)
    click.echo(f"-- trial {len(_ended(study)) + 1}: {json.dumps(chosen)}")
    if not (folder / _METRICS).is_file():
        run = folder / "run"
        arguments = train_command(config, {**shared, **chosen}, run)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with alone(folder) as lock:
                run_logged(arguments, out, folder / "log.txt", keep_open=[lock])
        except DataError as error:
            if not _ended(study):
                raise
            click.echo(f"   failed: {str(error).splitlines()[-1]} ({folder / 'log.txt'})")
            study.tell(trial, state=TrialState.FAIL)
            return
        # Last, because it says that the training run has ended.
        with write_text_atomically(folder / _METRICS) as stream:
            stream.write((run / _METRICS).read_text(encoding="utf-8"))
    value = json.loads((folder / _METRICS).read_text(encoding="utf-8")).get(name)
    if value is None:
        raise DataError(f"{folder / _METRICS}: has no {name}; does the config name validation data?")
    study.tell(trial, value)
    click.echo(f"   {name} {value:.4f}; the best so far {study.best_value:.4f}")
    best = _folder(out, _values(study.best_params))
    for other in (out / "runs").iterdir():
        # Weights are large.
        if other != best and (other / _METRICS).is_file():
            shutil.rmtree(other / "run", ignore_errors=True)


def _values(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings of a trial are: choices are JSON."""
    return {name: json.loads(value) if isinstance(value, str) else value for name, value in drawn.items()}


def _folder(out: Path, chosen: Mapping[str, Any]) -> Path:
    """The folder of a training run with these settings, whichever trial it is."""
    return out / "runs" / digest(json.dumps(chosen, sort_keys=True).encode())[:12]


def _report(study: Study, config: Path, space: _Space, shared: Mapping[str, Any], name: str, out: Path) -> None:
    """Write all trials and the best settings, and say how to train with these."""
    with write_text_atomically(out / "trials.csv") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([name, *space, "minutes"])
        for trial in _ended(study):
            chosen = _values(trial.params)
            minutes = trial.duration.total_seconds() / 60 if trial.duration else 0.0
            value = "failed" if trial.value is None else f"{trial.value:.6g}"
            writer.writerow([value, *(json.dumps(chosen.get(each)) for each in space), f"{minutes:.1f}"])
    chosen = _values(study.best_params)
    best = {**shared, **chosen}
    with write_text_atomically(out / "best.json") as stream:
        stream.write(json.dumps({name: study.best_value, "overrides": best}, indent=1) + "\n")
    archive = _folder(out, chosen) / "run" / "model.tar.gz"
    click.echo(f"{name} {study.best_value:.4f} is the best of {len(_ended(study))} trials: {archive}")
    click.echo(f"allennlp train {config} -s FOLDER --overrides {shlex.quote(json.dumps(best))}")
