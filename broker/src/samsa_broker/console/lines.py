"""Answers that go on: lines of JSON (NDJSON), until the work or the client ends.

There is no queue: a line is made when the client's socket has room for it. When the client goes
away, or the broker stops, the work is cancelled.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from samsa.http_api.failures import detail_of
from samsa.http_api.problems import UNAVAILABLE, RequestFailed

from .shown import dumped

MEDIA_TYPE = "application/x-ndjson"
Tell: TypeAlias = Callable[[Iterable[Any]], Awaitable[None]]
"""Sends lines, and waits until the client's socket has room again."""


class Streams:
    """Those of one kind: few at a time, because each keeps a connection and some memory."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._running)

    def raise_if_full(self) -> None:
        """Raises RequestFailed."""
        if self._closed or len(self._running) >= self._most:
            raise RequestFailed(
                UNAVAILABLE,
                "Too many at a time",
                f"{len(self._running)} {self._what} are running, and there are at most "
                f"{self._most} at a time",
                "Stop one of them, or ask again later.",
            )

    def begin(self, work: Awaitable[None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(_awaited(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def close(self) -> None:
        self._closed = True
        for task in self._running:
            task.cancel()


async def _awaited(work: Awaitable[None]) -> None:
    await work


class Lines(Response):
    def __init__(self, streams: Streams, work: Callable[[Tell], Awaitable[None]]) -> None:
        """`work` sends all lines. Raises RequestFailed if too many are running."""
        streams.raise_if_full()
        super().__init__(media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._streams = streams
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        head = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **head})
        working = self._streams.begin(self._write(send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write(self, send: Send) -> None:
        async def tell(lines: Iterable[Any]) -> None:
            body = b"".join(dumped(line) + b"\n" for line in lines)
            await send({"type": "http.response.body", "body": body, "more_body": True})

        try:
            await self._work(tell)
        except Exception as error:
            detail = detail_of(error)
            if detail is None:
                raise
            await tell([{"problem": {"detail": detail}}])


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
