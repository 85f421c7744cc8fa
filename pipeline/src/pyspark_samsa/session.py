"""A Spark session on this machine, ready for Samsa: for tests, jobs, and trying it out.

On a cluster none of this is needed: `spark.read.format("samsa")` works in any session whose Python
has this package.
"""

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

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


def local_session(
    name: str = "samsa", cores: int | str = "*", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """The session of this process; the first call decides how it is set up."""
    use_java()
    # Workers must be the Python that has this package, not whichever comes first on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(f"local[{cores}]")
    for key, value in {**DEFAULTS, **(conf or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
