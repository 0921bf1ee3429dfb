"""Requests that are refused: each has a status and one line that says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdecomp.data_structures.errors import InternalError, QDecompError, as_internal_errors
from qdecomp.parsers.language_model import ModelError
from qdecomp.terminal import printable

_LONGEST_NAME = 60
# What pydantic adds to the place of an error if a field has alternative types.
_ALTERNATIVES = ("str", "list[str]")
# Plain words for errors in a request that pydantic words for programmers.
_WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "string_type": "is not a string",
    "list_type": "is not a list",
    "bool_type": "is neither true nor false",
    "bool_parsing": "is neither true nor false",
    "model_attributes_type": "is not an object",
    "dict_type": "is not an object",
    # Our only own check.
    "value_error": "contains half a character (a lone surrogate)",
}


class RefusedError(Exception):
    """A request that gets no answer other than this one."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def busy(what: str = "requests are waiting", **headers: str) -> RefusedError:
    """Too much is already waiting, or open."""
    return RefusedError(503, f"too many {what}; try again in a moment", {"Retry-After": "1", **headers})


def took_too_long(seconds: float) -> RefusedError:
    """The time for an answer is up."""
    return RefusedError(504, f"there was no answer within {seconds:g} seconds; ask for less at a time")


def invalid_request(errors: Sequence[Mapping[str, Any]]) -> RefusedError:
    """What is wrong with a body that does not match the API, in one line without its content.

    >>> invalid_request([{"type": "missing", "loc": ("body", "question"), "msg": "Field required"}]).message
    'question is missing'
    """
    if not errors:
        return RefusedError(422, "the request does not match /openapi.json")
    first = errors[0]
    kind, place = first["type"], [part for part in first["loc"][1:] if part not in _ALTERNATIVES]
    if kind == "json_invalid":
        reason = first.get("ctx", {}).get("error", first["msg"])
        return RefusedError(400, f"the body is not JSON: {reason}")
    # A client may have made up the name of a field.
    name = printable(".".join(map(str, place))) or "the body"
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    words = _WORDS.get(kind) or f"is not valid: {first['msg']}"
    return RefusedError(422, f"{name} {words}")


def internal_error(error: Exception) -> RefusedError:
    """The code failed; the reason contains no words of the request."""
    try:
        with as_internal_errors():
            raise error
    except InternalError as found:
        return RefusedError(500, found.reason)
    except ModelError as found:
        return RefusedError(502, str(found))
    except QDecompError as found:
        return RefusedError(422, str(found))
