"""KafkaJS."""

from pathlib import Path

from clients.adapters.driver import Driver, unpacked
from clients.client import Record
from support import needs


class KafkaJs(Driver):
    def consume_in_group(self, topic: str, group: str, count: int) -> list[Record]:
        found = self.ask("consume_in_group", topic=topic, group=group, count=count)
        return [unpacked(one) for one in found]


def kafkajs(bootstrap: str, log: Path) -> KafkaJs:
    return KafkaJs(["node", str(needs.kafkajs() / "driver.js"), bootstrap], log.open("w"))
