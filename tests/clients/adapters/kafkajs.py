"""KafkaJS."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clients.adapters.driver import Driver, unpacked
from clients.client import Record
from support import needs


class KafkaJs(Driver):
    def consume_in_group(self, topic: str, group: str, count: int) -> list[Record]:
        found = self.ask("consume_in_group", topic=topic, group=group, count=count)
        return [unpacked(one) for one in found]


def kafkajs(bootstrap: str, log: Path, security: Mapping[str, Any] | None = None) -> KafkaJs:
    command = ["node", str(needs.kafkajs() / "driver.js"), bootstrap]
    return KafkaJs(command, log.open("w"), security)
