"""Tables that jobs read and write: folders of Parquet files, or Delta tables."""

import argparse

PARQUET, DELTA = "parquet", "delta"


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=(PARQUET, DELTA), default=PARQUET, help="of the table (%(default)s)"
    )
