"""Reading and writing files: Break's CSV, questions, JSON lines; output that is complete or not there."""

from qdecomp.files.readers.break_csv import BreakExample, read_break_csv, source_of
from qdecomp.files.readers.text_files import open_text, read_json_lines, text_suffix, try_json_lines
from qdecomp.files.storage.distinct_files import require_other_files
from qdecomp.files.writing.atomic import require_replaceable_folder, write_folder_atomically, write_text_atomically

__all__ = [
    "BreakExample",
    "open_text",
    "read_break_csv",
    "read_json_lines",
    "require_other_files",
    "require_replaceable_folder",
    "source_of",
    "text_suffix",
    "try_json_lines",
    "write_folder_atomically",
    "write_text_atomically",
]
