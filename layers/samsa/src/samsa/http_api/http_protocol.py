"""uvicorn's HTTP protocol with limits: few connections, and none that stalls.

A client has `HEAD_S` seconds to send a request's head. It has to send the body, and to read the
answer, at a minimum rate. If there are too many connections, one that waits for its client is
closed for a new one: the one that has waited longest, first among those without a request, then
among those with an unfinished one. If all are being answered, the new one gets 503.
"""

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from samsa.runtime.floor import Floor
from samsa.runtime.logs import Repeated

from . import http_stats

log = logging.getLogger("samsa.http")
MOST_CONNECTIONS = 100
HEAD_S = 10.0
MIN_RATE = 1_000
BODY_GRACE_S = 10.0
ANSWER_GRACE_S = 30.0

_slow = Repeated(log, logging.WARNING, "slow HTTP client closed")
_crowded = Repeated(log, logging.WARNING, "too many HTTP connections")


class BoundedProtocol(H11Protocol):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._since = self.loop.time()
        """When it began to wait for the present request."""
        self._requests = 0
        self._received = 0
        self._body = Floor()
        self._answer = Floor()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_way()

    def _make_way(self) -> None:
        others = [each for each in self.connections if isinstance(each, BoundedProtocol)]
        waiting = [each for each in others if each is not self and each.waits_for_client]
        _crowded.happened(peer=self.client)
        if waiting:
            http_stats.let_go["crowded"] += 1
            min(waiting, key=lambda each: (each.has_begun, each._since)).abort()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        self._requests += 1
        super().on_response_complete()

    @property
    def has_begun(self) -> bool:
        """Whether a request's head has come."""
        return self.conn.their_state is not h11.IDLE

    @property
    def waits_for_client(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.flow.read_paused

    def is_slow(self, now: float) -> bool:
        """Called periodically."""
        if not self.has_begun:
            return now - self._since > HEAD_S
        at = self._requests if self.waits_for_client else None
        if self._body.is_slow(now, at, self._received, MIN_RATE, BODY_GRACE_S):
            return True
        at = self._requests if self.flow.write_paused else None
        left = self.transport.get_write_buffer_size()
        return self._answer.is_slow(now, at, -left, MIN_RATE, ANSWER_GRACE_S)

    def let_go(self) -> None:
        _slow.happened(peer=self.client)
        http_stats.let_go["slow"] += 1
        self.abort()

    def abort(self) -> None:
        """No longer count it from now on: the event loop reports its end only one turn later."""
        self.connections.discard(self)
        self.transport.abort()
