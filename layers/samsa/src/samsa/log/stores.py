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
    commit_bytes: int = 8 * 1024 * 1024
    """What appends may share one commit up to; a single larger append has one of its own."""
    commit_appends: int = 1_000
    commit_producers: int = 32
    """Idempotent producers in one commit: an expression of DynamoDB has 4 KB."""
    window_ms: int = 0
    """How long appends wait for those to other partitions. 0: only while a put is under way."""
    attempts: int = 6
    """Tries of one store call, and of one append."""
    backoff_ms: int = 50
    producer_expiry_ms: int = 7 * 24 * 3600 * 1000
    objects_per_read: int = 256
    sweep_grace_ms: int = 60_000
    """How long an object outlives its place in the log, for readers that have planned on it."""
    segment_bytes: int = 64 * 1024 * 1024
    """What a merge makes at most."""
    merge_after_ms: int = 60_000
    """How old an extent is before it is merged."""
    leave_window_ms: int = 600_000
    """How old one is before it leaves the window that it shares, however small it is."""
    key_map_bytes: int = 64 * 1024 * 1024
    """What the keys of one round of compaction may take in memory."""
    building_ms: int = 3_600_000
    """How long an announced object may take before it is given up. Liveness only."""


@dataclass(frozen=True, slots=True)
class Stores:
    ledger: Ledger
    objects: Objects
    journal: Journal
    clock: Clock
    wakeups: Wakeups
    nonce: Callable[[], str]
    """Randomness is handed in: a fresh word for each object."""
    limits: Limits = field(default_factory=Limits)

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


OBJECTS = "log/"
"""Where the keys of the log's objects begin. What a journal keeps elsewhere it deletes itself."""


@lru_cache(maxsize=10_000)
def partition_prefix(partition: Partition) -> str:
    return f"{OBJECTS}{partition.topic_id}/{partition.number}/"


def topic_prefix(topic_id: object) -> str:
    return f"{OBJECTS}{topic_id}/"
