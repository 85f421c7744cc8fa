"""Wake-ups between processes: who can send them, and to where."""

import asyncio
import socket
from uuid import UUID

import pytest

from samsa.local.wakeups import LocalWakeups
from samsa.ports import GroupKey, Partition

PARTITION = Partition(UUID(int=7), 3)
SECRET, OTHER_SECRET = b"\x01" * 8, b"\x02" * 8
LONG_MS = 60_000


async def heard(wakeups: LocalWakeups, awaited: Partition | GroupKey) -> bool:
    with wakeups.subscribe([awaited]) as woken:
        return await woken.wait(LONG_MS)


async def sent(datagrams: list[bytes], last: Partition, secret: bytes = SECRET) -> list[str]:
    """What woke up: all that these datagrams woke, and then `last`, by a right one."""
    here, there = LocalWakeups(), LocalWakeups()
    await here.listen("127.0.0.1", secret=secret)
    await there.listen("127.0.0.1")
    woken = []
    wake_here = here.wake_here
    here.wake_here = lambda awaited: (woken.append(awaited), wake_here(awaited))
    waiting = asyncio.create_task(heard(here, last))
    await asyncio.sleep(0)
    host, port, _ = here.address.split("|")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for datagram in datagrams:
            stranger.sendto(datagram, (host, int(port)))
    there.wake(last, [here.address])
    assert await waiting
    here.close()
    there.close()
    return woken


async def test_a_process_wakes_another_by_its_address():
    assert await sent([], PARTITION) == [PARTITION]


@pytest.mark.parametrize("text", ["127.0.0.2", "127.0.0.3", "::1"])
async def test_each_address_family_reaches_each_other(text: str):
    here, there = LocalWakeups(), LocalWakeups()
    await here.listen(text, secret=SECRET)
    await there.listen("127.0.0.1", secret=OTHER_SECRET)
    waiting = [
        asyncio.create_task(heard(here, PARTITION)),
        asyncio.create_task(heard(there, GroupKey("g"))),
    ]
    await asyncio.sleep(0)
    there.wake(PARTITION, [here.address])
    here.wake(GroupKey("g"), [there.address])
    assert await asyncio.gather(*waiting) == [True, True]
    here.close()
    there.close()


async def test_who_does_not_know_the_secret_wakes_nobody():
    partition = b"P" + PARTITION.topic_id.bytes + (3).to_bytes(4, "big")
    forged = [partition, b"Gg", b"", OTHER_SECRET + partition, SECRET[:-1]]
    assert await sent(forged, Partition(UUID(int=8), 0)) == [Partition(UUID(int=8), 0)]


async def test_a_note_that_is_none_wakes_nobody_even_with_the_secret():
    notes = [b"", b"P", b"P" + b"x" * 19, b"P" + b"x" * 21, b"Q", b"G" + b"g" * 40_000]
    assert await sent([SECRET + note for note in notes], PARTITION) == [PARTITION]


@pytest.mark.parametrize(
    "address",
    [
        "", "|", "||", "abc", "127.0.0.1|80", "127.0.0.1|x|00", "127.0.0.1|70000|00",
        "127.0.0.1|0|00", "127.0.0.1|²|00", "no.such.host|80|00", "127.0.0.1|80|xyz",
        "127.0.0.1|80|00|more",
    ],
)  # fmt: skip
async def test_an_address_that_is_none_is_passed_over(address: str, monkeypatch):
    def no_names(*_):
        raise AssertionError("a name was looked up")

    wakeups = LocalWakeups()
    await wakeups.listen("127.0.0.1", secret=SECRET)
    monkeypatch.setattr(socket, "getaddrinfo", no_names)
    wakeups.wake(PARTITION, [address])
    assert not wakeups._senders
    wakeups.close()
