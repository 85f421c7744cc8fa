"""Wakes clients of functions: functions and processes push a text to their connections.

Wake-ups are collected, and then pushed together. Appended records are pushed with them if they are
small: then the shim answers the waiting fetch by itself, and stays a watcher. A client that is sent
no records has to fetch them, and is no watcher until then: otherwise every append would push to
consumers that are busy reading anyway.
"""

import asyncio
import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.heads import FORGOTTEN_AT_ONCE
from samsa.ports import (
    Appended,
    Awaited,
    GroupKey,
    Partition,
    Topic,
    Unavailable,
    UnknownPartition,
)
from samsa_websocket.envelope import News, Wake, encode, fits
from samsa_websocket.pushes.connections import ConnectionsApi, Gone

log = logging.getLogger("samsa.wakeups")
WAKING_S = 2.0
"""The time for all pushes of one event: the answer to the request itself may wait for them."""
WOKEN_AT_ONCE = 1_000
"""Connections that are collected. Further ones stay watchers, and the next event wakes them."""
SAID_EVERY_S = 60.0
"""One line in the log for all wake-ups that are lost within this time."""
MOST_NEWS = 90 * 1024
"""Bytes of records in one push; with their names they fit into a message."""
MOST_TOLD = 8 * 1024 * 1024
"""Bytes of records in all pushes of one event. If there are more, none are sent: readers fetch
them."""
OF_A_PROCESS = "|"
"""In the address of a watcher that is a process: it gets datagrams, and no pushes."""

FindApi = Callable[[str], Awaitable[ConnectionsApi | None]]
"""Where a connection is pushed to; None if that is not known."""


def watch_name(awaited: Awaited) -> str:
    """Short, because a fetch may watch thousands. A collision costs one needless request."""
    kind = "g" if isinstance(awaited, GroupKey) else "p"
    digest = blake2b(f"{awaited!s}".encode(), digest_size=6).digest()
    return f"{kind}/{urlsafe_b64encode(digest).decode()}"


class Pushes:
    def __init__(
        self, ledger: DynamoLedger, topic_of: Callable[[UUID], Topic | None] = lambda _: None
    ) -> None:
        """`topic_of`: a topic, if it is known without a call. Records of others are not pushed."""
        self._ledger = ledger
        self.topic_of = topic_of
        self._news: dict[str, tuple[News, bytes]] = {}
        self._names: dict[str, set[str]] = {}
        self._woken: dict[Partition, dict[str, int]] = {}
        self._gone: set[str] = set()
        self.pushed = 0
        self.lost = 0
        self._silent_until = 0.0

    def add(
        self, awaited: Awaited, watchers: Iterable[str], appended: Appended | None = None
    ) -> None:
        for watcher in filter(self._has_room_for, watchers):
            self._names.setdefault(watcher, set()).add(watch_name(awaited))
        if isinstance(awaited, Partition) and isinstance(watchers, Mapping):
            ours = {w: t for w, t in watchers.items() if w in self._names}
            self._woken.setdefault(awaited, {}).update(ours)
            if ours:
                self._keep(awaited, appended)

    def _keep(self, partition: Partition, appended: Appended | None) -> None:
        """Keep the records to push. If a partition has several appends, none of them is pushed:
        readers fetch all of them."""
        name, topic = watch_name(partition), self.topic_of(partition.topic_id)
        if name in self._news or appended is None or topic is None:
            self._news.pop(name, None)
            return
        size = sum(map(len, appended.parts))
        if size <= MOST_NEWS:
            news = News(
                name, topic.name, topic.id.hex, partition.number,
                appended.base, appended.end, appended.log_start, size,
            )  # fmt: skip
            self._news[name] = news, b"".join(appended.parts)

    def _has_room_for(self, watcher: str) -> bool:
        room = watcher in self._names or len(self._names) < WOKEN_AT_ONCE
        return room and OF_A_PROCESS not in watcher

    @property
    def pending(self) -> bool:
        return bool(self._names)

    async def send(self, find: FindApi) -> None:
        """Push what was collected. A push that fails or is late is lost: it was only a hint."""
        names, self._names = self._names, {}
        woken, self._woken = self._woken, {}
        news, self._news = self._news, {}
        if len(names) * sum(one.size for one, _ in news.values()) > MOST_TOLD:
            news = {}
        texts = {each: _text(each, news) for each in set(map(frozenset, names.values()))}
        pushes = [self._push(find, who, texts[frozenset(names[who])].text) for who in names]
        left = {
            partition: {
                who: until
                for who, until in watchers.items()
                if watch_name(partition) not in texts[frozenset(names[who])].told
            }
            for partition, watchers in woken.items()
        }
        try:
            async with asyncio.timeout(WAKING_S):
                await asyncio.gather(*pushes, *(self._forget(*entry) for entry in left.items()))
                gone, self._gone = self._gone, set()
                for partition, watchers in woken.items() if gone else ():
                    await self._forget(partition, {w: watchers[w] for w in gone & watchers.keys()})
        except TimeoutError:
            log.warning("not all of %d connections were woken within %g s", len(names), WAKING_S)

    async def _push(self, find: FindApi, watcher: str, text: str) -> None:
        try:
            connections = await find(watcher)
            if connections is not None:
                await connections.post(watcher, text)
                self.pushed += 1
        except Gone:
            log.info("a watcher has gone: %s", watcher)
            self._gone.add(watcher)
        except Unavailable as error:
            self._lose(error)

    def _lose(self, error: Unavailable) -> None:
        self.lost += 1
        now = asyncio.get_running_loop().time()
        if now >= self._silent_until:
            self._silent_until = now + SAID_EVERY_S
            log.warning("a wake-up was lost, %d in all: %s", self.lost, error)

    async def _forget(self, partition: Partition, watchers: dict[str, int]) -> None:
        left = iter(watchers.items())
        while some := dict(islice(left, FORGOTTEN_AT_ONCE)):
            with suppress(Unavailable, UnknownPartition):
                await self._ledger.forget_watchers(partition, some)


class PushText(NamedTuple):
    text: str
    told: frozenset[str] = frozenset()
    """The watches whose records are in it."""


def _text(names: frozenset[str], news: Mapping[str, tuple[News, bytes]]) -> PushText:
    """A wake, with as many records as one message holds."""
    told: list[News] = []
    frame = b""
    for name in sorted(names & news.keys()):
        one, data = news[name]
        if len(frame) + len(data) <= MOST_NEWS:
            told.append(one)
            frame += data
    text = encode(Wake(tuple(sorted(names)), tuple(told), frame))
    if fits(text):
        return PushText(text, frozenset(one.name for one in told))
    return PushText(encode(Wake(tuple(sorted(names)))))
