"""Draw the map of the code, docs/code_map.md, from the imports.

    python scripts/code_map.py            # write it
    python scripts/code_map.py --check    # exit with 1 if it is not current

Every folder of ``qdecomp`` is a package. The modules at the top of ``qdecomp`` form the package ``top``; the plain
values at the top of ``data_structures`` form the package ``data_structures``.
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
# Modules that every package may import, so they say nothing about the order.
_EVERYWHERE = {"qdecomp.version"}
# Modules that count as packages, because they are above the other modules of their folder.
_STANDALONE_MODULES = {"qdecomp.data_structures.prediction", "qdecomp.cli"}


def module_name(path: Path) -> str:
    """The dotted name of a module's file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> dict[str, Path]:
    """All modules by name."""
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def package_of(module: str, folders: frozenset[str]) -> str:
    """The package of a module: its folder.

    >>> package_of("qdecomp.files.records.resumable", frozenset({"qdecomp", "qdecomp.files.records"}))
    'files.records'
    """
    if module in _STANDALONE_MODULES:
        return module.partition(".")[2]
    folder = module if module in folders else module.rpartition(".")[0]
    return folder.partition(".")[2] or TOP


def imports_of(module: str, path: Path, known: frozenset[str]) -> Iterator[str]:
    """The modules of ``qdecomp`` that a file imports, including inside functions, but not only for type checkers."""
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
def package_imports() -> dict[str, dict[str, set[str]]]:
    """For each package, the packages that it imports, with the modules that do so."""
    found = modules()
    known = frozenset(found)
    folders = frozenset(name for name, path in found.items() if path.name == "__init__.py")
    result: dict[str, dict[str, set[str]]] = {}
    for module, path in found.items():
        package = package_of(module, folders)
        targets = result.setdefault(package, {})
        for target in imports_of(module, path, known):
            other = package_of(target, folders)
            if other != package and target not in _EVERYWHERE:
                targets.setdefault(other, set()).add(module)
    return result


def summary(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0] if text else ""


def order(imports: dict[str, dict[str, set[str]]]) -> list[str]:
    """The packages, each after those that it imports; a cycle is a ValueError that names its packages."""
    done: list[str] = []
    waiting = sorted(imports)
    while waiting:
        ready = [package for package in waiting if set(imports[package]) <= set(done)]
        if not ready:
            raise ValueError(f"these packages import each other: {', '.join(waiting)}")
        done += ready
        waiting = [package for package in waiting if package not in ready]
    return done


def needed_arrows(imports: dict[str, dict[str, set[str]]]) -> Iterator[tuple[str, str]]:
    """The imports that do not follow from others, so that the picture stays readable."""
    reach: dict[str, set[str]] = {}
    for package in order(imports):
        reach[package] = set(imports[package]).union(*(reach[other] for other in imports[package]))
    for package in order(imports):
        for other in sorted(imports[package]):
            if not any(other in reach[between] for between in imports[package] if between != other):
                yield package, other


def code_map() -> str:
    """The text of the map."""
    found = modules()
    folders = frozenset(name for name, path in found.items() if path.name == "__init__.py")
    imports = package_imports()
    lines = [
        "# The map of the code",
        "",
        "Generated by `python scripts/code_map.py` from the imports; a test checks that it is current. An arrow points",
        "from a package to one that it imports. Arrows that follow from others are left out.",
        "",
        "```mermaid",
        "flowchart TD",
        *(f'    {_identifier(package)}["{package}"]' for package in order(imports)),
        *(f"    {_identifier(package)} --> {_identifier(other)}" for package, other in needed_arrows(imports)),
        "```",
    ]
    for package in reversed(order(imports)):
        members = [name for name in found if package_of(name, folders) == package and found[name].name != "__init__.py"]
        init = PACKAGE / ("" if package == TOP else package.replace(".", "/")) / "__init__.py"
        lines += ["", f"## {package}", ""]
        if init.exists():
            lines += [summary(init), ""]
        if members:
            lines += ["| module | what it does |", "|---|---|"]
            lines += [f"| `{name.rpartition('.')[2]}` | {summary(found[name])} |" for name in members]
    return "\n".join(lines).rstrip() + "\n"


def _identifier(package: str) -> str:
    return package.replace(".", "_")


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
