"""A worker of Kafka Connect: a Java program that is told by HTTP what to do."""

from pathlib import Path
from typing import Any

import httpx
from frameworks.programs import Program
from support.kafka import free_ports
from support.waiting import eventually

SETTINGS = """\
bootstrap.servers={bootstrap}
group.id={group}
exactly.once.source.support=enabled
config.storage.topic={group}-configs
offset.storage.topic={group}-offsets
status.storage.topic={group}-status
config.storage.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
offset.storage.partitions=3
status.storage.partitions=1
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
session.timeout.ms=6000
heartbeat.interval.ms=1000
scheduled.rebalance.max.delay.ms=0
plugin.discovery=service_load
plugin.path={plugins}
listeners=http://127.0.0.1:{port}
"""
ANSWER_S = 10.0
START_S = 40.0


class Worker(Program):
    def __init__(self, bootstrap: str, group: str, folder: Path) -> None:
        (port,) = free_ports(1)
        settings = folder / "worker.properties"
        settings.write_text(
            SETTINGS.format(bootstrap=bootstrap, group=group, plugins=folder, port=port)
        )
        name = "org.apache.kafka.connect.cli.ConnectDistributed"
        super().__init__(name, [str(settings)], folder / "log")
        self._connectors = f"http://127.0.0.1:{port}/connectors"

    def add(self, name: str, config: dict[str, str]) -> None:
        """As soon as it listens."""
        asked = {"name": name, "config": config}
        eventually(lambda: self._accepts(asked), START_S, pause=0.2)

    def _accepts(self, asked: dict[str, Any]) -> bool:
        answer = httpx.post(self._connectors, json=asked, timeout=ANSWER_S)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        return True
