import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from qdecomp.cli import LazyGroup

_MODULE = """import click


@click.command("{name}")
def command() -> None:
    click.echo("{name} ran")
"""


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> click.Group:
    package = tmp_path / "lazy_group_example"
    package.mkdir()
    for name in ("first", "second"):
        (package / f"{name}.py").write_text(_MODULE.format(name=name))
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("lazy_group_example")]:
        monkeypatch.delitem(sys.modules, name)
    return LazyGroup("main", package=package.name, commands_help={"second": "Runs later.", "first": "Runs."})


def test_runs_one_subcommand_without_importing_the_other(group: click.Group) -> None:
    result = CliRunner().invoke(group, ["second"])
    assert result.exit_code == 0
    assert result.output == "second ran\n"
    assert "lazy_group_example.second" in sys.modules
    assert "lazy_group_example.first" not in sys.modules


def test_help_lists_the_subcommands_in_order_and_imports_none(group: click.Group) -> None:
    output = CliRunner().invoke(group, ["--help"]).output
    assert output.index("second") < output.index("first")
    assert "Runs later." in output
    assert not any(name.startswith("lazy_group_example.") for name in sys.modules)


def test_an_unknown_subcommand_is_bad_usage(group: click.Group) -> None:
    result = CliRunner().invoke(group, ["third"])
    assert result.exit_code == 2
    assert "third" in result.output
