"""Assembles and runs `samsa up`: stores, broker, listener, upkeep, and a clean shutdown."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from typing import Protocol

from samsa.broker.broker import Broker, Rules
from samsa.local.memory_room import DEFAULT_BYTES
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits
from samsa.runtime.logs import event
from samsa.runtime.opening import Opened, disks_of, opened
from samsa.runtime.probing import check_stores
from samsa.runtime.scheduling import start_upkeep
from samsa.runtime.stopping import told_to_stop
from samsa.runtime.tls_context import ClientAuth, TlsContext, TlsFiles

from .accepting import allow_many_files, most_connections
from .announced_address import announced_place
from .announcing import Announcer
from .http_entry import HttpAddress, HttpEntry
from .listener import Server, ServerLimits
from .listeners import Kind, Listener, ListenerAddress
from .metrics import calls_per_request, serve_metrics
from .quota_changes import QuotaChanges
from .security_settings import SecuritySettings, prepare_logins, secured
from .wakeup_address import hear_others
from .watching import Watching

log = logging.getLogger("samsa.server")
CONTAINERS_BETWEEN_COLLECTIONS = 50_000


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str
    port: int
    ledger: str
    objects: str
    advertise: tuple[str, int] | None = None
    listeners: tuple[ListenerAddress, ...] = ()
    """Empty: one without security at `host` and `port`. Else the first of them is there."""
    tls: TlsFiles | None = None
    security: SecuritySettings | None = None
    wakeups: tuple[str, int] | None = None
    """Where other processes of the cluster send wake-ups; None to choose (`wakeup_address.py`)."""
    zone: str = ""
    """The zone of this process: consumers of the same rack read here."""
    metrics: HttpAddress | None = None
    fsync: bool = False
    cache_bytes: int = 256 * 1024 * 1024
    memory_bytes: int = DEFAULT_BYTES
    """For the records and the ledger, if they are in memory."""
    upkeep_every_s: float = 300.0
    rules: Rules = field(default_factory=Rules)
    limits: ServerLimits = field(default_factory=ServerLimits)
    log_limits: Limits = field(default_factory=Limits)


Ready = Callable[[Sequence[ListenerAddress], HttpAddress | None], None]
"""Gets the addresses of the listeners, and that of the metrics."""


class ExtraListener(Protocol):
    """A further listener beside Kafka's port, such as the one of the HTTP API."""

    def open(self, server: Server, kafka: tuple[str, int], entry: HttpEntry) -> None:
        """Raises OSError."""
        ...

    async def close(self) -> None: ...


def _collect_seldom() -> None:
    """Run garbage collection seldom: requests leave no cycles behind, and looking for them took a
    tenth of a busy broker's time. Objects that exist at the start are not looked at again."""
    gc.freeze()
    gc.set_threshold(CONTAINERS_BETWEEN_COLLECTIONS)


async def run(
    settings: ServerSettings,
    ready: Ready,
    listeners: Sequence[ExtraListener] = (),
) -> None:
    """Serve until SIGTERM or SIGINT. `ready` is called once the server listens."""
    allow_many_files()
    stop = told_to_stop()
    await check_stores(settings.ledger, settings.objects)
    with closing(LocalWakeups()) as wakeups:
        async with opened(
            settings.ledger,
            settings.objects,
            wakeups,
            settings.log_limits,
            fsync=settings.fsync,
            cache_bytes=settings.cache_bytes,
            memory_bytes=settings.memory_bytes,
        ) as found:
            await hear_others(
                wakeups,
                settings.host,
                settings.wakeups,
                settings.advertise[0] if settings.advertise else None,
                remote_ledger=_is_remote(settings),
            )
            broker = Broker(
                found.stores, "", settings.rules, groups=found.groups, works_after_answers=True
            )
            await broker.find_cluster_id()
            if _is_remote(settings):
                broker.catalog.look_ahead = broker.log.background
            for disk in disks_of(found.stores):
                await disk.keep_reserve()
            watching = Watching(found.stores.ledger, wakeups, lambda: not found.is_alone())
            looking = asyncio.create_task(watching.run())
            try:
                async with _function_clients(broker, wakeups, settings):
                    await _serve(broker, found, settings, ready, listeners, stop)
            finally:
                looking.cancel()


