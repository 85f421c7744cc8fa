"""What Spark needs for Delta tables: which release fits which Spark is in decision 18."""

PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"

DELTA_CONF = {
    "spark.jars.packages": PACKAGE,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Small tables are read by few tasks: Delta's own default is 50.
    "spark.databricks.delta.snapshotPartitions": "2",
}


def delta_conf(chosen: dict[str, str]) -> dict[str, str]:
    """With the user's own settings: a user who names jars has to include Delta's."""
    conf = {**DELTA_CONF, **chosen}
    if "spark.jars" in chosen and "spark.jars.packages" not in chosen:
        del conf["spark.jars.packages"]
    return conf
