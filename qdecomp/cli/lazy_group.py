"""A click group whose subcommands are modules that are imported only when they are used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """Imports a subcommand's module only when it runs, so that the others take no time.

    ``commands_help`` gives the names and what each does, in the order of ``--help``. The module of the same name
    in ``package`` holds a click command called ``command``.
    """

    def __init__(self, *args: Any, package: str, commands_help: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package = package
        self._commands_help = commands_help

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(self._commands_help)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand."""
        if cmd_name not in self._commands_help:
            return None
        module = importlib.import_module(f"{self._package}.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._commands_help.items()))


def lazy_group(package: str, commands_help: Mapping[str, str]) -> Callable[[Callable[..., Any]], LazyGroup]:
    """Make a function the group of these commands, which explains itself with ``-h`` and ``--help``."""
    return click.group(
        cls=LazyGroup,
        package=package,
        commands_help=commands_help,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
