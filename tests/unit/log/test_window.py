"""Appends to all partitions wait for the same window."""

import asyncio
from uuid import UUID

import pytest
from unit.log.given import a_batch
from unit.log.test_grouping import GatedAppender

from samsa.log import window as window_module
from samsa.log.stores import Limits
from samsa.log.window import Window
from samsa.log.writer import PartitionWriter
from samsa.ports import Partition

LONG_MS = 3_600_000


class Given:
    """Two partitions of one process."""

    def __init__(self, window_ms: int) -> None:
        self.appender = GatedAppender()
        self.appender.gate.set()
        self.window = Window(window_ms)
        self.writers = [
            PartitionWriter(Partition(UUID(int=1), n), self.appender, Limits(), self.window)
            for n in range(2)
        ]

    @property
    def committed(self) -> list[int]:
        return [len(group) for group in self.appender.groups]

    def close(self) -> None:
        assert self.window._closing is not None
        self.window._close(self.window._closing)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_nothing_is_committed_before_the_window_closes():
    given = Given(LONG_MS)
    one, two = given.writers
    appends = [one.submit(a_batch())]
    await turns()
    appends += [two.submit(a_batch()), one.submit(a_batch())]
    await turns()
    assert given.committed == []
    given.close()
    await asyncio.gather(*appends)
    assert sorted(given.committed) == [1, 2]


async def test_it_closes_by_itself():
    given = Given(1)
    await asyncio.gather(*(writer.submit(a_batch()) for writer in given.writers))
    assert given.committed == [1, 1]


async def test_each_commit_has_a_window_of_its_own():
    given = Given(LONG_MS)
    one, _ = given.writers
    first = one.submit(a_batch())
    await turns()
    given.close()
    await first
    second = one.submit(a_batch())
    await turns()
    assert given.committed == [1]
    given.close()
    await second


async def test_a_full_window_closes_at_once(monkeypatch: pytest.MonkeyPatch):
    batch = a_batch()
    monkeypatch.setattr(window_module, "WINDOW_BYTES", 2 * len(batch.data))
    given = Given(LONG_MS)
    one, two = given.writers
    first = one.submit(batch)
    await turns()
    assert given.committed == []
    await asyncio.gather(first, two.submit(a_batch()))
    assert given.committed == [1, 1]


async def test_an_append_as_large_as_a_window_does_not_wait(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(window_module, "WINDOW_BYTES", 1)
    given = Given(LONG_MS)
    await given.writers[0].submit(a_batch())
    assert given.committed == [1]
