"""Wake-ups within one process, and by datagram between the processes of one cluster.

A datagram says only "look at this partition again", or at this group. A lost one costs only delay.
Each look may cost a call to the ledger. So a datagram counts only if it begins with the secret of
the process that it is sent to. The secret is part of the process's address, which is only in the
ledger: a sender that cannot read the ledger cannot cause a look.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple
from uuid import UUID

from samsa.ports import Appended, Awaited, GroupKey, Partition

PARTITION_NOTE, GROUP_NOTE = b"P", b"G"
LAST_PORT = 2**16 - 1
LONGEST_GROUP_ID = 2**15 - 1
"""The longest string of Kafka's protocol."""


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

    async def wait(self, timeout_ms: int, look_again_ms: int | None = None) -> bool:
        if not self._woken:
            loop = asyncio.get_running_loop()
            self._waiting = loop.create_future()
            if look_again_ms is not None:
                timeout_ms = min(timeout_ms, look_again_ms)
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
        self._senders: dict[int, socket.socket] = {}
        self.wake_elsewhere: Callable[[Awaited, Iterable[str], Appended | None], None] | None = None
        """Wakes watchers that are not processes, such as connections of API Gateway."""

    async def listen(
        self, host: str, port: int = 0, *, reached_at: str | None = None, secret: bytes = b""
    ) -> None:
        """Receive wake-ups of other processes, and set `address`, to which they send. It has
        `reached_at`, an IP address and not a name, or else the IP address of `host`. Raises
        OSError."""
        loop = asyncio.get_running_loop()
        sock = _bound(await loop.getaddrinfo(host, port, type=socket.SOCK_DGRAM))
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: _Ear(self, secret), sock=sock
        )
        name = sock.getsockname()
        self.address = f"{reached_at or name[0]}|{name[1]}|{secret.hex()}"

    def subscribe(self, awaited: Iterable[Awaited]) -> Waiter:
        return Waiter(self, list(awaited))

    def wake(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None:
        self.wake_here(awaited)
        if not watchers:
            return
        if self._transport is not None:
            for watcher in watchers:
                if watcher != self.address:
                    self._send(watcher, awaited)
        if self.wake_elsewhere is not None:
            self.wake_elsewhere(awaited, watchers, appended)

    def wake_here(self, awaited: Awaited) -> None:
        for waiter in self.waiting.get(awaited, ()):
            waiter.wake()

    def _send(self, watcher: str, awaited: Awaited) -> None:
        to = _destination(watcher)
        if to is None:
            return
        sender = self._senders.get(to.family)
        # The host may have no IPv6, the send buffer may be full: a wake-up is only a hint.
        with suppress(OSError):
            if sender is None:
                sender = socket.socket(to.family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
                self._senders[to.family] = sender
            sender.sendto(to.secret + _note(awaited), to.place)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        for sender in self._senders.values():
            sender.close()


class _Destination(NamedTuple):
    family: int
    place: tuple[str, int]
    secret: bytes


@lru_cache(maxsize=1024)
def _destination(watcher: str) -> _Destination | None:
    """None if it is not the address of a process. Names are not resolved: DNS would block."""
    try:
        host, port, secret = watcher.split("|")
        family = socket.AF_INET6 if ip_address(host).version == 6 else socket.AF_INET
        to = _Destination(family, (host, int(port)), bytes.fromhex(secret))
    except ValueError:
        return None
    return to if 0 < to.place[1] <= LAST_PORT else None


def _bound(found: Iterable[tuple[int, int, int, str, tuple[object, ...]]]) -> socket.socket:
    """Bound to the first address that the host's name resolves to, as the listener is."""
    family, kind, _, _, place = next(iter(found))
    sock = socket.socket(family, kind | socket.SOCK_NONBLOCK)
    try:
        sock.bind(place)
    except OSError:
        sock.close()
        raise
    return sock


class _Ear(asyncio.DatagramProtocol):
    def __init__(self, wakeups: LocalWakeups, secret: bytes) -> None:
        self._wakeups = wakeups
        self._secret = secret

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        if not data.startswith(self._secret):
            return
        awaited = _read_note(data[len(self._secret) :])
        if awaited is not None:
            self._wakeups.wake_here(awaited)

    def error_received(self, exc: Exception) -> None:
        """Nothing is sent through this socket, so no send can fail here."""


def _note(awaited: Awaited) -> bytes:
    if isinstance(awaited, GroupKey):
        return GROUP_NOTE + awaited.group_id.encode()
    return PARTITION_NOTE + awaited.topic_id.bytes + awaited.number.to_bytes(4, "big")


def _read_note(data: bytes) -> Awaited | None:
    kind, rest = data[:1], data[1:]
    if kind == PARTITION_NOTE and len(rest) == 20:
        return Partition(UUID(bytes=rest[:16]), int.from_bytes(rest[16:], "big"))
    if kind == GROUP_NOTE and len(rest) <= LONGEST_GROUP_ID:
        return GroupKey(rest.decode(errors="replace"))
    return None
