"""Apache Kafka's Java client."""

from pathlib import Path

from clients.adapters.driver import DRIVERS, Driver
from support.builds import built
from support.tools import require

# A driver lives for seconds: what a long-lived server gains from these costs more than it gives.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def java(bootstrap: str, log: Path) -> Driver:
    runtime = require("java", "it runs the Java client")
    maven = require("mvn", "it builds the driver of the Java client")
    copy = "dependency:copy-dependencies"
    target = built(DRIVERS / "java", [[maven, "-q", "-B", "compile", copy]]) / "target"
    path = f"{target}/classes:{target}/dependency/*"
    return Driver([runtime, *SHORT_LIVED, "-cp", path, "Driver", bootstrap], log.open("w"))
