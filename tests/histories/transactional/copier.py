"""A client process that consumes, transforms and produces, with its offsets in the transaction.

    python -m histories.transactional.copier '{"name": "c0", "incarnation": 3, ...}'

It is a member of a group: a copier that is stopped loses its partitions to others, and must not
commit what it had read before. A copy of `v` is the unique name of the copy, `<`, and `v`.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from histories.transactional.notebook import Notebook
from histories.transactional.producing import Librdkafka, Lost, MustAbort, name_of
from histories.transactional.settings import CALL_S, Topics
from histories.transactional.workers import Job

MOST = 20
"""Values in one transaction."""
ABORTS = 0.1
DWELLS = 0.15
DWELL_S = 7.5
"""Between reading and copying: longer than a member may be silent."""
SILENT_MS = 6_000
PACE_S = 0.05


class Copier:
    def __init__(self, job: Job) -> None:
        """Raises Lost."""
        self._notebook = Notebook(job.folder, job.by)
        self._by = job.by
        self._random = random.Random(f"{job.seed} {job.by}")
        topics = Topics(job.round)
        self._to = topics.partitions(topics.copies)
        self._producer = Librdkafka(job.bootstrap, job.transactional_id, self._stored)
        self._consumer = Consumer(
            {
                "bootstrap.servers": job.bootstrap,
                "group.id": topics.group,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": SILENT_MS,
                "heartbeat.interval.ms": 1_000,
                "max.poll.interval.ms": SILENT_MS,
                "reconnect.backoff.max.ms": 500,
                "fetch.wait.max.ms": 200,
                "log_level": 0,
            }
        )
        self._taken: list[Message] = []
        self._group: object = None
        forget = self._forget
        self._consumer.subscribe([topics.input], self._assigned, forget, forget)

    def _assigned(self, *_: object) -> None:
        """The generation of what is read from here on. Asked for later, it may be another: if the
        group went on without this copier, it must be refused."""
        self._taken.clear()
        self._group = self._consumer.consumer_group_metadata()

    def _forget(self, *_: object) -> None:
        """What was read before may be another copier's now."""
        self._taken.clear()

    def _stored(self, partition: str, value: str, offset: int) -> None:
        self._notebook.note("stored", partition=partition, value=value, offset=offset)

    def run(self) -> None:
        """Until it is lost."""
        number = 0
        while True:
            self._take(self._random.randint(1, MOST))
            if self._taken:
                if self._random.random() < DWELLS:
                    time.sleep(DWELL_S)
                self._copy(f"{self._by}.{number}", tuple(self._taken))
                number += 1
            time.sleep(self._random.uniform(0, 2 * PACE_S))

    def _take(self, most: int) -> None:
        self._taken.clear()
        message = self._consumer.poll(0.5)
        while message is not None and len(self._taken) < most:
            if message.error() is None:
                self._taken.append(message)
            if len(self._taken) < most:
                message = self._consumer.poll(0)

    def _copy(self, name: str, messages: Sequence[Message]) -> None:
        self._notebook.note("begin", transaction=name)
        try:
            self._producer.begin()
            self._send(name, messages)
            if self._random.random() >= ABORTS:
                self._notebook.note("commit", transaction=name)
                self._producer.commit()
                self._notebook.note("committed", transaction=name)
                return
        except MustAbort as error:
            self._notebook.note("must abort", transaction=name, error=str(error))
        except Lost as error:
            self._notebook.note("gave up", transaction=name, error=str(error))
            raise
        self._abort(name)
        self._go_back()

    def _send(self, name: str, messages: Sequence[Message]) -> None:
        after: dict[tuple[str, int], int] = {}
        for n, message in enumerate(messages):
            source = name_of(message.value())
            to, value = self._random.choice(self._to), f"{name}.{n}<{source}"
            self._notebook.note("send", transaction=name, partition=to, value=value, source=source)
            self._producer.send(to, value.encode())
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None
            assert partition is not None
            assert offset is not None
            after[topic, partition] = offset + 1
        offsets = [TopicPartition(*where, offset) for where, offset in after.items()]
        self._producer.send_offsets(offsets, self._group)

    def _abort(self, name: str) -> None:
        try:
            self._producer.abort()
        except Lost as error:
            self._notebook.note("gave up", transaction=name, error=str(error))
            raise
        self._notebook.note("aborted", transaction=name)

    def _go_back(self) -> None:
        """To what is committed. Raises Lost."""
        try:
            for one in self._consumer.committed(self._consumer.assignment(), CALL_S):
                if one.error is not None:
                    raise KafkaException(one.error)
                start = one.offset if one.offset >= 0 else 0
                self._consumer.seek(TopicPartition(one.topic, one.partition, start))
        except KafkaException as error:
            raise Lost(f"cannot go back: {error}") from None


def main() -> None:
    try:
        Copier(Job.read(sys.argv[1])).run()
    except Lost as error:
        print(error, file=sys.stderr, flush=True)
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
