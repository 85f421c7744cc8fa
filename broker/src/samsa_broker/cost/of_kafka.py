"""Self-managed Kafka on EC2: brokers in three zones, three copies, on disks of EBS.

As Kafka is set up by default: producers and consumers talk to a partition's leader in any zone, and
each batch is copied to the other two zones. The cost of operating it is not included.
"""

from math import ceil

from .bill import Bill, Line
from .load import MB, Load
from .of_processes import between_zones, machines
from .prices import Prices
from .stores import to_internet

NAME = "Kafka on EC2"


def kafka(load: Load, prices: Prices) -> Bill:
    copies = prices.number("assumed", "replication")
    disk_gb = load.kept_gb * copies / prices.number("assumed", "disk_filled")
    copied_gb = load.written_gb * (copies - 1)
    lines = [
        *machines(brokers(load, prices), prices),
        Line("EBS", f"{disk_gb:,.1f} GB", prices.cost("ebs", "per_gb_month", disk_gb)),
        Line(
            "copies between zones",
            f"{copied_gb:,.1f} GB",
            prices.cost("transfer", "per_gb_between_zones", copied_gb),
        ),
        between_zones(load.written_gb + load.read_gb, prices),
        *to_internet(load, prices),
    ]
    return Bill(NAME, lines, [])


def brokers(load: Load, prices: Prices) -> int:
    """Enough disk to write every copy, and network to send copies and records."""

    def assumed(name: str) -> float:
        return prices.number("assumed", name)

    written = load.bytes_per_second / MB
    copies = assumed("replication")
    disk = ceil(written * copies / assumed("disk_mb_s"))
    network = ceil(written * (copies - 1 + load.readers) / assumed("network_mb_s"))
    return max(disk, network, int(assumed("brokers")))
