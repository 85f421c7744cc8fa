"""A client: a thread that appends, reads and asks for the end, as its seed tells it."""

import random
import time

from histories.background import Background
from histories.recording import NoAnswer
from histories.session import Session

SHARES = {"append": 5, "read": 4, "end": 2}
PADDING = (0, 10, 300, 5_000)
VALUES = (1, 1, 2, 3)
READ_BEHIND = 25
READ_BYTES = (1, 4_000, 100_000)
WAITS_MS = (0, 0, 0, 200)
MOVES = 0.05
"""How often it goes to another process though this one answers."""
SEQUENCE_ERRORS = {"OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "INVALID_PRODUCER_EPOCH"}


class Client(Background):
    """A plain one sends each append once. An idempotent one sends an append that has no answer
    again, with the same sequence, until it has one."""

    def __init__(
        self, session: Session, seed: int, *, partitions: int, pace_s: float, idempotent: bool
    ) -> None:
        super().__init__("a client")
        self._session = session
        self._random = random.Random(seed)
        self._pace_s = pace_s
        self._ends = [0] * partitions
        self._idempotent = idempotent
        self._producer_id: int | None = None
        self._sequences = [0] * partitions
        self._open: dict[int, list[bytes]] = {}
        self.start()

    def work(self) -> None:
        try:
            while not self.over.wait(self._random.uniform(0, 2 * self._pace_s)):
                self._once()
        finally:
            self._session.move_on()

    def _once(self) -> None:
        if self._random.random() < MOVES:
            self._session.move_on()
        (kind,) = self._random.choices([*SHARES], [*SHARES.values()])
        partition = self._random.randrange(len(self._ends))
        try:
            getattr(self, f"_{kind}")(partition)
        except NoAnswer:
            pass  # the history has it
        except OSError:
            time.sleep(0.02)

    def _append(self, partition: int) -> None:
        if self._idempotent:
            self._append_once(partition)
        else:
            self._session.append(partition, self._new_values())

    def _append_once(self, partition: int) -> None:
        if self._producer_id is None:
            self._producer_id = self._session.new_producer_id()
            self._sequences = [0] * len(self._sequences)
            self._open.clear()
        if partition not in self._open:
            self._open[partition] = self._new_values()
        try:
            self._session.append(
                partition,
                self._open[partition],
                producer_id=self._producer_id,
                producer_epoch=0,
                base_sequence=self._sequences[partition],
            )
        except NoAnswer as error:
            if str(error) in SEQUENCE_ERRORS:
                self._producer_id = None
            raise
        self._sequences[partition] += len(self._open.pop(partition))

    def _new_values(self) -> list[bytes]:
        return self._session.new_values(self._random.choice(VALUES), self._random.choice(PADDING))

    def _read(self, partition: int) -> None:
        offset = max(0, self._ends[partition] - self._random.randrange(READ_BEHIND))
        max_bytes, wait_ms = self._random.choice(READ_BYTES), self._random.choice(WAITS_MS)
        got = self._session.read(partition, offset, max_bytes=max_bytes, wait_ms=wait_ms)
        self._ends[partition] = max(self._ends[partition], got["end"])

    def _end(self, partition: int) -> None:
        end = self._session.end(partition)
        self._ends[partition] = max(self._ends[partition], end)
