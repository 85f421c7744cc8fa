"""Kafka's own message definitions, out of the kafka-clients jar."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from functools import cache
from pathlib import Path

from support.tools import absent

VERSION = "4.3.1"
VARIABLE = "SAMSA_KAFKA_CLIENTS_JAR"
IN_REPOSITORY = Path(f"org/apache/kafka/kafka-clients/{VERSION}/kafka-clients-{VERSION}.jar")


def find_jar() -> Path | None:
    """Where the variable says, else in the local Maven repository, else fetched into it."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE])
    jar = Path.home() / ".m2" / "repository" / IN_REPOSITORY
    if not jar.exists() and shutil.which("mvn"):
        artifact = f"-Dartifact=org.apache.kafka:kafka-clients:{VERSION}"
        command = ["mvn", "-q", "-B", "dependency:get", artifact, "-Dtransitive=false"]
        subprocess.run(command, check=False, capture_output=True, timeout=240)
    return jar if jar.exists() else None


@cache
def definitions(jar: Path) -> dict[str, dict]:
    """Every message of the jar by name: JSON, but for whole-line comments."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if re.match(r"common/message/\w+\.json", name)]
        texts = [archive.read(name).decode() for name in names]
    bare = [re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE) for text in texts]
    return {definition["name"]: definition for definition in map(json.loads, bare)}


def definition(name: str) -> dict:
    jar = find_jar()
    if jar is None:
        absent(f"kafka-clients {VERSION}", f"Kafka's definitions are in it; set {VARIABLE} or mvn")
    return definitions(jar)[name]
