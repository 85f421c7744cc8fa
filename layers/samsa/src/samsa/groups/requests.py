"""The requests to a group.

Randomness comes with the request: `ticket` is new for every join that a client sends, and stays the
same when that join is asked again. `waiter` is the address of the process that would park it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from uuid import UUID

from .assignors import Partitions
from .settings import GroupSettings

Protocols = tuple[tuple[str, bytes], ...]
"""Name and metadata of each, in the member's order of preference."""


LONGEST_PREFIX = 1_000
"""Characters of a client's name in a member id: in older versions an id has at most 32,767 bytes.
"""


class TopicInfo(NamedTuple):
    id: UUID
    partitions: int


Topics = Mapping[str, TopicInfo]
"""All topics, by name."""
Matches = Mapping[str, tuple[str, ...]]
"""The topics that each pattern of a group's members matches: see `patterns_of`."""
NO_TOPICS: Topics = {}
NO_MATCHES: Matches = {}


Sees = Callable[[str], bool]


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
    """From version 4 on: a join without a member id gets one, and the client sends it again."""
    can_skip_assignment: bool = True
    """From version 9 on."""
    again: bool = False
    """Set by `Parked.ask`: this is not a new join, but another look at a parked one."""
    known: Topics = NO_TOPICS
    """Needed if the group is one of the consumer protocol; `matches` too."""
    matches: Matches = NO_MATCHES
    known_at_ms: int = 0
    """When `known` was looked up: an older lookup never replaces the result of a newer one."""
    sees: Sees | None = None
    """Whether the client may know of a topic. None: it may know of all. No step looks at it: it
    says what may be passed as `matches`."""


def fresh_id(request: Join) -> str:
    """The member id for a join that has none: the same each time for the same join."""
    named = request.instance_id or request.client_id
    return f"{named[:LONGEST_PREFIX]}-{request.ticket}"


def rebalance_timeout(request: Join, settings: GroupSettings) -> int:
    """The join's rebalance timeout within our limits, as a client may send any number."""
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
    """The member id of the request; for a join that has none, the one it will get."""
    if isinstance(request, Join) and not request.member_id:
        return fresh_id(request)
    return request.member_id


class Heartbeat(NamedTuple):
    member_id: str
    generation: int
    instance_id: str | None = None


class Leaving(NamedTuple):
    member_id: str
    """Empty: an admin tool removes the member with this instance id."""
    instance_id: str | None = None


class Leave(NamedTuple):
    members: tuple[Leaving, ...]


class ConsumerHeartbeat(NamedTuple):
    """ConsumerGroupHeartbeat (KIP-848). None means: not changed since the member last sent it."""

    member_id: str
    epoch: int
    """0: join; −1: leave; −2: leave temporarily, as a static member."""
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
    """In version 0, where the coordinator makes member ids: the new id. Empty in later versions."""
    known: Topics = NO_TOPICS
    matches: Matches = NO_MATCHES
    known_at_ms: int = 0
    """When `known` was looked up: an older lookup never replaces the result of a newer one."""
    sees: Sees | None = None
    """As in `Join`."""
