"""Random transactions on a log that is merged, compacted and trimmed all the time. After each step,
readers with read_committed get from every offset what they must get."""

from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import pytest
from unit.log.changelogs import (
    EAGER,
    GRACE,
    Delivered,
    Producer,
    a_changelog,
    committed,
    listed,
    markers,
    put,
)
from unit.log.compacting import HOUR
from unit.log.given import PARTITION, Given

from samsa.log.compact_keys import BYTES_PER_KEY
from samsa.log.merge import RoundBudget
from samsa.ports import End

STEPS = 80
SEEDS = 16
FEW = 2
PRODUCERS = 3
KEYS = [b"k%d" % n for n in range(8)]
UNDECIDED = None


@dataclass
class Written:
    """A record that was appended, and whether it counts."""

    offset: int
    key: bytes
    value: bytes | None
    is_committed: bool | None = True


@dataclass
class World:
    given: Given
    random: Random
    is_compacted: bool
    written: list[Written] = field(default_factory=list)
    open: dict[int, list[Written]] = field(default_factory=dict)
    """By producer id."""
    compacted_to: int = 0
    """Where the last round may have ended."""
    values: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self.producers = [Producer(self.given, 7 + n) for n in range(PRODUCERS)]

    async def step(self) -> None:
        steps = [self.write, self.write_in_one, self.write_in_one, self.end, self.end]
        rare = [self.merge, self.trim, self.wait, self.restart]
        kinds = steps * 4 + rare + ([self.compact] * 12 if self.is_compacted else [])
        self.given.clock.now += self.random.choice((1, GRACE // 3, GRACE))
        await self.random.choice(kinds)()

    def pairs(self) -> list[tuple[bytes, bytes | None]]:
        made = self.random.randint(1, 3)
        gone = self.random.random() < 0.1
        return [
            (self.random.choice(KEYS), None if gone else b"%d" % next(self.values))
            for _ in range(made)
        ]

    async def write(self) -> None:
        pairs = self.pairs()
        base = await put(self.given, *pairs)
        self.written += [Written(base + n, *pair) for n, pair in enumerate(pairs)]

    async def write_in_one(self) -> None:
        producer, pairs = self.random.choice(self.producers), self.pairs()
        base = await producer.put(*pairs)
        made = [Written(base + n, *pair, UNDECIDED) for n, pair in enumerate(pairs)]
        self.written += made
        self.open.setdefault(producer.id, []).extend(made)

    async def end(self) -> None:
        """Of a producer without batches here too: that writes a marker."""
        some = [one for one in self.producers if one.id in self.open]
        producer = self.random.choice([*some * 5, *self.producers])
        how = self.random.choice((End.ABORT, End.COMMIT))
        await producer.end(how, next_epoch=self.random.random() < 0.5)
        for one in self.open.pop(producer.id, []):
            one.is_committed = how is End.COMMIT

    async def merge(self) -> None:
        await self.given.log.merger.merge(PARTITION, RoundBudget(10**9, self.random.randint(1, 3)))

    async def compact(self) -> None:
        head = await self.given.log.head(PARTITION)
        self.compacted_to = max(self.compacted_to, head.stable_end)
        looks = iter([False] * self.random.choice((1, 5, 99, 99)))
        await self.given.log.compactor.compact(PARTITION, EAGER, lambda: next(looks, True))

    async def trim(self) -> None:
        """At times into the middle of an open transaction."""
        head = await self.given.log.head(PARTITION)
        size = head.next_offset - head.log_start
        await self.given.log.retainer.delete_before(
            PARTITION, head.log_start + self.random.randint(0, size // 8)
        )

    async def wait(self) -> None:
        self.given.clock.now += self.random.choice((GRACE, HOUR))

    async def restart(self) -> None:
        self.given = self.given.another()
        for producer in self.producers:
            producer.given = self.given

    async def check(self) -> None:
        head = await self.given.log.head(PARTITION)
        undecided = [one.offset for made in self.open.values() for one in made]
        assert head.stable_end == max(head.log_start, min(undecided, default=head.next_offset))
        found = await committed(self.given, head.log_start)
        self._check_whole(found, head.log_start, head.stable_end)
        for offset in range(head.log_start, head.next_offset + 1):
            size = self.random.choice((1, 300, 10**6))
            rest = await committed(self.given, offset, size)
            assert rest == [one for one in found if one[0] >= offset]
        there = await markers(self.given)
        for one in await listed(self.given):
            assert one.marker < head.log_start or there[one.marker] is False

    def _check_whole(self, found: Delivered, start: int, end: int) -> None:
        visible = [one for one in self.written if one.is_committed and start <= one.offset < end]
        as_delivered = {one.offset: (one.offset, one.key, one.value) for one in visible}
        assert found == [as_delivered.get(one[0]) for one in found]
        kept = {offset for offset, _, _ in found}
        newest = {one.key: one.offset for one in visible}
        newest_clean = {one.key: one.offset for one in visible if one.offset < self.compacted_to}
        for one in visible:
            if one.offset in kept:
                continue
            # Only compaction removes records: those that a newer one replaces, and tombstones.
            assert one.offset < self.compacted_to
            if newest_clean[one.key] == one.offset:
                assert one.value is None
                assert not [n for n in visible if n.key == one.key and n.offset in kept
                            and n.offset < one.offset]  # fmt: skip
        for one in visible:
            if newest[one.key] == one.offset and one.value is not None:
                assert one.offset in kept


async def a_world(seed: int, is_compacted: bool) -> World:
    random = Random(seed)
    limits = {"merge_after_ms": 0, "key_map_bytes": random.choice((2, 1_000)) * BYTES_PER_KEY}
    return World(await a_changelog(**limits), random, is_compacted)


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samsa.log.compact_plan.GROUP_EXTENTS", 3)


def seeds(first: int, end: int) -> list[Any]:
    """After some, all others are for thorough runs."""
    many = (pytest.param(seed, marks=pytest.mark.thorough) for seed in range(first + FEW, end))
    return [*range(first, first + FEW), *many]


@pytest.mark.parametrize("seed", seeds(0, SEEDS))
async def test_readers_get_what_was_committed_and_must_stay(seed):
    world = await a_world(seed, is_compacted=seed % 4 > 0)
    for _ in range(STEPS):
        await world.step()
        await world.check()


@pytest.mark.parametrize("seed", seeds(SEEDS, SEEDS + 4))
async def test_in_the_end_nothing_is_left_of_what_was_aborted(seed):
    world = await a_world(seed, is_compacted=True)
    for _ in range(STEPS):
        await world.step()
    for producer in world.producers:
        await producer.end(End.ABORT)
    wrote = (await world.given.log.head(PARTITION)).next_offset
    for made in world.open.values():
        for one in made:
            one.is_committed = False
    world.open.clear()
    for _ in range(200):
        await world.write()
        world.given.clock.now += GRACE
        world.compacted_to = (await world.given.log.head(PARTITION)).next_offset
        await world.given.log.compactor.compact(PARTITION, EAGER)
    await world.check()
    assert await listed(world.given) == []
    assert [at for at in await markers(world.given) if at < wrote] == []
