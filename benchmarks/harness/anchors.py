"""Apache Kafka, started by `benchmarks/anchors`, and the clients that drive both brokers.

The folder is copied to a cache folder, where Maven puts the jars once.
"""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .process import run_well
from .progress import say

REPOSITORY = Path(__file__).absolute().parents[2]
SOURCES = REPOSITORY / "benchmarks" / "anchors"
JAVA_SOURCES = REPOSITORY / "benchmarks" / "java"
MAVEN_S = 900
COMPILE_S = 120


class NoAnchors(Exception):
    """There is nothing to compare with; says what is missing."""


@dataclass(frozen=True, slots=True)
class Anchors:
    folder: Path

    @property
    def libs(self) -> Path:
        return self.folder / "libs"

    @property
    def bench_clients(self) -> Path:
        return self.folder / "bench_clients.py"

    @property
    def ktool(self) -> Path:
        return self.folder / "ktool.sh"

    @property
    def run_kafka(self) -> Path:
        return self.folder / "run_kafka.sh"

    @property
    def kafka_version(self) -> str:
        pom = (self.folder / "pom.xml").read_text()
        found = re.search(r"<kafka\.version>(.*?)<", pom)
        return found.group(1) if found else "unknown"

    def java_class(self, name: str) -> Sequence[str]:
        """The command that runs a class of `benchmarks/java`, compiled if it has changed."""
        classes = self.folder / "classes"
        source, made = JAVA_SOURCES / f"{name}.java", classes / f"{name}.class"
        class_path = f"{self.libs}/*{os.pathsep}{classes}"
        if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
            command = ["javac", "-cp", class_path, "-d", str(classes), str(source)]
            run_well(command, COMPILE_S)
        log4j = f"-Dlog4j2.configurationFile={self.folder}/tools-log4j2.yaml"
        return ["java", "-Xmx512M", log4j, "-cp", class_path, name]


def prepare() -> Anchors:
    missing = [tool for tool in ("java", "javac", "mvn") if not shutil.which(tool)]
    if missing:
        raise NoAnchors(f"Apache Kafka needs {', '.join(missing)} on the PATH")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    anchors = Anchors(home / "samsa-bench" / "anchors")
    _copy(SOURCES, anchors.folder)
    _fetch_jars(anchors)
    return anchors


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.is_file():
            copy = target / file.name
            copy.unlink(missing_ok=True)
            shutil.copyfile(file, copy)
            copy.chmod(0o755 if file.suffix == ".sh" else 0o644)


def _fetch_jars(anchors: Anchors) -> None:
    stamp, pom = anchors.libs / ".pom", anchors.folder / "pom.xml"
    if stamp.exists() and stamp.read_text() == pom.read_text():
        return
    say(f"fetching Apache Kafka {anchors.kafka_version} (once, 54 MB)")
    shutil.rmtree(anchors.libs, ignore_errors=True)
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    where = f"-DoutputDirectory={anchors.libs}"
    run_well(["mvn", "-B", "-q", "-f", str(pom), *copy, where], MAVEN_S)
    # Written last: a download that was cut short is done again.
    stamp.write_text(pom.read_text())
