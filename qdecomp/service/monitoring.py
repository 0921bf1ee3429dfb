"""Metrics for Prometheus, of one process or of all workers together."""

from __future__ import annotations

import os
from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

__all__ = ["MULTIPROCESS_FOLDER", "Monitor"]

MULTIPROCESS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder in which workers keep their metrics; prometheus_client reads it when it is imported."""

# The creation times of counters would double the lines, and nobody needs them.
disable_created_metrics()

_BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Monitor:
    """Counts requests, their time, questions and batches. No label contains anything that a client wrote."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "qdecomp_requests", "Requests by path and status.", ("method", "path", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "qdecomp_request_seconds", "Time to answer.", ("path",), buckets=_SECONDS, registry=self.registry
        )
        self.questions = Counter(
            "qdecomp_questions", "Parsed questions by outcome.", ("outcome",), registry=self.registry
        )
        self.batches = Histogram(
            "qdecomp_batch_size", "Questions parsed together.", buckets=_BATCH_SIZES, registry=self.registry
        )
        self._waiting = Gauge(
            "qdecomp_questions_waiting",
            "Questions waiting for the parser.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self._count_waiting = waiting

    def text(self) -> tuple[bytes, str]:
        """All metrics in Prometheus's format, and the content type of that format."""
        self._waiting.set(self._count_waiting())
        registry = self.registry
        if MULTIPROCESS_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def stop(self) -> None:
        """Remove this process from the metrics about running processes."""
        if MULTIPROCESS_FOLDER in os.environ:
            mark_process_dead(os.getpid())
