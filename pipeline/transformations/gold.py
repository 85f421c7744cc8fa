"""Gold, the other half: where each truck was last, a table that is upserted from a changelog.

The changelog is the topic: positions, and departures, which delete. Newest is by the truck's clock,
since some positions are late; a departure has only the record's. A run reads what has come since
the one before it, and touches the files of the trucks that moved.
"""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.active()
TABLE = "gold_latest_positions"
PLACE = ("latitude", "longitude", "speed_kmh", "heading")

# A sink, because Spark's own upserts (AUTO CDC) want a table that neither Parquet nor Delta is.
dp.create_sink(
    TABLE,
    "samsa_latest",
    {
        "path": f"{spark.conf.get('spark.sql.warehouse.dir')}/{TABLE}",
        "format": spark.conf.get("spark.sql.sources.default"),
        "keys": "truck_id",
        "sequenceBy": "event_timestamp,offset",
        "deleteColumn": "has_left",
    },
)


@dp.append_flow(target=TABLE, name=TABLE)
def gold_latest_positions() -> DataFrame:
    positions = spark.readStream.table("silver_positions").selectExpr(
        "truck_id", "event_timestamp", *PLACE, "offset", "false AS has_left"
    )
    departures = (
        spark.readStream.table("bronze_trucks")
        .where("value IS NULL AND key IS NOT NULL")
        .selectExpr(
            "cast(key AS STRING) AS truck_id",
            "timestamp AS event_timestamp",
            *(f"cast(NULL AS DOUBLE) AS {name}" for name in PLACE),
            "offset",
            "true AS has_left",
        )
    )
    return positions.union(departures)
