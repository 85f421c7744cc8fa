"""What only the broker itself knows: what it counts, and what its logs are made of."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import NamedTuple

from samsa.log.compact_progress import CLEANED
from samsa.log.segments import is_segment
from samsa.ports import Extent, Head, Partition
from samsa_broker.server.latency import Latencies
from samsa_broker.server.listener import Server


class Counters(NamedTuple):
    """Since the process began."""

    bytes_in: int
    bytes_out: int
    records_in: int
    requests: int
    errors: int
    """Requests, logins and connections that were refused or cut off, and failed steps of upkeep."""


class Calls(NamedTuple):
    """What AWS would bill, since the process began."""

    uptime_s: float
    writes: int
    reads: int
    """Of the ledger, its journal and its groups."""
    puts: int
    gets: int
    bytes_in: int
    bytes_out: int


LEDGER_READS = frozenset(
    {
        "aborted", "cursor", "doomed_topics", "extent_at_time", "extents", "group", "group_ids",
        "head", "head_state", "newest_extent", "next_offset", "nodes", "offsets",
        "pending_deletions", "producer", "producer_item", "producers", "tail", "topic",
        "topic_by_id", "topics",
    }
)  # fmt: skip
"""Methods of ledgers and of stores of groups that only read; all others write."""


class Part(NamedTuple):
    pieces: int
    size: int


class LogParts(NamedTuple):
    """What the log of one partition is made of."""

    tail: Part
    extents: Part
    segments: Part
    compacted_to: int | None
    oldest_ms: int | None
    newest_ms: int | None


class Inside:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.broker = server.broker

    def counters(self) -> Counters:
        stats = self.server.stats
        failures = self.broker.log.janitor.failures
        errors = stats.refused + sum(stats.let_go.values()) + self.broker.refused.total()
        errors += sum(failures.failed.values())
        if (security := self.server.security) is not None:
            errors += security.audit.refused_logins + security.audit.refused_operations
        requests = sum(stats.requests.values())
        return Counters(stats.bytes_in, stats.bytes_out, self.records_in, requests, errors)

    @property
    def records_in(self) -> int:
        """Offsets that this process appended."""
        return self.broker.log.appended

    @property
    def uptime_s(self) -> float:
        return self.server.stats.uptime_s

    @property
    def open_transactions(self) -> int:
        return self.broker.transaction_figures[0]

    @property
    def is_remote(self) -> bool:
        """Whether each call of the ledger costs money."""
        return self.broker.stores.journal.remote

    @property
    def has_security(self) -> bool:
        return self.broker.access is not None

    @property
    def connections(self) -> int:
        return len(self.server.connections)

    def count_latencies(self) -> Latencies:
        if self.server.stats.latencies is None:
            self.server.stats.latencies = Latencies()
        return self.server.stats.latencies

    def calls(self) -> Calls:
        stores, stats = self.broker.stores, self.server.stats
        ledger = Counter(stores.ledger.calls)
        if self.broker.groups is not None:
            ledger += Counter(self.broker.groups.calls)
        journal, objects = stores.journal.calls, stores.objects.calls
        reads = sum(count for name, count in ledger.items() if name in LEDGER_READS)
        commits = journal["commit"] + journal["again"]
        return Calls(
            stats.uptime_s,
            ledger.total() - reads + commits,
            reads,
            objects["put"] + objects["list"] + journal["pack"],
            objects["get"],
            stats.bytes_in,
            stats.bytes_out,
        )

    def clients(self) -> tuple[int, int]:
        """About how many producers and consumers are connected: those that have produced here, and
        of the others half, as a consumer has two connections."""
        connections = list(self.server.connections)
        producers = sum(each.has_produced for each in connections)
        return producers, (len(connections) - producers + 1) // 2

    async def parts(self, partition: Partition) -> LogParts:
        """Raises UnknownPartition, OutOfRange."""
        head = await self.broker.log.head(partition)
        sizes = {"tail": [0, 0], "extents": [0, 0], "segments": [0, 0]}
        oldest: int | None = None
        newest: int | None = None
        async for extent in self._extents(partition, head):
            kind = _kind(extent, head)
            sizes[kind][0] += 1
            sizes[kind][1] += extent.size
            time = extent.max_timestamp if extent.max_timestamp >= 0 else extent.stored_at
            oldest = time if oldest is None else min(oldest, time)
            newest = time if newest is None else max(newest, time)
        cleaned = await self.broker.stores.ledger.cursor(partition, CLEANED)
        tail, extents, segments = (Part(*each) for each in sizes.values())
        return LogParts(tail, extents, segments, cleaned or None, oldest, newest)

    async def _extents(self, partition: Partition, head: Head) -> AsyncIterator[Extent]:
        current = self.broker.work.slice()
        async for extent in self.broker.log.reader.extents(partition, head.log_start, head):
            if current.is_over:
                await current.rest()
            yield extent


def _kind(extent: Extent, head: Head) -> str:
    if head.tail and extent.base >= head.tail[0].base:
        return "tail"
    return "segments" if is_segment(extent.key) else "extents"
