"""Clients of Kafka 0.8: no ApiVersions, version 0 of four APIs, message sets without headers."""

from collections.abc import Callable
from pathlib import Path

from clients.adapters.confluent import Confluent
from clients.adapters.kafka_python import KafkaPython
from clients.adapters.kcat import Kcat
from clients.client import Client

LIBRDKAFKA = {"api.version.request": "false", "broker.version.fallback": "0.8.2.1"}

LEGACY: dict[str, Callable[[str, Path], Client]] = {
    "confluent-0.8": lambda bootstrap, log: Confluent(bootstrap, **LIBRDKAFKA),
    "kafka-python-0.8": lambda bootstrap, log: KafkaPython(bootstrap, api_version=(0, 8, 0)),
    "kcat-0.8": lambda bootstrap, log: Kcat(bootstrap, **LIBRDKAFKA),
}
