"""Clients of Kafka 0.8: no ApiVersions, version 0 of four APIs, message sets without headers."""

from collections.abc import Callable
from pathlib import Path

from clients.adapters.confluent import Confluent
from clients.adapters.kafka_python import KafkaPython
from clients.adapters.kcat import Kcat
from clients.client import Client


def librdkafka(version: str) -> dict[str, str]:
    return {"api.version.request": "false", "broker.version.fallback": version}


LEGACY: dict[str, Callable[[str, Path], Client]] = {
    # From 0.8.2 on it would look for the coordinator of the group that it must have.
    "confluent-0.8": lambda bootstrap, log: Confluent(bootstrap, **librdkafka("0.8.0")),
    "kafka-python-0.8": lambda bootstrap, log: KafkaPython(bootstrap, api_version=(0, 8, 0)),
    "kcat-0.8": lambda bootstrap, log: Kcat(bootstrap, **librdkafka("0.8.2.1")),
}
