"""MSK Serverless: Amazon's Kafka without machines to choose, but billed also when idle."""

from .bill import Bill, Line
from .load import HOURS, MB, Load
from .prices import Prices
from .stores import to_internet

NAME = "MSK Serverless"
MOST_IN_MB, MOST_OUT_MB, MOST_PARTITIONS = 200, 400, 2_400


def msk(load: Load, prices: Prices) -> Bill:
    def line(what: str, how_much: str, name: str, quantity: float) -> Line:
        return Line(what, how_much, prices.cost("msk_serverless", name, quantity))

    lines = [
        line("cluster", f"{HOURS} hours", "per_cluster_hour", HOURS),
        line(
            "partitions",
            f"{load.partitions:,} × {HOURS} hours",
            "per_partition_hour",
            load.partitions * HOURS,
        ),
        line("data in", f"{load.written_gb:,.1f} GB", "per_gb_in", load.written_gb),
        line("data out", f"{load.read_gb:,.1f} GB", "per_gb_out", load.read_gb),
        line("storage", f"{load.kept_gb:,.1f} GB", "per_gb_month", load.kept_gb),
        *to_internet(load, prices),
    ]
    return Bill(NAME, lines, _beyond(load))


def _beyond(load: Load) -> list[str]:
    beyond = []
    if load.bytes_per_second > MOST_IN_MB * MB:
        beyond.append(f"a cluster's {MOST_IN_MB} MB/s in")
    if load.bytes_per_second * load.readers > MOST_OUT_MB * MB:
        beyond.append(f"a cluster's {MOST_OUT_MB} MB/s out")
    if load.partitions > MOST_PARTITIONS:
        beyond.append(f"a cluster's {MOST_PARTITIONS:,} partitions")
    return beyond
