from __future__ import annotations

from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_json_lines


def test_json_lines_name_the_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n[2]\noops\n')
    values = read_json_lines(path)
    assert [next(values), next(values)] == [(1, {"a": 1}), (3, [2])]
    with pytest.raises(DataError, match="line 4 is not JSON: 'oops'"):
        next(values)
