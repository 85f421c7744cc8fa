"""samsa shim: connects Kafka clients on this machine to a serverless cluster."""

import argparse
import asyncio
import logging
import sqlite3
import ssl
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from samsa.ports import Unavailable
from samsa.runtime.logs import event, set_up
from samsa.runtime.stopping import told_to_stop
from samsa.runtime.store_address import BadUrl
from samsa_broker.server.listeners import is_loopback

from .options import add_check, add_command, add_logs, add_number, address, whole
from .serving import fail, serve

if TYPE_CHECKING:
    from samsa_websocket.shim.logins import Users

log = logging.getLogger("samsa.shim")
DEFAULT_LISTEN = "127.0.0.1:9092"
EXAMPLES = """
how it works:
  A Kafka client speaks TCP, API Gateway speaks WebSocket. The shim stands between them, on the
  client's machine: one WebSocket for each client connection. Point clients at --listen; that is
  also the address that the cluster gives them. Large requests and answers go to and from S3
  directly, by URLs that the cluster signs. While a consumer waits, nothing is sent at all.

credentials:
  The connection is signed with your AWS credentials, found where every AWS tool finds them: the
  environment, --profile, a role. They need execute-api:Invoke on the API.

who may connect:
  All clients act as the shim's AWS identity. On another address than loopback let them log in:
  --users names a ledger with users, and --tls-cert and --tls-key a certificate.

examples:
  samsa shim --url wss://abc123.execute-api.eu-central-1.amazonaws.com/prod
  samsa shim --url wss://… --profile work --listen 127.0.0.1:9092 --listen 127.0.0.1:9093
  samsa users add alice --ledger sqlite:///etc/samsa/users.db
  samsa shim --url wss://… --listen 0.0.0.0:9092 --advertise kafka.example.com:9092 \\
             --users sqlite:///etc/samsa/users.db --tls-cert shim.pem --tls-key shim.key
  samsa shim --url ws://127.0.0.1:3001/local --no-sign       a local API Gateway (samsa local-api)

In Python no process is needed: see samsa_websocket.shim.dial.
"""


def add_to(commands: Any) -> None:
    shim = add_command(
        commands,
        "shim",
        brief="reach a serverless cluster by TCP",
        description="Let Kafka clients reach a cluster behind an API Gateway WebSocket.",
        epilog=EXAMPLES,
    )
    shim.add_argument(
        "--url", required=True, metavar="WSS_URL", help="the WebSocket API, its stage included"
    )
    shim.add_argument(
        "--listen", metavar="HOST:PORT", type=address, action="append",
        help=f"where clients connect; may be given more than once ({DEFAULT_LISTEN})",
    )  # fmt: skip
    shim.add_argument(
        "--advertise", metavar="HOST:PORT", type=address,
        help="the address that clients are given (the one that they used)",
    )  # fmt: skip
    add_number(
        shim, "--linger-ms", whole, 0,
        "how long a produce request waits for others of its client, to share one call of the "
        "cluster: cheaper, and later by as much", "MS",
    )  # fmt: skip
    clients = shim.add_argument_group("clients")
    clients.add_argument(
        "--users", metavar="LEDGER",
        help="clients log in (SCRAM, PLAIN) as users of this ledger, which samsa users makes: "
        "sqlite:///… or dynamodb://…",
    )  # fmt: skip
    clients.add_argument("--tls-cert", metavar="FILE", help="clients come by TLS; this is the "
                         "certificate, and what signed it, in PEM")  # fmt: skip
    clients.add_argument("--tls-key", metavar="FILE", help="its key, in PEM, without a password")
    signing = shim.add_argument_group("signing")
    signing.add_argument("--profile", metavar="NAME", help="a profile of your AWS configuration")
    signing.add_argument("--region", metavar="NAME", help="if the URL does not name it")
    signing.add_argument("--no-sign", action="store_true", help="for a local API Gateway")
    add_check(shim, "do not try to connect before there are clients")
    add_logs(shim)
    shim.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    from samsa_websocket.shim.errors import ClientRefused

    set_up(given.log_level, given.log_format)
    if bool(given.tls_cert) != bool(given.tls_key):
        return fail("--tls-cert and --tls-key go together")
    try:
        serve(_serve(given))
    except (ClientRefused, BadUrl, Unavailable) as error:
        return fail(str(error))
    except sqlite3.Error as error:
        return fail(f"{given.users}: {error}")
    except OSError as error:
        return fail(error.strerror or str(error))
    return 0


