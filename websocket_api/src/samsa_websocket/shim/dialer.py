"""Runs a shim inside of a Python program, without a separate process.

Kafka clients of Python take addresses, not sockets. So the dialer listens on a loopback port of its
own, with a shim behind it that runs in a thread, and gives that address to the client.
"""

import asyncio
import threading
from typing import Any

from samsa_websocket.shim.errors import ShimError
from samsa_websocket.shim.listener import Shim
from samsa_websocket.shim.settings import ShimSettings

LOOPBACK = "127.0.0.1"
START_S = 60.0
STOP_S = 10.0


class Dialer:
    """Open from the start; `bootstrap` is the address for a client's bootstrap_servers."""

    def __init__(self, settings: ShimSettings) -> None:
        """Raises ClientRefused, or Away if the cluster does not answer."""
        self.bootstrap = ""
        self._settings = settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._problem: BaseException | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="samsa-dialer", daemon=True)
        self._thread.start()
        if not self._started.wait(START_S):
            raise ShimError("the dialer did not start in time")
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Closes the clients' connections. Requests that are not answered by then get no answer."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(STOP_S)

    def __enter__(self) -> str:
        return self.bootstrap

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._problem = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        shim = Shim(self._settings)
        try:
            await shim.try_out()
            host, port = await shim.listen(LOOPBACK, 0)
            self.bootstrap = f"{host}:{port}"
            self._started.set()
            await self._stop.wait()
        finally:
            await shim.close()


def dial(url: str, **settings: Any) -> Dialer:
    """A Kafka client's way to the cluster at this WebSocket URL. `settings`: of ShimSettings.

    with dial("ws://127.0.0.1:3001/local", sign=False) as bootstrap: ...
    """
    return Dialer(ShimSettings(url, **settings))
