"""Remembers where a connection's client is, as the shim said when it connected, and who it is.

It never changes for a connection, so each process that serves the connection looks it up once. A
connection is known by its id and by the time when it was opened, which every event tells: should an
id come again, it is another connection.
"""

from samsa.bounded import Bounded
from samsa.ports import Partition, Unavailable
from samsa.wire.apis import ApiKey
from samsa_websocket.pushes.open_connections import OpenConnection, OpenConnections

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


class ConnectionCache:
    def __init__(self, connections: OpenConnections) -> None:
        self._connections = connections
        self._kept = Bounded[str, tuple[int, OpenConnection]](REMEMBERED)
        self._watched = Bounded[str, frozenset[Partition]](REMEMBERED)

    async def of(self, connection_id: str, since: int, api_key: int) -> OpenConnection:
        """What a request of this API needs. Raises Unavailable, also if the connection is not
        known."""
        return await self.look_up(connection_id, since) if api_key in ASKED_BY else NOWHERE

    async def look_up(self, connection_id: str, since: int) -> OpenConnection:
        """Raises Unavailable, also for a connection that is not known."""
        kept_since, kept = self._kept.get(connection_id, (since, None))
        if kept is not None and kept_since == since:
            return kept
        found = await self._connections.look_up(connection_id)
        if found is None:
            raise Unavailable(f"the connection {connection_id} is not known")
        self.keep(connection_id, since, found)
        return found

    def keep(self, connection_id: str, since: int, connection: OpenConnection) -> None:
        self._kept.keep(connection_id, (since, connection))

    async def watches(self, connection_id: str, partitions: set[Partition]) -> None:
        """Store what it watches, to be removed on disconnect. Written only if some are new: a
        consumer watches the same partitions again and again."""
        known = self._watched.get(connection_id, frozenset())
        if not partitions <= known:
            await self._connections.watches(connection_id, partitions - known)
            if len(known) + len(partitions) <= WATCHES_REMEMBERED:
                self._watched.keep(connection_id, known | partitions)

    def forget(self, connection_id: str) -> None:
        self._kept.pop(connection_id, None)
        self._watched.pop(connection_id, None)
