"""Kafka's own message definitions, out of the kafka-clients jar."""

import json
import os
import re
import zipfile
from functools import cache
from pathlib import Path

from support.needs import kafka_clients_jar

VARIABLE = "SAMSA_KAFKA_CLIENTS_JAR"


@cache
def definitions(jar: Path) -> dict[str, dict]:
    """Every message of the jar by name: JSON, but for whole-line comments."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if re.match(r"common/message/\w+\.json", name)]
        texts = [archive.read(name).decode() for name in names]
    bare = [re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE) for text in texts]
    return {definition["name"]: definition for definition in map(json.loads, bare)}


def every_definition() -> dict[str, dict]:
    """Out of the jar that the variable names, or the one from Maven."""
    named = os.environ.get(VARIABLE)
    return definitions(Path(named) if named else kafka_clients_jar())


def definition(name: str) -> dict:
    return every_definition()[name]
