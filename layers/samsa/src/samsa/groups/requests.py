"""What can be asked of a group of the classic protocol.

Randomness comes with the request: `ticket` is new for every join that a client sends, and the same
each time that one is asked again. `waiter` is the address of the process that would park it.
"""

from collections.abc import Mapping
from typing import NamedTuple

Protocols = tuple[tuple[str, bytes], ...]
"""In the member's order of preference: name and metadata."""


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


class Sync(NamedTuple):
    member_id: str
    generation: int
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    assignments: Mapping[str, bytes] = {}
    """By member id; from the leader only."""
    waiter: str = ""


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
