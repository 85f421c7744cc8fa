"""A client in another language: one long-lived process, one line of JSON per operation.

It lives as long as the test session, so that a Java machine starts once and not once per test.
Bytes travel as base64. Every operation makes its own client and closes it.
"""

import json
import os
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import IO, Any

from clients.client import Cluster, Isolation, Record, Start

SECURITY = "CLIENT_SECURITY"
"""What it needs to reach a secured broker, in JSON: each driver has its own names."""


class Driver:
    def __init__(
        self, command: Sequence[str], log: IO[str], security: Mapping[str, Any] | None = None
    ) -> None:
        pipe = subprocess.PIPE
        told = {SECURITY: json.dumps(security)} if security else {}
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=log, text=True, env={**os.environ, **told}
        )
        self.log = log

    def ask(self, op: str, **arguments: Any) -> Any:
        stdin, stdout = self.process.stdin, self.process.stdout
        stdin.write(json.dumps({"op": op, **arguments}) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise RuntimeError(f"the driver ended with {self.process.wait()}; see {self.log.name}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["ok"]

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int | None = None,
        max_bytes: int | None = None,
    ) -> list[int]:
        return self.ask(
            "produce",
            topic=topic,
            partition=partition,
            codec=codec,
            maxBytes=max_bytes,
            records=[packed(record) for record in records],
        )

    def consume(
        self,
        topic: str,
        start: Start,
        count: int,
        partition: int | None = None,
        isolation: Isolation | None = None,
    ) -> list[Record]:
        found = self.ask(
            "consume",
            topic=topic,
            partition=partition,
            start=start,
            count=count,
            isolation=isolation,
        )
        return [unpacked(one) for one in found]

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        self.ask("create_topic", topic=topic, partitions=partitions, config=dict(config))

    def delete_topic(self, topic: str) -> None:
        self.ask("delete_topic", topic=topic)

    def add_partitions(self, topic: str, total: int) -> None:
        self.ask("add_partitions", topic=topic, partitions=total)

    def own_configs(self, topic: str) -> dict[str, str]:
        return self.ask("own_configs", topic=topic)

    def alter_configs(self, topic: str, config: Mapping[str, str]) -> None:
        self.ask("alter_configs", topic=topic, config=dict(config))

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self.ask("delete_records", topic=topic, partition=partition, offset=before)

    def describe(self) -> Cluster:
        return Cluster(**self.ask("describe"))

    def close(self) -> None:
        """Ends when its input does."""
        self.process.stdin.close()
        self.process.wait(timeout=10)
        self.process.stdout.close()
        self.log.close()


def packed(record: Record) -> dict[str, Any]:
    return {
        "key": packed_bytes(record.key),
        "value": packed_bytes(record.value),
        "headers": [[name, packed_bytes(value)] for name, value in record.headers],
        "timestamp": record.timestamp,
    }


def unpacked(found: dict[str, Any]) -> Record:
    return Record(
        unpacked_bytes(found["key"]),
        unpacked_bytes(found["value"]),
        tuple((name, unpacked_bytes(value)) for name, value in found["headers"]),
        found["timestamp"],
        found["partition"],
        found["offset"],
    )


def packed_bytes(raw: bytes | None) -> str | None:
    return None if raw is None else b64encode(raw).decode()


def unpacked_bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
