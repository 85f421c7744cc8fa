"""Readers with read_committed: each reads every partition of a round from its start."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from histories.background import Background
from histories.transactional.notebook import Notebook
from histories.transactional.producing import at, name_of

AT_ONCE = 500
ANSWERED_S = 60.0
"""All brokers run in the end: by then each of them answers."""


def a_reader(bootstrap: str, isolation: str = "read_committed", group: str = "nobody") -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "reconnect.backoff.max.ms": 500,
            "fetch.wait.max.ms": 200,
            "log_level": 0,
        }
    )


class Look:
    """One reading of all partitions."""

    def __init__(self, consumer: Consumer, notebook: Notebook, partitions: Sequence[str]) -> None:
        self.reached: dict[str, int] = {}
        self._consumer = consumer
        self._notebook = notebook
        notebook.note("look")
        consumer.assign([at(partition, 0) for partition in partitions])

    def read(self, patience_s: float = 0.3) -> None:
        found: dict[str, list[tuple[int, str]]] = {}
        for message in self._consumer.consume(AT_ONCE, patience_s):
            partition, offset = f"{message.topic()}/{message.partition()}", message.offset()
            error = message.error()
            if error is None:
                assert offset is not None
                found.setdefault(partition, []).append((offset, name_of(message.value())))
            elif error.code() == KafkaError._PARTITION_EOF:
                assert offset is not None
                self._tell(found, partition)  # in the order in which it came
                self.reached[partition] = offset
                self._notebook.note("reached", partition=partition, offset=offset)
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._notebook.note("refused", partition=partition, error=str(error))
        for partition in list(found):
            self._tell(found, partition)

    def _tell(self, found: dict[str, list[tuple[int, str]]], partition: str) -> None:
        if rows := found.pop(partition, []):
            offsets, values = zip(*rows, strict=True)
            self._notebook.note("read", partition=partition, offsets=offsets, values=values)


class Observer(Background):
    """`again`: it reads to the end, and then all of it once more, and so on."""

    def __init__(
        self, name: str, bootstrap: str, folder: Path, partitions: Sequence[str], *, again: bool
    ) -> None:
        super().__init__(name)
        self._bootstrap = bootstrap
        self._folder = folder
        self._partitions = partitions
        self._again = again
        self.start()

    def work(self) -> None:
        number = 0
        while not self.over.is_set():
            self._look(number)
            number += 1

    def _look(self, number: int) -> None:
        consumer = a_reader(self._bootstrap)
        notebook = Notebook(self._folder, f"{self.name}.{number}")
        look = Look(consumer, notebook, self._partitions)
        while not self.over.is_set():
            look.read()
            if self._again and len(look.reached) == len(self._partitions):
                break
        consumer.close()


class LastLook:
    """All clients are killed, and the brokers run. Then every transaction ends by itself."""

    def __init__(self, bootstrap: str, folder: Path, partitions: Sequence[str]) -> None:
        self._bootstrap = bootstrap
        self._folder = folder
        self._partitions = partitions
        self._notebook = Notebook(folder, "last")

    def wait_for_stable_ends(self, patience_s: float) -> float:
        """How long it took until readers with read_committed see all. After the patience, the
        judge says what is stuck."""
        began = time.monotonic()
        committed, all_of_it = (
            a_reader(self._bootstrap),
            a_reader(self._bootstrap, "read_uncommitted"),
        )
        while True:
            high = {one: end_of(all_of_it, one) for one in self._partitions}
            stable = {one: end_of(committed, one) for one in self._partitions}
            waited = time.monotonic() - began
            if stable == high or waited > patience_s:
                break
            time.sleep(0.1)
        for one in self._partitions:
            self._notebook.note("ends", partition=one, stable=stable[one], high=high[one])
        committed.close()
        all_of_it.close()
        return waited

    def read_all(self, bootstraps: Sequence[str], patience_s: float) -> None:
        for number, bootstrap in enumerate(bootstraps):
            consumer = a_reader(bootstrap)
            look = Look(consumer, Notebook(self._folder, f"last-{number}"), self._partitions)
            deadline = time.monotonic() + patience_s
            while len(look.reached) < len(self._partitions) and time.monotonic() < deadline:
                look.read()
            consumer.close()

    def look_at_group(self, group: str, partitions: Sequence[str], patience_s: float) -> None:
        consumer = a_reader(self._bootstrap, group=group)
        for one in consumer.committed([at(each) for each in partitions], patience_s):
            if one.error is not None:
                raise KafkaException(one.error)
            where = f"{one.topic}/{one.partition}"
            self._notebook.note("group", partition=where, offset=max(0, one.offset))
        consumer.close()


def end_of(consumer: Consumer, partition: str) -> int:
    """The stable end for a reader with read_committed."""
    where: TopicPartition = at(partition)
    deadline = time.monotonic() + ANSWERED_S
    while True:
        try:
            ends = consumer.get_watermark_offsets(where, timeout=5, cached=False)
        except KafkaException:  # such as a leader that is not known yet
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
            with suppress(KafkaException):  # ask for the leader, not only when that is due again
                consumer.list_topics(where.topic, timeout=5)
            continue
        if ends is not None:
            return int(ends[1])
