"""Rows in, rows out: one reader for every file of rows, outputs that are complete or not there, and long runs on rows.

- :mod:`.sources` opens local, remote and compressed files, and folders of files;
- :mod:`.rows` reads rows, :mod:`.break_csv` questions with their decompositions, :mod:`.predictions` prediction
  records;
- :mod:`.store` keeps rows that do not fit in memory;
- :mod:`.atomic` writes files that are complete or not there, :mod:`.outputs` records so that a stopped run resumes;
- :mod:`.jobs` works on rows in this process, in several or on a cluster (:mod:`.dask`);
- :mod:`.conversion` converts files of annotated decompositions.
"""

from qdecomp.files.atomic import (
    require_other_files,
    require_replaceable_folder,
    write_folder_atomically,
    write_text_atomically,
)
from qdecomp.files.break_csv import BreakExample, read_break_csv, read_questions, source_of
from qdecomp.files.rows import Row, RowFile, read_json_lines
from qdecomp.files.sources import text_suffix

__all__ = [
    "BreakExample",
    "Row",
    "RowFile",
    "read_break_csv",
    "read_json_lines",
    "read_questions",
    "require_other_files",
    "require_replaceable_folder",
    "source_of",
    "text_suffix",
    "write_folder_atomically",
    "write_text_atomically",
]
