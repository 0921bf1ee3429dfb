"""The option ``--cluster``, which several commands have."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["CLUSTER", "CLUSTER_OPTION", "require_one_way"]

CLUSTER: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "Use the Dask cluster whose scheduler is at this address, such as tcp://10.0.0.1:8786. "
    "The results are the same as without it.",
}
"""What click needs to know about the option."""

CLUSTER_OPTION = click.option("--cluster", **CLUSTER)
"""The option as a decorator."""


def require_one_way(processes: int | None, cluster: str | None) -> None:
    """Raise if the work should be done both here and on a cluster."""
    if processes is not None and cluster is not None:
        raise click.UsageError("give either --processes or --cluster")
