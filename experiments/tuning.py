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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.data_structures.errors import DataError
from qdecomp.files import write_text_atomically

from .training import alone, digest, params_of, run_logged

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

_RANGE = re.compile(r"(?P<low>[^\s,]+?)\.\.(?P<high>[^\s,]+)(?:\s+(?:(?P<log>log)|step\s+(?P<step>\S+)))?")
_INPUTS = "inputs"
_METRICS = "metrics.json"


@dataclass(frozen=True, slots=True)
class Searched:
    """A setting or key of a config, and the values that may be tried."""

    name: str
    choices: tuple[Any, ...] = ()
    low: float = 0
    high: float = 0
    log: bool = False
    step: float | None = None

    def suggest(self, trial: Trial) -> Any:
        """A value for a trial."""
        if self.choices:
            # As text, because Optuna's own choices may be neither lists nor objects.
            return json.loads(trial.suggest_categorical(self.name, [json.dumps(each) for each in self.choices]))
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(self.name, self.low, self.high, step=int(self.step or 1), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, step=self.step, log=self.log)


def parse_searched(text: str) -> Searched:
    """What one ``--search`` says.

    >>> parse_searched("settings.lr=1e-4..3e-3 log")
    Searched(name='settings.lr', choices=(), low=0.0001, high=0.003, log=True, step=None)
    >>> parse_searched('settings.graph_decoder="greedy","ilp"').choices
    ('greedy', 'ilp')
    """
    name, _, values = (part.strip() for part in text.partition("="))
    try:
        if not name or not values:
            raise ValueError
        if found := _RANGE.fullmatch(values):
            low, high, step = (
                None if found[part] is None else _number(found[part]) for part in ("low", "high", "step")
            )
            if (
                low is None
                or high is None
                or low >= high
                or (step is not None and step <= 0)
                or (found["log"] and low <= 0)
            ):
                raise ValueError
            return Searched(name, low=low, high=high, log=bool(found["log"]), step=step)
        return Searched(name, tuple(json.loads(f"[{values}]")))
    except ValueError:
        raise DataError(
            f"--search {text}: say KEY=LOW..HIGH, KEY='LOW..HIGH log', KEY='LOW..HIGH step STEP' or KEY=VALUE,VALUE, "
            "each value as JSON, such as settings.lr='1e-4..3e-3 log'"
        ) from None


def _number(text: str) -> float:
    value = json.loads(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return value


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
    space = [parse_searched(text) for text in searched]
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
    first = {each.name: each.choices[0] if each.choices else each.low for each in space}
    params = params_of(config, shared | first)
    metric = str(params.get("trainer", {}).get("validation_metric", "-loss"))
    name = f"best_validation_{metric.lstrip('+-')}"
    inputs = digest(json.dumps(params, sort_keys=True).encode(), json.dumps([sorted(map(str, space)), seed]).encode())
    out.mkdir(parents=True, exist_ok=True)
    with alone(out):
        study = _study(out, inputs, metric, seed)
        while len(_ended(study)) < trials:
            _try(study, config, space, shared, name, out)
        _report(study, config, space, shared, name, out)


def _study(out: Path, inputs: str, metric: str, seed: int) -> Study:
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
        from optuna.trial import TrialState
    except ImportError:
        raise DataError("Optuna is not installed; make install installs it") from None
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


def _try(
    study: Study, config: Path, space: Sequence[Searched], shared: Mapping[str, Any], name: str, out: Path
) -> None:
    """Train with the settings of the next trial, or go on where that was killed."""
    from optuna.trial import TrialState

    trial = study.ask()
    chosen = {each.name: each.suggest(trial) for each in space}
    folder = _folder(out, chosen)
    click.echo(f"-- trial {len(_ended(study)) + 1}: {json.dumps(chosen)}")
    if not (folder / _METRICS).is_file():
        run = folder / "run"
        arguments = ["-m", "allennlp", "train", str(config), "-s", str(run), "--file-friendly-logging"]
        arguments += ["--overrides", json.dumps({**shared, **chosen}), *(["--recover"] if run.exists() else [])]
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
    best = _folder(out, _chosen(study.best_trial, space))
    for other in (out / "runs").iterdir():
        # Weights are large.
        if other != best and (other / _METRICS).is_file():
            shutil.rmtree(other / "run", ignore_errors=True)


def _chosen(trial: FrozenTrial, space: Sequence[Searched]) -> dict[str, Any]:
    return {
        each.name: json.loads(found) if each.choices else found for each in space for found in [trial.params[each.name]]
    }


def _folder(out: Path, chosen: Mapping[str, Any]) -> Path:
    """The folder of a training run with these settings, whichever trial it is."""
    return out / "runs" / digest(json.dumps(chosen, sort_keys=True).encode())[:12]


def _report(
    study: Study, config: Path, space: Sequence[Searched], shared: Mapping[str, Any], name: str, out: Path
) -> None:
    """Write all trials and the best settings, and say how to train with these."""
    with write_text_atomically(out / "trials.csv") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([name, *(each.name for each in space), "minutes"])
        for trial in _ended(study):
            chosen = _chosen(trial, space) if len(trial.params) == len(space) else {}
            minutes = trial.duration.total_seconds() / 60 if trial.duration else 0.0
            value = "failed" if trial.value is None else f"{trial.value:.6g}"
            writer.writerow([value, *(json.dumps(chosen.get(each.name)) for each in space), f"{minutes:.1f}"])
    best = {**shared, **_chosen(study.best_trial, space)}
    with write_text_atomically(out / "best.json") as stream:
        stream.write(json.dumps({name: study.best_value, "overrides": best}, indent=1) + "\n")
    folder = _folder(out, _chosen(study.best_trial, space))
    click.echo(
        f"{name} {study.best_value:.4f} is the best of {len(_ended(study))} trials: {folder / 'run' / 'model.tar.gz'}"
    )
    click.echo(f"allennlp train {config} -s FOLDER --overrides {shlex.quote(json.dumps(best))}")
