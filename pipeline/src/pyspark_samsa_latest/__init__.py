"""Tables with the latest row of every key, upserted by streams: the format `samsa_latest`.

A package of its own because Spark finds one format in each package that is called `pyspark_…`.
What it does is in `pyspark_samsa.latest`.
"""

from pyspark_samsa.release import TooOld, is_new_enough

if is_new_enough():
    from pyspark_samsa.latest.source import DefaultSource
else:

    class DefaultSource(TooOld):  # type: ignore[no-redef]
        @classmethod
        def name(cls) -> str:
            return "samsa_latest"


__all__ = ["DefaultSource"]
