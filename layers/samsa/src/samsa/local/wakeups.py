"""Wake-ups within one process, and by datagram between the processes of one cluster.

A datagram says only "look at this partition again". Losing one costs delay, a forged one costs a
look: nothing is trusted.
"""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from samsa.ports import Partition


class Waiter:
    """One waiting request, on any number of partitions."""

    def __init__(self, wakeups: "LocalWakeups", partitions: list[Partition]) -> None:
        self._wakeups = wakeups
        self._partitions = partitions
        self._woken = False
        self._waiting: asyncio.Future[bool] | None = None

    def __enter__(self) -> "Waiter":
        for partition in self._partitions:
            self._wakeups.waiting.setdefault(partition, set()).add(self)
        return self

    def __exit__(self, *_: object) -> None:
        for partition in self._partitions:
            waiters = self._wakeups.waiting.get(partition, set())
            waiters.discard(self)
            if not waiters:
                self._wakeups.waiting.pop(partition, None)

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
        self.waiting: dict[Partition, set[Waiter]] = {}
        self._transport: asyncio.DatagramTransport | None = None

    async def listen(self, host: str) -> None:
        """Hear other processes; `address` is then where they find this one."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: _Ear(self), local_addr=(host, 0)
        )
        name = self._transport.get_extra_info("sockname")
        self.address = f"{name[0]}|{name[1]}"

    def subscribe(self, partitions: Iterable[Partition]) -> Waiter:
        return Waiter(self, list(partitions))

    def wake(self, partition: Partition, watchers: Iterable[str]) -> None:
        self.wake_here(partition)
        if self._transport is not None:
            for watcher in watchers:
                if watcher != self.address:
                    self._send(watcher, partition)

    def wake_here(self, partition: Partition) -> None:
        for waiter in self.waiting.get(partition, ()):
            waiter.wake()

    def _send(self, watcher: str, partition: Partition) -> None:
        assert self._transport is not None
        host, _, port = watcher.rpartition("|")
        if host and port.isdigit():
            note = partition.topic_id.bytes + partition.number.to_bytes(4, "big")
            self._transport.sendto(note, (host, int(port)))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class _Ear(asyncio.DatagramProtocol):
    def __init__(self, wakeups: LocalWakeups) -> None:
        self._wakeups = wakeups

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        if len(data) == 20:
            topic_id, number = UUID(bytes=data[:16]), int.from_bytes(data[16:], "big")
            self._wakeups.wake_here(Partition(topic_id, number))

    def error_received(self, exc: Exception) -> None:
        """A watcher that has gone away: its entry expires by itself."""