async def _serve(given: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT. Raises ClientRefused, BadUrl, Unavailable, and OSError if a
    port is taken or a file cannot be read."""
    from samsa_websocket.shim.listener import Shim
    from samsa_websocket.shim.settings import ShimSettings

    stop = told_to_stop()
    sign = not given.no_sign
    linger_s = given.linger_ms / 1000
    settings = ShimSettings(given.url, sign, given.profile, given.region, given.advertise, linger_s)
    async with _tls(given) as tls, _users(given) as users:
        shim = Shim(settings, users)
        try:
            listening = given.listen or [address(DEFAULT_LISTEN)]
            where = [await _listen(shim, host, port, tls) for host, port in listening]
            for text in warnings(given, listening):
                log.warning("%s", text)
            if given.check:
                await _try_out(shim)
            _greet(given.url, where)
            await stop.wait()
            event(log, logging.INFO, "stopping", clients=shim.clients)
        finally:
            await shim.close()


@asynccontextmanager
async def _tls(given: argparse.Namespace) -> AsyncIterator[ssl.SSLContext | None]:
    """Raises OSError if the files do not make a server."""
    if not given.tls_cert:
        yield None
        return
    from samsa.runtime.tls_context import TlsContext, TlsFiles

    files = TlsContext(TlsFiles(given.tls_cert, given.tls_key))
    watching = asyncio.create_task(files.watch())
    try:
        yield files.for_asyncio()
    finally:
        watching.cancel()


@asynccontextmanager
async def _users(given: argparse.Namespace) -> "AsyncIterator[Users | None]":
    if not given.users:
        yield None
        return
    from samsa_websocket.shim.logins import open_users

    users = await open_users(given.users)
    try:
        yield users
    finally:
        await users.close()


def warnings(given: argparse.Namespace, listening: Sequence[tuple[str, int]]) -> list[str]:
    """What is wrong with listeners that other machines can reach."""
    where = ", ".join(f"{host}:{port}" for host, port in listening if not is_loopback(host))
    if not where:
        return []
    if not given.users:
        return [f"{where} asks no client who it is: all act as this shim's AWS identity"]
    if not given.tls_cert:
        return [f"{where} sends logins and records unencrypted: give --tls-cert and --tls-key"]
    return []


async def _try_out(shim: Any) -> None:
    """Raises ClientRefused: trying again will not help."""
    from samsa_websocket.shim.errors import Away

    try:
        await shim.try_out()
    except Away as error:
        then = "tried again for each client; --no-check begins without this"
        event(log, logging.WARNING, "cluster away", why=error, then=then)


async def _listen(shim: Any, host: str, port: int, tls: ssl.SSLContext | None) -> str:
    try:
        at = await shim.listen(host, port, tls)
    except OSError as error:
        if "in use" not in str(error):
            raise OSError(error.errno, f"{host}:{port}: {error.strerror or error}") from error
        why = f"port {port} on {host} is taken. Another broker or shim may run; --listen HOST:0"
        raise OSError(error.errno, f"{why} picks a free one") from error
    event(log, logging.INFO, "listening", host=at[0], port=at[1])
    return f"{at[0]}:{at[1]}"


def _greet(url: str, where: list[str]) -> None:
    lines = [f"Kafka clients reach {url} at {', '.join(where)}", "Ctrl-C ends it."]
    print("\n".join(lines), flush=True, file=sys.stdout)
