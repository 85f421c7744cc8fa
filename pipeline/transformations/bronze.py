"""Bronze: the topic as it is, with nothing added and nothing left out.

Tables further on can be made again from this one, also when the topic no longer has the records.
"""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.active()
TOPIC = spark.conf.get("spark.samsa.trucks.topic")


@dp.table(name="bronze_trucks", comment="Records of the topic, as they came")
def bronze_trucks() -> DataFrame:
    # SAMSA_LEDGER and SAMSA_OBJECTS in the environment say where the log is.
    return (
        spark.readStream.format("samsa")
        .option("subscribe", TOPIC)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
