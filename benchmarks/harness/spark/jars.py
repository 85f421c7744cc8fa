"""Spark's own Kafka connector, from Maven, once."""

from pathlib import Path

from harness.anchors import MAVEN_S, REPOSITORY, Anchors
from harness.process import run_well
from harness.progress import say

POM = REPOSITORY / "tests" / "pipeline" / "connector" / "pom.xml"


def connector_jars(anchors: Anchors) -> list[Path]:
    folder = anchors.folder.parent / "connector"
    stamp = folder / ".pom"
    if not stamp.exists() or stamp.read_text() != POM.read_text():
        say("fetching Spark's Kafka connector (once, 11 MB)")
        where = f"-DoutputDirectory={folder}"
        run_well(["mvn", "-B", "-q", "-f", POM, "dependency:copy-dependencies", where], MAVEN_S)
        stamp.write_text(POM.read_text())
    return sorted(folder.glob("*.jar"))
