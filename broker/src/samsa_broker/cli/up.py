"""samsa up: a broker on this machine, or one process of many on DynamoDB and S3."""

import argparse
import logging
import shutil
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from samsa import __version__
from samsa.broker.broker import Rules
from samsa.broker.work import WorkLimits
from samsa.groups import GroupSettings as GroupSettings
from samsa.local.health import FULL, kind_of
from samsa.log.stores import Limits
from samsa.ports import Unavailable
from samsa.runtime.in_memory import IN_MEMORY, limits_in_memory
from samsa.runtime.logs import event, set_up
from samsa.topics.topic_totals import Totals
from samsa_broker.server.http_entry import HttpAddress
from samsa_broker.server.listener import ServerLimits
from samsa_broker.server.listeners import Kind, ListenerAddress
from samsa_broker.server.security_settings import FirstUserExists

from . import up_ephemeral, up_http, up_secure, up_security
from .options import (
    add_command,
    add_logs,
    add_number,
    add_stores,
    address,
    positive,
    seconds,
    store_urls,
    whole,
    zone,
)
from .private_files import private_files
from .serving import explain, fail, serve

log = logging.getLogger("samsa.server")
MIB = 1024 * 1024
MAX_FETCH_BYTES = 16 * MIB
"""Kafka's fetch.max.bytes, which is 55 MiB there. librdkafka allocates memory for a whole answer,
and above 32 MiB malloc uses fresh pages each time: five times the page faults. In answers of 16 MiB
it reads six partitions a fifth to a third faster (benchmarks/README.md)."""
END = "Ctrl-C ends it; what was acknowledged stays."
EXAMPLES = """
examples:
  samsa up                                    everything in ./samsa-data, on 127.0.0.1:9092
  samsa up --port 0                           a free port; it is printed
  samsa up --ephemeral --port 0               nothing on disk: for tests, also of other languages
  samsa up --http 127.0.0.1:0                 the HTTP API elsewhere than on 127.0.0.1:8080
  samsa up --secure --http https://0.0.0.0:8443   the HTTP API with TLS and logins
  samsa up --data /var/lib/samsa --fsync      survive the loss of power, not only of the process
  samsa up --secure                           TLS, a first user, and ACLs, on this machine
  samsa up --ledger 'dynamodb://samsa?region=eu-central-1' --objects 's3://bucket/samsa'
                                              start as many of these as you like: one cluster
"""


def add_to(commands: Any) -> None:
    up = add_command(
        commands,
        "up",
        brief="start a broker",
        description="Start a broker. Records that it has acknowledged survive kill -9.",
        epilog=EXAMPLES,
    )
    up_security.add_listeners(up)
    add_stores(up)
    up_ephemeral.add_to(up)
    up.add_argument(
        "--wakeups",
        metavar="HOST:PORT",
        type=address,
        help="UDP address of this process, for the others of its cluster; port 0 picks a free one "
        "(--host, or the address that the default route has if that is 0.0.0.0 or ::)",
    )
    up.add_argument(
        "--zone",
        metavar="NAME",
        type=zone,
        help="where this process is: consumers with this client.rack read here",
    )
    add_number(
        up, "--default-partitions", positive, 1, "of topics that are created without a number"
    )
    up.add_argument(
        "--auto-create-topics",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="make topics when clients name them",
    )
    up.add_argument(
        "--fsync",
        action="store_true",
        help="wait for the disk: what is acknowledged survives the loss of power, too (slower). "
        "Give it to every broker on the same folder",
    )
    window = "how long appends wait for those to other partitions, to share a put to S3 and their "
    window += "updates in DynamoDB: fewer calls, a smaller bill. 250 is a good one for that"
    add_number(up, "--window-ms", whole, 0, window, "MS")
    up_http.add_to(up)
    up_secure.add_to(up)
    up_security.add_to(up)
    _add_limits(up.add_argument_group("limits"))
    _add_groups(up.add_argument_group("consumer groups"))
    _add_transactions(up.add_argument_group("transactions"))
    add_logs(up)
    up.set_defaults(run=run)


