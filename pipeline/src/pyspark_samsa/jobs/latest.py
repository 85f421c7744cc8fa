"""The latest record of every key, and tables of them.

Within a partition the offset says what is later, across partitions the time. A record without a
value is a tombstone: its key is gone. Records without a key have no place in such a table.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, max_by, struct

from .folders import Folder

LATEST = "latest"
AGE = ("topic", "partition", "offset", "timestamp")
"""The columns that say which of two records is the later one."""

MERGE = """
MERGE INTO delta.`{table}` AS old USING {batch} AS new ON old.key = new.key
WHEN MATCHED AND {later} AND new.value IS NULL THEN DELETE
WHEN MATCHED AND {later} THEN UPDATE SET *
WHEN NOT MATCHED AND new.value IS NOT NULL THEN INSERT *
"""
LATER = """(
CASE WHEN old.topic = new.topic AND old.partition = new.partition
THEN new.offset >= old.offset ELSE new.timestamp >= old.timestamp END)"""


def latest(records: DataFrame) -> DataFrame:
    """The newest row of each key, tombstones included."""
    whole = struct(*map(col, records.columns))
    of_partitions = (
        records.where(col("key").isNotNull())
        .groupBy("key", "topic", "partition")
        .agg(max_by(whole, col("offset")).alias("row"))
    )
    of_keys = of_partitions.groupBy("key").agg(max_by(col("row"), _age("row")).alias("row"))
    return of_keys.select("row.*")


def _age(row: str) -> Column:
    return struct(*(col(f"{row}.{name}") for name in ("timestamp", "topic", "partition")))


def rewrite(records: DataFrame, table: Folder) -> None:
    """Merge these records into a Parquet table. It is written again beside the old one, which is
    replaced when the new one is complete. Repeating this changes nothing."""
    recover(table)
    spark, new, old = records.sparkSession, table.beside(".new"), table.beside(".old")
    if table.exists():
        records = spark.read.parquet(str(table)).unionByName(records)
    new.remove()
    latest(records).where("value is not null").write.parquet(str(new))
    old.remove()
    if table.exists():
        table.rename(old)
    new.rename(table)
    old.remove()


def recover(table: Folder) -> None:
    """Repair what a run left that was stopped between the two renames: the old table has another
    name."""
    old = table.beside(".old")
    if old.exists() and not table.exists():
        old.rename(table)


def merge(records: DataFrame, table: Folder) -> None:
    """Merge these records into a Delta table. Repeating this changes nothing."""
    spark = records.sparkSession
    records.limit(0).write.format("delta").mode("ignore").save(str(table))
    name = "records_to_merge"
    latest(records).createOrReplaceTempView(name)
    spark.sql(MERGE.format(table=table, batch=name, later=LATER))
