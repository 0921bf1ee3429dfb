"""Docstrings as Markdown for the API reference: roles become code, examples become blocks."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

__all__ = ["AsMarkdown"]

_ROLE = re.compile(r":(?:class|meth|func|mod|data|attr):`~?([^`]+)`")
# From the first prompt to the next empty line.
_EXAMPLE = re.compile(r"(?:^>>> .*\n(?:.+\n?)*\n?)+", re.MULTILINE)


class AsMarkdown(Extension):
    """Rewrites every docstring as it is read."""

    def on_instance(self, *, obj: Object, **others: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """A docstring of the project as Markdown."""
    text = _ROLE.sub(r"`\1`", text)
    return _EXAMPLE.sub(lambda match: f"```python\n{match[0].rstrip()}\n```\n\n", text).rstrip()
