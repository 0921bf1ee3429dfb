from __future__ import annotations

import json
import os
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files.outputs import format_record, resume_records

KEYS = ["a", "b", "c", "d"]


def write(path, keys=KEYS, **options):
    """Write the missing records; return those that were already there."""
    found = []
    with resume_records(path, keys, on_record=found.append, **options) as writer:
        for key in keys[writer.done :]:
            writer.write(format_record({"key": key, "text": "gr\u00f6\u00dfer"}))
    return found


def keys_of(path):
    return [json.loads(line)["key"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_new_file_has_every_record(tmp_path):
    path = tmp_path / "new" / "out.jsonl"
    assert write(path) == []
    assert keys_of(path) == KEYS
    assert len(write(path)) == 4


@given(cut=st.integers(min_value=0))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_was_cut_anywhere_is_completed(tmp_path, cut):
    path = tmp_path / "out.jsonl"
    path.unlink(missing_ok=True)
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % (len(whole) + 1)])
    write(path)
    assert path.read_bytes() == whole


def test_a_last_line_of_rubbish_is_removed(tmp_path):
    path = tmp_path / "out.jsonl"
    write(path, KEYS[:2])
    with path.open("ab") as stream:
        stream.write(b"\0\0\0\n")
    write(path)
    assert keys_of(path) == KEYS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"key": "x"}\n', "line 1 was made from other input or with other settings"),
        ('{"key": "a"}\n[]\n{"key": "c"}\n', "line 2 is not a record of qdecomp"),
        ("".join(f'{{"key": "{key}"}}\n' for key in "abcde"), "line 5 was made from other input"),
        ("question_id,question_text\n1,2\n", "line 1 is not a record of qdecomp"),
    ],
)
def test_a_file_of_others_is_not_touched(tmp_path, text, reason):
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        write(path)
    assert path.read_text() == text
    write(path, overwrite=True)
    assert keys_of(path) == KEYS


def test_two_runs_do_not_write_one_file(tmp_path):
    path = tmp_path / "out.jsonl"
    with (
        resume_records(path, KEYS),
        pytest.raises(DataError, match="another run is writing"),
        resume_records(path, KEYS),
    ):
        pass


def test_what_is_written_is_kept_when_the_run_breaks(tmp_path):
    def run():
        with resume_records(tmp_path / "out.jsonl", KEYS) as writer:
            writer.write(format_record({"key": "a"}))
            raise KeyError

    with pytest.raises(KeyError):
        run()
    assert keys_of(tmp_path / "out.jsonl") == ["a"]


def test_a_file_in_the_place_of_a_folder_is_our_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"), resume_records(tmp_path / "file" / "out", KEYS):
        pass


def test_a_full_device_is_one_line_and_a_pipe_is_written_to(tmp_path):
    with pytest.raises(DataError, match="/dev/full: cannot be written"), resume_records("/dev/full", KEYS) as writer:
        writer.write(format_record({"key": "a"}))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.extend(pipe.read_text().splitlines()))
    reader.start()
    assert write(pipe) == []
    reader.join()
    assert [json.loads(line)["key"] for line in found] == KEYS
    assert pipe.is_fifo()
