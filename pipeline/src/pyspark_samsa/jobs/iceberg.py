"""Iceberg tables as topic-to-table fills them: by their names in a catalog."""

import argparse
from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyspark_samsa.errors import BadOption
from pyspark_samsa.iceberg.options import (
    CATALOG,
    OF_CATALOG,
    PARTITION_BY,
    TABLE,
    USUAL_CATALOG,
    read_iceberg_options,
)
from pyspark_samsa.iceberg.tables import catalog_of, opened_table, summary_of
from pyspark_samsa.jobs.arguments import pair
from pyspark_samsa.jobs.latest import LATEST
from pyspark_samsa.jobs.tables import ICEBERG


def add_iceberg(parser: argparse.ArgumentParser) -> None:
    iceberg = parser.add_argument_group("Iceberg")
    iceberg.add_argument(
        "--catalog", metavar="NAME", help=f"as PyIceberg's configuration has it ({USUAL_CATALOG})"
    )
    iceberg.add_argument(
        "--catalog-conf", metavar="NAME=VALUE", action="append", default=[], type=pair,
        help="a property of the catalog: type=glue, uri=https://…; may be repeated",
    )  # fmt: skip
    iceberg.add_argument(
        "--partition-by", metavar="LIST",
        help='of a new table: "hours(timestamp), bucket(16, key), topic"',
    )  # fmt: skip


def check_iceberg(given: argparse.Namespace) -> None:
    """Before Spark starts. Raises BadOption."""
    if given.format != ICEBERG:
        if given.catalog or given.catalog_conf or given.partition_by:
            raise BadOption("--catalog, --catalog-conf and --partition-by are for --format iceberg")
        return
    if given.mode == LATEST:
        raise BadOption("--mode latest makes tables in Parquet or Delta, not in Iceberg")
    if not given.checkpoint:
        raise BadOption(
            "an Iceberg table is where its catalog says, and Spark may have no rights there:"
            " --checkpoint names a folder that is kept for the next runs"
        )
    with catalog_of(read_iceberg_options(sink_options(given))):
        pass


def sink_options(given: argparse.Namespace) -> Mapping[str, str]:
    chosen = {f"{OF_CATALOG}{name}": value for name, value in given.catalog_conf}
    chosen[CATALOG] = given.catalog or USUAL_CATALOG
    return {**chosen, TABLE: given.table, PARTITION_BY: given.partition_by or ""}


class IcebergTable:
    def __init__(self, given: argparse.Namespace) -> None:
        self._said = sink_options(given)
        self._options = read_iceberg_options(self._said)

    def __str__(self) -> str:
        return self._options.table

    def exists(self) -> bool:
        """Whether there has been a commit: a table that was only created may be filled."""
        return bool(self._summary())

    def rows(self) -> int:
        return int(self._summary().get("total-records", 0))

    def start(self, spark: SparkSession, writer: DataStreamWriter) -> StreamingQuery:
        from pyspark_samsa.iceberg.source import DefaultSource

        # Spark finds it by itself where it is installed, but not in what --py-files brings.
        spark.dataSource.register(DefaultSource)
        return writer.format(DefaultSource.name()).options(**self._said).start()

    def _summary(self) -> Mapping[str, str]:
        with catalog_of(self._options) as catalog:
            table = opened_table(catalog, self._options.table)
            return {} if table is None else summary_of(table)
