"""Iceberg tables that streams append to, by PyIceberg: the format `samsa_iceberg`.

A package of its own because Spark finds one format in each package that is called `pyspark_…`.
What it does is in `pyspark_samsa.iceberg`.
"""

from pyspark_samsa.release import TooOld, is_new_enough

if is_new_enough():
    from pyspark_samsa.iceberg.source import DefaultSource
else:

    class DefaultSource(TooOld):  # type: ignore[no-redef]
        @classmethod
        def name(cls) -> str:
            return "samsa_iceberg"


__all__ = ["DefaultSource"]
