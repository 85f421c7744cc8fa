"""Reading at the end of a partition, where appends are noted and not written down yet."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from unit.log.given import PARTITION, HandClock, a_batch, values_in

from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.local.write_behind import MOST_AT_ONCE
from samsa.log.core import Log
from samsa.log.read import OutOfRange
from samsa.log.stores import Limits, Stores
from samsa.ports import Topic

APPENDS = MOST_AT_ONCE + 20


class Alone:
    """A process that is alone with its stores."""

    def __init__(self, folder: Path) -> None:
        self.ledger = SqliteLedger(str(folder / "ledger.db"))
        self.objects = FolderObjects(str(folder / "objects"))
        self.journal = SqliteJournal(self.ledger, self.objects.root, "a")
        assert self.journal.stay_alone()
        self.log = Log(
            Stores(
                self.ledger,
                self.objects,
                self.journal,
                HandClock(),
                LocalWakeups(),
                lambda: "nonce",
                Limits(),
            )
        )

    async def read(self, offset: int, max_bytes: int) -> list[bytes | None]:
        plan = await self.log.plan(PARTITION, offset, max_bytes)
        pieces = [
            await self.objects.get(piece.key, piece.start, piece.length) for piece in plan.ranges
        ]
        return values_in(b"".join(map(bytes, pieces)))

    def asked(self) -> int:
        """How often the ledger was."""
        return sum(self.ledger.calls.values())


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Alone]:
    alone = Alone(tmp_path)
    await alone.ledger.create_topic(Topic("letters", PARTITION.topic_id, 1, 0))
    for number in range(APPENDS):
        await alone.log.append(PARTITION, a_batch(b"%d" % number))
    yield alone
    for store in (alone.journal, alone.objects, alone.ledger):
        await store.close()


def numbers(first: int, end: int = APPENDS) -> list[bytes]:
    return [b"%d" % number for number in range(first, end)]


async def test_what_is_noted_is_read_without_the_ledger(alone: Alone):
    before = alone.asked()
    assert await alone.read(APPENDS - 3, 1_000_000) == numbers(APPENDS - 3)
    assert await alone.read(APPENDS, 1_000_000) == []
    assert alone.asked() == before
    assert alone.ledger.write_behind.waiting


async def test_no_more_is_read_than_was_asked_for(alone: Alone):
    size = len(a_batch(b"50").data)
    assert await alone.read(50, 3 * size) == numbers(50, 53)
    assert await alone.read(50, 1) == numbers(50, 51)


async def test_a_read_goes_on_where_what_is_known_at_once_ends(alone: Alone):
    assert await alone.read(1, 1_000_000) == numbers(1)


async def test_a_read_from_below_what_is_noted_has_everything(alone: Alone):
    assert await alone.read(0, 1_000_000) == numbers(0)


async def test_beyond_the_end_is_out_of_range(alone: Alone):
    with pytest.raises(OutOfRange) as out:
        await alone.log.plan(PARTITION, APPENDS + 1, 1)
    assert (out.value.log_start, out.value.visible_end) == (0, APPENDS)
