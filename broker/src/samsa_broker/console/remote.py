"""A cluster behind TCP: a `samsa up`, a shim, or any other broker of Kafka's protocol.

Everything is asked as any Kafka client would, with the login of this process. A cluster of one node
is always asked at the address that was given, which need not be the one that it advertises.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from samsa.broker.unpacking import Unpacking
from samsa.broker.work import Work
from samsa.http_api.kafka_client import (
    NEWEST,
    Bounds,
    ClusterRules,
    KafkaClient,
    Waits,
    check,
)
from samsa.http_api.lag import EARLIEST, LATEST
from samsa.http_api.sessions import Session
from samsa.ports import Topic
from samsa.topics.configs import Refused
from samsa.topics.resources import ConfigResourceType
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    find_coordinator,
    list_offsets,
    metadata,
)

from . import routing
from .connections import Connections
from .routing import BY_LEADER, MANY, ON_ALL, ONE, Coordinated

KNOWN_S = 2.0
"""How long leaders and nodes are believed to stay the same."""
READ_COMMITTED = 1
DEFAULTS = ("num.partitions", "auto.create.topics.enable")


class Nodes(NamedTuple):
    at_s: float
    addresses: dict[int, str]


class RemoteCluster(Waits):
    """A `samsa.http_api.kafka_client.Served`."""

    def __init__(
        self,
        address: str,
        connections: Connections,
        now_ms: Callable[[], int],
        now_s: Callable[[], float],
        nonce: Callable[[], str],
    ) -> None:
        super().__init__()
        self.work = Work()
        self.unpacking = Unpacking(self.work)
        self.now_ms, self.nonce = now_ms, nonce
        self._address = address
        self._connections = connections
        self._now_s = now_s
        self._nodes: Nodes | None = None
        self._leaders: dict[str, tuple[float, dict[int, str]]] = {}

    def client(self, session: Session) -> "RemoteClient":
        return RemoteClient(self, session)

    def close(self) -> None:
        self._connections.close()

    async def ask(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> Any:
        """Raises Refused, Unavailable."""
        if len((await self.nodes()).addresses) <= 1:
            return await self._at(self._address, key, row, at_most)
        if key in BY_LEADER:
            return await self._leading(key, row, at_most)
        if key in ON_ALL:
            return await self._everywhere(key, row, at_most)
        if key in MANY:
            return await self._coordinating(key, row, at_most)
        if key in ONE:
            kind, name_of = ONE[key]
            (address,) = (await self._coordinators(kind, [name_of(row)])).values()
            return await self._at(address, key, row, at_most)
        return await self._at(self._address, key, row, at_most)

    async def _at(self, address: str, key: ApiKey, row: Any, at_most: int = NEWEST) -> Any:
        return await self._connections.ask(address, key, row, at_most)

    async def nodes(self) -> Nodes:
        now = self._now_s()
        if self._nodes is None or now - self._nodes.at_s >= KNOWN_S:
            self._keep(await self._at(self._address, ApiKey.METADATA, metadata.REQUEST(topics=[])))
        assert self._nodes is not None
        return self._nodes

    def _keep(self, answer: Any) -> None:
        found = {node.node_id: f"{node.host}:{node.port}" for node in answer.brokers}
        self._nodes = Nodes(self._now_s(), found)

    async def described(self, names: list[str] | None, create: bool = False) -> list[Any]:
        """Topics, as Metadata has them."""
        asked = None if names is None else [metadata.TOPIC(name=name) for name in names]
        row = metadata.REQUEST(topics=asked, allow_auto_topic_creation=create)
        answer = await self._at(self._address, ApiKey.METADATA, row)
        self._keep(answer)
        topics: list[Any] = answer.topics
        return topics

    async def _leaders_of(self, name: str) -> dict[int, str]:
        at_s, leaders = self._leaders.get(name, (0.0, {}))
        if not leaders or self._now_s() - at_s >= KNOWN_S:
            (topic,) = await self.described([name])
            check(topic.error_code, None, f"topic {name!r}")
            addresses = (await self.nodes()).addresses
            leaders = {
                each.partition_index: addresses.get(each.leader_id, self._address)
                for each in topic.partitions
            }
            self._leaders = {name: (self._now_s(), leaders), **_fresh(self._leaders, name)}
        return leaders

    async def _leading(self, key: ApiKey, row: Any, at_most: int) -> Any:
        fields = BY_LEADER[key]
        topics = getattr(row, fields.topics)
        names = {getattr(topic, fields.topic) for topic in topics}
        leaders = {name: await self._leaders_of(name) for name in names}

        def leader_of(name: str, number: int) -> str:
            return leaders[name].get(number, self._address)

        rows = routing.by_leader(key, row, leader_of)
        if not rows:
            return await self._at(self._address, key, row, at_most)
        asked = (self._at(address, key, each, at_most) for address, each in rows.items())
        return routing.joined_by_leader(key, await asyncio.gather(*asked))

    async def _everywhere(self, key: ApiKey, row: Any, at_most: int) -> Any:
        addresses = (await self.nodes()).addresses.values()
        asked = (self._at(address, key, row, at_most) for address in addresses)
        return routing.joined(await asyncio.gather(*asked), ON_ALL[key])

    async def _coordinating(self, key: ApiKey, row: Any, at_most: int) -> Any:
        kind, names, answers = MANY[key]
        found = await self._coordinators(kind, getattr(row, names))
        by_address: dict[str, list[str]] = defaultdict(list)
        for name, address in found.items():
            by_address[address].append(name)
        asked = (
            self._at(address, key, routing.changed(row, **{names: some}), at_most)
            for address, some in by_address.items()
        )
        return routing.joined(await asyncio.gather(*asked), answers)

    async def _coordinators(self, kind: Coordinated, names: Iterable[str]) -> dict[str, str]:
        row = find_coordinator.REQUEST(key_type=kind, coordinator_keys=list(names))
        answer = await self._at(self._address, ApiKey.FIND_COORDINATOR, row)
        found = {}
        for each in answer.coordinators:
            check(each.error_code, each.error_message, f"coordinator of {each.key!r}")
            found[each.key] = f"{each.host}:{each.port}"
        return found


def _fresh(
    leaders: dict[str, tuple[float, dict[int, str]]], name: str
) -> dict[str, tuple[float, dict[int, str]]]:
    """A hundred topics that were asked about last."""
    return {key: value for key, value in list(leaders.items())[:100] if key != name}


class RemoteClient(KafkaClient):
    def __init__(self, cluster: RemoteCluster, session: Session) -> None:
        self._cluster = cluster
        self.session = session
        self.work, self.unpacking = cluster.work, cluster.unpacking
        self.waiting = cluster.waiting
        self.address = ("", 0)

    @asynccontextmanager
    async def answered(self, key: ApiKey, row: Any, at_most: int = NEWEST) -> AsyncIterator[Any]:
        yield await self._cluster.ask(key, row, at_most)

    async def topic(self, name: str, create: bool = False) -> Topic:
        (found,) = await self._cluster.described([name], create)
        is_unknown = found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        check(found.error_code, f"there is no topic {name!r}" if is_unknown else None, name)
        return _topic(found)

    async def topics(self) -> list[Topic]:
        found = await self._cluster.described(None)
        return [_topic(each) async for each in self.work.pace(found) if not each.error_code]

    async def bounds(self, topic: Topic, numbers: Sequence[int]) -> dict[int, Bounds]:
        first, last, stable = await asyncio.gather(
            self._offsets(topic, numbers, EARLIEST, 0),
            self._offsets(topic, numbers, LATEST, 0),
            self._offsets(topic, numbers, LATEST, READ_COMMITTED),
        )
        return {n: Bounds(first[n], last[n], stable[n]) for n in numbers}

    async def _offsets(
        self, topic: Topic, numbers: Sequence[int], timestamp: int, isolation: int
    ) -> dict[int, int]:
        if not numbers:
            return {}
        asked = [list_offsets.PARTITION(partition_index=n, timestamp=timestamp) for n in numbers]
        row = list_offsets.REQUEST(
            replica_id=-1,
            isolation_level=isolation,
            topics=[list_offsets.TOPIC(name=topic.name, partitions=asked)],
        )
        found = (await self.ask(ApiKey.LIST_OFFSETS, row)).topics[0].partitions
        for each in found:
            check(each.error_code, None, f"{topic.name}/{each.partition_index}")
        return {each.partition_index: each.offset for each in found}

    async def sizes(self, topic: Topic, numbers: Sequence[int]) -> dict[int, int]:
        """Of one copy: each node tells of its own."""
        asked = describe_log_dirs.TOPIC(topic=topic.name, partitions=list(numbers))
        row = describe_log_dirs.REQUEST(topics=[asked])
        answer = await self.ask(ApiKey.DESCRIBE_LOG_DIRS, row)
        check(answer.error_code, None, "sizes")
        found = dict.fromkeys(numbers, 0)
        for result in answer.results:
            check(result.error_code, None, "sizes")
            for each in (one for named in result.topics for one in named.partitions):
                size = max(found.get(each.partition_index, 0), each.partition_size)
                found[each.partition_index] = size
        return found

    async def check_health(self) -> None:
        await self._cluster.described([])

    async def rules(self) -> ClusterRules:
        cluster = await self.ask(ApiKey.DESCRIBE_CLUSTER, describe_cluster.REQUEST())
        node = min((each.broker_id for each in cluster.brokers), default=cluster.controller_id)
        try:
            values = await self._defaults(node)
        except Refused:
            values = {}  # not allowed to: Kafka's own
        return ClusterRules(
            cluster.cluster_id,
            int(values.get(DEFAULTS[0]) or 1),
            (values.get(DEFAULTS[1]) or "true") == "true",
            node,
        )

    async def _defaults(self, node: int) -> dict[str, str | None]:
        resource = describe_configs.RESOURCE(
            resource_type=ConfigResourceType.BROKER,
            resource_name=str(node),
            configuration_keys=list(DEFAULTS),
        )
        row = describe_configs.REQUEST(resources=[resource])
        (result,) = (await self.ask(ApiKey.DESCRIBE_CONFIGS, row)).results
        check(result.error_code, result.error_message, "cluster")
        return {each.name: each.value for each in result.configs}

    def now_ms(self) -> int:
        return self._cluster.now_ms()

    def nonce(self) -> str:
        return self._cluster.nonce()


def _topic(found: Any) -> Topic:
    return Topic(found.name, found.topic_id, len(found.partitions), 0)
