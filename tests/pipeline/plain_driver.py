"""A Spark as a user starts it, which knows nothing of Samsa; then a topic is read and written."""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").getOrCreate()

import pyspark_samsa  # noqa: E402, F401

ledger, objects, topic = sys.argv[1:]
log = {"ledger": ledger, "objects": objects}
rows = spark.sql("SELECT 'v' AS value")
rows.write.format("samsa").options(**log, topic=topic).mode("append").save()
print(spark.read.format("samsa").options(**log, subscribe=topic).load().count())