@asynccontextmanager
async def _function_clients(
    broker: Broker, wakeups: LocalWakeups, settings: ServerSettings
) -> AsyncIterator[None]:
    if not _is_remote(settings):
        yield
        return
    from samsa_websocket.pushes.function_clients import function_clients

    async with function_clients(broker.stores.ledger, wakeups) as clients:
        # With ACLs, wake-ups bring no records: readers ask for them, and are checked.
        has_acls = settings.security is not None and settings.security.rules.has_acls
        if clients is not None and not has_acls:
            clients.pushes.topic_of = broker.catalog.last_seen
        yield


async def _serve(
    broker: Broker,
    found: Opened,
    settings: ServerSettings,
    ready: Ready,
    listeners: Sequence[ExtraListener],
    stop: asyncio.Event,
) -> None:
    security = secured(broker, settings.security) if settings.security is not None else None
    server = Server(broker, _within_files(settings.limits), security=security)
    fresh = await _keep_fresh(server, settings.security)
    addresses = _listen(server, settings)
    host, port, advertise = addresses[0].host, addresses[0].port, addresses[0].advertise
    entry = HttpEntry(security, settings.tls)
    metrics, metrics_address = None, None
    if settings.metrics is not None:
        metrics, metrics_address = await serve_metrics(server, settings.metrics, entry)
    for listener in listeners:
        listener.open(server, advertise or (host, port), entry)
    place = await announced_place(advertise, (host, port))
    announcer = Announcer(
        broker, place, settings.zone, is_remote=_is_remote(settings), is_alone=found.is_alone
    )
    server.announcer = announcer
    await announcer.start(found.is_first)
    upkeep = start_upkeep(broker, settings.upkeep_every_s)
    for each in addresses:
        names = {} if each.kind is Kind.PLAINTEXT else {"kind": each.kind.value}
        at = {"host": each.host, "port": each.port, **names}
        event(log, logging.INFO, "listening", **at, cluster=broker.cluster_id)
    _collect_seldom()
    ready(addresses, metrics_address)
    await stop.wait()
    event(log, logging.INFO, "stopping", connections=len(server.connections))
    await announcer.leave()
    for task in upkeep:
        task.cancel()
    for listener in listeners:
        await listener.close()
    await entry.close()
    await server.close()
    fresh.cancel()
    if security is not None:
        security.close()
    if metrics is not None:
        await metrics.close()
    event(log, logging.INFO, "stopped", **calls_per_request(server))


async def _keep_fresh(server: Server, settings: SecuritySettings | None) -> "asyncio.Task[None]":
    """Read ACLs, credentials and quotas before the first client comes, and from then on. Quotas are
    in force without security too."""
    view = server.broker.stored_access
    if settings is not None:
        await prepare_logins(view, settings)
    await view.refresh()
    QuotaChanges(server, view)
    return asyncio.create_task(view.keep_fresh())


def _listen(server: Server, settings: ServerSettings) -> list[ListenerAddress]:
    """The listeners with the addresses that they got. Raises OSError."""
    plain = ListenerAddress(Kind.PLAINTEXT, settings.host, settings.port, settings.advertise)
    found = []
    for wanted in settings.listeners or (plain,):
        listener = Listener(wanted.kind, wanted.advertise, _tls(wanted.kind, settings.tls))
        try:
            host, port = server.listen(wanted.host, wanted.port, listener)
        except OSError as error:
            if settings.listeners in ((), (plain,)):
                raise
            raise OSError(error.errno, f"{wanted}: {error.strerror or error}") from error
        found.append(replace(wanted, host=host, port=port))
    return found


def _tls(kind: Kind, files: TlsFiles | None) -> TlsContext | None:
    """Where clients log in they show no certificate, as in Kafka. Raises BadTlsFiles."""
    if files is None or not kind.has_tls:
        return None
    if kind.has_sasl:
        files = files._replace(client_ca=None, client_auth=ClientAuth.NONE)
    return TlsContext(files)


def _is_remote(settings: ServerSettings) -> bool:
    """Whether other machines may use the ledger too."""
    return not settings.ledger.startswith(("sqlite:", "memory:"))


def _within_files(limits: ServerLimits) -> ServerLimits:
    """Allow fewer connections, in all and of one address, if the process may open few files."""
    most = most_connections(limits.max_connections)
    if most == limits.max_connections:
        return limits
    why = "the process may open few files; see ulimit -n"
    event(log, logging.WARNING, "fewer connections than asked for", at_most=most, why=why)
    of_one = min(limits.max_connections_per_address, max(1, most * 3 // 4))
    return replace(limits, max_connections=most, max_connections_per_address=of_one)
