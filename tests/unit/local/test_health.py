"""A disk that is full, read-only or broken: told once, refused, and over when it is over."""

import asyncio
import errno
import logging
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID

import pytest

from samsa.local import health as module
from samsa.local.folder import FolderObjects
from samsa.local.health import BROKEN, FULL, LIMITED, READ_ONLY, DiskHealth
from samsa.local.wakeups import LocalWakeups
from samsa.local.write_behind import WriteBehind
from samsa.log.stores import Limits
from samsa.ports import Extent, Partition, StorageError, Topic, Unavailable
from samsa.runtime.opening import disks_of, opened
from samsa.runtime.store_urls import open_ledger

PARTITION = Partition(UUID(int=1), 0)
TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)
REFUSED = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EROFS: READ_ONLY,
    errno.EIO: BROKEN,
    errno.EFBIG: LIMITED,
}


class Disk:
    """Refuses every write below a folder, while it is told to; but deletes what is there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._folder = str(folder)
        self.refuses: int | None = None
        self.only = ""
        """If given, only files with this word in their path."""
        for name in ("pwrite", "pwritev", "posix_fallocate"):
            monkeypatch.setattr(os, name, self._maybe(getattr(os, name)))

    def _maybe(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(fd: int, *args: object) -> int:
            path = os.readlink(f"/proc/self/fd/{fd}")
            if self.refuses and path.startswith(self._folder) and self.only in path:
                raise OSError(self.refuses, os.strerror(self.refuses))
            return real(fd, *args)

        return call


class Given:
    def __init__(self, folder: Path, stores: object, disk: Disk) -> None:
        self.folder, self.disk, self.stores = folder, disk, stores
        self.ledger, self.journal = stores.ledger, stores.journal  # type: ignore[attr-defined]
        self.objects = stores.objects  # type: ignore[attr-defined]
        [self.health] = disks_of(stores)  # type: ignore[arg-type]

    async def append(self, base: int) -> bool:
        extent = Extent(base, 1, 1, 7, 8, "", (), 1)
        return (await self.journal.commit(PARTITION, extent, [b"%d" % base], ())).base == base

    async def end(self) -> int:
        return (await self.ledger.head(PARTITION)).next_offset


@pytest.fixture(params=[False, True], ids=["", "fsync"])
async def given(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Given]:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    disk = Disk(monkeypatch, tmp_path)
    urls = f"sqlite://{tmp_path}/ledger.db", f"file://{tmp_path}/objects"
    async with opened(*urls, LocalWakeups(), Limits(), fsync=request.param) as found:
        given = Given(tmp_path, found.stores, disk)
        await given.health.keep_reserve()
        await given.ledger.create_topic(TOPIC)
        for base in range(2):
            assert await given.append(base)
        yield given
        disk.refuses = None


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(r.levelno, r.getMessage()) for r in caplog.records if r.name == "samsa.storage"]


@pytest.mark.parametrize("code", REFUSED, ids=errno.errorcode.get)
async def test_an_append_that_the_disk_refuses_is_told_once_and_goes_on_afterwards(
    code: int, given: Given, caplog: pytest.LogCaptureFixture
):
    given.disk.refuses = code
    for _ in range(5):
        with pytest.raises(StorageError):
            await given.append(2)
    kind = REFUSED[code]
    assert lines(caplog) == [(logging.ERROR, module.WHAT[kind])]
    fields = caplog.records[-1].fields  # type: ignore[attr-defined]
    assert fields["folder"] == str(given.folder)
    assert fields["do"] == module.TO_DO[kind]
    assert (given.health.trouble, given.health.failures) == (kind, 5)
    given.disk.refuses = None
    assert await given.end() == 2
    assert await given.append(2)
    assert lines(caplog)[1:] == [(logging.WARNING, "the disk takes writes again")]
    assert given.health.trouble is None


@pytest.mark.parametrize("what", ["-notes", "pack/"])
async def test_whatever_is_full_nothing_of_an_append_is_seen_or_acknowledged(
    what: str, given: Given
):
    given.disk.only, given.disk.refuses = what, errno.ENOSPC
    if what == "-notes" and not given.ledger.write_behind.alone:
        given.disk.only = "objects"  # with fsync there are none
    with pytest.raises(StorageError):
        await given.append(2)
    assert await given.end() == 2
    given.disk.refuses = None
    assert await given.append(2)
    found = await given.ledger.extents(PARTITION, 0, 9)
    data = [bytes(await given.objects.get(e.key, e.start, e.size)) for e in found]
    assert b"".join(data) == b"012"


async def test_a_ledger_that_is_full_is_told_and_nothing_is_acknowledged(
    given: Given, caplog: pytest.LogCaptureFixture
):
    await given.append(2)
    await given.ledger.head(PARTITION)  # all notes are written down
    [pages] = given.ledger._db.execute("PRAGMA page_count").fetchone()
    given.ledger._db.execute(f"PRAGMA max_page_count={pages}")
    large = Topic("large", UUID(int=2), 9, 0, {"a config": "x" * 10_000})
    with pytest.raises(StorageError, match="SQLite create_topic"):
        await given.ledger.create_topic(large)
    assert lines(caplog) == [(logging.ERROR, module.WHAT[FULL])]
    given.ledger._db.execute("PRAGMA max_page_count=1000000")
    assert await given.append(3)
    assert await given.ledger.create_topic(large)


async def test_notes_that_cannot_be_written_down_are_told_and_kept(
    given: Given, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    noted = given.ledger.write_behind
    if not noted.alone:
        pytest.skip("with fsync nothing is noted")
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    write = noted._write

    def refuse(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr(noted, "_write", refuse)
    noted._settle_now()
    noted._settle_now()
    assert lines(caplog) == [(logging.ERROR, module.WHAT[FULL])]
    monkeypatch.setattr(noted, "_write", write)
    assert await given.end() == 2


async def test_on_a_full_disk_the_reserve_is_given_up_for_what_frees_room(given: Given):
    reserve = given.folder / "ledger.db-reserve"
    assert os.stat(reserve).st_blocks * 512 >= module.RESERVE_BYTES
    given.disk.refuses = errno.ENOSPC
    with pytest.raises(StorageError):
        await given.append(2)
    assert given.health.failures == 1
    assert not os.listdir(given.folder).count(reserve.name)
    assert (await given.ledger.advance_start(PARTITION, 1)).log_start == 1
    assert await given.ledger.drop_extents(PARTITION, 1) >= 0
    given.disk.refuses = None
    assert await given.append(2)
    assert os.stat(reserve).st_size == module.RESERVE_BYTES


async def test_a_copy_is_refused_on_a_full_disk_and_leaves_nothing(given: Given):
    async def parts() -> AsyncIterator[bytes]:
        yield b"one"

    given.disk.refuses = errno.ENOSPC
    for _ in range(2):
        with pytest.raises(StorageError):
            await given.objects.put_stream("log/t/0/segment", parts())
    given.disk.refuses = None
    assert [key async for key in given.objects.list("log/")] == []


def a_health(folder: Path, now: list[float]) -> DiskHealth:
    return DiskHealth(str(folder), str(folder / "ledger.db"), lambda: now[0])


async def test_a_disk_that_fails_again_and_again_does_not_fill_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    now = [0.0]
    health = a_health(tmp_path, now)
    for _ in range(3_600):
        now[0] += 1.0
        health.failed(OSError(errno.EIO, "Input/output error"), "writing")
        await health.check()
    assert len(lines(caplog)) < 150
    assert health.failures == 3_600


async def test_the_disk_is_tried_by_one_append_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    now, tried = [0.0], []
    health = a_health(tmp_path, now)
    monkeypatch.setattr(health, "_make_reserve", lambda _: tried.append(1) or OSError())
    health.failed(OSError(errno.ENOSPC, "full"), "writing")
    now[0] += module.PROBE_S
    refused = await asyncio.gather(*(health.check() for _ in range(9)), return_exceptions=True)
    assert [type(error) for error in refused] == [StorageError] * 9
    assert len(tried) == 1


async def test_a_start_on_a_full_disk_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    Disk(monkeypatch, tmp_path).refuses = errno.ENOSPC
    health = a_health(tmp_path, [0.0])
    await health.keep_reserve()
    assert lines(caplog) == [(logging.ERROR, module.WHAT[FULL])]
    with pytest.raises(StorageError):
        await health.check()


def test_what_says_nothing_about_the_disk_begins_no_episode(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    health = a_health(tmp_path, [0.0])
    for code in (errno.ENOENT, errno.EMFILE, errno.ENOTDIR):
        assert type(health.failed(OSError(code, "?"), "writing")) is Unavailable
    assert lines(caplog) == []
    assert health.trouble is None


async def test_a_ledger_with_notes_can_be_opened_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The reserve is given up for what a process left that died."""
    path, reserve = str(tmp_path / "ledger.db"), tmp_path / "ledger.db-reserve"
    await a_health(tmp_path, [0.0]).keep_reserve()
    recover = WriteBehind._recover

    def needs_room(noted: WriteBehind, is_only: bool) -> None:
        if reserve.exists():
            full = sqlite3.OperationalError("database or disk is full")
            full.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise full
        recover(noted, is_only)

    monkeypatch.setattr(WriteBehind, "_recover", needs_room)
    await (await open_ledger(f"sqlite://{path}", fsync=False)).close()


def test_a_folder_of_objects_is_opened_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """To read, and to delete."""
    open_file = os.open

    def full(path: str, flags: int, *mode: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open_file(path, flags, *mode)

    monkeypatch.setattr(os, "open", full)
    assert FolderObjects(str(tmp_path))._drafts.supported
