"""The version of the package, and why this Python or this installation cannot work, said in one line.

It imports nothing else of the package, and any Python 3 can read it.
"""

import os
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
