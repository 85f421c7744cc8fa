"""A store that is far away: what goes to it is held back for a while, and nothing else is changed.

Whatever comes on a connection leaves in the same order, each piece so much later than it came. A
request thus takes so much longer, and any number of them may be under way.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

PIECE = 256 * 1024
PORT_S = 10


class Delays(NamedTuple):
    put_s: float
    ledger_s: float


@contextmanager
def slowed(url: str, delay_s: float) -> Iterator[str]:
    """The URL of one that is slower by so much."""
    relay = _Relay(urlsplit(url).hostname or "", urlsplit(url).port or 80, delay_s)
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    if not relay.ready.wait(PORT_S):
        raise TimeoutError("the relay did not start")
    try:
        yield f"http://127.0.0.1:{relay.port}"
    finally:
        relay.stop()
        thread.join()


class _Relay:
    def __init__(self, host: str, port: int, delay_s: float) -> None:
        self.port = 0
        self.ready = threading.Event()
        self._target = host, port
        self._delay_s = delay_s
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _listen(self) -> None:
        server = await asyncio.start_server(self._meet, "127.0.0.1", 0, limit=PIECE, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target, limit=PIECE)
        await asyncio.gather(
            self._pass_on(reader, back, self._delay_s), self._pass_on(there, writer, 0.0)
        )

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float
    ) -> None:
        try:
            while data := await reader.read(PIECE):
                self._loop.call_later(delay_s, writer.write, data)
        except OSError:
            pass
        self._loop.call_later(delay_s + 1, writer.close)
