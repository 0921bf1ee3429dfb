"""Run the paper's experiments: ``python -m experiments --size smoke``.

Runs the named experiments, or all six, with everything that they need. What is done is not repeated, and a run that was
killed resumes. The tables and figures are in OUT/tables and OUT/figures. ``python -m experiments tune`` searches for
hyper-parameters.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.files import write_text_atomically

from .cells import EXPERIMENTS
from .settings import ROOT, SETTINGS_FILE, Settings, read_size
from .training import check_configs
from .verdicts import add_verdicts, read_verdicts


@click.command(help=__doc__)
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--size", default="smoke", show_default=True, help="smoke, cpu, paper, or a file like those in sizes/.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="The folder of the run. [out/experiments/SIZE]"
)
@click.option("--train", type=click.Path(path_type=Path), help="Break's training rows, instead of the size's.")
@click.option("--dev", type=click.Path(path_type=Path), help="Break's development rows, instead of the size's.")
@click.option(
    "--given",
    multiple=True,
    metavar="NAME[@SPLIT]=FILE",
    help="Use the archive (.tar.gz) of a parser or the predictions of a system from elsewhere, for the split train_100 "
    "unless another one is named, such as train_10 or without_DROP.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PARSER.KEY=VALUE",
    help="Change a setting or a key of a parser's config, such as copynet.settings.lr=5e-4. Give --out, too.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Train only these cells, such as 'biaffine/train_1/*'; others are shown as not run unless they have been.",
)
@click.option(
    "--no-training", is_flag=True, help="Train nothing; make the tables of what there is and of what is given."
)
@click.option(
    "--verdicts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Do not train the cells whose verdicts are in this file, such as kept_verdicts/cpu.jsonl, unless an "
    "experiment needs their predictions.",
)
@click.option(
    "--queue",
    is_flag=True,
    help="Train the cells of the size's queue, or of --only, one after the other, and add the verdicts of each to the "
    "file of --verdicts as soon as it is done.",
)
@click.option("--cores", type=click.IntRange(min=1), default=1, show_default=True, help="How many jobs at a time.")
@click.option("--dry-run", is_flag=True, help="Only say which jobs would run.")
@click.option("--snakemake", "further", multiple=True, metavar="OPTION", help="A further option for Snakemake.")
def main(
    experiments: tuple[str, ...],
    size: str,
    out: Path | None,
    train: Path | None,
    dev: Path | None,
    given: tuple[str, ...],
    changes: tuple[str, ...],
    only: tuple[str, ...],
    no_training: bool,
    verdicts: Path | None,
    queue: bool,
    cores: int,
    dry_run: bool,
    further: tuple[str, ...],
) -> None:
    """Check the settings and pass the graph of jobs to Snakemake."""
    unknown = [name for name in experiments if name not in EXPERIMENTS]
    if unknown:
        raise DataError(f"there is no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}")
    if find_spec("snakemake") is None:
        raise DataError("Snakemake is not installed; make install installs it")
    files = {"train": train, "dev": dev, "verdicts": verdicts}
    settings = read_size(size, given=given, changes=changes, only=only, training=not no_training, **files)
    queued = only or settings.queue
    if queue and (verdicts is None or not queued):
        raise DataError("--queue needs --verdicts FILE, and a size with a queue or --only")
    read_verdicts(settings)
    base = (out or ROOT / "out" / "experiments" / settings.size).absolute()
    if settings.training:
        check_configs(settings, base)
        if settings.expects:
            click.echo(f"size {settings.size}, if nothing is done yet: {settings.expects}", err=True)
    base.mkdir(parents=True, exist_ok=True)
    _lock(base)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "experiments" / "Snakefile")]
    # Our own lock ends with the run, however it ends; Snakemake's would remain after a kill.
    command += ["--directory", str(base), "--cores", str(cores), "--nolock", "--rerun-incomplete", "--quiet", "rules"]
    command += ["--config", f"experiments={','.join(experiments or EXPERIMENTS)}", *(["--dry-run"] if dry_run else [])]
    command += further
    if queue and verdicts:
        for pattern in queued:
            _store(settings.model_copy(update={"only": [pattern]}), base)
            if subprocess.run(command, check=False).returncode:
                raise DataError(f"{pattern}: failed; what is done is kept, and the same command goes on from there")
            add_verdicts(verdicts, settings, base)
        settings = settings.model_copy(update={"only": list(queued)})
    _store(settings, base)
    os.execv(sys.executable, command)


def _store(settings: Settings, base: Path) -> None:
    with write_text_atomically(base / SETTINGS_FILE) as stream:
        stream.write(settings.model_dump_json(indent=1))


def _lock(base: Path) -> None:
    """Hold the folder until this process, which becomes Snakemake's, has ended."""
    handle = os.open(base / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError(f"{base}: another run is at work in this folder; wait for it, or give another --out") from None
    os.set_inheritable(handle, True)


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == ["tune"]:
            from .tuning import tune

            tune.main(sys.argv[2:], "python -m experiments tune")
        main()
    except QDecompError as error:
        click.echo(f"experiments: {error}", err=True)
        sys.exit(2)
