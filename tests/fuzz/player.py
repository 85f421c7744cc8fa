"""Plays frames against a real broker, one after the other, and finds out what they did to it.

After each frame the broker answers, or closes that connection. One that does neither within a
moment (a parked fetch, a produce without acks, a frame that is not whole) is put aside and told
that nothing more will come: then the broker has to close it. Meanwhile the next frames are played
on another connection, so the order of frames is that of their numbers.

A finding is any of: the broker has ended; its log has an error or a traceback; a connection that is
never closed; a neighbour that fails or stands still; more memory than its bound.
"""

import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import NamedTuple

from fuzz.rows import TOPIC_ID, TOPICS
from server.neighbour import Neighbour
from server.peer import SECONDS
from server.process import Samsa
from server.talk import create, describe

OPTIONS = ("--upkeep-interval", "5", "--settle-time", "0.5")
"""So that upkeep meets what was stored, too."""
MOMENT_S = 0.004
MOST_ASIDE = 48
CHECK_EVERY = 500
REMEMBERED = 200
MOST_RESIDENT = 400 * 1024 * 1024
SIGNS = (
    "Traceback",
    " ERROR ",
    " CRITICAL ",
    "request failed",
    "produce failed",
    "never retrieved",
)
CONFIGS = {
    "fuzz-compacted": {"cleanup_policy": "compact", "max_compaction_lag_ms": "1000"},
    "fuzz-short": {"retention_ms": "2000"},
}


class Found(AssertionError):
    """What the broker did wrong."""


class Played(NamedTuple):
    number: int
    frame: bytes
    peer: str


@dataclass
class Aside:
    """A connection that has not answered yet."""

    socket: socket.socket
    played: Played
    until: float


@dataclass
class Player:
    samsa: Samsa
    counts: Counter[str] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)
    """By API key."""
    last: deque[Played] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def __post_init__(self) -> None:
        self._socket: socket.socket | None = None
        self._aside: deque[Aside] = deque()
        self._log = (self.samsa.folder / "stderr").open()
        self._topic_id = self._topics()
        self._neighbour = Neighbour(self.samsa.address, "neighbour")

    @property
    def rounds(self) -> int:
        """Of the neighbour."""
        return self._neighbour.rounds

    def _topics(self) -> bytes:
        """Make those that are not there (any more); the id of the first."""
        with self.samsa.peer() as peer:
            for topic in describe(peer, *TOPICS).topics:
                if topic.error_code:
                    create(peer, topic.name, 3, **CONFIGS.get(topic.name, {}))
            topic_id: bytes = describe(peer, TOPICS[0]).topics[0].topic_id.bytes
            return topic_id

    def play(self, frames: Iterable[tuple[int, bytes]]) -> None:
        """Raises Found."""
        for number, frame in frames:
            self._one(number, frame.replace(TOPIC_ID.bytes, self._topic_id))
            self.counts["frames"] += 1
            if self.counts["frames"] % CHECK_EVERY == 0:
                self.check()
                self._topic_id = self._topics()

    def end(self) -> None:
        """Raises Found."""
        while self._aside:
            self._settle_oldest()
        if self._socket is not None:
            self._socket.close()
        self.check()
        self._neighbour.stop()
        self._log.close()

    def _one(self, number: int, frame: bytes) -> None:
        if self._socket is None:
            self._socket = self._connected()
        host, port = self._socket.getsockname()
        played = Played(number, frame, f"{host}:{port}")
        self.last.append(played)
        try:
            self._socket.sendall(frame)
        except OSError:
            self._closed()  # by what was sent before
            return
        if select([self._socket], [], [], MOMENT_S)[0]:
            self._answer(played)
        else:
            self._put_aside(played)

    def _connected(self) -> socket.socket:
        self.counts["connections"] += 1
        try:
            return socket.create_connection(self.samsa.address, SECONDS)
        except OSError as error:
            raise Found(f"the broker takes no connection: {error}") from None

    def _answer(self, played: Played) -> None:
        assert self._socket is not None
        size = _read(self._socket, 4)
        if size is None or _read(self._socket, struct.unpack(">i", size)[0]) is None:
            self._closed()
            return
        self.counts["answered"] += 1
        self.answered[struct.unpack_from(">h", played.frame, 4)[0]] += 1

    def _closed(self) -> None:
        assert self._socket is not None
        self.counts["closed"] += 1
        self._socket.close()
        self._socket = None

    def _put_aside(self, played: Played) -> None:
        assert self._socket is not None
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self._closed()
            return
        self.counts["put aside"] += 1
        self._aside.append(Aside(self._socket, played, time.monotonic() + SECONDS))
        self._socket = None
        while len(self._aside) > MOST_ASIDE or (self._aside and _is_readable(self._aside[0])):
            self._settle_oldest()

    def _settle_oldest(self) -> None:
        oldest = self._aside.popleft()
        while (left := oldest.until - time.monotonic()) > 0:
            if select([oldest.socket], [], [], left)[0] and not _received(oldest.socket):
                oldest.socket.close()
                return
        self.last.append(oldest.played)
        raise Found(f"frame {oldest.played.number}: its connection is neither answered nor closed")

    def check(self) -> None:
        """Raises Found."""
        status = self.samsa.process.poll()
        if status is not None:
            raise Found(f"the broker has ended with {status}:\n{self.samsa.said()}")
        new = self._log.read()
        if any(sign in new for sign in SIGNS):
            raise Found("the log says:\n" + "".join(_around_signs(new.splitlines(keepends=True))))
        resident = self.samsa.resident()
        self.counts["most resident"] = max(self.counts["most resident"], resident)
        if resident > MOST_RESIDENT:
            raise Found(f"the broker has {resident >> 20} MB")
        try:
            self._neighbour.goes_on()
        except AssertionError as error:
            raise Found(f"{error}: {error.__cause__!r}") from error


def _around_signs(lines: list[str]) -> list[str]:
    """The lines with a sign, and the tracebacks below them: those are not dated."""
    shown, found = False, []
    for line in lines:
        is_dated = line[:4].isdigit()
        shown = any(sign in line for sign in SIGNS) or (shown and not is_dated)
        found += [line] * shown
    return found


def _is_readable(aside: Aside) -> bool:
    return bool(select([aside.socket], [], [], 0)[0])


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 20)
    except OSError:
        return b""


def _read(connection: socket.socket, size: int) -> bytes | None:
    """None: the connection was closed."""
    data = bytearray()
    try:
        while len(data) < size:
            more = connection.recv(min(size - len(data), 1 << 20))
            if not more:
                return None
            data += more
    except TimeoutError:
        raise Found(f"an answer stops after {len(data)} of {size} bytes") from None
    except OSError:
        return None
    return bytes(data)


def save(folder: Path, name: str, last: Iterable[Played]) -> Path:
    """The frames that were played last, the newest at the end: one line of hex each."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.hex"
    file.write_text("".join(f"{each.frame.hex()}  # {each.number} {each.peer}\n" for each in last))
    return file


def saved(file: Path) -> list[tuple[int, bytes]]:
    lines = [line.partition("#") for line in file.read_text().splitlines()]
    return [(int((rest.split() or ["0"])[0]), bytes.fromhex(frame)) for frame, _, rest in lines]
