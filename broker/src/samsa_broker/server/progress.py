"""How fast a client sends and reads, and why it is let go if that is too slow."""

from typing import TYPE_CHECKING

from samsa.runtime.floor import Floor

if TYPE_CHECKING:
    from .listener import ServerLimits
    from .sender import Sender
    from .socket_reader import SocketReader

CONTENDED_S = 60.0
"""While others wait for memory, a request has this long to arrive."""
STALLED_S = 2.0
"""While others wait for memory, a client that holds some may be silent for this long."""


class ClientProgress:
    def __init__(self, reader: "SocketReader", sender: "Sender", limits: "ServerLimits") -> None:
        self.last_active = 0.0
        self._reader = reader
        self._sender = sender
        self._limits = limits
        self._moved = (0, 0)
        self._arriving = Floor()
        self._leaving = Floor()

    def look(self, now: float) -> None:
        """Bytes that moved count as activity, even if no request has ended."""
        moved = (self._reader.buffer.unread, self._sender.sent)
        if moved != self._moved:
            self._moved, self.last_active = moved, now

    def why_let_go(self, now: float, contended: bool, charged: int, hoards: bool) -> str | None:
        """None if it is fast enough. Called periodically, after `look`. `charged`: bytes of memory
        for requests."""
        limits = self._limits
        # While others wait for memory, a whole request has to come within a minute.
        rate = max(limits.min_request_rate, charged / CONTENDED_S if contended else 0.0)
        buffer = self._reader.buffer
        frame = buffer.frames if self._reader.watched and buffer.unread else None
        if self._arriving.is_slow(now, frame, buffer.unread, rate, limits.slow_grace_s):
            return "slow request"
        answer = None if self._sender.empty else 0
        rate, grace_s = limits.min_request_rate, limits.idle_timeout_s
        if self._leaving.is_slow(now, answer, self._sender.sent, rate, grace_s):
            # The grace is the idle timeout: a consumer may stop reading while it processes records.
            return "slow reader"
        stalled = now - self.last_active > STALLED_S and hoards
        return "stalled request" if contended and stalled else None
