"""KafkaJS."""

from pathlib import Path

from clients.adapters.driver import DRIVERS, Driver, unpacked
from clients.client import Record
from support.builds import built
from support.tools import require


class KafkaJs(Driver):
    def consume_in_group(self, topic: str, group: str, count: int) -> list[Record]:
        found = self.ask("consume_in_group", topic=topic, group=group, count=count)
        return [unpacked(one) for one in found]


def kafkajs(bootstrap: str, log: Path) -> KafkaJs:
    node = require("node", "it runs KafkaJS")
    npm = require("npm", "it fetches KafkaJS")
    folder = built(DRIVERS / "node", [[npm, "ci", "--no-audit", "--no-fund"]])
    return KafkaJs([node, str(folder / "driver.js"), bootstrap], log.open("w"))
