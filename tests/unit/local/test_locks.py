"""Locks of the local stores: none is waited for in the event loop."""

import asyncio
import fcntl
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest
from unit.local.stores import LocalStores

from samsa.local.packs import MOST_OPEN, PackPosition, Packs
from samsa.ports import Partition, Topic

TOPIC = Topic("letters", UUID(int=1), MOST_OPEN + 44, 0)
FIRST = Partition(TOPIC.id, 0)
LONG_S = 60
T = TypeVar("T")


def in_a_loop_of_its_own(scene: Callable[[], Awaitable[T]]) -> T:
    """A loop that waits for a lock for ever fails the test, and does not stop it."""
    found: list[T] = []

    async def play() -> None:
        found.append(await scene())

    thread = threading.Thread(target=lambda: asyncio.run(play()), daemon=True)
    thread.start()
    thread.join(LONG_S)
    assert not thread.is_alive(), "the event loop hangs"
    assert found, "the scene has failed"
    return found[0]


class Stores(LocalStores):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, fsync=True)

    async def append(self, partition: Partition, base: int) -> bool:
        return (await self.commit(base, b"%d" % base, partition=partition)).base == base

    @contextmanager
    def ledger_busy(self) -> Iterator[None]:
        """Its calls are queued behind one that does not end."""
        go_on = threading.Event()
        assert self.ledger.thread is not None
        self.ledger.thread.submit(go_on.wait)
        try:
            yield
        finally:
            go_on.set()


@pytest.mark.waits
def test_a_pack_that_is_opened_again_while_it_is_swept_holds_nobody_up(tmp_path: Path):
    """With more partitions than files may be open, and with fsync, where a sweeper holds its lock
    until the ledger's thread has answered."""

    async def scene() -> list[bytes]:
        stores = Stores(tmp_path)
        await stores.ledger.create_topic(TOPIC)
        for number in range(TOPIC.partitions):
            assert await stores.append(Partition(TOPIC.id, number), 0)
        [extent] = await stores.ledger.extents(FIRST, 0, 1)
        with stores.ledger_busy():
            sweeping = asyncio.create_task(stores.journal.discard(FIRST, extent.key))
            await asyncio.sleep(0)  # it has the lock now, and waits for the ledger
            appending = asyncio.create_task(stores.append(FIRST, 1))
            await asyncio.sleep(0)
        assert await appending
        assert await sweeping
        try:
            return await stores.pieces(FIRST)
        finally:
            await stores.close()

    assert in_a_loop_of_its_own(scene) == [b"0", b"1"]


def test_a_new_pack_that_another_process_sweeps_is_not_waited_for(tmp_path: Path, monkeypatch):
    """It lists the folder between the making of the file and its locking."""
    create, held = Packs._create, []

    def found_at_once(packs: Packs, key: str) -> int:
        fd = create(packs, key)
        if not held:
            held.append(os.open(tmp_path / key, os.O_RDONLY))
            fcntl.flock(held[0], fcntl.LOCK_EX)
        return fd

    monkeypatch.setattr(Packs, "_create", found_at_once)

    async def scene() -> PackPosition:
        return Packs(str(tmp_path), "a").place(FIRST, 0, 1)

    assert in_a_loop_of_its_own(scene).pack.key.endswith("-a-2")
    os.close(held[0])


def test_a_file_that_a_thread_writes_to_is_not_closed_before_it_is_done(tmp_path: Path):
    """Its number would be another file's, and the bytes would end up there."""
    packs = Packs(str(tmp_path), "a")
    place = packs.place(FIRST, 0, 1)
    packs.leave(FIRST)
    os.fstat(place.pack.fd)
    packs.write(place, [b"x"])
    packs.keep(place)
    assert place.pack.fd == -1


async def test_an_append_that_is_given_up_keeps_its_pack_open_while_a_thread_writes(
    tmp_path: Path, monkeypatch
):
    write, begun, go_on = Packs.write, threading.Event(), threading.Event()
    places: list[PackPosition] = []

    def slowly(packs: Packs, place: PackPosition, parts) -> None:
        places.append(place)
        begun.set()
        go_on.wait()
        write(packs, place, parts)

    stores = Stores(tmp_path)
    await stores.ledger.create_topic(TOPIC)
    monkeypatch.setattr(Packs, "write", slowly)
    gone = asyncio.create_task(stores.append(FIRST, 0))
    await asyncio.to_thread(begun.wait)
    gone.cancel()
    await asyncio.wait([gone])
    await stores.journal.bury(TOPIC.id)
    stores.journal._packs.leave(FIRST)
    assert places[0].pack.fd >= 0
    go_on.set()
    await stores.close()
