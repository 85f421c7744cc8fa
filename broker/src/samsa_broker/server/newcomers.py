"""Connections that have not shaken hands or logged in yet, and which of them makes way for another.

Clients that connect and say nothing would keep everybody out: they count as connections until their
time is up, and then the next ones do. So at the limit the oldest newcomer ends, of the address that
has most of them. A connection that has logged in is never ended.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple


class Newcomer(NamedTuple):
    host: str
    is_in: Callable[[], bool]
    """Whether it is over: by success, or by an end."""
    end: Callable[[], object]


class Newcomers:
    def __init__(self) -> None:
        self._of_host: dict[str, dict[object, Newcomer]] = {}
        """The oldest first. Those who are in are dropped when they are met."""

    def add(self, key: object, newcomer: Newcomer) -> None:
        self._of_host.setdefault(newcomer.host, {})[key] = newcomer

    def drop(self, key: object, host: str) -> None:
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

    def _crowd(self, host: str | None) -> dict[object, Newcomer]:
        if host is not None:
            return self._of_host.get(host, {})
        return max(self._of_host.values(), key=len, default={})


def _end(newcomer: Newcomer) -> None:
    if not newcomer.is_in():
        newcomer.end()
