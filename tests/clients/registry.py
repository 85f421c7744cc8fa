"""The clients by name, each made when a test first asks for it."""

from collections.abc import Callable
from pathlib import Path

from clients.adapters.aiokafka_client import Aiokafka
from clients.adapters.confluent import Confluent
from clients.adapters.franz_go import franz_go
from clients.adapters.java import java
from clients.adapters.kafka_python import KafkaPython
from clients.adapters.kafkajs import kafkajs
from clients.adapters.kcat import Kcat
from clients.client import Client

MAKERS: dict[str, Callable[[str, Path], Client]] = {
    "confluent": lambda bootstrap, log: Confluent(bootstrap),
    "kafka-python": lambda bootstrap, log: KafkaPython(bootstrap),
    "aiokafka": lambda bootstrap, log: Aiokafka(bootstrap),
    "kcat": lambda bootstrap, log: Kcat(bootstrap),
    "java": java,
    "franz-go": franz_go,
    "kafkajs": kafkajs,
}
NAMES = tuple(MAKERS)
ADMINS = tuple(name for name in NAMES if name != "kcat")


class Clients:
    def __init__(self, bootstrap: str, logs: Path) -> None:
        self.bootstrap = bootstrap
        self.logs = logs
        self.made: dict[str, Client] = {}

    def __getitem__(self, name: str) -> Client:
        if name not in self.made:
            self.made[name] = MAKERS[name](self.bootstrap, self.logs / f"{name}.log")
        return self.made[name]

    def close(self) -> None:
        for client in self.made.values():
            client.close()
