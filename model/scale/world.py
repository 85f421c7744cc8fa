"""The clients and the partitions: who appends where.

Producers are all alike, and a partition is popular because it has many of them. So an append is
one of a producer taken at random.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import ceil

from scale.setting import Setting


class World:
    def __init__(self, weights: list[float], producers: int, consumers: int) -> None:
        self.partitions = len(weights)
        self.partition_of = array("I")
        """By producer."""
        self.producers = array("I")
        """By partition: how many."""
        self.consumers = consumers
        scale, total, have = producers / sum(weights), 0.0, 0
        for partition, weight in enumerate(weights):
            total += weight
            upto = round(total * scale)
            self.producers.append(upto - have)
            self.partition_of.extend(array("I", [partition]) * (upto - have))
            have = upto

    def readers(self, partition: int) -> range:
        """Consumers of a partition: each reads one, those of a group different ones."""
        return range(partition, self.consumers, self.partitions)


def world(setting: Setting) -> World:
    return _world(
        setting.partitions,
        setting.producers,
        setting.consumers,
        setting.skew,
        setting.largest_share,
    )


@lru_cache(maxsize=4)
def _world(count: int, producers: int, consumers: int, skew: float, largest: float) -> World:
    weights = [rank**-skew for rank in range(1, count + 1)]
    most = largest * sum(weights)
    split: list[float] = []
    for weight in weights:
        parts = ceil(weight / most)
        split.extend([weight / parts] * parts)
    # As many as before: the least popular ones, which hardly any producer uses, are left out.
    return World(split[:count], producers, consumers)
