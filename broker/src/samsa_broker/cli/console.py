"""samsa console: the page of the console for a cluster behind TCP."""

import argparse
import asyncio
import socket
import time
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from samsa.ports import Unavailable
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

from .client import Client, ClientError, NotServed, login_of
from .login import ClientLogin
from .options import add_command, address
from .serving import fail, serve

DEFAULT_URL = "kafka://127.0.0.1:9092"
DEFAULT_LISTEN = ("127.0.0.1", 8081)
KAFKA, HTTP = "kafka://", ("http://", "https://")
PATIENCE_S = 10.0
DESCRIPTION = """
The console of `samsa up`, in a process of its own, for any cluster that speaks Kafka's protocol: a
samsa shim, a samsa up, or another broker. What only a broker itself knows (what a log is made of,
latencies, cost) is not shown.
"""
EXAMPLES = """
examples:
  samsa console                                      of 127.0.0.1:9092, on 127.0.0.1:8081
  samsa console --url kafka://127.0.0.1:9093         of a deployed bundle, behind samsa shim
  samsa console --url kafka://kafka.example.com:9093 --command-config alice.conf
  samsa console --url http://127.0.0.1:8080          samsa up has its own: says where
"""


def add_to(commands: Any) -> None:
    console = add_command(
        commands,
        "console",
        brief="a page that shows a cluster, for any broker",
        description=DESCRIPTION,
        epilog=EXAMPLES,
    )
    console.add_argument(
        "--url",
        metavar="kafka://HOST:PORT",
        default=DEFAULT_URL,
        help="the cluster to show (%(default)s)",
    )
    console.add_argument(
        "--listen",
        metavar="HOST:PORT",
        type=address,
        default=DEFAULT_LISTEN,
        help="where the page is served; port 0 picks a free one (127.0.0.1:8081). With a login, on "
        "this machine only: all who open the page have the rights of that login",
    )
    console.add_argument(
        "--command-config",
        metavar="FILE",
        help="how to log in there: lines such as security.protocol=sasl_ssl, with the names of "
        "librdkafka",
    )
    console.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    if given.url.startswith(HTTP):
        print(_own_console(given.url.rstrip("/")))
        return 0
    if not given.url.startswith(KAFKA):
        raise ClientError(
            f"{given.url!r} is neither {KAFKA}HOST:PORT nor the HTTP address of samsa up"
        )
    bootstrap = given.url.removeprefix(KAFKA).rstrip("/")
    login = login_of(given.command_config)
    check_listen(given.listen[0], login)
    Client(bootstrap, login).close()  # says what is wrong before anything is served
    try:
        serve(_serve(bootstrap, login, given.listen))
    except OSError as error:
        host, port = given.listen
        return fail(
            f"port {port} on {host}: {error.strerror or error}; --listen 127.0.0.1:0 picks one"
        )
    return 0


def _own_console(url: str) -> str:
    """Where the console is that this address serves itself. Raises ClientError."""
    page = f"{url}/console/"
    try:
        with urlopen(f"{page}api/overview", timeout=PATIENCE_S) as answer:  # noqa: S310 - http or https
            is_there = "json" in answer.headers.get("content-type", "")
    except HTTPError as error:
        is_there = error.code == 401  # a browser asks for the login
    except (URLError, OSError, ValueError) as error:
        raise ClientError(f"{url} does not answer: {getattr(error, 'reason', error)}") from error
    if not is_there:
        raise ClientError(
            f"{url} has no console; give the address of Kafka's protocol: {DEFAULT_URL}"
        )
    return f"This broker serves its console itself: open {page}"


def check_listen(host: str, login: ClientLogin) -> None:
    """Raises ClientError."""
    from samsa.http_api.origins import is_loopback

    has_rights = login.has_sasl or login.certificate is not None
    if has_rights and not is_loopback(host):
        raise ClientError(
            f"--listen {host}: all who open the page would have the rights of this login. "
            "Listen on 127.0.0.1; ssh -L brings the page to another machine"
        )


class BlockingNode:
    """A `samsa_broker.console.connections.Node`."""

    def __init__(self, bootstrap: str, login: ClientLogin) -> None:
        try:
            self._client = Client(bootstrap, login)
        except ClientError as error:
            raise Unavailable(str(error)) from error

    def ask(self, key: ApiKey, row: Any, at_most: int) -> Any:
        try:
            return self._client.ask(key, row, at_most)
        except NotServed as error:
            raise Refused(ErrorCode.UNSUPPORTED_VERSION, str(error)) from error
        except ClientError as error:
            raise Unavailable(str(error)) from error

    def close(self) -> None:
        self._client.close()

    def interrupt(self) -> None:
        self._client.interrupt()


async def _serve(bootstrap: str, login: ClientLogin, listen: tuple[str, int]) -> None:
    from samsa.http_api.server import server
    from samsa.http_api.sessions import EVERYONE
    from samsa.runtime.stopping import told_to_stop
    from samsa.runtime.system import SystemClock, fresh_words
    from samsa_broker.console.connections import Connections
    from samsa_broker.console.extension import ConsoleExtension
    from samsa_broker.console.remote import RemoteCluster

    connections = Connections(lambda where: BlockingNode(where, login), time.monotonic)
    cluster = RemoteCluster(
        bootstrap, connections, SystemClock().now_ms, time.monotonic, fresh_words()
    )
    console = ConsoleExtension()
    family = socket.AF_INET6 if ":" in listen[0] else socket.AF_INET
    with socket.create_server(listen, family=family) as listening:
        listening.setblocking(False)
        http = server(cluster, EVERYONE, listening, extension=console)
        stop = told_to_stop()
        serving = asyncio.create_task(http.serve([listening]))
        await http.ready.wait()
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        print(f"The console of {bootstrap} is at http://{shown}:{port}/console/", flush=True)
        print("Ctrl-C ends it.", flush=True)
        await stop.wait()
        await console.close()
        http.should_exit = True
        await serving
    cluster.close()
