"""One cluster of a test: stores in memory, a server, faults. Runs in an event loop.

Its methods are what a test may ask for (`broker.py`), so their arguments and results can be sent to
another process.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from samsa.broker.broker import Broker, Rules
from samsa.groups import GroupSettings
from samsa.local.wakeups import LocalWakeups
from samsa.runtime.in_memory import IN_MEMORY, limits_in_memory
from samsa.runtime.opening import Opened, opened

from . import rebalances, topics
from .asking import Asking
from .cluster_settings import HOST, ClusterSettings
from .errors import SamsaError
from .faults import FaultRule, FaultRules, api_named, error_named
from .hosts import CLOSED
from .reading import read_all
from .record import Record
from .server import RunningServer, keep_port


class Cluster:
    def __init__(self, settings: ClusterSettings) -> None:
        self._settings = settings
        self._rules = FaultRules()
        self._closing = AsyncExitStack()
        self._found: Opened
        self._server: RunningServer | None = None
        self._kept: socket.socket | None = None
        """Has the port while the server is stopped."""
        self._port = 0
        self._asking: Asking

    async def open(self) -> int:
        """Its port."""
        wakeups = LocalWakeups()
        self._closing.callback(wakeups.close)
        stores = opened(
            IN_MEMORY,
            IN_MEMORY,
            wakeups,
            limits_in_memory(),
            memory_bytes=self._settings.max_memory,
        )
        self._found = await self._closing.enter_async_context(stores)
        await self.start()
        return self._port

    async def close(self) -> None:
        async with self._closing:
            if self._kept is not None:
                self._kept.close()
            await self._stop(at_once=True)

    # Stop and start

    async def start(self) -> None:
        if self._server is not None:
            raise SamsaError("the broker runs already: stop() it first")
        broker = Broker(
            self._found.stores,
            "",
            _rules(self._settings),
            groups=self._found.groups,
            works_after_answers=True,
        )
        await broker.find_cluster_id()
        server = RunningServer(broker, self._rules, self._port)
        await server.start()
        self._server, self._port = server, server.port
        self._asking = Asking(broker, (HOST, self._port))
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    async def stop(self) -> None:
        if self._server is None:
            raise SamsaError("the broker is stopped already: start() it first")
        await self._stop(at_once=False)
        self._kept = keep_port(self._port)

    async def _stop(self, at_once: bool) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop(at_once)

    # Topics and records

    async def create_topic(self, name: str, partitions: int, configs: Mapping[str, str]) -> None:
        await topics.create(self._asking, name, partitions, configs)

    async def delete_topic(self, name: str) -> None:
        await topics.delete(self._asking, name)

    async def topics(self) -> dict[str, int]:
        return await topics.partitions(self._asking)

    async def write(self, topic: str, number: int, drafts: Sequence[Any]) -> list[Record]:
        return await topics.write(self._asking, topic, number, drafts)

    async def read(self, topic: str, number: int | None, committed: bool) -> list[Record]:
        count = await topics.describe(self._asking, topic)
        found: list[Record] = []
        for each in range(count) if number is None else [number]:
            found += await read_all(self._asking, topic, each, committed)
        return found

    # Groups

    async def groups(self) -> dict[str, str]:
        return await rebalances.group_states(self._asking)

    async def group_offsets(self, group: str) -> dict[tuple[str, int], int]:
        stores, groups = self._found.stores, self._found.groups
        found = await groups.offsets(group, stores.clock.now_ms())
        return {where: committed.offset for where, committed in found.items()}

    # Faults

    async def add_fault(self, api: str | int, error: str | int | None = None, **how: Any) -> int:
        code = None if error is None else error_named(error)
        return self._rules.add(FaultRule(api_named(api), code=code, **how))

    async def clear_faults(self, number: int | None = None) -> None:
        self._rules.clear(number)

    async def fault_hits(self, number: int) -> int:
        return self._rules.hits_of(number)

    async def rebalance(self, group: str) -> None:
        await rebalances.rebalance(self._asking, group)

    async def fence(self, transactional_id: str) -> None:
        await rebalances.fence(self._asking, transactional_id)


def _rules(settings: ClusterSettings) -> Rules:
    return Rules(
        settings.default_partitions,
        settings.auto_create_topics,
        groups=GroupSettings(
            initial_rebalance_delay_ms=0, min_session_timeout_ms=1, exact_sessions=True
        ),
    )


class Clusters:
    """All clusters of one event loop, by number."""

    def __init__(self) -> None:
        self._open: dict[int, Cluster] = {}
        self._last = 0

    async def open(self, settings: ClusterSettings) -> tuple[int, int]:
        """The cluster's number, and its port."""
        self._last += 1
        number, cluster = self._last, Cluster(settings)
        try:
            port = await cluster.open()
        except BaseException:
            await cluster.close()
            raise
        self._open[number] = cluster
        return number, port

    async def call(self, number: int, name: str, arguments: Sequence[Any], how: Any) -> Any:
        cluster = self._open.get(number)
        if cluster is None:
            raise SamsaError(CLOSED)
        return await getattr(cluster, name)(*arguments, **how)

    async def close(self, number: int) -> None:
        cluster = self._open.pop(number, None)
        if cluster is not None:
            await cluster.close()

    async def close_all(self) -> None:
        await asyncio.gather(*map(self.close, list(self._open)))
