"""What every part of the log works on, and the numbers that it works by."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ParamSpec, TypeVar

from samsa.ports import (
    Clock,
    Journal,
    Ledger,
    Misconfigured,
    Objects,
    Partition,
    StorageError,
    Unavailable,
    Wakeups,
)

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    fence_after_ms: int = 15_000
    """How old an open slot is before anyone who meets it closes it. Liveness only."""
    closing_ms: int = 1_000
    """How long a reader waits for stale slots to be closed, before it does without."""
    slot_bytes: int = 8 * 1024 * 1024
    """What appends may share one slot up to; a single larger append has a slot of its own."""
    slot_appends: int = 1_000
    attempts: int = 6
    """Tries of one store call, and slots tried for one append."""
    backoff_ms: int = 50
    producer_expiry_ms: int = 7 * 24 * 3600 * 1000
    objects_per_read: int = 256
    sweep_grace_ms: int = 60_000
    """How long an object outlives its place in the log, for readers that have planned on it."""
    segment_bytes: int = 64 * 1024 * 1024
    """What a merge makes at most."""
    merge_after_ms: int = 60_000
    """How old an extent is before it is merged."""
    key_map_bytes: int = 64 * 1024 * 1024
    """What the keys of one round of compaction may take in memory."""
    building_ms: int = 3_600_000
    """How long an announced object may take before it is given up. Liveness only."""


@dataclass(frozen=True, slots=True)
class Stores:
    ledger: Ledger
    objects: Objects
    clock: Clock
    wakeups: Wakeups
    nonce: Callable[[], str]
    """Randomness is handed in: a fresh word for each token."""
    limits: Limits = field(default_factory=Limits)
    journal: Journal | None = None
    """Of a ledger and objects that are one."""

    async def insist(self, call: Callable[P, Awaitable[T]], *args: P.args, **kw: P.kwargs) -> T:
        """Repeat a call while it is unavailable: the ports promise that repeating is harmless."""
        for attempt in range(1, self.limits.attempts):
            try:
                return await call(*args, **kw)
            except (Misconfigured, StorageError):
                raise
            except Unavailable:
                await asyncio.sleep(self.limits.backoff_ms * 2 ** (attempt - 1) / 1000)
        return await call(*args, **kw)


@lru_cache(maxsize=10_000)
def partition_prefix(partition: Partition) -> str:
    return f"log/{partition.topic_id}/{partition.number}/"


def slot_key(partition: Partition, base: int) -> str:
    return f"{partition_prefix(partition)}{base:020d}"


def topic_prefix(topic_id: object) -> str:
    return f"log/{topic_id}/"
