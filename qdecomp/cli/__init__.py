"""The ``qdecomp`` command. Its subcommands are modules in ``qdecomp.cli``, imported when they are used."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from codecs import lookup
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from qdecomp.data_structures.errors import QDecompError
from qdecomp.terminal import printable
from qdecomp.version import VERSION

__all__ = ["LazyGroup", "main"]

# As in shells: 128 plus the number of the signal.
_INTERRUPTED = 130
# What starts processes, and a warning of the process that tidies up behind them after an interrupt.
_POOL, _TIDYING_UP = "joblib.externals.loky", "ignore:resource_tracker:UserWarning"
_DEVICE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

# The name of a subcommand and what it does, in the order of ``qdecomp --help``.
_COMMANDS = {
    "parse": "Decompose a question, or all questions in a file.",
    "convert": "Turn annotated decompositions into dependency graphs and check them.",
    "evaluate": "Score predicted decompositions against gold ones.",
    "combine": "Combine the predictions of several systems.",
    "report": "Compare systems on one page with tables, plots and examples.",
    "errors": "Make the paper's table of error classes from sheets that a person filled in.",
    "leaderboard": "Write predictions as the CSV that Break's leaderboard takes.",
    "render": "Show predicted decompositions on a page of pictures.",
    "serve": "Serve the parser: a page for the browser and an API for programs.",
    "mcp": "Offer the parser to agents as tools, by the Model Context Protocol.",
    "bundle": "Turn a trained parser into a folder that parses without torch.",
    "calibrate": "Fit or measure the confidence of a parser.",
    "prompt": "Print a prompt that asks a language model for a decomposition.",
}
# Small commands that share the module of another one, where they have their own name.
_MODULES = {"errors": "report", "mcp": "serve"}


class LazyGroup(click.Group):
    """Imports a subcommand's module only when it runs, so that the others take no time.

    ``commands_help`` gives the names and what each does, in the order of ``--help``. The module of the same name
    in ``package`` holds a click command called ``command``.
    """

    def __init__(self, *args: Any, package: str, commands_help: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, context_settings={"help_option_names": ["-h", "--help"]}, **kwargs)
        self._package = package
        self._commands_help = commands_help

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(self._commands_help)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand."""
        if cmd_name not in self._commands_help:
            return None
        module = importlib.import_module(f"{self._package}.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name if cmd_name in _MODULES else "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._commands_help.items()))


@click.group(cls=LazyGroup, package="qdecomp.cli", commands_help=_COMMANDS)
@click.version_option(VERSION, prog_name="qdecomp")
def _command() -> None:
    """Parse complex questions into decompositions, convert them and score them."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command.

    One of our errors, or output that cannot be written, gives one line on standard error and exit code 2; an interrupt
    gives exit code 130.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _TIDYING_UP not in sys.warnoptions:
        # Processes are started with these.
        sys.warnoptions.append(_TIDYING_UP)
    try:
        code = _command.main(args=arguments, prog_name="qdecomp", standalone_mode=False)
        # Writing the rest may fail; without this, that would go unnoticed.
        sys.stdout.flush()
    except QDecompError as error:
        _fail(str(error))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _give_output_up()
        if _POOL in sys.modules:
            # Ending in order would wait for processes that may have died with half an answer in a pipe.
            os._exit(_INTERRUPTED)
        sys.exit(_INTERRUPTED)
    except UnicodeEncodeError as error:
        used = getattr(sys.stdout, "encoding", None) or "utf-8"
        if not lookup(error.encoding) == lookup(used) != lookup("utf-8"):
            raise
        _give_output_up()
        shown = ascii(error.object[error.start : error.end][:20])
        _fail(f"standard output ({error.encoding}) cannot show {shown}; set PYTHONIOENCODING=utf-8, or write to a file")
    except OSError as error:
        if error.filename is not None or error.errno not in _DEVICE_ERRORS:
            raise
        _give_output_up()
        _fail(f"output cannot be written ({error.strerror})")
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    print(f"qdecomp: {printable(message)}", file=sys.stderr)
    sys.exit(2)


def _give_output_up() -> None:
    """Discard what was not written, or Python would try to write it again at exit, and complain."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
