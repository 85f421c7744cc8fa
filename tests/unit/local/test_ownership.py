"""Who is alone with a ledger, whatever happens between two steps of becoming so."""

import asyncio
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from unit.local.stores import PARTITION, LocalStores

from samsa.local.ownership import Ownership
from samsa.ports import Topic

TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)
CHANGES = {fcntl.LOCK_SH, fcntl.LOCK_EX}


class Process(LocalStores):
    """As one that shares the ledger with others of this test, each with locks of its own."""

    async def append(self, data: bytes) -> int | None:
        """Where it was stored."""
        guess = await self.journal.next_offset(PARTITION)
        return (await self.commit(guess, data)).base

    async def crash(self) -> None:
        """As a SIGKILL: its locks are gone, and what it noted is where it was."""
        noted, journal = self.ledger.write_behind, self.journal
        if journal._listening is not None:
            journal._listening.cancel()
        if noted._timer is not None:
            noted._timer.cancel()
        noted.waiting = []
        assert noted._ownership is not None
        noted._ownership.close()
        journal._packs.close()
        self.ledger._checkpointer.close()
        self.ledger._db.close()
        await self.objects.close()


class Between:
    """Calls back once, right after the n-th attempt to change a lock on the owner's file."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nth: int, call: Callable[[], None]) -> None:
        self._flock, self._left, self._call = fcntl.flock, nth, call
        self.happened = False
        monkeypatch.setattr(fcntl, "flock", self._flocked)

    def _flocked(self, fd: int, kind: int) -> None:
        try:
            self._flock(fd, kind)
        finally:
            is_owner = os.readlink(f"/proc/self/fd/{fd}").endswith("-owner")
            if is_owner and kind & ~fcntl.LOCK_NB in CHANGES and not self.happened:
                self._left -= 1
                if self._left == 0:
                    self.happened = True
                    self._call()


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("then", ["dies", "lives"])
async def test_nothing_acknowledged_is_lost_when_two_try_to_be_alone_at_once(
    nth: int, then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The second tries between two steps of the first, appends, and perhaps dies with its notes."""
    loop = asyncio.get_running_loop()
    first, second = Process(tmp_path, "a"), await asyncio.to_thread(Process, tmp_path, "b")
    await first.ledger.create_topic(TOPIC)

    async def play_second() -> None:
        second.journal.stay_alone()
        for base in range(3):
            assert await second.append(b"%d" % base) == base
        if then == "dies":
            await second.crash()

    def meanwhile() -> None:
        asyncio.run_coroutine_threadsafe(play_second(), loop).result()

    between = Between(monkeypatch, nth, meanwhile)
    await asyncio.to_thread(first.ledger.write_behind.try_alone)
    assert between.happened
    assert await first.append(b"3") == 3
    await first.close()
    if then == "lives":
        await second.close()
    reader = Process(tmp_path, "c")
    assert await reader.single_bytes() == [b"0", b"1", b"2", b"3"]
    await reader.close()


async def test_a_newcomer_writes_down_what_one_left_that_died_while_it_knocked(tmp_path: Path):
    alone = Process(tmp_path, "a")
    await alone.ledger.create_topic(TOPIC)
    assert alone.journal.stay_alone()
    assert alone.journal._listening is not None
    alone.journal._listening.cancel()  # it does not hear that one knocks
    for base in range(3):
        assert await alone.append(b"%d" % base) == base
    joining = asyncio.create_task(asyncio.to_thread(Process, tmp_path, "b"))
    knock = tmp_path / "ledger.db-knock"
    while not knock.exists():  # noqa: ASYNC110 - what is awaited is a file
        await asyncio.sleep(0)
    await alone.crash()
    newcomer = await joining
    assert await newcomer.append(b"3") == 3
    assert await newcomer.single_bytes() == [b"0", b"1", b"2", b"3"]
    await newcomer.close()


def test_who_shares_again_waits_for_nobody_who_comes_at_that_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """flock(2) gives the lock up before it takes the other: what if it is taken in between."""
    path, flock = str(tmp_path / "ledger.db"), fcntl.flock
    alone = Ownership(path)
    assert alone.try_alone()
    coming: list[bool] = []

    def in_two_steps(fd: int, kind: int) -> None:
        if fd == alone._fd and kind & fcntl.LOCK_SH and not coming:
            flock(fd, fcntl.LOCK_UN)
            coming.append(False)
            monkeypatch.setattr("samsa.local.ownership.KNOCKS", 1)
            with pytest.raises(OSError, match="does not let others in"):
                Ownership(path).try_alone()
            assert kind & fcntl.LOCK_NB, "it would wait in the event loop"
        flock(fd, kind)

    monkeypatch.setattr(fcntl, "flock", in_two_steps)
    alone.share()
    assert coming
    assert not alone.alone
    alone.close()


def test_who_is_alone_stays_so_while_another_holds_the_gate(tmp_path: Path):
    """Until it is free: a process that is stopped there must not stop this one."""
    path = str(tmp_path / "ledger.db")
    alone = Ownership(path)
    assert alone.try_alone()
    with open(f"{path}-gate") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        assert not alone.share()
        assert alone.alone
    assert alone.share()
    alone.close()


def test_only_the_first_is_told_that_it_is(tmp_path: Path):
    path = str(tmp_path / "ledger.db")
    first, second = Ownership(path), Ownership(path)
    assert (first.was_first, second.was_first) == (True, False)
    first.close()
    second.close()
    again = Ownership(path)
    assert again.was_first
    again.close()


def test_what_cannot_be_recovered_lets_nobody_in(tmp_path: Path):
    """Else the offsets of what is noted would be given to other records."""
    path = str(tmp_path / "ledger.db")

    def full(is_only: bool) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Ownership(path, full)
    again = Ownership(path)
    assert again.was_first
    again.close()


def test_who_is_only_looked_at_is_alone_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A look takes the lock for a moment, and a process that fails to be alone never tries again
    until it is started anew."""
    path = str(tmp_path / "ledger.db")
    owner = Ownership(path)
    look = os.open(f"{path}-owner", os.O_RDONLY)
    fcntl.flock(look, fcntl.LOCK_SH)
    between = Between(monkeypatch, 2, lambda: os.close(look))
    assert owner.try_alone()
    assert between.happened
    owner.close()
