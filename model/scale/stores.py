"""The ledger and the objects, as tasks: every call is admitted by its limits and takes its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from random import Random

from scale.heads import (
    ENTRY,
    EVICTED_DOWN_TO,
    EXTENT,
    PRODUCER,
    Heads,
    entry_size,
    read_units,
    units,
)
from scale.loop import Loop, Task
from scale.meters import Bucket, Buckets
from scale.setting import FUNCTIONS, Setting, Times
from scale.world import World


class Refused(Exception):
    """Throttled for longer than the request has patience."""


class Clockwork:
    """How long things take."""

    def __init__(self, times: Times, random: Random) -> None:
        self.times = times
        self._random = random

    def lasts(self, mean: float) -> float:
        return mean * (0.5 + self._random.expovariate(2.0))


class Stores:
    def __init__(self, setting: Setting, world: World, loop: Loop, random: Random) -> None:
        limits, burst = setting.limits, setting.times.burst
        self.setting, self.world, self.loop, self.random = setting, world, loop, random
        self.clockwork = Clockwork(setting.times, random)
        self.table_writes = Bucket(limits.table_writes, burst)
        self.table_reads = Bucket(limits.table_reads, burst)
        self.key_writes = Buckets(world.partitions, limits.key_writes, burst)
        self.key_reads = Buckets(world.partitions, limits.key_reads, burst)
        self.puts = Bucket(limits.puts * limits.prefixes, burst)
        self.gets = Bucket(limits.gets * limits.prefixes, burst)
        watchers = round(setting.readers)
        self.heads = Heads(world, setting.design, setting.size, watchers, random)
        self.patience = setting.times.patience if setting.shape == FUNCTIONS else inf
        self.refused_updates = 0
        self.throttled_s = 0.0
        """That functions waited for the limits of a store."""

    # One call each

    def read(self, partition: int) -> Task:
        need = read_units(self.heads.size(partition))
        yield from self._call(self.table_reads, self.key_reads, partition, need)

    def update(self, partition: int, need: int) -> Task:
        yield from self._call(self.table_writes, self.key_writes, partition, need)

    def watch(self, partition: int) -> Task:
        """Registering as watcher."""
        yield from self.update(partition, units(self.heads.size(partition)))

    def write_beside(self, partition: int, need: int) -> Task:
        """Items of the index or of evicted producers."""
        if self.setting.design.is_index_apart:
            yield from self._object(self.table_writes, self.setting.times.ledger, need)
        else:
            yield from self.update(partition, need)

    def read_beside(self, partition: int, need: int) -> Task:
        yield from self._call(self.table_reads, self.key_reads, partition, need)

    def put(self) -> Task:
        yield from self._object(self.puts, self.setting.times.put, 1)

    def get(self) -> Task:
        yield from self._object(self.gets, self.setting.times.get, 1)

    # What is made of them

    def commit(self, partition: int, size: int, strangers: int) -> Task:
        """An append's update. Strangers are producers that are not in the head."""
        heads = self.heads
        entry = entry_size(size, self.setting.design)
        if self.setting.design.has_back_pressure and heads.is_full(partition):
            yield from self.upkeep(partition)
            if heads.is_full(partition):
                raise Refused
        while True:
            evictions = heads.evictions[partition]
            if strangers:
                yield from self.read_beside(partition, strangers)
            need = units(heads.size(partition) + entry + strangers * PRODUCER)
            yield from self.update(partition, need)
            if not strangers or evictions == heads.evictions[partition]:
                heads.append(partition, entry, strangers)
                return
            self.refused_updates += 1

    def upkeep(self, partition: int) -> Task:
        """Done by a writer that finds a head long or crowded. If throttled, another does it."""
        heads = self.heads
        if heads.is_long(partition) and not heads.is_settling[partition]:
            heads.is_settling[partition] = 1
            yield from self._try(self._settle, partition)
            heads.is_settling[partition] = 0
        if heads.is_crowded(partition) and not heads.is_evicting[partition]:
            heads.is_evicting[partition] = 1
            yield from self._try(self._evict, partition)
            heads.is_evicting[partition] = 0

    def _try(self, work: Callable[[int], Task], partition: int) -> Task:
        with suppress(Refused):
            yield from work(partition)

    def _settle(self, partition: int) -> Task:
        heads = self.heads
        entries, tail = heads.entries[partition], heads.tail[partition]
        each = units(EXTENT + tail / entries - ENTRY)
        yield from self.write_beside(partition, entries * each)
        yield from self.update(partition, units(heads.size(partition)))
        heads.entries[partition] -= entries
        heads.tail[partition] -= tail
        self._charge(partition, entries * each)

    def _charge(self, partition: int, need: int) -> None:
        """For what is done later, by others: extents are merged, and so they are deleted."""
        self.table_writes.take(self.loop.now, need)
        if not self.setting.design.is_index_apart:
            self.key_writes.take(partition, self.loop.now, need)

    def _evict(self, partition: int) -> Task:
        heads = self.heads
        count = heads.inside[partition] - EVICTED_DOWN_TO
        yield from self.write_beside(partition, count)
        yield from self.update(partition, units(heads.size(partition)))
        heads.inside[partition] -= count
        heads.evictions[partition] += 1

    def is_stranger(self, partition: int) -> bool:
        """Whether the producer of an append is not among those in the head."""
        many = self.world.producers[partition]
        if many <= self.setting.design.producers:
            return False
        return self.random.random() * many > self.heads.inside[partition]

    # Admission

    def _call(self, table: Bucket, keys: Buckets, partition: int, need: int) -> Iterator[float]:
        now = self.loop.now
        if table.quote(now, need) > now + self.patience:
            table.refuse(need)
            yield from self._give_up()
        if keys.quote(partition, now, need) > now + self.patience:
            keys.refuse(partition, need)
            yield from self._give_up()
        at = max(table.take(now, need), keys.take(partition, now, need))
        yield at
        self.throttled_s += at - now
        yield at + self.clockwork.lasts(self.setting.times.ledger)

    def _object(self, bucket: Bucket, mean: float, need: int) -> Iterator[float]:
        now = self.loop.now
        if bucket.quote(now, need) > now + self.patience:
            bucket.refuse(need)
            yield from self._give_up()
        at = bucket.take(now, need)
        yield at
        if bucket is not self.gets:
            self.throttled_s += at - now
        yield at + self.clockwork.lasts(mean)

    def _give_up(self) -> Iterator[float]:
        yield self.loop.now + self.patience
        self.throttled_s += self.patience
        raise Refused
