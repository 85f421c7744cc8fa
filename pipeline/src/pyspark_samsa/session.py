"""A Spark session on this machine, ready for Samsa: for tests, jobs, and trying it out.

On a cluster none of this is needed: `spark.read.format("samsa")` works in any session whose Python
has this package.
"""

import os
import sys
from collections.abc import Mapping

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from .java import use_java

DEFAULTS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

PYTHON, SPARKS_PYTHON = "PYSPARK_PYTHON", "python3"
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Is in the environment of a program that spark-submit has started: there is a Spark already, and
its workers may be on other machines."""


def use_this_python(source: type[DataSource]) -> None:
    """Workers must be the Python that has this package, and not the first one on the path, unless
    the user has named another."""
    if SUBMITTED not in os.environ:
        os.environ.setdefault(PYTHON, sys.executable)
    context = SparkContext._active_spark_context
    if context is None:
        return
    spark = SparkSession.getActiveSession()
    if spark is None:
        return
    if context.pythonExec == SPARKS_PYTHON:
        context.pythonExec = os.environ.get(PYTHON, SPARKS_PYTHON)
    spark.dataSource.register(source)


def local_session(
    name: str = "samsa", cores: int | str = "*", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """The session of this process; the first call decides how it is set up."""
    use_java()
    os.environ.setdefault(PYTHON, sys.executable)
    builder = SparkSession.builder.appName(name).master(f"local[{cores}]")
    for key, value in {**DEFAULTS, **(conf or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
