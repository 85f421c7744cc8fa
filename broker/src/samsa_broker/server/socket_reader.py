"""Bytes from a client's socket into its buffer.

The event loop watches the socket. A client that sends only heartbeats is given to the idle poller,
until it sends something else.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from .buffer import ReceiveBuffer
from .idle_poller import HeartbeatCount

if TYPE_CHECKING:
    from .listener import Server


class SocketReader:
    def __init__(self, sock: socket.socket, readable: Callable[[], None], server: "Server") -> None:
        self.fd = sock.fileno()
        self.readable = readable
        self.buffer = ReceiveBuffer(server.limits.max_frame_bytes)
        self.ended = False
        """The client sends nothing more, or its connection is to be closed."""
        self.watched = False
        self._socket = sock
        self._loop = asyncio.get_running_loop()
        self._stats = server.stats
        self._poller = server.idle_poller
        self._heartbeats = HeartbeatCount()

    def watch(self) -> None:
        if not self.watched and not self.ended:
            self.watched = True
            self._loop.add_reader(self.fd, self.readable)

    def unwatch(self) -> None:
        was_polled = self._poller.leave(self)
        if self.watched:
            self.watched = False
            if not was_polled:
                self._loop.remove_reader(self.fd)

    def watch_closely(self) -> None:
        """Leave the idle poller: the event loop watches the socket again."""
        if self._poller.leave(self) and self.watched:
            self._loop.add_reader(self.fd, self.readable)

    def count_heartbeat(self, now: float) -> None:
        """After some of them, leave the socket to the idle poller."""
        is_idle = self._heartbeats.one_more(now)
        if is_idle and self.watched and self._poller.join(self):
            self._loop.remove_reader(self.fd)

    def forget_heartbeats(self) -> None:
        """The client has sent something else."""
        if self._heartbeats.count:
            self._heartbeats.count = 0
            self.watch_closely()

    def receive(self) -> bool:
        """Whether bytes came, or the end of the stream."""
        room = self.buffer.room()
        if not len(room):
            self.unwatch()
            return False
        try:
            count = self._socket.recv_into(room)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            count = 0
        if count == 0:
            self.end()
        self.buffer.filled(count)
        self._stats.bytes_in += count
        return True

    def end(self) -> None:
        self.ended = True
        self.unwatch()
