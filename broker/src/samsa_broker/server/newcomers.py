"""Connections that have not shaken hands or logged in yet, and which of them makes way for another.

Clients that connect and say nothing would keep all others out: they count as connections until
their time is up, and then the next ones do. So at the limit the oldest newcomer ends, of the
address that has most of them. Clients that say nothing keep out only clients of their own address,
however fast they connect again. A connection that has logged in is never ended.

One that makes way does not count any more, and ends in the next turn of the event loop.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

K = TypeVar("K")


class Newcomer(NamedTuple):
    host: str
    is_in: Callable[[], bool]
    """Whether it is over: by success, or by an end."""
    end: Callable[[], object]


class Newcomers(Generic[K]):
    """By a key that the caller chooses: a connection, or the task of a handshake."""

    def __init__(self) -> None:
        self._of_host: dict[str, dict[K, Newcomer]] = {}
        """The oldest first. Those that are over are dropped when they are met."""

    def __iter__(self) -> Iterator[K]:
        return (key for here in self._of_host.values() for key in here)

    def __len__(self) -> int:
        return sum(map(len, self._of_host.values()))

    def add(self, key: K, newcomer: Newcomer) -> None:
        self._of_host.setdefault(newcomer.host, {})[key] = newcomer

    def add_handshake(self: "Newcomers[Any]", task: "asyncio.Task[None]", host: str) -> None:
        self.add(task, Newcomer(host, task.done, task.cancel))
        task.add_done_callback(lambda _: self.drop(task, host))

    def drop(self, key: K, host: str) -> None:
        here = self._of_host.get(host, {})
        if here.pop(key, None) is not None and not here:
            del self._of_host[host]

    def end_one(self, host: str | None = None) -> bool:
        """Of this address, or of the one that has most. False if there is none."""
        while here := self._crowd(host):
            key, oldest = next(iter(here.items()))
            self.drop(key, oldest.host)
            if not oldest.is_in():
                # Later, as a task that is cancelled before its first step does not clean up.
                asyncio.get_running_loop().call_soon(_end, oldest)
                return True
        return False

    def _crowd(self, host: str | None) -> dict[K, Newcomer]:
        if host is not None:
            return self._of_host.get(host, {})
        return max(self._of_host.values(), key=len, default={})


def _end(newcomer: Newcomer) -> None:
    if not newcomer.is_in():
        newcomer.end()
