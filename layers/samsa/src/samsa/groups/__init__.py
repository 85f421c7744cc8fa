"""The group coordinator: pure. State, request and time in; state, answer and wake-ups out.

    group = unpack(item.state)                    # or None where there is no item
    after, answer, wake = step(group, request, now_ms, settings)
    if after is not group:                        # compare-and-swap; after a lost race, step again
        put(pack(after))
    for waiter in wake: ...                       # addresses: their parked members may be answered
    if isinstance(answer, Parked):                # wait for a wake-up, at most until the deadline,
        step(..., answer.ask, ...)                # and ask this, here or in any other process

Public names, for the handlers:

- `step`, `Step(group, answer, wake)`; `expire(group, now_ms)` for those who only look
- `Group`, `pack`, `unpack`, `Corrupt`; `Settings`; `GroupError` (names are those of Kafka's errors)
- classic requests and their answers: `Join` → `Joined | Parked`, `Sync` → `Synced | Parked`,
  `Heartbeat` → `Beaten`, `Leave(Leaving, …)` → `Left(error, LeftMember, …)`

What a handler must see to: a new random `ticket` (36 characters of a UUID will do) for each
JoinGroup that a client sends; `requires_id` from version 4 on, `can_skip_assignment` from 9 on; an
empty group id is INVALID_GROUP_ID before any step. A heartbeat that changes nothing worth a write
returns the group that went in.
"""

from .errors import GroupError
from .packing import Corrupt
from .replies import Beaten, Joined, JoinedMember, Left, LeftMember, Parked, Synced
from .requests import Heartbeat, Join, Leave, Leaving, Sync
from .settings import Settings
from .step import Group, Step, expire, step
from .stored import pack, unpack

__all__ = [
    "Beaten",
    "Corrupt",
    "Group",
    "GroupError",
    "Heartbeat",
    "Join",
    "Joined",
    "JoinedMember",
    "Leave",
    "Leaving",
    "Left",
    "LeftMember",
    "Parked",
    "Settings",
    "Step",
    "Sync",
    "Synced",
    "expire",
    "pack",
    "step",
    "unpack",
]
