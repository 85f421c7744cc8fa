"""The options of the format `samsa_iceberg`: which table, in which catalog, and how a new table is
partitioned."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark_samsa.errors import BadOption
from pyspark_samsa.options import UserOptions

from .partitioning import PartitionBy, read_partition_by

TABLE, CATALOG, PARTITION_BY = "path", "catalog", "partitionBy"
OF_CATALOG = "catalog."
"""The prefix of options that are properties of the catalog."""
KNOWN = (TABLE, CATALOG, PARTITION_BY)
NOT_OURS = (OF_CATALOG, "checkpointlocation", "queryname")
USUAL_CATALOG = "default"


@dataclass(frozen=True, slots=True)
class IcebergOptions:
    table: str
    catalog: str
    properties: Mapping[str, str]
    """Of the catalog. Others are in PyIceberg's file, or in the environment."""
    partition_by: PartitionBy
    """Of a new table. That of an existing one must be the same, if this is not empty."""


def read_iceberg_options(options: Mapping[str, str]) -> IcebergOptions:
    given = UserOptions(options, KNOWN, NOT_OURS)
    table = (given.text(TABLE) or "").strip()
    if not all(table.split(".")) or "." not in table or "/" in table:
        raise BadOption(f"{TABLE}: {table!r} is no name of a table, such as lake.orders")
    return IcebergOptions(
        table=table,
        catalog=given.text(CATALOG) or USUAL_CATALOG,
        properties={
            name[len(OF_CATALOG) :].lower(): value
            for name, value in options.items()
            if name.lower().startswith(OF_CATALOG)
        },
        partition_by=read_partition_by(given.text(PARTITION_BY) or ""),
    )
