"""The API in a loop of its own, asked from wherever: schemathesis makes a new loop for each call,
and a broker has one for life."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from starlette.types import Message, Receive, Scope, Send
from unit.http_api.given import Site

T = TypeVar("T")


class Home:
    def __init__(self, loop: asyncio.AbstractEventLoop, site: Site) -> None:
        self._loop = loop
        self.site = site

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As an ASGI application: the whole request goes there, the whole answer comes back."""
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked = asyncio.run_coroutine_threadsafe(self._ask(scope, body), self._loop)
        for message in await asyncio.wrap_future(asked):
            await send(message)

    async def _ask(self, scope: Scope, body: bytes) -> list[Message]:
        answer: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            answer.append(message)

        await self.site.app(scope, receive, send)
        return answer


@contextmanager
def a_home(folder: Path) -> Iterator[Home]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def make() -> Site:
        return Site(folder)

    site = asyncio.run_coroutine_threadsafe(make(), loop).result(60)
    site.served.may_wait = False  # its clock stands still: it would wait for ever
    home = Home(loop, site)
    try:
        yield home
    finally:
        home.run(site.close())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
