"""Writers that know of each record whether it was acknowledged, and where.

A plain append is sent once: without an answer it may be stored or not, but never twice. An
idempotent one is sent again until it is acknowledged, by whichever process answers.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from server.peer import Peer
from server.talk import PRODUCE, batch, produce_row, read, records_in

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

Address = tuple[str, int]

TOPICS = ("letters", "parcels")
PADDING = (0, 0, 100, 700, 6_000)
"""Of values: the last are more than the ledger takes, and are put to S3."""
MOST_IN_FLIGHT = 4
RETRIABLE = {ErrorCode.REQUEST_TIMED_OUT, ErrorCode.KAFKA_STORAGE_ERROR}
FINISH_S = 60


class Append(NamedTuple):
    topic: str
    values: tuple[bytes, ...]
    producer_id: int = -1
    sequence: int = -1

    @property
    def is_idempotent(self) -> bool:
        return self.producer_id >= 0

    @property
    def data(self) -> bytes:
        if not self.is_idempotent:
            return batch(*self.values)
        numbers = {"producer_epoch": 0, "base_sequence": self.sequence}
        return batch(*self.values, producer_id=self.producer_id, **numbers)


class Writer:
    """A thread. Its idempotent producers have a topic each."""

    def __init__(self, name: str, seed: int, producer_ids: Sequence[int]) -> None:
        self.acknowledged: dict[str, dict[int, bytes]] = {topic: {} for topic in TOPICS}
        """By topic and offset."""
        self.tried: set[bytes] = set()
        """Plain values."""
        self.ordered: dict[tuple[str, int], list[bytes]] = defaultdict(list)
        """Values of idempotent producers, by topic and producer id."""
        self.told_to_try_again = 0
        self._name = name
        self._random = random.Random(seed)
        self._producers = [(TOPICS[n % 2], one) for n, one in enumerate(producer_ids)]
        self._numbers = count()
        self._is_over = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def raise_if_failed(self) -> None:
        if self._error is not None:
            raise AssertionError(f"{self._name} failed") from self._error

    def finish(self) -> None:
        """Once all idempotent appends are acknowledged."""
        self._is_over.set()
        self._thread.join(FINISH_S)
        self.raise_if_failed()
        assert not self._thread.is_alive(), f"{self._name} never got its answers"

    def _guarded(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self._error = error

    def _run(self) -> None:
        raise NotImplementedError

    def _new(self) -> Append:
        padding = b"x" * self._random.choice(PADDING)
        names = [
            f"{self._name}-{next(self._numbers)}" for _ in range(self._random.choice((1, 1, 3)))
        ]
        values = tuple(b"%s %s" % (name.encode(), padding) for name in names)
        if self._random.random() < 0.5:
            self.tried.update(values)
            return Append(self._random.choice(TOPICS), values)
        topic, producer_id = self._random.choice(self._producers)
        sent = self.ordered[topic, producer_id]
        append = Append(topic, values, producer_id, len(sent))
        sent += values
        return append

    def _send(self, peer: Peer, append: Append) -> None:
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(append.topic, append.data))

    def _note_answer(self, peer: Peer, append: Append) -> int | None:
        """None: it may be stored or not, and is to be sent again."""
        (answer,) = peer.answer().responses[0].partition_responses
        code = ErrorCode(answer.error_code)
        if code in RETRIABLE:
            self.told_to_try_again += 1
            return None
        assert code is ErrorCode.NONE, (code.name, append)
        found = self.acknowledged[append.topic]
        for offset, value in enumerate(append.values, answer.base_offset):
            assert found.setdefault(offset, value) == value, f"{offset} was given away twice"
        return int(answer.base_offset)


class AmongKills(Writer):
    """Writes to a process that is killed, several requests at a time. What it has to send again it
    sends to that one when it is back, or to `other`."""

    def __init__(
        self, name: str, seed: int, producer_ids: Sequence[int], address: Address, other: Address
    ) -> None:
        super().__init__(name, seed, producer_ids)
        self._addresses = (address, other)
        self._pending: list[Append] = []
        """Sent, without an answer; of idempotent producers, in their order."""

    def _run(self) -> None:
        address = self._addresses[0]
        while self._pending or not self._is_over.is_set():
            try:
                with Peer(address) as peer:
                    self._write(peer, is_other=address is not self._addresses[0])
                address = self._addresses[0]
            except (OSError, EOFError):
                time.sleep(0.02)
                address = self._random.choice(self._addresses) if self._pending else address

    def _write(self, peer: Peer, is_other: bool) -> None:
        """To the other only what is sent again."""
        while self._pending or not (is_other or self._is_over.is_set()):
            group, refused = self._pending, []
            if not is_other:
                group += [self._new() for _ in range(self._random.randint(1, MOST_IN_FLIGHT))]
            try:
                for append in group:
                    self._send(peer, append)
                while group:
                    if self._note_answer(peer, group[0]) is None:
                        refused.append(group[0])
                    del group[0]
            finally:
                self._pending = [one for one in (*refused, *group) if one.is_idempotent]


class Beside(Writer):
    """Writes to a process that nobody kills, and looks at once whether it can be read."""

    def __init__(
        self, name: str, seed: int, producer_ids: Sequence[int], address: Address, pace_s: float
    ) -> None:
        super().__init__(name, seed, producer_ids)
        self._address = address
        self._pace_s = pace_s

    def _run(self) -> None:
        with Peer(self._address) as peer:
            while not self._is_over.wait(self._random.uniform(0, 2 * self._pace_s)):
                self._append(peer, self._new())

    def _append(self, peer: Peer, append: Append) -> None:
        while True:
            self._send(peer, append)
            base = self._note_answer(peer, append)
            if base is not None:
                self._can_be_read(peer, append, base)
            if base is not None or not append.is_idempotent:
                return

    def _can_be_read(self, peer: Peer, append: Append, base: int) -> None:
        got = read(peer, append.topic, base)
        assert got.error_code == ErrorCode.NONE, ErrorCode(got.error_code).name
        assert got.high_watermark >= base + len(append.values), f"{base} is hidden"
        found = {record.offset: record.value for record in records_in(got.records)}
        wanted = dict(enumerate(append.values, base))
        assert {offset: found.get(offset) for offset in wanted} == wanted, f"{base} is hidden"


def last_acknowledged(writers: Sequence[Writer]) -> dict[str, int]:
    """The last offset of each topic that anyone was told."""
    return {
        topic: max((max(list(w.acknowledged[topic]), default=-1) for w in writers), default=-1)
        for topic in TOPICS
    }
