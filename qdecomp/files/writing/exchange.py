"""Exchanges two files or folders in one step, if the system can do that."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

__all__ = ["exchange"]

_HERE = -100  # AT_FDCWD: paths are relative to the current folder
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS
_CANNOT = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM))


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths of one file system, so that neither is ever missing; False if the system cannot do that."""
    names = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    try:
        if sys.platform == "linux":
            failed = library.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)
        elif sys.platform == "darwin":
            failed = library.renamex_np(*names, _EXCHANGE)
        else:
            return False
    except AttributeError:  # an older C library
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(other))
