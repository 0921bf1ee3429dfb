"""The ``qdecomp`` command. Each subcommand is a module below ``qdecomp.commands``, imported when it is asked for."""

from __future__ import annotations

import sys

import click

from qdecomp.data_structures.errors import QDecompError
from qdecomp.terminal.escapes import printable
from qdecomp.terminal.lazy_group import LazyGroup
from qdecomp.version import VERSION

__all__ = ["main"]

# The name of a subcommand and what it does, in the order of ``qdecomp --help``. The module of the same name
# below qdecomp.commands holds a click command called ``command``.
_COMMANDS = {
    "parse": "Decompose a question, or all questions of a file.",
    "convert": "Turn annotated decompositions into dependency graphs, checked back.",
    "evaluate": "Score predicted decompositions against gold ones.",
    "combine": "Make the consensus of several systems' predictions.",
    "report": "Compare systems on one page with tables, plots and examples.",
    "render": "Show predicted decompositions as a page of pictures.",
    "prompt": "Print a prompt that asks a language model for a decomposition.",
}


@click.group(
    cls=LazyGroup,
    package="qdecomp.commands",
    commands_help=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="qdecomp")
def _command() -> None:
    """Parse complex questions into decompositions, convert them and score them."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command; an error of ours is one line on standard error and exit code 2."""
    try:
        _command.main(args=arguments, prog_name="qdecomp")
    except QDecompError as error:
        print(f"qdecomp: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
