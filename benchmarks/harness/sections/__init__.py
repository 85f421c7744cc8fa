"""What can be measured on its own (`--only`), in the order in which it is."""

from collections.abc import Callable, Mapping

from harness.bench import Bench

from . import (
    bundle,
    far,
    groups,
    java,
    latency,
    life,
    rdkafka,
    security,
    spark,
    start,
    transactions,
)

SECTIONS: Mapping[str, Callable[[Bench], None]] = {
    "rdkafka": rdkafka.measure,
    "latency": latency.measure,
    "java": java.measure,
    "transactions": transactions.measure,
    "security": security.measure,
    "groups": groups.measure,
    "life": life.measure,
    "spark": spark.measure,
    "start": start.measure,
    "bundle": bundle.measure,
    "far": far.measure,
}
