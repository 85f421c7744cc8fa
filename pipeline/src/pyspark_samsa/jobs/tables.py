"""Tables that jobs read and write: folders of Parquet files, or Delta tables."""

import argparse
from typing import Protocol

from pyspark_samsa.errors import SamsaError
from pyspark_samsa.jobs.folders import Folder

DELTA_LOG = "_delta_log"
PARQUET, DELTA, ICEBERG = "parquet", "delta", "iceberg"


class Table(Protocol):
    """A folder, or a table of a catalog: its name is its text."""

    def exists(self) -> bool: ...


def add_format(parser: argparse.ArgumentParser, *more: str) -> None:
    parser.add_argument(
        "--format",
        choices=(PARQUET, DELTA, *more),
        default=PARQUET,
        help="of the table (%(default)s)",
    )


def check_format(table: Folder, form: str) -> None:
    """A Delta table read as Parquet shows rows that were deleted; Parquet files that are written
    as Delta hide those before. Raises SamsaError."""
    if not table.is_empty():
        raise_unless(form, str(table), (table / DELTA_LOG).exists())


def raise_unless(form: str, table: str, is_delta: bool) -> None:
    found = DELTA if is_delta else PARQUET
    if form != found:
        raise SamsaError(f"{table} is not in the format {form}: --format {found}, or another table")
