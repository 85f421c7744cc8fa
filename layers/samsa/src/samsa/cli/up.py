"""samsa up: a broker on this machine, or one process of many on DynamoDB and S3."""

import argparse
import asyncio
import math
import shutil
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import Any

from samsa import __version__
from samsa.groups import Settings as GroupSettings
from samsa.handlers.broker import Rules
from samsa.log.stores import Limits
from samsa.ports import Unavailable
from samsa.server.listener import ServerLimits
from samsa.server.logs import set_up

from . import up_http
from .options import add_logs, address, port

EXAMPLES = """
examples:
  samsa up                                    everything in ./samsa-data, on 127.0.0.1:9092
  samsa up --port 0                           a free port; it is printed
  samsa up --http 127.0.0.1:0                 the HTTP API elsewhere than on 127.0.0.1:8080
  samsa up --data /var/lib/samsa --fsync      survive the loss of power, not only of the process
  samsa up --ledger 'dynamodb://samsa?region=eu-central-1' --objects 's3://bucket/samsa'
                                              start as many of these as you like: one cluster
"""


def add_to(commands: Any) -> None:
    up = commands.add_parser(
        "up",
        help="start a broker",
        description="Start a broker. What it acknowledges survives its end.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    up.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    up.add_argument("--port", type=port, default=9092, help="0 picks a free one (%(default)s)")
    up.add_argument(
        "--data", metavar="DIR", default="samsa-data", help="where local data goes (./%(default)s)"
    )
    up.add_argument(
        "--ledger", metavar="URL", help="sqlite:///… or dynamodb://… (a SQLite file in --data)"
    )
    up.add_argument("--objects", metavar="URL", help="file:///… or s3://… (a folder in --data)")
    up.add_argument(
        "--advertise",
        metavar="HOST:PORT",
        type=address,
        help="where clients are told to come (the address that they used)",
    )
    up.add_argument(
        "--default-partitions", metavar="N", type=_positive, default=1,
        help="of a topic that does not say (%(default)s)",
    )  # fmt: skip
    up.add_argument(
        "--auto-create-topics",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="make topics when clients name them",
    )
    up.add_argument(
        "--fsync", action="store_true", help="local stores wait for the disk (slower, safer)"
    )
    up.add_argument(
        "--metrics-port", metavar="PORT", type=port, help="serve Prometheus metrics there"
    )
    up_http.add_to(up)
    limits = up.add_argument_group("limits")
    limits.add_argument(
        "--max-connections", metavar="N", type=_positive, default=2000,
        help="clients at a time; one more is refused (%(default)s)",
    )  # fmt: skip
    limits.add_argument(
        "--max-frame-bytes", metavar="N", type=_positive, default=100 * 1024 * 1024,
        help="of one request; a larger one ends its connection (%(default)s)",
    )  # fmt: skip
    limits.add_argument(
        "--max-request-memory", metavar="BYTES", type=_positive, default=512 * 1024 * 1024,
        help="of all requests at a time; others wait (%(default)s)",
    )  # fmt: skip
    limits.add_argument(
        "--idle-timeout", metavar="SECONDS", type=_seconds, default=600.0,
        help="after which a silent client is let go (%(default)s)",
    )  # fmt: skip
    limits.add_argument(
        "--upkeep-interval", metavar="SECONDS", type=_seconds, default=300.0,
        help="how often retention looks (%(default)s)",
    )  # fmt: skip
    limits.add_argument(
        "--settle-time", metavar="SECONDS", type=_seconds, default=60.0,
        help="how long records stay as they came before they are merged or compacted (%(default)s)",
    )  # fmt: skip
    groups = up.add_argument_group("consumer groups")
    groups.add_argument(
        "--group-initial-rebalance-delay-ms", metavar="MS", type=_whole, default=0,
        help="how long an empty group waits for more members (%(default)s)",
    )  # fmt: skip
    groups.add_argument(
        "--offsets-retention-minutes", metavar="MINUTES", type=_positive, default=7 * 24 * 60,
        help="how long an empty group keeps its offsets (%(default)s)",
    )  # fmt: skip
    add_logs(up)
    up.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    from samsa.server import app, urls

    set_up(given.log_level, given.log_format)
    data = Path(given.data).absolute()
    try:
        if given.ledger is None or given.objects is None:
            data.mkdir(parents=True, exist_ok=True)
        settings = app.Settings(
            host=given.host,
            port=given.port,
            ledger=given.ledger or f"sqlite://{data}/ledger.db",
            objects=given.objects or f"file://{data}/objects",
            lock=f"{data}/lock" if given.ledger is None else None,
            advertise=given.advertise,
            metrics_port=given.metrics_port,
            fsync=given.fsync,
            upkeep_every_s=given.upkeep_interval,
            log_limits=Limits(merge_after_ms=round(1000 * given.settle_time)),
            rules=_rules(given),
            limits=ServerLimits(
                given.max_connections,
                given.max_frame_bytes,
                given.max_request_memory,
                given.idle_timeout,
            ),
        )
        http = up_http.front(given.http)
        greet = partial(_greet, settings, http)
        _run(app.run(settings, greet, [http] if http else []))
    except urls.BadUrl as error:
        return _fail(str(error))
    except (OSError, sqlite3.Error, Unavailable) as error:
        return _fail(_explain(error, given))
    return 0


def _rules(given: argparse.Namespace) -> Rules:
    return Rules(
        given.default_partitions,
        given.auto_create_topics,
        groups=GroupSettings(initial_rebalance_delay_ms=given.group_initial_rebalance_delay_ms),
        offsets_retention_ms=given.offsets_retention_minutes * 60_000,
    )


def _run(main: Any) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def _greet(
    settings: Any, http: up_http.HttpFront | None, host: str, port: int, metrics_port: int | None
) -> None:
    where = f"{host}:{port}"
    samsa = "samsa" if shutil.which("samsa") else sys.argv[0]
    lines = [
        f"Samsa {__version__} is listening on {where}",
        f"  ledger   {settings.ledger}",
        f"  objects  {settings.objects}",
    ]
    if http is not None:
        lines.append(http.line)
    if metrics_port is not None:
        lines.append(f"  metrics  http://{host}:{metrics_port}/metrics")
    lines += [
        "Try, in another terminal:",
        f"  echo hello | {samsa} produce greetings --bootstrap {where}",
        f"  {samsa} consume greetings --bootstrap {where}",
        "Ctrl-C ends it; what was acknowledged stays.",
    ]
    print("\n".join(lines), flush=True)


def _explain(error: Exception, given: argparse.Namespace) -> str:
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, OSError) and "in use" in text:
        return (
            f"port {given.port} on {given.host} is taken. "
            "Another broker may be running; --port 0 picks a free one"
        )
    name = getattr(error, "filename", None)
    return f"{name}: {text}" if name else text


def _fail(why: str) -> int:
    print(f"samsa: {why}", file=sys.stderr)
    return 1


def _whole(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds
