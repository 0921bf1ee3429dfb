"""The names of what can compute the networks of a parser that writes, without importing any of it."""

from __future__ import annotations

__all__ = ["BACKEND_NAMES", "DEFAULT_BACKEND"]

DEFAULT_BACKEND = "numpy"
BACKEND_NAMES = (DEFAULT_BACKEND, "onnxruntime")