def _add_limits(group: Any) -> None:
    limit = partial(add_number, group)
    limit("--max-connections", positive, 2000, "connections at a time; more are refused")
    of_one = "connections from one address; more are refused"
    limit("--max-connections-per-address", positive, 1500, of_one)
    largest = "of one request; a larger one ends its connection"
    limit("--max-frame-bytes", positive, 100 * MIB, largest)
    together = "of all requests at a time; others wait"
    limit("--max-request-memory", positive, 256 * MIB, together, "BYTES")
    elements = "in all arrays of one request; a longer one ends its connection"
    limit("--max-request-elements", positive, WorkLimits().max_elements, elements)
    unpacked = "to which the compressed records of one batch may unpack; more are refused"
    limit("--max-unpacked-bytes", positive, WorkLimits().max_made_bytes, unpacked)
    limit("--max-topics", positive, 20_000, "in all; one more is refused")
    limit("--max-partitions", positive, 100_000, "of all topics together; more are refused")
    limit("--max-groups", positive, 10_000, "in all; one more is refused")
    rules = Rules()
    limit("--max-acls", positive, rules.max_acls, "in all; one more is refused")
    passwords = "SCRAM credentials of all users; one more is refused"
    limit("--max-credentials", positive, rules.max_credentials, passwords)
    limit("--max-quotas", positive, rules.max_quotas, "values in all; one more is refused")
    limit("--idle-timeout", seconds, 600.0, "after which a silent client is let go", "SECONDS")
    slow = "bytes per second of a request that has begun; a slower client is let go"
    limit("--min-request-rate", positive, 1_000, slow)
    limit("--slow-grace", seconds, 30.0, "over which that rate is measured", "SECONDS")
    looked = "how often all partitions are looked after; a topic whose configs ask for it, sooner"
    limit("--upkeep-interval", seconds, 300.0, looked, "SECONDS")
    settled = "how long records stay as they came before they are merged or compacted, if "
    settled += "segment.ms and max.compaction.lag.ms of a compacted topic are not less"
    limit("--settle-time", seconds, 60.0, settled, "SECONDS")


def _add_groups(group: Any) -> None:
    delay = "how long an empty group waits for more members"
    add_number(group, "--group-initial-rebalance-delay-ms", whole, 0, delay, "MS")
    defaults = GroupSettings()
    size = "members of one group; one more is refused (Kafka's group.max.size)"
    add_number(group, "--group-max-size", positive, defaults.max_size, size)
    shortest = "the shortest session that a member may ask for"
    least, most = defaults.min_session_timeout_ms, defaults.max_session_timeout_ms
    add_number(group, "--group-min-session-timeout-ms", positive, least, shortest, "MS")
    add_number(
        group,
        "--group-max-session-timeout-ms",
        positive,
        most,
        "the longest session that a member may ask for",
        "MS",
    )
    kept = "how long an empty group keeps its offsets"
    add_number(group, "--offsets-retention-minutes", positive, 7 * 24 * 60, kept, "MINUTES")


def _add_transactions(group: Any) -> None:
    rules = Rules()
    longest = "the longest timeout that a producer may ask for"
    most = rules.transaction_max_timeout_ms
    add_number(group, "--transaction-max-timeout-ms", positive, most, longest, "MS")
    kept = "how long a transactional id that is not used is remembered"
    minutes = rules.transactional_id_expiration_ms // 60_000
    add_number(group, "--transactional-id-expiration-minutes", positive, minutes, kept, "MINUTES")


def run(given: argparse.Namespace) -> int:
    with private_files() if given.secure else nullcontext():
        return _run(given)


def _run(given: argparse.Namespace) -> int:
    from samsa.runtime.store_address import BadUrl
    from samsa_broker.server import app

    set_up(given.log_level, given.log_format)
    data = Path(given.data).absolute()
    try:
        ledger, objects = up_ephemeral.urls(given) or _stores(given, data)
        first_user = up_secure.prepare(given, data)
        listening = up_security.listeners(given)
        given.host, given.port = listening[0].host, listening[0].port
        http, metrics = up_http.addresses(given)
        by_http = [each for each in (http, metrics) if each is not None]
        secured = up_security.security(given, listening, first_user)
        settings = app.ServerSettings(
            host=listening[0].host,
            port=listening[0].port,
            ledger=ledger,
            objects=objects,
            advertise=listening[0].advertise,
            listeners=listening,
            tls=up_security.tls_files(given, listening, by_http),
            security=secured,
            wakeups=given.wakeups,
            zone=given.zone or "",
            metrics=metrics,
            fsync=given.fsync,
            memory_bytes=given.max_memory,
            upkeep_every_s=given.upkeep_interval,
            log_limits=_log_limits(given),
            rules=_rules(given),
            limits=ServerLimits(
                given.max_connections,
                given.max_connections_per_address,
                given.max_frame_bytes,
                given.max_request_memory,
                given.idle_timeout,
                given.min_request_rate,
                given.slow_grace,
            ),
        )
        is_secured = secured is not None
        for warning in up_security.warnings(given, listening, by_http, is_secured=is_secured):
            event(log, logging.WARNING, warning)
        front = up_http.front(given.http, given.http_name)
        greet = partial(_greet, settings, front, partial(up_secure.lines, given, data))
        serve(app.run(settings, greet, [front] if front else []))
    except (BadUrl, up_security.Mistake) as error:
        return fail(str(error))
    except FirstUserExists:
        return fail(up_secure.user_exists(data, ledger))
    except (OSError, sqlite3.Error, Unavailable) as error:
        return fail(_explain(error, given, data))
    return 0


