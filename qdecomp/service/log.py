"""The log of the service, on standard error; it contains no words of questions."""

from __future__ import annotations

import logging
import sys

__all__ = ["LOG", "start_log"]

LOG = logging.getLogger("qdecomp.service")


def start_log() -> None:
    """Write the log of this process, with times."""
    logging.basicConfig(format="%(asctime)s %(message)s", stream=sys.stderr)
    LOG.setLevel(logging.INFO)
