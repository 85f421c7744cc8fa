"""The HTTP API of `samsa up`: the address where it is served, or the reason why it is not."""

import argparse
import logging
from collections.abc import Collection
from typing import Any

from samsa.broker.broker import Broker
from samsa.http_api.lazy_listener import LazyListener, missing
from samsa.runtime.logs import event
from samsa_broker.server.listeners import is_loopback

from .options import address

log = logging.getLogger("samsa.http")
DEFAULT = ("127.0.0.1", 8080)
HINT = "--http 127.0.0.1:0 picks a free port, --no-http does without"
INSTALL = "pip install fastapi fastapi-offline uvicorn"


def add_to(up: argparse.ArgumentParser) -> None:
    group = up.add_argument_group("HTTP API")
    group.add_argument(
        "--http", metavar="HOST:PORT", type=address, default=...,
        help="where it is served; port 0 picks a free one (127.0.0.1:8080, if that is free)",
    )  # fmt: skip
    group.add_argument(
        "--no-http", dest="http", action="store_const", const=None, help="do not serve it"
    )
    group.add_argument(
        "--http-name", metavar="NAME", action="append", default=[],
        help="a name by which browsers may ask for it, beside addresses and localhost; * is any",
    )  # fmt: skip


class HttpFront:
    """May stay closed, unless the user asked for it: brokers are for Kafka clients."""

    def __init__(self, given: Any, names: Collection[str] = ()) -> None:
        self._wanted = given is not ...
        host, port = given if self._wanted else DEFAULT
        self._listener = LazyListener(host, port, names)
        self._why_not = ""

    def open(self, broker: Broker, kafka: tuple[str, int]) -> None:
        """Raises OSError if the user asked for it and it cannot be opened."""
        try:
            self._open(broker, kafka)
        except OSError as error:
            if self._wanted:
                raise
            self._why_not = str(error.strerror)
            event(log, logging.WARNING, "no HTTP API", why=self._why_not)

    def _open(self, broker: Broker, kafka: tuple[str, int]) -> None:
        if broker.access is not None and not is_loopback(self._listener.host):
            raise OSError(0, f"a secured broker serves HTTP on loopback only: no login. {HINT}")
        package = missing()
        if package is not None:
            raise OSError(0, f"{package} is not installed; try: {INSTALL}")
        try:
            self._listener.open(broker, kafka)
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}; {HINT}") from error

    @property
    def line(self) -> str:
        """The line about it in the start message."""
        url = self._listener.url
        return f"  http     {url}/docs" if url else f"  http     not served: {self._why_not}"

    async def close(self) -> None:
        await self._listener.close()


def front(given: Any, names: Collection[str] = ()) -> HttpFront | None:
    return None if given is None else HttpFront(given, names)
