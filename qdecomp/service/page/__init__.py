"""The files of the page, read once, and the API as a page without scripts; nothing comes from other hosts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from qdecomp.visualization.assets import clipboard_module, style
from qdecomp.visualization.svg import escape

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """What is sent for a file, with a tag that changes when the file does."""

    content: bytes
    media_type: str

    @property
    def tag(self) -> str:
        """The value for ``ETag``."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, PageFile]:
    """The files by name, with those that all pages share: ``pictures.css`` and ``clipboard.js``."""
    found = {}
    for path in resources.files(__package__).iterdir():
        media_type = _TYPES.get(f".{path.name.rpartition('.')[2]}")
        if media_type is not None:
            found[path.name] = PageFile(path.read_bytes(), f"{media_type}; charset=utf-8")
    pictures = style("picture").removeprefix("<style>").removesuffix("</style>")
    found["pictures.css"] = PageFile(pictures.encode(), "text/css; charset=utf-8")
    found["clipboard.js"] = PageFile(clipboard_module().encode(), "text/javascript; charset=utf-8")
    return found


def api_page(description: Mapping[str, Any]) -> str:
    """A page with every path, what it takes, an example to run and what can go wrong."""
    paths = "".join(_paths(description))
    about = description["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The API of qdecomp</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="static/icon.svg"><link rel="stylesheet" href="static/pictures.css">'
        '<link rel="stylesheet" href="static/page.css"></head>'
        f'<body class="qdecomp"><main class="api"><h1>The API of qdecomp {escape(about["version"])}</h1>'
        f'<p>{escape(about["description"])} The whole description for programs is <a href="openapi.json">openapi.json'
        '</a>; the page to try it is <a href="./">here</a>.</p>'
        f"{paths}</main></body></html>"
    )


def _paths(description: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            yield f"<section><h2><code>{escape(name)}</code></h2><p>{escape(operation['summary'])}. "
            yield f"{escape(operation.get('description', ''))}</p>"
            yield from _body(path, operation, description)
            yield "</section>"


def _body(path: str, operation: Mapping[str, Any], description: Mapping[str, Any]) -> Iterator[str]:
    if "requestBody" not in operation:
        return
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = description["components"]["schemas"][reference.rpartition("/")[2]]
    rows = "".join(
        f"<tr><th scope=row><code>{escape(name)}</code></th><td>{escape(_type(field, description))}"
        f"</td><td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in schema["properties"].items()
    )
    yield (
        '<div class="scroll"><table><thead><tr><th scope="col">field</th><th scope="col">type</th>'
        f'<th scope="col">meaning</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    for example in schema.get("examples", ()):
        command = f"curl -H 'Content-Type: application/json' -d '{json.dumps(example)}' http://localhost:8000{path}"
        yield f"<pre>{escape(command)}</pre>"
    reasons = "; ".join(
        f"{status}: {answer['description'].removesuffix('.')}"
        for status, answer in operation["responses"].items()
        if int(status) >= 400
    )
    yield f"<p>Errors: {escape(reasons)}.</p>"


_NAMES = {"string": "a text", "boolean": "true or false"}


def _type(field: Mapping[str, Any], description: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(each, description) for each in field["anyOf"] if each.get("type") != "null")
    if "$ref" in field:
        schema = description["components"]["schemas"][field["$ref"].rpartition("/")[2]]
        return f"an object of {', '.join(schema['properties'])}"
    if field.get("type") == "array":
        return f"a list, each {_type(field['items'], description)}"
    return str(_NAMES.get(field.get("type", ""), field.get("type", "")))
