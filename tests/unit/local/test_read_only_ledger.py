"""Reading a ledger that a running process keeps to itself, without that process noticing."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from unit.local.stores import PARTITION, LocalStores

from samsa.local import read_only_ledger, write_behind
from samsa.local.read_only_ledger import ReadOnlyLedger, look_on
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import Topic, Unavailable

TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)
NEVER = 3600.0


class Broker(LocalStores):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.is_alone = self.journal.stay_alone()

    async def append(self, base: int) -> None:
        assert (await self.commit(base, b"x")).base == base


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Broker]:
    broker = Broker(tmp_path)
    await broker.ledger.create_topic(TOPIC)
    assert broker.is_alone
    await broker.append(0)  # by transaction: from now on it knows the head, and takes notes
    yield broker
    await broker.close()


@pytest.fixture
def nothing_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_behind, "SETTLE_AFTER_S", NEVER)


async def ends(path: str) -> int:
    ledger = await look_on(path)
    try:
        assert [topic.name for topic in await ledger.topics()] == ["letters"]
        extents = await ledger.extents(PARTITION, 0, 100)
        head = await ledger.head(PARTITION)
        assert extents[-1].end == head.next_offset
        return head.next_offset
    finally:
        await ledger.close()


async def test_what_was_noted_before_the_look_is_seen(broker: Broker):
    for base in range(1, 20):
        await broker.append(base)
        assert await ends(broker.path) == base + 1


async def test_a_look_leaves_a_process_alone(broker: Broker):
    await broker.append(1)
    ledger = await look_on(broker.path)
    await asyncio.sleep(0.2)  # several times as long as it takes to let somebody in
    assert broker.ledger.write_behind.alone
    await ledger.close()


async def test_a_look_waits_until_the_notes_are_written_down(
    broker: Broker, nothing_is_written_down: None
):
    await broker.append(1)
    look = asyncio.create_task(ends(broker.path))
    await asyncio.sleep(0.1)
    assert not look.done()
    broker.ledger.write_behind.settle()
    assert await look == 2


async def test_a_process_that_writes_nothing_down_is_not_waited_for_for_ever(
    broker: Broker, nothing_is_written_down: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(read_only_ledger, "LOOKS", 5)
    await broker.append(1)
    with pytest.raises(Unavailable, match="does not write its notes down"):
        await look_on(broker.path)


async def test_the_notes_of_a_dead_process_are_written_down(
    broker: Broker, nothing_is_written_down: None, tmp_path: Path
):
    await broker.append(1)
    crashed = tmp_path / "crashed"
    shutil.copytree(tmp_path, crashed, ignore=shutil.ignore_patterns("crashed"))
    assert await ends(str(crashed / "ledger.db")) == 2


async def test_a_look_changes_nothing(broker: Broker):
    ledger = await look_on(broker.path)
    with pytest.raises(Unavailable, match="readonly"):
        await ledger.advance_start(PARTITION, 1)
    await ledger.close()
    assert (await broker.ledger.head(PARTITION)).log_start == 0


async def test_a_ledger_that_nobody_has_open_can_be_looked_at(tmp_path: Path):
    path = str(tmp_path / "ledger.db")
    ledger = SqliteLedger(path)
    await ledger.create_topic(TOPIC)
    await ledger.close()
    seen = await look_on(path)
    assert isinstance(seen, ReadOnlyLedger)
    assert await seen.topic("letters") == TOPIC
    await seen.close()


async def test_a_look_makes_no_ledger(tmp_path: Path):
    with pytest.raises(Unavailable, match="there is no ledger"):
        await look_on(str(tmp_path / "ledger.db"))
    assert os.listdir(tmp_path) == []


async def test_a_look_makes_no_ledger_of_a_file_with_nothing_but_groups(tmp_path: Path):
    path = tmp_path / "ledger.db"
    await SqliteGroups(str(path)).close()
    before = path.read_bytes()
    await (await look_on(str(path))).close()
    assert path.read_bytes() == before
