"""The answers of Apache Kafka's own classes (golden/README.md)."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def answers(name: str) -> list:
    return json.loads((FOLDER / f"{name}.json").read_text())
