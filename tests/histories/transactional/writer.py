"""A client process that appends to several partitions in each transaction, and ends it somehow.

    python -m histories.transactional.writer '{"name": "w0", "incarnation": 3, ...}'

It runs until it is killed, or until its producer is fenced.
"""

import os
import random
import signal
import sys
import time

from histories.transactional.notebook import Notebook
from histories.transactional.producing import Java, Librdkafka, Lost, MustAbort, Transactional
from histories.transactional.settings import TIMEOUT_MS, Topics
from histories.transactional.workers import Job

VALUES = (1, 2, 3, 4, 8)
PADDING = (0, 0, 0, 200, 5_000)
"""The last is too large for a ledger, so it is stored as an object."""
PACE_S = 0.02
FLUSHES = 0.3
"""How often a transaction has more than one batch in a partition."""
ENDS = {"commit": 78, "abort": 14, "late": 5, "leave": 3}
LATE_S = TIMEOUT_MS / 1000 + 1.0
"""Beyond the timeout. What is sent after that belongs to no transaction, or to an aborted one."""


class Writer:
    def __init__(self, job: Job) -> None:
        """Raises Lost."""
        self._notebook = Notebook(job.folder, job.by)
        self._by = job.by
        self._random = random.Random(f"{job.seed} {job.by}")
        topics = Topics(job.round)
        self._partitions = topics.partitions(topics.input, f"{job.round}-b")
        self._producer: Transactional
        if job.java:
            self._producer = Java(job.bootstrap, job.transactional_id, self._stored, job.java)
        else:
            self._producer = Librdkafka(job.bootstrap, job.transactional_id, self._stored)

    def _stored(self, partition: str, value: str, offset: int) -> None:
        self._notebook.note("stored", partition=partition, value=value, offset=offset)

    def transact(self, number: int) -> None:
        """Raises Lost."""
        name = f"{self._by}.{number}"
        end = self._random.choices([*ENDS], [*ENDS.values()])[0]
        self._notebook.note("begin", transaction=name)
        try:
            self._producer.begin()
            self._send(name)
            if end == "late":
                time.sleep(LATE_S)
            if end == "leave":
                raise Lost("on purpose")
            if end != "abort":
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

    def _send(self, name: str) -> None:
        chosen = self._random.sample(self._partitions, self._random.randint(1, 4))
        for n in range(self._random.choice(VALUES)):
            partition, value = self._random.choice(chosen), f"{name}.{n}"
            self._notebook.note("send", transaction=name, partition=partition, value=value)
            padding = "x" * self._random.choice(PADDING)
            self._producer.send(partition, f"{value} {padding}".encode())
            if self._random.random() < FLUSHES:
                self._producer.flush()

    def _abort(self, name: str) -> None:
        try:
            self._producer.abort()
        except Lost as error:
            self._notebook.note("gave up", transaction=name, error=str(error))
            raise
        self._notebook.note("aborted", transaction=name)

    def run(self) -> None:
        """Until it is lost."""
        number = 0
        while True:
            self.transact(number)
            number += 1
            time.sleep(self._random.uniform(0, 2 * PACE_S))


def main() -> None:
    try:
        Writer(Job.read(sys.argv[1])).run()
    except Lost as error:
        print(error, file=sys.stderr, flush=True)
        # As if it were killed: its transaction stays open, and its producer says no goodbye.
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
