"""Kafka Connect with `exactly.once.source.support=enabled`: a worker is killed, and a file is
still read once.

Lines are added to a file all the time. Kafka's own file source writes them to a topic, and where it
is in the file to the worker's topic of offsets, in one transaction. The worker is killed while such
a transaction is open, and started again: it fences its former task, and goes on where the last
committed transaction ended.
"""

import threading
from collections.abc import Iterable
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from clients.adapters.confluent import Confluent
from frameworks.reading import Found, everything
from frameworks.watch import Watch
from frameworks.worker import Worker
from support.broker import Broker

# Most of the time members of groups that were killed are missed.
pytestmark = pytest.mark.waits

LINES_AT_ONCE = 10
PAUSE_S = 0.02
SOURCE = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "tasks.max": "1",
    "exactly.once.support": "required",
    "transaction.boundary": "interval",
    "transaction.boundary.interval.ms": "1000",
}


class Writer(threading.Thread):
    """Adds lines to a file until it is told to stop."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._path = path
        self._is_over = threading.Event()

    def run(self) -> None:
        numbers = count()
        with self._path.open("w") as file:
            while not self._is_over.wait(PAUSE_S):
                lines = [f"line {next(numbers)}" for _ in range(LINES_AT_ONCE)]
                file.write("".join(f"{line}\n" for line in lines))
                file.flush()
                self.lines += lines

    def stop(self) -> None:
        self._is_over.set()
        self.join()


class Copied(NamedTuple):
    """What is there at the end."""

    truth: list[str]
    seen_live: list[str]
    topic: list[str]
    uncommitted: int
    """How many records the topic has with those that were never committed."""


@pytest.fixture(scope="module")
def copied(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Copied:
    folder = tmp_path_factory.mktemp("connect")
    group = f"connect-{uuid4().hex[:8]}"
    topic, file = f"{group}-lines", folder / "lines"
    Confluent(broker.bootstrap).create_topic(topic, 1, {})
    worker = Worker(broker.bootstrap, group, folder)
    writer = Writer(file)
    with ExitStack() as stack:
        watch = stack.enter_context(closing(Watch(broker.bootstrap, topic)))
        stack.callback(worker.stop)
        stack.callback(writer.stop)
        writer.start()
        worker.start()
        worker.add("lines", {**SOURCE, "file": str(file), "topic": topic})
        watch.wait_for_a_commit(worker)
        watch.wait_for_an_open_transaction(worker)
        worker.kill()
        worker.start()
        watch.wait_for_a_commit(worker)
        writer.stop()
        watch.wait_for(worker, len(writer.lines))
        worker.stop()
        return Copied(
            writer.lines,
            values(watch.committed.read_until_quiet()),
            values(everything(broker.bootstrap, topic)),
            len(watch.all.read_until_quiet()),
        )


def values(found: Iterable[Found]) -> list[str]:
    return [one.value.decode() for one in found]


def test_every_line_arrives_once_and_in_order_though_the_worker_is_killed(copied: Copied) -> None:
    assert copied.topic == copied.truth


def test_who_reads_meanwhile_sees_what_a_later_reader_sees(copied: Copied) -> None:
    assert copied.seen_live == copied.topic


def test_a_killed_worker_leaves_records_that_were_never_committed(copied: Copied) -> None:
    """Else the kill has met no transaction, and the other tests have shown nothing."""
    assert copied.uncommitted > len(copied.topic)
