"""``qdecomp convert``: turn annotated decompositions into dependency graphs and check each of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from qdecomp.cli import options
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.files import require_other_files, write_text_atomically
from qdecomp.files.conversion import ConversionCache, ConversionSummary, convert_file
from qdecomp.terminal import Table, printable, show_tables

_BROKEN_ROWS_NAMED = 10


@click.command("convert")
@click.option(
    "--input",
    "input_path",
    type=options.PATH,
    required=True,
    multiple=True,
    callback=options.only_one,
    help="Break's CSV, or JSON lines or Parquet with its columns.",
)
@click.option(
    "--output",
    "output_path",
    metavar="PATH",
    required=True,
    help="JSON lines, one for each row, or a folder of files if the name ends with a slash.",
)
@click.option(
    "--special-tokens",
    default="default",
    show_default=True,
    help="The tokens that are appended to every question: default or paper.",
)
@click.option("--processes", type=click.IntRange(min=1), help="How many cores to use.  [default: all]")
@options.CLUSTER_OPTION
@options.PART_ROWS_OPTION
@options.OVERWRITE_OPTION
@click.option("--strict", is_flag=True, help="Exit with code 1 if a row could not be converted.")
@click.option("--json", "json_path", type=options.PATH, help="Write the figures to this file.")
def command(
    input_path: Path,
    output_path: str,
    special_tokens: str,
    processes: int | None,
    cluster: str | None,
    part_rows: int | None,
    overwrite: bool,
    strict: bool,
    json_path: Path | None,
) -> None:
    """Turn annotated decompositions into dependency graphs.

    Each graph is turned back into a logical form and compared with the one it was made from. If a run is stopped, start
    it again with the same input and options to resume it. Graphs are also kept in the cache folder (QDECOMP_CACHE),
    where training finds them.
    """
    where = options.where_of(processes, cluster)
    options.require_folder(output_path, part_rows)
    if special_tokens not in PRESETS:
        raise DataError(f"--special-tokens: there is no {special_tokens!r}; choose one of {', '.join(sorted(PRESETS))}")
    require_other_files({"--output": output_path, "--json": json_path}, [input_path])
    summary = convert_file(
        input_path,
        output_path,
        special=PRESETS[special_tokens],
        where=where,
        cache=ConversionCache(),
        overwrite=overwrite,
        part_rows=part_rows,
    )
    if json_path is not None:
        with write_text_atomically(json_path) as stream:
            stream.write(json.dumps(summary.to_json(), ensure_ascii=False, indent=1) + "\n")
    show_tables(_tables(summary))
    for broken in summary.broken[:_BROKEN_ROWS_NAMED]:
        print(printable(f"{input_path}: {broken}"), file=sys.stderr)
    if len(summary.broken) > _BROKEN_ROWS_NAMED:
        print(printable(f"{input_path}: {len(summary.broken):,} rows in all cannot be read"), file=sys.stderr)
    options.end_run(summary.internal_errors, strict and summary.failures)


def _tables(summary: ConversionSummary) -> list[Table]:
    columns = ("source", "rows", "converted", "round trip", "converted %", "round trip %")
    counted = sorted(summary.sources.items())
    rows = []
    for name, counts in [*counted, ("all", summary.total)] if len(counted) > 1 else counted:
        shares = (f"{100 * counts[column] / counts['rows']:.2f}" for column in ("converted", "round_trip"))
        rows.append((name, *map(str, counts.values()), *shares))
    note = f"{summary.seconds:.1f} seconds"
    if summary.resumed:
        note += f"; {summary.resumed} rows were already there"
    tables = [Table("Rows by source", columns, tuple(rows), note=note)]
    for title, reasons in (("Rows without a graph", summary.failures), ("Not given back", summary.losses)):
        if reasons:
            cells = tuple((reason, str(count)) for reason, count in reasons.most_common())
            tables.append(Table(title, ("reason", "rows"), cells))
    return tables
