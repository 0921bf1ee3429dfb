"""The version of the package, and what must happen before anything else is imported.

An unusable Python or installation is a one-line error, and an interrupted command prints no traceback.

This module imports nothing else of the package, and any Python 3 can parse it.
"""

import os
import signal
import sys
from glob import escape, glob

VERSION = "0.1.0"

if sys.version_info < (3, 10):  # noqa: UP036
    raise ImportError("qdecomp needs Python 3.10 or later; this is Python {}.{}".format(*sys.version_info))


def _refuse_a_shared_folder() -> None:
    """Raise if the distribution ``qdecomp``, a compiler for quantum gates, has written its files over ours."""
    site_packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if glob(os.path.join(escape(site_packages), "qdecomp-*.dist-info")):
        raise ImportError(
            "question-decomposition and the unrelated PyPI package qdecomp are installed in the same folder: "
            "pip uninstall qdecomp question-decomposition, then install the one that you want"
        )


_refuse_a_shared_folder()


def _let_an_interrupt_end_the_command() -> None:
    """Let an interrupt end the command without a traceback while it imports; later, it handles interrupts itself."""
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    # It is "-m" while Python looks for the module.
    is_module = name == "-m" and "qdecomp" in sys.orig_argv
    if (name == "qdecomp" or is_module) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


_let_an_interrupt_end_the_command()
