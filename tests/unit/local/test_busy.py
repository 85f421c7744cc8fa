"""Another process writes to the ledger: calls of this one wait, and its event loop does not."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import UUID

import pytest
from unit.local.stores import PARTITION, LocalStores

from samsa.local import ledger_journal
from samsa.local.database import Busy
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import Committed, Extent, Topic, Unavailable

TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)
EXTENT = Extent(0, 1, 1, 7, 8, "", (), 1)
TURNS = 5
"""Of the event loop, before the other process is done: in all of them a call is under way."""


class Stores(LocalStores):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.groups = SqliteGroups(self.path)

    @contextmanager
    def busy(self) -> Iterator[Callable[[], None]]:
        """Until the yielded function is called."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield lambda: other.execute("ROLLBACK") and None
            if other.in_transaction:
                other.execute("ROLLBACK")

    async def close(self) -> None:
        await self.groups.close()
        await super().close()


@pytest.fixture
async def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stores]:
    monkeypatch.setattr(ledger_journal, "BUSY_TRIES", 2)
    stores = Stores(tmp_path)
    await stores.ledger.create_topic(TOPIC)
    yield stores
    await stores.close()


CALLS: dict[str, Callable[[Stores], Awaitable[object]]] = {
    "advance_start": lambda s: s.ledger.advance_start(PARTITION, 0),
    "watch": lambda s: s.ledger.watch(PARTITION, "w", 99),
    "create_topic": lambda s: s.ledger.create_topic(Topic("b", UUID(int=2), 1, 0)),
    "next_producer_ids": lambda s: s.ledger.next_producer_ids(1),
    "append": lambda s: s.journal.commit(PARTITION, EXTENT, [b"x"], ()),
    "commit": lambda s: s.groups.commit("g", -1, {("letters", 0): Committed(1, -1, "", 0, 0)}),
    "delete_group": lambda s: s.groups.delete_group("g", 0),
}


@pytest.mark.parametrize("name", CALLS)
async def test_the_event_loop_turns_while_another_process_writes(name: str, stores: Stores):
    with stores.busy() as done:
        call = asyncio.ensure_future(CALLS[name](stores))
        for _ in range(TURNS):
            await asyncio.sleep(0)
            assert not call.done(), "it gave up before the loop could turn"
        done()
        await call


@pytest.mark.parametrize("name", CALLS)
async def test_a_process_that_writes_for_ever_is_not_waited_for(name: str, stores: Stores):
    with stores.busy(), pytest.raises(Unavailable, match="another process is writing"):
        await CALLS[name](stores)


async def test_an_append_that_met_a_busy_process_leaves_nothing(stores: Stores):
    with stores.busy(), pytest.raises(Busy):
        await stores.journal.commit(PARTITION, EXTENT, [b"x"], ())
    assert (await stores.journal.commit(PARTITION, EXTENT, [b"y"], ())).base == 0
    [found] = await stores.ledger.extents(PARTITION, 0, 1)
    assert found.start == 0
    assert bytes(await stores.objects.get(found.key, found.start, found.size)) == b"y"


async def test_an_append_is_tried_longer_than_other_calls(stores: Stores):
    with stores.busy() as done:
        append = asyncio.create_task(stores.journal.commit(PARTITION, EXTENT, [b"x"], ()))
        await asyncio.sleep(0)  # it has begun before the other call
        with pytest.raises(Busy):
            await stores.ledger.advance_start(PARTITION, 0)
        done()
        assert (await append).base == 0


def test_many_processes_make_the_same_new_ledger_at_once(tmp_path: Path):
    script = "import sys; from samsa.local.sqlite import SqliteLedger as S; S(sys.argv[1])"
    command = [sys.executable, "-c", script, str(tmp_path / "ledger.db")]
    making = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(8)]
    said = [process.communicate(timeout=60)[1].decode() for process in making]
    assert [process.returncode for process in making] == [0] * len(making), said
