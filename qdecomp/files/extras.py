"""The optional parts of the package, which are installed on request."""

from __future__ import annotations

from qdecomp.data_structures.errors import DataError

__all__ = ["missing_extra"]


def missing_extra(what: str, extra: str) -> DataError:
    """The error for something that needs an extra which is not installed; it says how to install it.

    >>> print(missing_extra("the bundled parser", "parser"))
    the bundled parser needs more packages: pip install 'qdecomp[parser]' (in a clone: pip install '.[parser]')
    """
    install = f"pip install 'qdecomp[{extra}]' (in a clone: pip install '.[{extra}]')"
    return DataError(f"{what} needs more packages: {install}")
