"""Wake-ups within one process, and by datagram between the processes of one cluster.

A datagram says only "look at this partition again", or at this group. Losing one costs delay, a
forged one costs a look: nothing is trusted.
"""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from samsa.ports import Awaited, GroupKey, Partition

PARTITION_NOTE, GROUP_NOTE = b"P", b"G"


class Waiter:
    """One waiting request, on any number of partitions or on a group."""

    def __init__(self, wakeups: "LocalWakeups", awaited: list[Awaited]) -> None:
        self._wakeups = wakeups
        self._awaited = awaited
        self._woken = False
        self._waiting: asyncio.Future[bool] | None = None

    def __enter__(self) -> "Waiter":
        for awaited in self._awaited:
            self._wakeups.waiting.setdefault(awaited, set()).add(self)
        return self

    def __exit__(self, *_: object) -> None:
        for awaited in self._awaited:
            waiters = self._wakeups.waiting.get(awaited, set())
            waiters.discard(self)
            if not waiters:
                self._wakeups.waiting.pop(awaited, None)

    def wake(self) -> None:
        self._woken = True
        self._settle(True)

    def _settle(self, woken: bool) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(woken)

    async def wait(self, timeout_ms: int) -> bool:
        if not self._woken:
            loop = asyncio.get_running_loop()
            self._waiting = loop.create_future()
            timer = loop.call_later(timeout_ms / 1000, self._settle, False)
            try:
                await self._waiting
            finally:
                timer.cancel()
        woken, self._woken = self._woken, False
        return woken


class LocalWakeups:
    def __init__(self, address: str = "") -> None:
        self.address = address
        self.waiting: dict[Awaited, set[Waiter]] = {}
        self._transport: asyncio.DatagramTransport | None = None

    async def listen(self, host: str) -> None:
        """Hear other processes; `address` is then where they find this one."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: _Ear(self), local_addr=(host, 0)
        )
        name = self._transport.get_extra_info("sockname")
        self.address = f"{name[0]}|{name[1]}"

    def subscribe(self, awaited: Iterable[Awaited]) -> Waiter:
        return Waiter(self, list(awaited))

    def wake(self, awaited: Awaited, watchers: Iterable[str]) -> None:
        self.wake_here(awaited)
        if self._transport is not None:
            for watcher in watchers:
                if watcher != self.address:
                    self._send(watcher, awaited)

    def wake_here(self, awaited: Awaited) -> None:
        for waiter in self.waiting.get(awaited, ()):
            waiter.wake()

    def _send(self, watcher: str, awaited: Awaited) -> None:
        assert self._transport is not None
        host, _, port = watcher.rpartition("|")
        if host and port.isdigit():
            self._transport.sendto(_note(awaited), (host, int(port)))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class _Ear(asyncio.DatagramProtocol):
    def __init__(self, wakeups: LocalWakeups) -> None:
        self._wakeups = wakeups

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        awaited = _read_note(data)
        if awaited is not None:
            self._wakeups.wake_here(awaited)

    def error_received(self, exc: Exception) -> None:
        """A watcher that has gone away: its entry expires by itself."""


def _note(awaited: Awaited) -> bytes:
    if isinstance(awaited, GroupKey):
        return GROUP_NOTE + awaited.group_id.encode()
    return PARTITION_NOTE + awaited.topic_id.bytes + awaited.number.to_bytes(4, "big")


def _read_note(data: bytes) -> Awaited | None:
    kind, rest = data[:1], data[1:]
    if kind == PARTITION_NOTE and len(rest) == 20:
        return Partition(UUID(bytes=rest[:16]), int.from_bytes(rest[16:], "big"))
    if kind == GROUP_NOTE:
        return GroupKey(rest.decode(errors="replace"))
    return None
