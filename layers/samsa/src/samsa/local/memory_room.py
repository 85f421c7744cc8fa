"""The memory that the stores of an ephemeral broker may take: a limit instead of a full disk.

Objects and ledgers count together. When the limit is reached, appends are refused; everything else
goes on: reads, offset commits, deletions, and the upkeep that frees memory, which may use a quarter
more. An episode of refusals is logged once, with what to do, and so is its end.
"""

import logging
import sqlite3
from collections.abc import Callable

from samsa.local.health import FULL, kind_of
from samsa.ports import StorageError, Unavailable

log = logging.getLogger("samsa.storage")
MIB = 1024 * 1024
DEFAULT_BYTES = 512 * MIB
OBJECT_OVERHEAD = 256
"""Bytes that Python takes for one object beside its contents, about."""
FULL_MEMORY = "the memory for records is full"
TO_DO = (
    "make room: delete topics or records, lower retention.ms or retention.bytes, or start with a "
    "larger --max-memory. Appends go on by themselves when there is room"
)


class MemoryRoom:
    def __init__(self, limit: int = DEFAULT_BYTES) -> None:
        self.limit = limit
        self.failures = 0
        """Appends that were refused."""
        self._objects = 0
        self._ledgers: list[Callable[[], int]] = []
        self._is_full = False

    @property
    def most_of_a_ledger(self) -> int:
        """Above this, a ledger's own writes are refused too."""
        return max(16 * MIB, self.limit // 4)

    @property
    def used(self) -> int:
        return self._objects + sum(size() for size in self._ledgers)

    def count(self, ledger_size: Callable[[], int]) -> None:
        self._ledgers.append(ledger_size)

    def take(self, size: int, for_upkeep: bool = False) -> None:
        """Raises StorageError."""
        limit = self.limit + self.limit // 4 if for_upkeep else self.limit
        if self.used + size + OBJECT_OVERHEAD > limit:
            self.failures += 1
            self._say_full()
            raise StorageError(f"{FULL_MEMORY} ({self.limit} bytes); see the broker's log")
        self._objects += size + OBJECT_OVERHEAD
        if self._is_full and not for_upkeep:
            self._is_full = False
            log.warning("there is memory for records again", extra={"fields": {"used": self.used}})

    def give_back(self, size: int) -> None:
        self._objects -= size + OBJECT_OVERHEAD

    def failed(self, error: OSError | sqlite3.Error, doing: str) -> Unavailable:
        """The exception to raise for a failed call of a ledger, as `DiskHealth` has it."""
        if kind_of(error) != FULL:
            return Unavailable(f"{doing}: {error}")
        self.failures += 1
        self._say_full()
        return StorageError(f"{FULL_MEMORY}: {doing}")

    def _say_full(self) -> None:
        if not self._is_full:
            self._is_full = True
            log.error(FULL_MEMORY, extra={"fields": {"limit": self.limit, "do": TO_DO}})