def _stores(given: argparse.Namespace, data: Path) -> tuple[str, str]:
    """Raises OSError."""
    if given.ledger is None or given.objects is None or given.secure:
        data.mkdir(parents=True, exist_ok=True)
    return store_urls(given)


def _log_limits(given: argparse.Namespace) -> Limits:
    limits = Limits(merge_after_ms=round(1000 * given.settle_time), window_ms=given.window_ms)
    return limits_in_memory(limits) if given.ephemeral else limits


def _explain(error: Exception, given: argparse.Namespace, data: Path) -> str:
    text = explain(error, given)
    if isinstance(error, sqlite3.Error):
        text = f"{given.ledger or data / 'ledger.db'}: {text}"
    elif not getattr(error, "filename", None):
        return text
    assert isinstance(error, OSError | sqlite3.Error)
    if kind_of(error) == FULL:
        return f"the disk is full: {text}. Make room there, and start again"
    return f"{text}. See that this can be written, or choose another folder with --data"


def _rules(given: argparse.Namespace) -> Rules:
    return Rules(
        given.default_partitions,
        given.auto_create_topics,
        max_fetch_bytes=MAX_FETCH_BYTES,
        groups=_groups(given),
        offsets_retention_ms=given.offsets_retention_minutes * 60_000,
        max_groups=given.max_groups,
        max_acls=given.max_acls,
        max_credentials=given.max_credentials,
        max_quotas=given.max_quotas,
        totals=Totals(given.max_topics, given.max_partitions),
        work=WorkLimits(given.max_request_elements, given.max_unpacked_bytes),
        transaction_max_timeout_ms=given.transaction_max_timeout_ms,
        transactional_id_expiration_ms=given.transactional_id_expiration_minutes * 60_000,
        connections_max_reauth_ms=given.sasl_reauthenticate_ms,
        schema_registry=given.schema_registry,
    )


def _groups(given: argparse.Namespace) -> GroupSettings:
    return GroupSettings(
        initial_rebalance_delay_ms=given.group_initial_rebalance_delay_ms,
        min_session_timeout_ms=given.group_min_session_timeout_ms,
        max_session_timeout_ms=given.group_max_session_timeout_ms,
        max_size=given.group_max_size,
        consumer_max_size=given.group_max_size,
        exact_sessions=True,
    )


def _greet(
    settings: Any,
    http: up_http.HttpFront | None,
    how_to_log_in: Callable[[str], list[str]],
    listening: Sequence[ListenerAddress],
    metrics: HttpAddress | None,
) -> None:
    host = listening[0].host
    where = f"{host}:{listening[0].port}"
    ready = ready_line(host, listening[0].port)
    end = up_ephemeral.END if settings.ledger == IN_MEMORY else END
    samsa = "samsa" if shutil.which("samsa") else sys.argv[0]
    lines = [
        f"Samsa {__version__} is listening on {where}",
        f"  ledger   {settings.ledger}",
        f"  objects  {settings.objects}",
    ]
    if len(listening) > 1 or listening[0].kind is not Kind.PLAINTEXT:
        lines += [f"  listens  {each}" for each in listening]
    if http is not None:
        lines.append(http.line)
    if metrics is not None:
        lines.append(f"  metrics  {metrics}/metrics")
    if listening[0].kind is not Kind.PLAINTEXT:
        lines += how_to_log_in(where)
        print("\n".join([*lines, end, ready]), flush=True)
        return
    lines += [
        "Try, in another terminal:",
        f"  echo hello | {samsa} produce greetings --bootstrap {where}",
        f"  {samsa} consume greetings --bootstrap {where}",
        end,
        ready,
    ]
    print("\n".join(lines), flush=True)


def ready_line(host: str, port: int) -> str:
    """The last line that is printed at the start. Scripts wait for it, so it never changes
    (docs/testing.md)."""
    return f"samsa: ready on {f'[{host}]' if ':' in host else host}:{port}"
