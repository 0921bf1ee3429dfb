"""No two things share a name, so that nobody need ask which of several it is; nothing is there only for tests."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import qdecomp

PACKAGE = Path(qdecomp.__file__).parent
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]

# Every subcommand of ``qdecomp`` is the function of this name in its module; the command line finds it there.
SHARED_NAMES = {"command"}


def public_names(path: Path) -> Iterator[str]:
    """The public functions, classes and constants that a module defines itself."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def used_twice(names: Iterator[tuple[str, Path]]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in names:
        places[name].append(str(path.relative_to(PACKAGE)))
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_two_modules_have_one_name() -> None:
    assert not used_twice((path.stem, path) for path in MODULES)


def test_no_two_modules_define_one_public_name() -> None:
    ignored = {*SHARED_NAMES, "logger"}
    names = ((name, path) for path in MODULES for name in set(public_names(path)))
    assert not used_twice((name, path) for name, path in names if not name.startswith("_") and name not in ignored)


def names_in_use(path: Path) -> Iterator[str]:
    """The names that code reads or imports, also as text such as ``"greedy.GreedyDecoder"``, or the words of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from re.findall(r"\w+", text)
        return
    statements = (node for node in ast.parse(text).body if not ast.unparse(node).startswith("__all__"))
    for node in (inner for statement in statements for inner in ast.walk(statement)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.Constant(value=str(value)) if re.fullmatch(r"[\w.:]+", value):
                yield re.split(r"[.:]", value)[-1]


def is_registered(path: Path, name: str) -> bool:
    """Whether AllenNLP finds the class by the name under which it is registered."""
    return any(
        isinstance(node, ast.ClassDef)
        and node.name == name
        and ".register(" in "".join(map(ast.unparse, node.decorator_list))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def test_every_public_name_is_used_or_documented_and_not_only_tested() -> None:
    root = PACKAGE.parent
    folders = ("qdecomp", "scripts", "experiments", "examples")
    code = [path for folder in folders for path in root.glob(f"{folder}/**/*.py")]
    pages = [root / "README.md", *(path for path in root.glob("docs/*.md") if path.stem != "code_map")]
    used = {name for path in (*code, *pages) for name in names_in_use(path)}
    names = ((path, name) for path in MODULES for name in public_names(path) if not name.startswith("_"))
    unused = [(path, name) for path, name in names if name not in used | SHARED_NAMES]
    assert not [f"{path.stem}.{name}" for path, name in unused if not is_registered(path, name)]
