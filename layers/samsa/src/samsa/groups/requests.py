"""What can be asked of a group.

Randomness comes with the request: `ticket` is new for every join that a client sends, and the same
each time that one is asked again. `waiter` is the address of the process that would park it.
"""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from .assignors import Partitions
from .settings import Settings

Protocols = tuple[tuple[str, bytes], ...]
"""In the member's order of preference: name and metadata."""


LONGEST_PREFIX = 1_000
"""Characters of a client's name in a member id: older versions have 32,767 bytes for an id."""


class TopicInfo(NamedTuple):
    id: UUID
    partitions: int


Topics = Mapping[str, TopicInfo]
"""Every topic that there is, by name."""
Matches = Mapping[str, tuple[str, ...]]
"""What the patterns of a group's members stand for: see `patterns_of`."""
NO_TOPICS: Topics = {}
NO_MATCHES: Matches = {}


class Join(NamedTuple):
    member_id: str
    """Empty until the coordinator has given one."""
    instance_id: str | None
    protocol_type: str
    protocols: Protocols
    session_timeout_ms: int
    rebalance_timeout_ms: int
    """Negative: the session timeout (version 0)."""
    client_id: str
    client_host: str
    ticket: str
    waiter: str = ""
    requires_id: bool = True
    """Version 4 on: a join without a member id gets one, and is sent again."""
    can_skip_assignment: bool = True
    """Version 9 on."""
    again: bool = False
    """Set by `Parked.ask`: this is no new join, only another look at a parked one."""
    known: Topics = NO_TOPICS
    """Needed where the group is one of the consumer protocol; likewise `matches`."""
    matches: Matches = NO_MATCHES
    known_at_ms: int = 0
    """When someone looked: an older look never undoes what a newer one found."""


def fresh_id(request: Join) -> str:
    """The member id for a join that has none: the same each time that it is asked."""
    named = request.instance_id or request.client_id
    return f"{named[:LONGEST_PREFIX]}-{request.ticket}"


def rebalance_timeout(request: Join, settings: Settings) -> int:
    """Within limits: a client may send any number."""
    timeout = request.rebalance_timeout_ms
    asked = max(timeout, 1) if timeout >= 0 else request.session_timeout_ms
    return min(asked, settings.max_rebalance_timeout_ms)


class Sync(NamedTuple):
    member_id: str
    generation: int
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    assignments: Mapping[str, bytes] = {}
    """By member id; from the leader only."""
    waiter: str = ""


def asker(request: Join | Sync) -> str:
    """Its member id, which a join may not know yet."""
    if isinstance(request, Join) and not request.member_id:
        return fresh_id(request)
    return request.member_id


class Heartbeat(NamedTuple):
    member_id: str
    generation: int
    instance_id: str | None = None


class Leaving(NamedTuple):
    member_id: str
    """Empty: an administrator removes whoever has the instance id."""
    instance_id: str | None = None


class Leave(NamedTuple):
    members: tuple[Leaving, ...]


class ConsumerHeartbeat(NamedTuple):
    """ConsumerGroupHeartbeat (KIP-848). What is None has not changed since the member last said."""

    member_id: str
    epoch: int
    """0: join; −1: leave; −2: leave for a while, as a static member."""
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] | None = None
    pattern: str | None = None
    assignor: str | None = None
    owned: Partitions | None = None
    client_id: str = ""
    client_host: str = ""
    ticket: str = ""
    """In version 0, where the coordinator makes member ids: the new one. Empty in later ones."""
    known: Topics = NO_TOPICS
    matches: Matches = NO_MATCHES
    known_at_ms: int = 0
    """When someone looked: an older look never undoes what a newer one found."""
