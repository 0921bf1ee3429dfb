"""No two things share a name: a reader who finds a name in one module need not ask which of several it is."""

from __future__ import annotations

import ast
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
