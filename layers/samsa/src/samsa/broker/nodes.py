"""The processes of the cluster as clients see them: nodes, leaders, coordinators.

All of it is a hint. Any process serves any partition and any group. But if all clients of a
partition use one process, that process can append for all of them in one commit. So every process
names the same leader to every client: the one that rendezvous hashing chooses (`ring.py`).

Consumers need not use the same process. Where processes have zones (`--zone`), each partition has
one more replica in every zone but its leader's, and the leader sends a consumer with a rack there
(KIP-392). Without zones the leader is the only replica: tools print a replication factor of 1.

A `Nodes` never changes. The server replaces it when a process comes or goes.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from samsa.ports import Node, Partition

from .ring import key_slot, partition_slot, ring_of

ONLY = 0
"""The id of a node that knows no other node and has not announced itself."""
MOST_ZONES = 8
"""Zones that have replicas, the first by name: a region of AWS has six at most. This limits the
size of Metadata."""


class NamedNode(NamedTuple):
    """A node as answers to clients name it."""

    id: int
    host: str
    port: int
    rack: str | None


class Choice(NamedTuple):
    leader: int
    replicas: tuple[int, ...]
    """The leader first."""


class FurtherListener(tuple[str, int]):
    """The address of a listener that is not the first one of its process. Processes announce their
    first. All processes of a cluster have the same listeners at the same distances of ports, so a
    client that came by this one finds the same one of another process as far from its first."""

    distance: int

    def __new__(cls, host: str, port: int, distance: int) -> "FurtherListener":
        made = super().__new__(cls, (host, port))
        made.distance = distance
        return made


class Nodes:
    def __init__(self, nodes: Sequence[Node], own: int | None) -> None:
        """`own` is this process among them; None if it could not announce itself. With no nodes at
        all it is the only one."""
        self.own = own if nodes else ONLY
        self._nodes = {node.id: node for node in sorted(nodes)}
        self.ids = tuple(self._nodes) or (ONLY,)
        self._zones = _zones(nodes)
        self._choices = self._choose() if len(self.ids) > 1 else []

    @classmethod
    def alone(cls) -> "Nodes":
        return cls((), ONLY)

    def _choose(self) -> list[Choice]:
        known: dict[Choice, Choice] = {}
        choices = (self._chosen(slot, leader) for slot, leader in enumerate(ring_of(self.ids)))
        return [known.setdefault(choice, choice) for choice in choices]

    def _chosen(self, slot: int, leader: int) -> Choice:
        zone = self._nodes[leader].zone
        near = (ring[slot] for name, ring in self._zones.items() if name != zone)
        return Choice(leader, (leader, *near))

    # The nodes

    @property
    def controller(self) -> int:
        return self.ids[0]

    @property
    def zone(self) -> str | None:
        """The zone of this process."""
        return self._nodes[self.own].zone or None if self.own in self._nodes else None

    def named(self, address: tuple[str, int]) -> list[NamedNode]:
        """`address` is where the client reached this process; the answer names it by that."""
        return [self.find(node_id, address) for node_id in self.ids]

    def find(self, node_id: int, address: tuple[str, int]) -> NamedNode:
        """`node_id` is one of `ids`."""
        node = self._nodes.get(node_id)
        if node is None:
            return NamedNode(node_id, *address, None)
        if node_id == self.own:
            return NamedNode(node_id, *address, node.zone or None)
        distance = address.distance if isinstance(address, FurtherListener) else 0
        return NamedNode(node_id, node.host, node.port + distance, node.zone or None)

    # Which node serves what

    def choices(self, topic_id: UUID, numbers: range) -> Sequence[Choice]:
        """Leader and replicas of each of a topic's partitions."""
        if not self._choices:
            return [self._only] * len(numbers)
        choices = self._choices
        return [choices[partition_slot(topic_id, number)] for number in numbers]

    @property
    def only(self) -> Choice | None:
        """The choice for all partitions, if there is one node."""
        return None if self._choices else self._only

    @property
    def _only(self) -> Choice:
        return Choice(self.ids[0], self.ids[:1])

    def coordinator(self, key: str) -> int:
        """The coordinator of a group or a transaction."""
        return self._choices[key_slot(key)].leader if self._choices else self.ids[0]

    def leads(self, topic_id: UUID, number: int) -> bool:
        """Whether this process is the partition's leader. True if it could not announce itself."""
        if not self._choices or self.own is None:
            return True
        return self._choices[partition_slot(topic_id, number)].leader == self.own

    def coordinates(self, key: str) -> bool:
        return self.own is None or self.coordinator(key) == self.own

    def near(self, rack: str, partition: Partition) -> int | None:
        """The node where a consumer of that rack should read the partition; None: here. Only the
        leader redirects consumers: so two processes that disagree cannot send one back and forth.
        """
        ring = self._zones.get(rack)
        if ring is None or not self._choices or rack == self.zone:
            return None
        slot = partition_slot(partition.topic_id, partition.number)
        return ring[slot] if self._choices[slot].leader == self.own else None


def _zones(nodes: Sequence[Node]) -> dict[str, list[int]]:
    """The ring of each zone."""
    names = sorted({node.zone for node in nodes if node.zone})[:MOST_ZONES]
    if len(nodes) < 2:
        return {}
    return {name: ring_of(node.id for node in nodes if node.zone == name) for name in names}
