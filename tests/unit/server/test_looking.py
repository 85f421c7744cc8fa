"""Who is taken to be stalled: whoever gave no sign of life between two looks."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uvloop

from samsa.server.listener import Server, ServerLimits

EVERY_S = 0.05


class Stalled:
    """A connection that hoards memory. Its last bytes are noticed by the first look."""

    peer, busy, hoards = "stalled", False, True

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self.last_active = self._loop.time()
        self.looks = 0
        self.closed = asyncio.Event()

    def look(self) -> None:
        self.looks += 1
        if self.looks == 1:
            self.last_active = self._loop.time()

    def give_back(self) -> None:
        pass

    def abort(self) -> None:
        self._server.gone(cast(Any, self))
        self.closed.set()


async def watch() -> int:
    """How many looks it takes until the connection is closed, while somebody waits for memory."""
    limits = ServerLimits(max_frame_bytes=1, max_request_memory=2, idle_timeout_s=2 * EVERY_S)
    server = Server(cast(Any, SimpleNamespace()), limits)
    await server.budget.acquire(2)
    waiting = asyncio.create_task(server.budget.acquire(1))
    stalled = Stalled(server)
    server.connections.add(cast(Any, stalled))
    looking = asyncio.create_task(server._end_the_idle())
    await stalled.closed.wait()
    looking.cancel()
    waiting.cancel()
    return stalled.looks


def test_the_second_look_ends_who_has_not_moved_since_the_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With uvloop, whose clock has whole milliseconds: two looks may be exactly a round apart."""
    with caplog.at_level(logging.INFO, "samsa.server"):
        assert {uvloop.run(watch()) for _ in range(20)} == {2}
    assert {record.getMessage().partition(" peer")[0] for record in caplog.records} == {
        "stalled request closed"
    }
