"""The group coordinator: pure. State, request and time in; state, answer and wake-ups out.

    group = unpack(item.state)              # or None where there is no item
    after, answer, wake = step(group, request, now_ms, settings)
    if after is not group:                  # compare-and-swap; after a lost race, step again
        put(pack(after))
    for waiter in wake: ...                 # addresses: their parked members may be answered
    if isinstance(answer, Parked):          # wait for a wake-up, at most until the deadline,
        step(..., answer.ask, ...)          # and ask this, here or in any other process

Public names, for the handlers:

- `step`, `GroupStep(group, answer, wake)`; `steps`, for several requests at once, with one state to
  write for all of them: `Steps(group, answers, wake)`; `expire(group, now_ms)` for read-only
  requests; `quieted` for a group that stays in memory; `answer_heartbeat(group, heartbeat, now_ms)`
  for heartbeats that need no step
- the size of a group (see `room`): `why_unfit(request)` before a step, `fits(bytes, group,
  requests)` before a write, `refusal(request)`; `GroupTooLarge`, raised by `pack`
- `Group = ClassicGroup | ConsumerGroup`, `Packer`, `pack`, `unpack`, `CorruptGroup`;
  `GroupSettings`; `GroupError` (its names are those of Kafka's errors)
- classic requests and their answers: `Join` → `Joined | Parked`, `Sync` → `Synced | Parked`,
  `Heartbeat` → `HeartbeatAnswer`, `Leave(Leaving, …)` → `Left(error, LeftMember, …)`
- the consumer protocol: `ConsumerHeartbeat` → `ConsumerHeartbeatAnswer`; partitions are
  `frozenset[(topic id, number)]`; `known` is every topic by name as `TopicInfo`; `matches` holds,
  for each of `patterns_of(group, request)`, what `matches(pattern, names)` says; `known_at_ms` is
  when these were looked up
- offsets: `may_commit`, `may_commit_transactional`, `may_fetch`, `may_delete` return a
  `GroupError`, or None for yes
- what tools show: `listed`, `described`, `consumer_described`, `state_of`, `DEAD`

What the caller must do: pass a new random `ticket` (a UUID) for each JoinGroup that a client sends;
set `requires_id` from version 4 on and `can_skip_assignment` from 9 on; refuse an empty group id
with INVALID_GROUP_ID before any step; if the group is a `ConsumerGroup`, pass `known` and `matches`
with a `Join` too. A heartbeat that changes nothing worth a write returns the group that was passed
in. A process that remembers when it answered its members may pass that with a later step
(`MemberHeartbeats`), and one write then prolongs all their sessions. What a `ConsumerHeartbeat`
changed is reported once, as in Kafka: nothing between client and coordinator may repeat one whose
answer was lost.
"""

from .classic_state import ClassicGroup
from .consumer_state import ConsumerGroup
from .errors import GroupError
from .heartbeat_coalescing import MemberHeartbeats
from .heartbeat_fast_path import answer_heartbeat
from .offsets import may_commit, may_commit_transactional, may_delete, may_fetch
from .packing import CorruptGroup
from .patterns import BadPattern, PatternMatches, matches
from .replies import (
    ConsumerHeartbeatAnswer,
    HeartbeatAnswer,
    Joined,
    JoinedMember,
    Left,
    LeftMember,
    Parked,
    Synced,
)
from .requests import ConsumerHeartbeat, Heartbeat, Join, Leave, Leaving, Sync, TopicInfo
from .room import fits, refusal, why_unfit
from .settings import GroupSettings
from .step import (
    Answer,
    Group,
    GroupStep,
    Request,
    Steps,
    expire,
    patterns_of,
    quieted,
    step,
    steps,
)
from .stored import GroupTooLarge, Packer, pack, unpack
from .views import (
    DEAD,
    ConsumerDescribed,
    Described,
    DescribedConsumer,
    DescribedMember,
    Listed,
    consumer_described,
    described,
    listed,
    state_of,
)

__all__ = [
    "DEAD",
    "Answer",
    "BadPattern",
    "ClassicGroup",
    "ConsumerDescribed",
    "ConsumerGroup",
    "ConsumerHeartbeat",
    "ConsumerHeartbeatAnswer",
    "CorruptGroup",
    "Described",
    "DescribedConsumer",
    "DescribedMember",
    "Group",
    "GroupError",
    "GroupSettings",
    "GroupStep",
    "GroupTooLarge",
    "Heartbeat",
    "HeartbeatAnswer",
    "Join",
    "Joined",
    "JoinedMember",
    "Leave",
    "Leaving",
    "Left",
    "LeftMember",
    "Listed",
    "MemberHeartbeats",
    "Packer",
    "Parked",
    "PatternMatches",
    "Request",
    "Steps",
    "Sync",
    "Synced",
    "TopicInfo",
    "answer_heartbeat",
    "consumer_described",
    "described",
    "expire",
    "fits",
    "listed",
    "matches",
    "may_commit",
    "may_commit_transactional",
    "may_delete",
    "may_fetch",
    "pack",
    "patterns_of",
    "quieted",
    "refusal",
    "state_of",
    "step",
    "steps",
    "unpack",
    "why_unfit",
]
