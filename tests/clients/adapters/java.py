"""Apache Kafka's Java client."""

from collections.abc import Mapping
from pathlib import Path

from clients.adapters.driver import Driver
from support.needs import java_driver

# A driver lives for seconds: what a long-lived server gains from these costs more than it gives.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def java(bootstrap: str, log: Path, security: Mapping[str, str] | None = None) -> Driver:
    return Driver([*java_command(), "Driver", bootstrap], log.open("w"), security)


def java_command() -> list[str]:
    """To be followed by a class of the driver."""
    target = java_driver()
    return ["java", *SHORT_LIVED, "-cp", f"{target}/classes:{target}/dependency/*"]
