"""Spark's own Kafka connector, for whoever compares: four jars from Maven Central."""

from pathlib import Path

from support.builds import built
from support.tools import require

SOURCES = Path(__file__).parents[1] / "pipeline" / "connector"


def connector_jars() -> list[Path]:
    maven = require("mvn", "it fetches Spark's Kafka connector")
    copy = "dependency:copy-dependencies"
    return sorted((built(SOURCES, [[maven, "-q", "-B", copy]]) / "target/dependency").glob("*.jar"))
