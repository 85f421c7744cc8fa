"""What survives a loss of power: with fsync what was acknowledged, and never less for a copy."""

import errno
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from unit.local.recorded import Recorded

from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.ports import Buffer, CommitResult, Extent, Partition, PendingDeletion, Topic, Unavailable
from samsa.runtime.opening import opened

TOPIC = Topic("letters", UUID(int=1), 2, 0)
FIRST, SECOND = (Partition(TOPIC.id, number) for number in range(2))
EIO = OSError(errno.EIO, "Input/output error")


class Given:
    def __init__(self, folder: Path, stores: Stores) -> None:
        self.root = str(folder / "made" / "data" / "objects")
        self.ledger, self.objects, self.journal = stores.ledger, stores.objects, stores.journal

    async def append(self, partition: Partition, base: int) -> CommitResult:
        extent = Extent(base, 1, 1, 7, 8, "", (), 1)
        return await self.journal.commit(partition, extent, [b"%d" % base], ())

    async def key_of(self, partition: Partition, offset: int) -> str:
        [extent] = await self.ledger.extents(partition, offset, 1)
        return extent.key

    def files(self) -> int:
        return sum(1 for path in Path(self.root).rglob("*") if path.is_file())

    def path_of(self, key: str) -> str:
        return f"{self.root}/{key}"


def urls(folder: Path) -> tuple[str, str]:
    data = folder / "made" / "data"
    return f"sqlite://{data}/ledger.db", f"file://{data}/objects"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    return Recorded(monkeypatch, tmp_path)


@pytest.fixture(params=[True, False], ids=["fsync", "no fsync"])
async def given(
    request: pytest.FixtureRequest, tmp_path: Path, recorded: Recorded
) -> AsyncIterator[Given]:
    async with opened(*urls(tmp_path), LocalWakeups(), Limits(), fsync=request.param) as found:
        given = Given(tmp_path, found.stores)
        await given.ledger.create_topic(TOPIC)
        yield given


only_fsync = pytest.mark.parametrize("given", [True], indirect=True)
without_fsync = pytest.mark.parametrize("given", [False], indirect=True)


@only_fsync
async def test_every_name_that_leads_to_what_is_acknowledged_is_synced(
    given: Given, recorded: Recorded
):
    for partition, base in ((FIRST, 0), (SECOND, 0), (FIRST, 1)):
        assert (await given.append(partition, base)).base == base
        path = given.path_of(await given.key_of(partition, base))
        assert recorded.at_risk(path) == set()


@only_fsync
async def test_every_name_that_leads_to_the_ledger_is_synced(
    given: Given, recorded: Recorded, tmp_path: Path
):
    assert recorded.at_risk(f"{tmp_path}/made/data/ledger.db") == set()


@only_fsync
async def test_a_put_is_durable_with_all_of_its_folders(given: Given, recorded: Recorded):
    assert await given.objects.put_if_absent("log/topic/0/key", [b"data"])
    assert recorded.at_risk(given.path_of("log/topic/0/key")) == set()


@only_fsync
async def test_commits_wait_for_the_disk(given: Given):
    assert given.ledger._db.execute("PRAGMA synchronous").fetchone() == (2,)  # type: ignore[attr-defined]


async def parts() -> AsyncIterator[Buffer]:
    yield b"one"
    yield b"two"


async def test_a_copy_is_durable_before_it_can_replace_anything(given: Given, recorded: Recorded):
    """A merge deletes what it has copied, which may have been durable."""
    recorded.unnamed.clear()  # folders that were there before
    await given.objects.put_stream("log/topic/0/segment", parts())
    assert recorded.at_risk(given.path_of("log/topic/0/segment")) == set()


@without_fsync
async def test_nothing_is_deleted_before_the_ledger_says_so_durably(
    given: Given, recorded: Recorded, tmp_path: Path
):
    wal = f"{tmp_path}/made/data/ledger.db-wal"
    await given.objects.put_if_absent("log/topic/0/merged", [b"data"])
    await given.append(FIRST, 0)
    pack = await given.key_of(FIRST, 0)
    await given.ledger.drop_extents(FIRST, 1)
    for key, delete in (
        ("log/topic/0/merged", lambda: given.objects.delete(["log/topic/0/merged"])),
        (pack, lambda: given.journal.sweep(FIRST, 1)),
    ):
        recorded.events.clear()
        await delete()
        unlinked = recorded.events.index(("unlink", given.path_of(key)))
        assert ("sync", wal) in recorded.events[:unlinked]


@without_fsync
async def test_a_swap_that_is_not_durable_deletes_nothing(given: Given, recorded: Recorded):
    await given.objects.put_if_absent("log/topic/0/merged", [b"data"])
    await given.ledger.announce(FIRST, PendingDeletion("log/topic/0/merged", 0, 0, (), 1))
    recorded.failing["ledger.db-wal"] = EIO
    with pytest.raises(Unavailable, match="durable"):
        await given.objects.delete(["log/topic/0/merged"])
    assert await given.objects.get("log/topic/0/merged") == b"data"


@only_fsync
@pytest.mark.parametrize("what", ["pack/", "objects"])
async def test_what_a_failed_sync_left_is_never_acknowledged(
    what: str, given: Given, recorded: Recorded
):
    """The kernel forgets the pages that it could not write: a second sync would succeed."""
    if what == "pack/":
        assert (await given.append(FIRST, 0)).base == 0
    before = (await given.ledger.head(FIRST)).next_offset
    failed = await given.key_of(FIRST, 0) if before else None
    recorded.failing[what] = EIO
    with pytest.raises(Unavailable):
        await given.append(FIRST, before)
    recorded.failing.clear()
    assert (await given.ledger.head(FIRST)).next_offset == before
    assert (await given.append(FIRST, before)).base == before
    key = await given.key_of(FIRST, before)
    assert key != failed
    assert recorded.at_risk(given.path_of(key)) == set()


@only_fsync
async def test_a_disk_that_goes_on_failing_is_not_filled_with_packs(
    given: Given, recorded: Recorded
):
    recorded.failing["pack/"] = EIO
    for _ in range(9):
        with pytest.raises(Unavailable):
            await given.append(FIRST, 0)
    assert given.files() == 1


@only_fsync
async def test_a_put_whose_name_could_not_be_synced_is_synced_when_it_is_tried_again(
    given: Given, recorded: Recorded
):
    """It is refused then, because the name is there; and taken for stored by the writer."""
    recorded.failing["log/topic/0"] = EIO
    with pytest.raises(Unavailable):
        await given.objects.put_if_absent("log/topic/0/key", [b"data"])
    recorded.failing.clear()
    assert not await given.objects.put_if_absent("log/topic/0/key", [b"data"])
    assert recorded.at_risk(given.path_of("log/topic/0/key")) == set()


@only_fsync
async def test_no_sync_is_waited_for_in_the_event_loop(given: Given, recorded: Recorded):
    recorded.in_loop.clear()
    for base in range(2):
        assert (await given.append(FIRST, base)).base == base
    await given.objects.put_if_absent("log/topic/0/key", [b"data"])
    await given.objects.put_stream("log/topic/0/segment", parts())
    await given.objects.delete(["log/topic/0/key"])
    assert recorded.in_loop == []
