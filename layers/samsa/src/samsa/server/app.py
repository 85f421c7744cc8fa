"""`samsa up`, put together: stores, broker, listener, upkeep, and a clean end."""

import asyncio
import base64
import gc
import logging
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Protocol

from samsa.handlers.broker import Broker, Rules
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits

from .accepting import allow_many_files, most_connections
from .announced_address import announced_place
from .announcing import Announcer
from .listener import Server, ServerLimits
from .logs import event
from .metrics import calls_per_request, serve_metrics
from .opening import Opened, disks_of, opened
from .probing import check_stores
from .scheduling import start_upkeep
from .stopping import told_to_stop
from .wakeup_address import hear_others
from .watching import Watching

log = logging.getLogger("samsa.server")
CONTAINERS_BETWEEN_COLLECTIONS = 50_000


@dataclass(frozen=True, slots=True)
class Settings:
    host: str
    port: int
    ledger: str
    objects: str
    advertise: tuple[str, int] | None = None
    wakeups: tuple[str, int] | None = None
    """Where other processes of the cluster send wake-ups; None to choose."""
    zone: str = ""
    """Where this process is: consumers of the same rack read here."""
    metrics_port: int | None = None
    fsync: bool = False
    cache_bytes: int = 256 * 1024 * 1024
    upkeep_every_s: float = 300.0
    rules: Rules = field(default_factory=Rules)
    limits: ServerLimits = field(default_factory=ServerLimits)
    log_limits: Limits = field(default_factory=Limits)


class Door(Protocol):
    """Another way in, beside Kafka's port."""

    def open(self, broker: Broker, kafka: tuple[str, int]) -> None:
        """Raises OSError."""
        ...

    async def close(self) -> None: ...


def _collect_seldom() -> None:
    """Requests leave no cycles behind, and looking for them took a tenth of a busy broker's time.
    What is here from the start stays, and is not looked at again."""
    gc.freeze()
    gc.set_threshold(CONTAINERS_BETWEEN_COLLECTIONS)


async def run(
    settings: Settings,
    ready: Callable[[str, int, int | None], None],
    doors: Sequence[Door] = (),
) -> None:
    """Serve until SIGTERM or SIGINT. `ready` is told where, once it is true."""
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
        ) as found:
            await hear_others(
                wakeups,
                settings.host,
                settings.wakeups,
                settings.advertise[0] if settings.advertise else None,
                far_ledger=_is_far(settings),
            )
            cluster_id = await found.stores.ledger.cluster_id(_new_cluster_id())
            broker = Broker(found.stores, cluster_id, settings.rules, groups=found.groups)
            if _is_far(settings):
                broker.catalog.look_ahead = broker.log.background
            if found.function_clients is not None:
                found.function_clients.pushes.topic_of = broker.catalog.last_seen
            for disk in disks_of(found.stores):
                await disk.keep_reserve()
            watching = Watching(found.stores.ledger, wakeups, lambda: not found.is_alone())
            looking = asyncio.create_task(watching.run())
            try:
                await _serve(broker, found, settings, ready, doors, stop)
            finally:
                looking.cancel()


async def _serve(
    broker: Broker,
    found: Opened,
    settings: Settings,
    ready: Callable[[str, int, int | None], None],
    doors: Sequence[Door],
    stop: asyncio.Event,
) -> None:
    server = Server(broker, _within_files(settings.limits), settings.advertise)
    host, port = server.listen(settings.host, settings.port)
    metrics, metrics_port = None, None
    if settings.metrics_port is not None:
        metrics, metrics_port = await serve_metrics(server, settings.host, settings.metrics_port)
    for door in doors:
        door.open(broker, settings.advertise or (host, port))
    place = await announced_place(settings.advertise, (host, port))
    announcer = Announcer(
        broker, place, settings.zone, is_far=_is_far(settings), is_alone=found.is_alone
    )
    server.announcer = announcer
    await announcer.start(found.is_first)
    upkeep = start_upkeep(broker, settings.upkeep_every_s)
    event(log, logging.INFO, "listening", host=host, port=port, cluster=broker.cluster_id)
    _collect_seldom()
    ready(host, port, metrics_port)
    await stop.wait()
    event(log, logging.INFO, "stopping", connections=len(server.connections))
    await announcer.leave()
    for task in upkeep:
        task.cancel()
    for door in doors:
        await door.close()
    await server.close()
    if metrics is not None:
        await metrics.close()
    event(log, logging.INFO, "stopped", **calls_per_request(server))


def _is_far(settings: Settings) -> bool:
    """Whether other machines may use the ledger too."""
    return not settings.ledger.startswith("sqlite:")


def _within_files(limits: ServerLimits) -> ServerLimits:
    """Fewer connections where the process may open few files, and some for every address."""
    most = most_connections(limits.max_connections)
    if most == limits.max_connections:
        return limits
    why = "the process may open few files; see ulimit -n"
    event(log, logging.WARNING, "fewer connections than asked for", at_most=most, why=why)
    of_one = min(limits.max_connections_per_address, max(1, most * 3 // 4))
    return replace(limits, max_connections=most, max_connections_per_address=of_one)


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
