"""Tables with the latest row of every key, upserted by streams: the format `samsa_latest`.

A package of its own because Spark finds one format in each package that is called `pyspark_…`.
What it does is in `pyspark_samsa.latest`.
"""

from pyspark_samsa.latest.source import DefaultSource

__all__ = ["DefaultSource"]
