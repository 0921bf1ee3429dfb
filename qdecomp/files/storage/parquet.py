"""Parquet files of records: a row for each, with JSON text for what a column cannot hold."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.files.storage.chunk_stream import ChunkStream
from qdecomp.files.writing.output_stream import UNENCODABLE

__all__ = ["PARQUET_MAGIC", "parquet_lines", "require_parquet", "write_parquet"]

PARQUET_MAGIC = b"PAR1"
"""How a Parquet file begins."""

_ROWS_AT_A_TIME = 1000
# The fields of records that are columns of their own type; all others are JSON text.
_TEXTS = ("question_id", "question", "decomposition", "error", "reason", "key")
_LISTS_OF_TEXTS = ("logical_form", "warnings", "missing")
_NUMBERS = ("score", "confidence")
# In the metadata of a file: which columns are JSON text, and which fields not every record has.
_JSON_FIELDS = b"qdecomp.json"
_OPTIONAL_FIELDS = b"qdecomp.optional"


def parquet_lines(stream: BinaryIO, name: str) -> BinaryIO:
    """The rows of a Parquet file as JSON lines, read lazily."""
    return io.BufferedReader(ChunkStream(_lines(stream, name)))


def require_parquet(name: str) -> Any:
    """The library that reads and writes Parquet; without it, an error says what to install."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise missing_extra(f"{name}: a Parquet file", "files") from None
    return parquet


def _lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    parquet = require_parquet(name)
    import pyarrow

    try:
        file = parquet.ParquetFile(stream)
        metadata = file.schema_arrow.metadata or {}
        as_json = json.loads(metadata.get(_JSON_FIELDS, b"[]"))
        optional = json.loads(metadata.get(_OPTIONAL_FIELDS, b"[]"))
        for batch in file.iter_batches(_ROWS_AT_A_TIME):
            for row in batch.to_pylist():
                record = {name: value for name, value in row.items() if value is not None or name not in optional}
                for field in as_json:
                    if record.get(field) is not None:
                        record[field] = json.loads(record[field])
                # Dates and the like become text.
                yield json.dumps(record, default=str).encode() + b"\n"
    except (pyarrow.ArrowException, ValueError) as error:
        raise DataError(f"{name}: this Parquet file cannot be read ({' '.join(str(error).split())})") from None


def write_parquet(stream: BinaryIO, records: Iterable[Mapping[str, Any]], fields: Mapping[str, bool]) -> None:
    """Write records as Parquet; ``fields`` names the fields in order, and says of each whether every record has it."""
    import pyarrow
    from pyarrow import parquet

    kinds = {
        **dict.fromkeys(_TEXTS, pyarrow.string()),
        **dict.fromkeys(_LISTS_OF_TEXTS, pyarrow.list_(pyarrow.string())),
        **dict.fromkeys(_NUMBERS, pyarrow.float64()),
        "row": pyarrow.int64(),
        "round_trip": pyarrow.bool_(),
    }
    as_json = [name for name in fields if name not in kinds]
    optional = [name for name, is_everywhere in fields.items() if not is_everywhere]
    metadata = {_JSON_FIELDS: json.dumps(as_json).encode(), _OPTIONAL_FIELDS: json.dumps(optional).encode()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in fields], metadata)
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for record in records:
            rows.append({name: _cell(record.get(name), name in as_json) for name in fields})
            if len(rows) == _ROWS_AT_A_TIME:
                writer.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))
                rows.clear()
        if rows:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))


def _cell(value: Any, as_json: bool) -> Any:
    if as_json:
        return None if value is None else json.dumps(value)
    if isinstance(value, str):
        return value.encode(errors=UNENCODABLE).decode()
    return [_cell(each, False) for each in value] if isinstance(value, list) else value
