"""The heads of all partitions: how large each is, and so what an update of it costs.

DynamoDB counts an update by the whole item, the larger of before and after, also if it is refused.
"""

from __future__ import annotations

from array import array
from random import Random

from scale.setting import KB, Design
from scale.world import World

HEAD, PRODUCER, WATCHER, ENTRY, EXTENT = 150, 120, 60, 120, 250
"""Bytes, assumed: of a head with nothing in it, of each thing in it, of an item of the index."""
EVICTED_DOWN_TO = 8
"""Producers that stay when a head is crowded: assumed."""


def units(size: float) -> int:
    """Write units of an item."""
    return -int(-size // KB) or 1


def read_units(size: float) -> int:
    """Strongly consistent."""
    return -int(-size // (4 * KB)) or 1


def entry_size(size: int, design: Design) -> int:
    """Of an append, in the tail."""
    return ENTRY + size if size <= design.inline else ENTRY


def extent_units(size: int, design: Design) -> int:
    return units(EXTENT + size if size <= design.inline else EXTENT)


def entries_per_settle(size: int, design: Design) -> int:
    by_bytes = -(-design.settle_bytes // entry_size(size, design))
    return min(design.settle_entries, by_bytes)


class Heads:
    def __init__(
        self, world: World, design: Design, size: int, watchers: int, random: Random
    ) -> None:
        count = world.partitions
        self.design = design
        self.fixed = HEAD + WATCHER * watchers
        self.entries = array("I", bytes(4 * count))
        self.tail = array("I", bytes(4 * count))
        """Bytes."""
        self.inside = array("I", bytes(4 * count))
        """Producers in the head."""
        self.evictions = array("I", bytes(4 * count))
        self.is_settling = bytearray(count)
        self.is_evicting = bytearray(count)
        self.largest = 0
        self._begin(world, size, random)

    def _begin(self, world: World, size: int, random: Random) -> None:
        """As if it had run for long: every tail is somewhere between two settlings."""
        entry, most = entry_size(size, self.design), entries_per_settle(size, self.design)
        for partition in range(world.partitions):
            self.entries[partition] = random.randrange(most)
            self.tail[partition] = self.entries[partition] * entry
            self.inside[partition] = min(world.producers[partition], self.design.producers)

    def size(self, partition: int) -> int:
        return self.fixed + self.inside[partition] * PRODUCER + self.tail[partition]

    def append(self, partition: int, entry: int, strangers: int) -> None:
        self.entries[partition] += 1
        self.tail[partition] += entry
        self.inside[partition] += strangers
        self.largest = max(self.largest, self.size(partition))

    def is_long(self, partition: int, times: int = 1) -> bool:
        return (
            self.entries[partition] >= self.design.settle_entries * times
            or self.tail[partition] >= self.design.settle_bytes * times
        )

    def is_crowded(self, partition: int, times: int = 1) -> bool:
        return self.inside[partition] > self.design.producers * times

    def is_full(self, partition: int) -> bool:
        """Twice as long or as crowded as it should be."""
        return self.is_long(partition, 2) or self.is_crowded(partition, 2)
