"""Where a connection's client is, as the shim said when it connected, and who it is.

Few requests ask for it, and a connection keeps its client: it is looked up once in each process
that comes to serve it.
"""

from collections import OrderedDict
from typing import TypeVar

from samsa.aws.open_connections import OpenConnection, OpenConnections
from samsa.ports import Partition, Unavailable
from samsa.wire.apis import ApiKey

ASKED_BY = frozenset(
    {
        ApiKey.METADATA,
        ApiKey.FIND_COORDINATOR,
        ApiKey.JOIN_GROUP,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
    }
)
NOWHERE = OpenConnection("", 0, "")
REMEMBERED = 1_000
"""Connections."""
WATCHES_REMEMBERED = 500
"""Partitions of one connection; with more, each parking writes its item again. All connections
together then take less than 100 MB."""
T = TypeVar("T")


class Whereabouts:
    def __init__(self, connections: OpenConnections) -> None:
        self._connections = connections
        self._kept: OrderedDict[str, OpenConnection] = OrderedDict()
        self._watched: OrderedDict[str, frozenset[Partition]] = OrderedDict()

    async def of(self, connection_id: str, api_key: int) -> OpenConnection:
        """For a Kafka request. Raises Unavailable, also for a connection that is not known."""
        return await self.look_up(connection_id) if api_key in ASKED_BY else NOWHERE

    async def look_up(self, connection_id: str) -> OpenConnection:
        """Raises Unavailable, also for a connection that is not known."""
        found = self._kept.get(connection_id)
        if found is None:
            found = await self._connections.look_up(connection_id)
            if found is None:
                raise Unavailable(f"nobody has seen {connection_id} connect")
            self.keep(connection_id, found)
        return found

    def keep(self, connection_id: str, connection: OpenConnection) -> None:
        _keep(self._kept, connection_id, connection)

    async def watches(self, connection_id: str, partitions: set[Partition]) -> None:
        """Have them remembered, for when it leaves. A consumer watches the same ones on and on."""
        known = self._watched.get(connection_id, frozenset())
        if not partitions <= known:
            await self._connections.watches(connection_id, partitions - known)
            if len(known) + len(partitions) <= WATCHES_REMEMBERED:
                _keep(self._watched, connection_id, known | partitions)

    def forget(self, connection_id: str) -> None:
        self._kept.pop(connection_id, None)
        self._watched.pop(connection_id, None)


def _keep(kept: "OrderedDict[str, T]", connection_id: str, value: T) -> None:
    kept[connection_id] = value
    kept.move_to_end(connection_id)
    if len(kept) > REMEMBERED:
        kept.popitem(last=False)
