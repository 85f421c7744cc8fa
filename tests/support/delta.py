"""Delta Lake for Spark, from Maven Central: which release fits which Spark is in decision 18."""

from pathlib import Path

from support.builds import built
from support.tools import require

SOURCES = Path(__file__).parents[1] / "pipeline" / "delta"


def delta_jars() -> list[Path]:
    maven = require("mvn", "it fetches Delta Lake")
    copy = "dependency:copy-dependencies"
    return sorted((built(SOURCES, [[maven, "-q", "-B", copy]]) / "target/dependency").glob("*.jar"))
