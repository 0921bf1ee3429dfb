"""Draw the map of the code, docs/code_map.md, from the imports of the package.

    python scripts/code_map.py            # write it
    python scripts/code_map.py --check    # exit with 1 if it is not current

A room is a folder of the package. The modules at the top of ``qdecomp`` are the room ``top``; the plain values at the
top of ``data_structures`` are the room ``data_structures``.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "qdecomp"
MAP = ROOT / "docs" / "code_map.md"

TOP = "top"
# Modules that everybody may import, and so say nothing about the order of rooms.
_EVERYWHERE = {"qdecomp.version"}
# A module that stands above the other modules of its folder.
_ROOMS_OF_ONE = {"qdecomp.data_structures.prediction", "qdecomp.cli"}


def module_name(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> dict[str, Path]:
    """All modules of the package by name."""
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module: str, packages: frozenset[str]) -> str:
    """The room of a module: its folder.

    >>> room_of("qdecomp.files.resumable", frozenset({"qdecomp", "qdecomp.files"}))
    'files'
    """
    if module in _ROOMS_OF_ONE:
        return module.partition(".")[2]
    folder = module if module in packages else module.rpartition(".")[0]
    return folder.partition(".")[2] or TOP


def imports_of(module: str, path: Path, known: frozenset[str]) -> Iterator[str]:
    """The modules of the package that a file imports, inside of functions, too, but not for type checkers alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                parent = package[: len(package) - node.level + 1]
                base = ".".join([*parent, base] if base else parent)
            for alias in node.names:
                name = f"{base}.{alias.name}"
                if name in known:
                    yield name
                elif base in known:
                    yield base


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _nodes(node)


@cache
def room_imports() -> dict[str, dict[str, set[str]]]:
    """For each room, the rooms that it imports, with the modules that do so."""
    found = modules()
    known = frozenset(found)
    packages = frozenset(name for name, path in found.items() if path.name == "__init__.py")
    result: dict[str, dict[str, set[str]]] = {}
    for module, path in found.items():
        room = room_of(module, packages)
        targets = result.setdefault(room, {})
        for target in imports_of(module, path, known):
            other = room_of(target, packages)
            if other != room and target not in _EVERYWHERE:
                targets.setdefault(other, set()).add(module)
    return result


def summary(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0] if text else ""


def order(imports: dict[str, dict[str, set[str]]]) -> list[str]:
    """The rooms, each behind those that it imports; a cycle is a ValueError that names its rooms."""
    done: list[str] = []
    waiting = sorted(imports)
    while waiting:
        ready = [room for room in waiting if set(imports[room]) <= set(done)]
        if not ready:
            raise ValueError(f"these rooms import each other: {', '.join(waiting)}")
        done += ready
        waiting = [room for room in waiting if room not in ready]
    return done


def needed_arrows(imports: dict[str, dict[str, set[str]]]) -> Iterator[tuple[str, str]]:
    """The imports that do not follow from others, so that the picture stays readable."""
    reach: dict[str, set[str]] = {}
    for room in order(imports):
        reach[room] = set(imports[room]).union(*(reach[other] for other in imports[room]))
    for room in order(imports):
        for other in sorted(imports[room]):
            if not any(other in reach[between] for between in imports[room] if between != other):
                yield room, other


def code_map() -> str:
    """The text of the map."""
    found = modules()
    packages = frozenset(name for name, path in found.items() if path.name == "__init__.py")
    imports = room_imports()
    lines = [
        "# The map of the code",
        "",
        "Generated by `python scripts/code_map.py` from the imports; a test checks that it is current. An arrow points",
        "from a room to one that it imports. Arrows that follow from others are left out.",
        "",
        "```mermaid",
        "flowchart TD",
        *(f'    {_identifier(room)}["{room}"]' for room in order(imports)),
        *(f"    {_identifier(room)} --> {_identifier(other)}" for room, other in needed_arrows(imports)),
        "```",
    ]
    for room in reversed(order(imports)):
        members = [name for name in found if room_of(name, packages) == room and found[name].name != "__init__.py"]
        init = PACKAGE / ("" if room == TOP else room.replace(".", "/")) / "__init__.py"
        lines += ["", f"## {room}", ""]
        if init.exists():
            lines += [summary(init), ""]
        if members:
            lines += ["| module | what it does |", "|---|---|"]
            lines += [f"| `{name.rpartition('.')[2]}` | {summary(found[name])} |" for name in members]
    return "\n".join(lines).rstrip() + "\n"


def _identifier(room: str) -> str:
    return room.replace(".", "_")


def main() -> int:
    """Write the map, or check it."""
    parser = argparse.ArgumentParser(description="Draw the map of the code from its imports.")
    parser.add_argument("--check", action="store_true", help="only say whether the map is current")
    arguments = parser.parse_args()
    text = code_map()
    if arguments.check:
        current = MAP.exists() and MAP.read_text(encoding="utf-8") == text
        print(f"{MAP.name} is current" if current else f"{MAP.name} is out of date: run python scripts/code_map.py")
        return 0 if current else 1
    MAP.parent.mkdir(exist_ok=True)
    MAP.write_text(text, encoding="utf-8")
    print(MAP)
    return 0


if __name__ == "__main__":
    sys.exit(main())
