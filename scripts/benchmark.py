"""Measure how fast things are. Each benchmark is a module in ``speed``, imported when it is used."""

import click
from script_errors import run_script

from qdecomp.cli import LazyGroup

# The name of a benchmark and what it measures. The module of the same name holds a click command ``command``.
_BENCHMARKS = {
    "cascade": "How many plans are right if a second parser is asked for some of them, against the share of calls.",
    "conversion": "Milliseconds a question from decomposition to graph and back, and what is lost.",
    "inference": "Questions a second of trained parsers, side by side.",
    "metrics": "Pairs a CPU second of LF-EM and other metrics, and memory.",
    "parse": "The bundled parser: cold start, one question, many questions, memory.",
    "retrieval": "How many of the passages that questions need are found by one search and by a plan.",
    "serve": "The service under load: throughput, latency, overload, a flood of bad requests, a stop.",
}


@click.group(cls=LazyGroup, package="speed", commands_help=_BENCHMARKS)
def main() -> None:
    """Measure how fast things are."""


if __name__ == "__main__":
    run_script(main)
