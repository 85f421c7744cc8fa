"""The stores and limits that every part of the log works with."""

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
from samsa.ports.heads import MOST_CLAIMS

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    commit_bytes: int = 8 * 1024 * 1024
    """Bytes of appends that share one commit; a larger append has a commit of its own."""
    commit_appends: int = 1_000
    commit_producers: int = MOST_CLAIMS
    """Idempotent producers in one commit."""
    window_ms: int = 0
    """How long appends wait for appends to other partitions. 0: only while a put is under way."""
    attempts: int = 6
    """Tries of one store call, and of one append."""
    backoff_ms: int = 50
    producer_expiry_ms: int = 7 * 24 * 3600 * 1000
    objects_per_read: int = 256
    sweep_grace_ms: int = 60_000
    """How long an object is kept after it left the index, for readers that have planned on it."""
    segment_bytes: int = 64 * 1024 * 1024
    """Largest segment that a merge makes."""
    merge_after_ms: int = 60_000
    """How old an extent is before it is merged."""
    leave_window_ms: int = 600_000
    """How old an extent is before it is copied out of its window, however small it is."""
    key_map_bytes: int = 64 * 1024 * 1024
    """Memory for the keys of one round of compaction."""
    building_ms: int = 3_600_000
    """How long the writing of an announced object may take before it is condemned. Liveness only:
    a wrong value costs no safety."""


@dataclass(frozen=True, slots=True)
class Stores:
    ledger: Ledger
    objects: Objects
    journal: Journal
    clock: Clock
    wakeups: Wakeups
    nonce: Callable[[], str]
    """A fresh name for each object. Passed in, because it is random."""
    limits: Limits = field(default_factory=Limits)

    async def retry(self, call: Callable[P, Awaitable[T]], *args: P.args, **kw: P.kwargs) -> T:
        """Repeat a call while its store is unavailable: the ports promise that this is harmless."""
        for attempt in range(1, self.limits.attempts):
            try:
                return await call(*args, **kw)
            except (Misconfigured, StorageError):
                raise
            except Unavailable:
                await asyncio.sleep(self.limits.backoff_ms * 2 ** (attempt - 1) / 1000)
        return await call(*args, **kw)


OBJECTS = "log/"
"""Prefix of the log's objects. A journal deletes by itself what it keeps elsewhere."""


@lru_cache(maxsize=10_000)
def partition_prefix(partition: Partition) -> str:
    return f"{OBJECTS}{partition.topic_id}/{partition.number}/"


def topic_prefix(topic_id: object) -> str:
    return f"{OBJECTS}{topic_id}/"
