"""The HTTP API of `samsa up`: the address where it is served, or the reason why it is not."""

import argparse
import logging
import re
from collections.abc import Collection
from typing import Any

from samsa.broker.broker import Broker
from samsa.http_api.lazy_listener import LazyListener, missing
from samsa.http_api.sessions import EVERYONE
from samsa.runtime.logs import event
from samsa_broker.console.extension import ConsoleExtension
from samsa_broker.server.http_entry import HttpAddress, HttpEntry
from samsa_broker.server.listener import Server

from .options import address, port

log = logging.getLogger("samsa.http")
DEFAULT = HttpAddress("127.0.0.1", 8080)
HINT = "--http 127.0.0.1:0 picks a free port, --no-http does without"
INSTALL = "pip install fastapi fastapi-offline uvicorn"
_URL = re.compile(r"(?:(?P<scheme>[a-z]+)://)?(?P<where>[^/]+)/?")


def add_to(up: argparse.ArgumentParser) -> None:
    group = up.add_argument_group("HTTP API and metrics")
    group.add_argument(
        "--http", metavar="[https://]HOST:PORT", type=_http_address, default=...,
        help="where the HTTP API and the console are served; port 0 picks a free one "
        "(127.0.0.1:8080, if that is free). A secured broker asks for a login by https:// and "
        "beyond loopback",
    )  # fmt: skip
    group.add_argument(
        "--no-http", dest="http", action="store_const", const=None, help="do not serve it"
    )
    group.add_argument(
        "--http-name", metavar="NAME", action="append", default=[],
        help="a name by which browsers may ask for it, beside addresses and localhost; * is any",
    )  # fmt: skip
    group.add_argument(
        "--schema-registry", action=argparse.BooleanOptionalAction, default=True,
        help="serve a schema registry at the address of the HTTP API",
    )  # fmt: skip
    metrics = group.add_mutually_exclusive_group()
    metrics.add_argument(
        "--metrics", metavar="[https://]HOST:PORT", type=_http_address,
        help="where Prometheus metrics are served; logins as for --http",
    )  # fmt: skip
    metrics.add_argument(
        "--metrics-port", metavar="PORT", type=port,
        help="the same by http://, at the address of the first listener",
    )  # fmt: skip


def _http_address(text: str) -> HttpAddress:
    match = _URL.fullmatch(text)
    if match is None or match["scheme"] not in (None, "http", "https"):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT or https://HOST:PORT")
    return HttpAddress(*address(match["where"]), match["scheme"] == "https")


def addresses(given: argparse.Namespace) -> tuple[HttpAddress | None, HttpAddress | None]:
    """Of the HTTP API and of the metrics. `given.host` is that of the first listener."""
    metrics = given.metrics
    if given.metrics_port is not None:
        metrics = HttpAddress(given.host, given.metrics_port)
    return DEFAULT if given.http is ... else given.http, metrics


class HttpFront:
    """May stay closed, unless the user asked for it: brokers are for Kafka clients."""

    def __init__(self, given: Any, names: Collection[str] = ()) -> None:
        self._wanted = given is not ...
        self._address: HttpAddress = given if self._wanted else DEFAULT
        self._console = ConsoleExtension()
        host, port = self._address.host, self._address.port
        self._listener = LazyListener(host, port, names, self._console)
        self._why_not = ""

    def open(self, server: Server, kafka: tuple[str, int], entry: HttpEntry) -> None:
        """Raises OSError if the user asked for it and it cannot be opened."""
        self._console.server = server
        try:
            self._open(server.broker, kafka, entry)
        except OSError as error:
            if self._wanted:
                raise
            self._why_not = str(error.strerror)
            event(log, logging.WARNING, "no HTTP API", why=self._why_not)

    def _open(self, broker: Broker, kafka: tuple[str, int], entry: HttpEntry) -> None:
        package = missing()
        if package is not None:
            raise OSError(0, f"{package} is not installed; try: {INSTALL}")
        listen_tls = None
        if self._address.has_tls:
            entry.prepare_tls()
            listen_tls = entry.listen_tls
        login = entry.login(self._address, self._address.scheme)
        try:
            self._listener.open(broker, kafka, login or EVERYONE, listen_tls)
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}; {HINT}") from error

    @property
    def line(self) -> str:
        """What the start message says about it."""
        url = self._listener.url
        if url is None:
            return f"  http     not served: {self._why_not}"
        return f"  http     {url}/docs\n  console  {url}/console/"

    async def close(self) -> None:
        await self._listener.close()


def front(given: Any, names: Collection[str] = ()) -> HttpFront | None:
    return None if given is None else HttpFront(given, names)
