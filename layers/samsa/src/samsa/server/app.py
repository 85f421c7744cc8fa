"""`samsa up`, put together: stores, broker, listener, upkeep, and a clean end."""

import asyncio
import base64
import fcntl
import gc
import itertools
import logging
import os
import resource
import secrets
import signal
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from samsa.handlers.broker import Broker, Rules
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.ports import Partition

from .listener import Server, ServerLimits
from .logs import event
from .metrics import calls_per_request, serve_metrics
from .upkeep import tend_for_ever
from .urls import open_groups, open_journal, open_ledger, open_objects

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


def _nonces() -> Callable[[], str]:
    """Words that no other process will use: a random one for this process, and a number."""
    process, numbers = secrets.token_hex(6), itertools.count()
    return lambda: f"{process}{next(numbers):x}"


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


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
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    ledger = await open_ledger(settings.ledger, settings.fsync)
    objects = open_objects(settings.objects, settings.fsync, settings.cache_bytes)
    nonces = _nonces()
    journal = open_journal(ledger, objects, nonces(), settings.fsync)
    wakeups = LocalWakeups()
    await wakeups.listen(settings.host)
    stores = Stores(
        ledger, objects, SystemClock(), wakeups, _nonces(), settings.log_limits, journal
    )
    cluster_id = await ledger.cluster_id(_new_cluster_id())
    groups = open_groups(settings.ledger, ledger, settings.fsync)
    broker = Broker(stores, cluster_id, settings.rules, groups=groups)
    server = Server(broker, settings.limits, settings.advertise)
    alone = settings.lock is not None and _lock(settings.lock)
    if alone:
        await _close_orphans(server.broker)
    host, port = server.listen(settings.host, settings.port)
    metrics_port = serve_metrics(server, settings.host, settings.metrics_port)
    for door in doors:
        door.open(broker, settings.advertise or (host, port))
    upkeep = loop.create_task(tend_for_ever(server.broker, settings.upkeep_every_s))
    event(log, logging.INFO, "listening", host=host, port=port, cluster=cluster_id)
    _collect_seldom()
    ready(host, port, metrics_port)
    await stop.wait()
    event(log, logging.INFO, "stopping", connections=len(server.connections))
    upkeep.cancel()
    for door in doors:
        await door.close()
    await server.close()
    event(log, logging.INFO, "stopped", **calls_per_request(server))
    wakeups.close()
    await groups.close()
    if journal is not None:
        await journal.close()
    await objects.close()
    await ledger.close()


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def _lock(path: str) -> bool:
    """True if no other process holds the lock, which is shared from then on until we end."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone = True
    except OSError:
        alone = False
    fcntl.flock(fd, fcntl.LOCK_SH)
    return alone


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
