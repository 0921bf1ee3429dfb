"""The ``qdecomp`` command. Each subcommand is a module below ``qdecomp.commands``, imported when it is asked for."""

from __future__ import annotations

import importlib
import sys

import click

from qdecomp.data_structures.errors import QDecompError
from qdecomp.version import VERSION

__all__ = ["main"]

# The name of a subcommand and what it does, in the order of ``qdecomp --help``. The module of the same name
# below qdecomp.commands holds a click command called ``command``.
_COMMANDS = {
    "convert": "Turn annotated decompositions into dependency graphs, checked back.",
    "evaluate": "Score predicted decompositions against gold ones.",
    "report": "Compare systems on one page with tables, plots and examples.",
}


class _LazyGroup(click.Group):
    """A group that imports a subcommand's module only when it runs, so that the others cost nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"qdecomp.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="qdecomp")
def _command() -> None:
    """Parse complex questions into decompositions, convert them and score them."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command; an error of ours is one line on standard error and exit code 2."""
    try:
        _command.main(args=arguments, prog_name="qdecomp")
    except QDecompError as error:
        print(f"qdecomp: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
