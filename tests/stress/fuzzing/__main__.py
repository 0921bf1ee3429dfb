"""Try inputs that nobody would write on every entry point of the package, and report what should not have happened.

It reports errors that are not ours, values that cannot be read back, and inputs that take more than 2 s of CPU time or
more than 1 GB, each with the shortest input that shows it. The exit code is 1 if there is anything to report.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import click

from tests.stress.fuzzing.running import Outcome, finding_to_json, run_target
from tests.stress.fuzzing.targets import TARGETS

# Threads that wait for each other would add to the time of an input.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No time slice is longer, so that all targets get an early turn.
_LONGEST_SLICE = 60.0
_SECONDS_BETWEEN_LINES = 5.0


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("targets", nargs=-1, type=click.Choice(list(TARGETS)), metavar=f"[{'|'.join(TARGETS)}]...")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="For all together.")
@click.option("--inputs", type=click.IntRange(min=1), default=10**9, help="At most this many for each.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Two runs with one seed begin with the same inputs."
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write counts and findings to this JSON file, as they come."
)
def main(targets: tuple[str, ...], seconds: float, inputs: int, seed: int, output: Path | None) -> None:
    """Try inputs that nobody would write, on all targets or on those that are named."""
    names = targets or tuple(TARGETS)
    outcomes = {name: Outcome() for name in names}
    end = time.monotonic() + seconds
    whole = sum(TARGETS[name].share for name in names)
    number = 0
    while number == 0 or (time.monotonic() < end and any(outcomes[name].inputs < inputs for name in names)):
        for name in names:
            left = inputs - outcomes[name].inputs
            if left > 0 and (number == 0 or time.monotonic() < end):
                time_slice = min(_LONGEST_SLICE, seconds * TARGETS[name].share / whole)
                # Each slice has its own seeds.
                outcomes[name].add(run_target(name, seed * 10**9 + number * 10**6, time_slice, left, _teller(name)))
                _write(outcomes, output)
        number += 1
    _show(outcomes)
    if any(outcome.findings for outcome in outcomes.values()):
        raise SystemExit(1)


def _teller(name: str) -> Callable[[Outcome], None]:
    """Reports the progress of a target on standard error, every few seconds."""
    told = time.monotonic()

    def tell(outcome: Outcome) -> None:
        nonlocal told
        if time.monotonic() - told >= _SECONDS_BETWEEN_LINES:
            told = time.monotonic()
            line = f"{name}: {outcome.inputs:,} inputs, slowest {outcome.slowest:.2f} s"
            click.echo(f"{line}, {len(outcome.findings)} findings", err=True)

    return tell


def _write(outcomes: dict[str, Outcome], output: Path | None) -> None:
    if output is None:
        return
    value = {
        "inputs": sum(outcome.inputs for outcome in outcomes.values()),
        "targets": {
            name: {
                "inputs": outcome.inputs,
                "refused": outcome.refused,
                "seconds": round(outcome.seconds, 1),
                "slowest": round(outcome.slowest, 3),
                "megabytes": round(outcome.megabytes),
            }
            for name, outcome in outcomes.items()
        },
        "findings": [
            finding_to_json(finding, outcome.counts[kind])
            for outcome in outcomes.values()
            for kind, finding in outcome.findings.items()
        ],
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(value, indent=1), encoding="utf-8")


def _show(outcomes: dict[str, Outcome]) -> None:
    from qdecomp.terminal import Table, show_tables

    rows = tuple(
        (
            name,
            f"{each.inputs:,}",
            f"{each.refused:,}",
            f"{each.seconds:.1f}",
            f"{each.slowest:.2f}",
            f"{each.megabytes:.0f}",
            str(len(each.findings)),
        )
        for name, each in outcomes.items()
    )
    total = f"{sum(each.inputs for each in outcomes.values()):,} inputs"
    columns = ("target", "inputs", "refused", "seconds", "slowest", "MB", "findings")
    show_tables([Table("What was tried", columns, rows, note=total)])
    for outcome in outcomes.values():
        for kind, finding in outcome.findings.items():
            print(f"\n{finding.target}: {kind} ({outcome.counts[kind]:,} times)\n  {finding.input!a}")


if __name__ == "__main__":
    main(prog_name="python -m tests.stress.fuzzing")
