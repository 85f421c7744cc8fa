"""Members of consumer groups: one process each, so that one can be killed without a word.

A member is started with BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...], prints the partition and offset
of every record that it is given, and on SIGTERM leaves as its client's users would have it leave.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from clients.adapters.java import java_command
from support import needs
from support.needs import DRIVERS
from support.tools import require

Place = tuple[int, int]
"""Partition and offset."""


class Member:
    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.log = log.open("a")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, text=True
        )
        self.seen: list[Place] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            partition, offset = line.split()
            self.seen.append((int(partition), int(offset)))

    def leave(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self._end(30)

    def kill(self) -> None:
        self.process.kill()
        self._end(10)

    def _end(self, seconds: float) -> None:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._reader.join(10)
            self.process.stdout.close()
            self.log.close()

    @property
    def runs(self) -> bool:
        return self.process.poll() is None


class Kind(NamedTuple):
    """A client in one of its ways to be in a group."""

    name: str
    command: Callable[[], list[str]]
    settings: tuple[str, ...] = ()
    session: str = "session.timeout.ms=6000"
    """What makes it notice a death sooner than after its usual 45 seconds."""
    next_generation: bool = False

    def start(self, bootstrap: str, group: str, topic: str, log: Path, *settings: str) -> Member:
        return Member([*self.command(), bootstrap, group, topic, *self.settings, *settings], log)


def python(name: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, str(DRIVERS / "python_members" / f"{name}_member.py")]


def kcat() -> list[str]:
    """kcat spells its arguments in its own way."""
    path = require("kcat", "it is one of the clients under test")
    script = (
        'b=$1 g=$2 t=$3; shift 3; for s in "$@"; do set -- "$@" -X "$s"; shift; done; '
        'exec "$0" -b "$b" -G "$g" -q -u -X auto.offset.reset=earliest -f "%p %o\\n" "$@" "$t"'
    )
    return ["sh", "-c", script, path]


def java() -> list[str]:
    return [*java_command(), "Member"]


def go(name: str) -> Callable[[], list[str]]:
    return lambda: [str(needs.go_members() / name)]


def kafkajs() -> list[str]:
    return ["node", str(needs.kafkajs() / "member.js")]


COOPERATIVE = "partition.assignment.strategy=cooperative-sticky"
JAVA_COOPERATIVE = (
    "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
)
NEXT = "group.protocol=consumer"
PYTHON_SESSION = "session_timeout_ms=6000"

KINDS = {
    kind.name: kind
    for kind in (
        Kind("confluent", python("confluent")),
        Kind("confluent-cooperative", python("confluent"), (COOPERATIVE,)),
        Kind("confluent-next", python("confluent"), (NEXT,), "", True),
        Kind("kafka-python", python("kafka_python"), session=PYTHON_SESSION),
        Kind(
            "kafka-python-cooperative",
            python("kafka_python"),
            ("partition_assignment_strategy=cooperative-sticky",),
            PYTHON_SESSION,
        ),
        Kind("aiokafka", python("aiokafka"), session=PYTHON_SESSION),
        Kind(
            "aiokafka-sticky",
            python("aiokafka"),
            ("partition_assignment_strategy=sticky",),
            PYTHON_SESSION,
        ),
        Kind("kcat", kcat),
        Kind("kcat-cooperative", kcat, (COOPERATIVE,)),
        Kind("java", java),
        Kind("java-cooperative", java, (JAVA_COOPERATIVE,)),
        Kind("java-next", java, (NEXT,), "", True),
        Kind("franz-go", go("franz")),
        Kind("franz-go-eager", go("franz"), ("balancer=range",)),
        Kind("franz-go-next", go("franz"), (NEXT,), "", True),
        Kind("sarama", go("sarama")),
        Kind("sarama-sticky", go("sarama"), ("balancer=sticky",)),
        Kind("kafkajs", kafkajs, session="sessionTimeout=6000"),
    )
}
