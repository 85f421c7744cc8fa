"""A transactional producer of either client, and what its errors mean."""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from confluent_kafka import OFFSET_INVALID, KafkaException, Message, Producer, TopicPartition
from histories.transactional.settings import CALL_S, TIMEOUT_MS

T = TypeVar("T")
OnStored = Callable[[str, str, int], None]
"""Called with the partition, the value and the offset that were acknowledged."""
GIVE_UP_S = 25.0
"""A call that may be repeated is repeated for so long. Longer than any process is stopped."""


class MustAbort(Exception):
    """The transaction cannot be committed any more."""


class Lost(Exception):
    """This producer is of no use any more: fenced, or nobody answers."""


class Transactional(Protocol):
    def begin(self) -> None: ...
    def send(self, partition: str, value: bytes) -> None: ...
    def flush(self) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...


def at(partition: str, offset: int = OFFSET_INVALID) -> TopicPartition:
    topic, _, number = partition.rpartition("/")
    return TopicPartition(topic, int(number), offset)


def name_of(value: bytes | None) -> str:
    """Values are unique by their first word; the rest is padding."""
    return (value or b"nothing").split()[0].decode()


class Librdkafka:
    def __init__(self, bootstrap: str, transactional_id: str, on_stored: OnStored) -> None:
        """Raises Lost."""
        self._on_stored = on_stored
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": TIMEOUT_MS,
                "message.timeout.ms": TIMEOUT_MS,
                "linger.ms": 1,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,
            }
        )
        self._again(lambda: self._producer.init_transactions(CALL_S))

    def begin(self) -> None:
        self._again(self._producer.begin_transaction)

    def send(self, partition: str, value: bytes) -> None:
        topic, _, number = partition.rpartition("/")
        try:
            self._producer.produce(topic, value, partition=int(number), on_delivery=self._report)
        except (KafkaException, BufferError) as error:
            raise MustAbort(str(error)) from None

    def flush(self) -> None:
        self._again(lambda: self._producer.flush(CALL_S))

    def send_offsets(self, offsets: Sequence[TopicPartition], group: object) -> None:
        """`group`: as its consumer knows it."""
        send = self._producer.send_offsets_to_transaction
        self._again(lambda: send(list(offsets), group, CALL_S))

    def commit(self) -> None:
        self._again(lambda: self._producer.commit_transaction(CALL_S))

    def abort(self) -> None:
        """Raises Lost."""
        try:
            self._again(lambda: self._producer.abort_transaction(CALL_S))
        except MustAbort as error:
            raise Lost(str(error)) from None

    def _report(self, error: object, message: Message) -> None:
        offset = message.offset()
        if error is None and offset is not None and offset >= 0:
            partition = f"{message.topic()}/{message.partition()}"
            self._on_stored(partition, name_of(message.value()), offset)

    @staticmethod
    def _again(call: Callable[[], object]) -> None:
        deadline = time.monotonic() + GIVE_UP_S
        while True:
            try:
                call()
                return
            except KafkaException as raised:
                error = raised.args[0]
                if error.txn_requires_abort():
                    raise MustAbort(str(error)) from None
                if not error.retriable() or time.monotonic() > deadline:
                    raise Lost(str(error)) from None
                time.sleep(0.05)
            except SystemError as error:  # a fatal error, raised amid reports of deliveries
                raise Lost(str(error)) from None


class Java:
    """Apache Kafka's own producer, in a process of its own (JavaProducer.java): a line of JSON in
    is a call, a line out is how it ended. It dies with the process group of this one."""

    def __init__(
        self, bootstrap: str, transactional_id: str, on_stored: OnStored, command: Sequence[str]
    ) -> None:
        """Raises Lost."""
        self._on_stored = on_stored
        self._process = subprocess.Popen(
            [*command, bootstrap, transactional_id, str(TIMEOUT_MS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._again("init")

    def begin(self) -> None:
        self._ask("begin")

    def send(self, partition: str, value: bytes) -> None:
        topic, _, number = partition.rpartition("/")
        self._ask("send", topic=topic, partition=int(number), value=value.decode())

    def flush(self) -> None:
        self._ask("flush")

    def commit(self) -> None:
        self._again("commit")

    def abort(self) -> None:
        """Raises Lost."""
        try:
            self._again("abort")
        except MustAbort as error:
            raise Lost(str(error)) from None

    def _again(self, call: str) -> None:
        deadline = time.monotonic() + GIVE_UP_S
        while not self._ask(call):
            if time.monotonic() > deadline:
                raise Lost(f"no answer to {call}")

    def _ask(self, call: str, **more: Any) -> bool:
        """False: time was up, and the call is to be repeated."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"call": call, **more}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline() or '{"ended": "lost", "why": "died"}')
        for partition, value, offset in answer.get("stored", ()):
            self._on_stored(partition, name_of(value.encode()), offset)
        if answer["ended"] == "must abort":
            raise MustAbort(answer["why"])
        if answer["ended"] == "lost":
            raise Lost(answer["why"])
        return bool(answer["ended"] == "well")
