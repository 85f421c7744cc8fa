"""`samsa up`, put together: stores, broker, listener, upkeep, and a clean end."""

import asyncio
import base64
import gc
import logging
import resource
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from samsa.handlers.broker import Broker, Rules
from samsa.local.ownership import is_alone
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits
from samsa.ports import Partition

from .listener import Server, ServerLimits
from .logs import event
from .metrics import calls_per_request, serve_metrics
from .opening import opened
from .stopping import told_to_stop
from .upkeep import tend_for_ever

log = logging.getLogger("samsa.server")
CONTAINERS_BETWEEN_COLLECTIONS = 50_000


@dataclass(frozen=True, slots=True)
class Settings:
    host: str
    port: int
    ledger: str
    objects: str
    lock: str | None = None
    """A file that every local process on the same ledger locks, to know whether it is alone."""
    advertise: tuple[str, int] | None = None
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


def _allow_many_files() -> None:
    """Connections and objects that are being sent each hold a file open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


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
    _allow_many_files()
    stop = told_to_stop()
    with closing(LocalWakeups()) as wakeups:
        async with opened(
            settings.ledger,
            settings.objects,
            wakeups,
            settings.log_limits,
            fsync=settings.fsync,
            cache_bytes=settings.cache_bytes,
        ) as found:
            await wakeups.listen(settings.host)
            cluster_id = await found.stores.ledger.cluster_id(_new_cluster_id())
            broker = Broker(found.stores, cluster_id, settings.rules, groups=found.groups)
            if settings.lock is not None and is_alone(settings.lock):
                await _close_orphans(broker)
            await _serve(broker, settings, ready, doors, stop)


async def _serve(
    broker: Broker,
    settings: Settings,
    ready: Callable[[str, int, int | None], None],
    doors: Sequence[Door],
    stop: asyncio.Event,
) -> None:
    server = Server(broker, settings.limits, settings.advertise)
    host, port = server.listen(settings.host, settings.port)
    metrics_port = serve_metrics(server, settings.host, settings.metrics_port)
    for door in doors:
        door.open(broker, settings.advertise or (host, port))
    upkeep = asyncio.create_task(tend_for_ever(broker, settings.upkeep_every_s))
    event(log, logging.INFO, "listening", host=host, port=port, cluster=broker.cluster_id)
    _collect_seldom()
    ready(host, port, metrics_port)
    await stop.wait()
    event(log, logging.INFO, "stopping", connections=len(server.connections))
    upkeep.cancel()
    for door in doors:
        await door.close()
    await server.close()
    event(log, logging.INFO, "stopped", **calls_per_request(server))


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


async def _close_orphans(broker: Broker) -> None:
    """Nobody else is alive on this ledger: whatever is open was left by a process that died."""
    partitions = [
        Partition(topic.id, number)
        for topic in await broker.catalog.all()
        for number in range(topic.partitions)
    ]
    closed = await broker.log.close_orphans(partitions)
    if closed:
        event(log, logging.INFO, "slots of a dead process closed", slots=closed)
