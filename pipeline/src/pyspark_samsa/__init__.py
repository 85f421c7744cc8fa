"""Samsa's topics as tables and streams in Spark, straight from where they are stored.

    spark.read.format("samsa").option("subscribe", "orders")
        .option("ledger", "sqlite:///…/ledger.db").option("objects", "file:///…/objects").load()

Columns and options are those of Spark's Kafka source. There is no broker on the way: the driver
plans from the ledger, and executors read objects and decode them to Arrow.

Importing this package makes it known to Spark: the workers of a session on this machine are this
Python, and a session that has started already gets the format by its class.
"""

from .release import TooOld, is_new_enough
from .session import use_this_python

if is_new_enough():
    from .source import DefaultSource
else:

    class DefaultSource(TooOld):  # type: ignore[no-redef]
        @classmethod
        def name(cls) -> str:
            return "samsa"


use_this_python(DefaultSource)

__all__ = ["DefaultSource"]
