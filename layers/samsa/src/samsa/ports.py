"""The four seams: Ledger, Objects, Clock, Wakeups.

Everything above this file (the log, the handlers) is the same on a laptop and on AWS; everything
below it (`local/`, `aws/`) is an adapter. What an adapter promises:

- A **ledger** call is one atomic step, or several steps in the order its doc gives, between which
  the process may stop for ever. A call that may or may not have happened raises `Unavailable`;
  repeating it with the same arguments is then harmless.
- An **object** is written once. `put_if_absent` either stores all the bytes or none, and says
  whether this call did it. Readers never see half an object.
- **Time** only decides when something is looked at again, never whether it is safe.
- A **wake-up** is a hint: losing one costs delay, and nothing else.
"""

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias
from uuid import UUID

Buffer: TypeAlias = bytes | bytearray | memoryview


class Unavailable(Exception):
    """A store is down, throttled or slow: nothing is known about the call. Retriable."""


class Misconfigured(Unavailable):
    """A store refuses us until somebody mends the set-up: no such table, no permission."""


class UnknownPartition(Exception):
    """The ledger has no such partition (any more)."""


class Missing(Exception):
    """There is no object under that key."""


class Partition(NamedTuple):
    topic_id: UUID
    number: int

    def __str__(self) -> str:
        return f"{self.topic_id}/{self.number}"


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    id: UUID
    partitions: int
    created_at: int
    configs: Mapping[str, str] = field(default_factory=dict)


class Head(NamedTuple):
    """A partition's item: the sequencer and what is open on it."""

    next_offset: int
    log_start: int
    inflight: Mapping[str, int]
    """Open slots: token → base."""
    watchers: Mapping[str, int]
    """Who wants to hear of a confirm: address → when that wish expires (ms)."""
    settled_to: int = 0
    """Everything below is indexed for good: nobody looks at the keys of slots there any more."""

    @property
    def visible_end(self) -> int:
        """What Kafka calls the high watermark. Never the counter itself: readers see a prefix."""
        return min(self.inflight.values(), default=self.next_offset)


class Extent(NamedTuple):
    """The index entry of a stored slot or segment: [base, base + offsets)."""

    base: int
    offsets: int
    size: int
    max_timestamp: int
    stored_at: int
    key: str
    marks: tuple[tuple[int, int], ...] = ()
    """Sparse index of a slot with several batches: (offset − base, position) of some of them."""
    records: int = -1
    """Records in it; 0 for filler, −1 where nobody counted."""
    start: int = 0
    """Where it begins in its object, which may hold others too."""
    times: tuple[int, ...] = ()
    """Of a segment: the greatest timestamp before each mark."""

    @property
    def end(self) -> int:
        return self.base + self.offsets


class Grave(NamedTuple):
    """Objects on their way out. The ledger remembers them until they are deleted."""

    name: str
    base: int
    end: int
    """Slots of [base, end) that no extent names go;"""
    keys: tuple[str, ...] = ()
    """and so do these objects, if no extent names them."""
    since: int = 0
    """When it was first found to be so (ms); 0 if nobody has looked yet."""
    announced: bool = False
    """Of an object that is still being written: it goes unless it comes into the index."""


def grave_of(old: Sequence[Extent], new: Sequence[Extent]) -> Grave | None:
    """Of the objects that a swap takes out of the index; of those that are slots by their range.

    Its name is that of a new object, and so no other swap's.
    """
    kept = {extent.key for extent in new}
    gone = {extent.key for extent in old} - kept
    if not gone:
        return None
    fresh = kept - {extent.key for extent in old}
    slots = {extent.key for extent in old if is_slot_key(extent.key, extent.base)}
    name = f"after {min(fresh or kept)}"
    return Grave(name, old[0].base, old[-1].end, tuple(sorted(gone - slots)))


def is_slot_key(key: str, base: int) -> bool:
    return key.endswith(f"/{base:020d}")


class Confirmed(NamedTuple):
    head: Head
    was_open: bool
    """False: someone else closed the slot. What it holds must be looked at before any answer."""


class Bound(NamedTuple):
    """An idempotent producer's item on one partition: opaque to the ledger but for its version."""

    version: int
    state: bytes


class Ledger(Protocol):
    """DynamoDB or SQLite. `calls` counts each method by name, for pinning what a request costs."""

    calls: dict[str, int]

    async def reserve(self, partition: Partition, token: str, count: int) -> Head:
        """Advance the counter by `count` and open a slot at its old value, in one step.

        The base is `head.inflight[token]` of the returned head. A token that is open already is not
        opened twice: the head then shows the base it got first. Raises UnknownPartition.
        """
        ...

    async def confirm(self, partition: Partition, token: str, extent: Extent) -> Confirmed:
        """Close the slot if it is open; then, if this call closed it, add the extent if absent.

        Only the slot at the extent's base: a reserve that comes again after its slot was closed
        opens another one under the same token.
        Two steps on DynamoDB: a slot may end up closed and not indexed, which readers repair.
        """
        ...

    async def head(self, partition: Partition) -> Head: ...

    async def index(self, partition: Partition, extent: Extent) -> None:
        """Add the extent, unless one that holds any of its offsets is there.

        So nobody who is late brings back what was merged since.
        """
        ...

    async def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        """Put `new` into the place of `old`, a run of neighbours, over the same offsets.

        All or nothing. False if any of `old` is not there exactly as given any more, or if an
        object of `new` that none of `old` is in is not announced (any more). Its grave goes with
        the swap; what only `old` was in has one from then on. Repeating a swap that succeeded
        answers True.
        """
        ...

    async def announce(self, partition: Partition, grave: Grave) -> None:
        """Remember what goes unless something else is decided; one of that name stays as it is."""
        ...

    async def graves(self, partition: Partition, limit: int) -> list[Grave]:
        """Up to `limit` of them, by name."""
        ...

    async def condemn(self, partition: Partition, name: str, since: int) -> bool:
        """The grave counts from `since`, and no swap can save what it announced. False: no grave
        of that name."""
        ...

    async def forget_grave(self, partition: Partition, name: str) -> None:
        """All that was in it is deleted. Forgetting what is not there is no error."""
        ...

    async def cursor(self, partition: Partition, name: str) -> int:
        """Where some work left off; 0 if it never began. A hint: nothing depends on it."""
        ...

    async def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        """To 0: nothing is left of it."""
        ...

    async def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        """Up to `limit` extents in order, from the first that ends after `offset`."""
        ...

    async def extent_before(self, partition: Partition, offset: int) -> Extent | None:
        """The last extent that ends at or before `offset`."""
        ...

    async def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        """The first extent, at or above log_start, whose max_timestamp ≥ `timestamp`."""
        ...

    async def newest_extent(self, partition: Partition) -> Extent | None:
        """The extent with the greatest max_timestamp (the first of equals)."""
        ...

    async def producer(self, partition: Partition, producer_id: int) -> Bound | None: ...

    async def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        """Every producer's item that may not be forgotten yet, by producer id."""
        ...

    async def bind(
        self, partition: Partition, producer_id: int, state: bytes, after: int, expires_at: int
    ) -> bool:
        """Store `state` as version `after + 1` if the item's version is `after` (0: there is none).

        False if it was another version. Repeating a bind that succeeded answers True. `expires_at`
        (ms) is when the item may be forgotten.
        """
        ...

    async def advance_start(self, partition: Partition, offset: int) -> Head:
        """Raise log_start to `offset`; it never goes back and never passes the counter."""
        ...

    async def drop_extents(self, partition: Partition, below: int) -> int:
        """Forget the extents that end at or below `below`; how many."""
        ...

    async def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        """Add or renew a watcher, and drop those that expired more than a while ago."""
        ...

    async def unwatch(self, partition: Partition, watcher: str) -> None: ...

    async def create_topic(self, topic: Topic) -> bool:
        """Make the heads, then the name: the name is the commit. False if the name is taken."""
        ...

    async def topic(self, name: str) -> Topic | None: ...

    async def topic_by_id(self, topic_id: UUID) -> Topic | None: ...

    async def topics(self) -> list[Topic]: ...

    async def change_topic(self, old: Topic, new: Topic) -> bool:
        """Make the heads that `new` has more, then put it in the place of `old`: the commit.

        False if the name does not hold `old` any more. Repeating a change that succeeded answers
        True. Partitions and configs change; the name, the id and the time of birth never do.
        """
        ...

    async def delete_topic(self, topic: Topic) -> bool:
        """Take the name away and remember the topic as doomed, in one step. False: it was gone."""
        ...

    async def doomed_topics(self) -> list[Topic]: ...

    async def forget_topic(self, topic: Topic) -> None:
        """Remove every item of a doomed topic, the doom last. Its objects are gone already."""
        ...

    async def forget_producers(self, now_ms: int) -> int:
        """Remove what `bind` said may be forgotten by now; how many. 0 where a store does so by
        itself."""
        ...

    async def next_producer_ids(self, count: int) -> int:
        """Take `count` producer ids; the first of them."""
        ...

    async def cluster_id(self, proposed: str) -> str:
        """The cluster's id: the first one that was ever proposed."""
        ...

    async def close(self) -> None: ...


class Claim(NamedTuple):
    """A producer's next state, as `Ledger.bind` takes it."""

    producer_id: int
    state: bytes
    after: int
    expires_at: int


class Journaled(NamedTuple):
    head: Head
    stored: bool
    """False: nothing was, because the next offset is another one or a claim lost its race."""
    lost: tuple[int, ...] = ()
    """The producers whose claims lost."""


class Journal(Protocol):
    """Where ledger and objects are one, an append is one step: reserve, bind, write once and
    confirm together, or nothing. It stands beside the two ports, and stores what they read."""

    calls: dict[str, int]

    async def append(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
    ) -> Journaled:
        """Store `parts` as the slot that `extent` describes, and index it, if its base is the next
        offset and every claim holds. Its object and its start are chosen here.

        Raises UnknownPartition; and Unavailable, after which nobody knows whether it is stored.
        """
        ...

    async def sweep(self, partition: Partition, below: int) -> None:
        """Delete what holds only offsets below `below`, which is at or below log_start."""
        ...

    async def discard(self, partition: Partition, key: str) -> bool:
        """Delete one of its objects if nothing that is indexed lies in it. False: it may be written
        to, and nobody knows yet."""
        ...

    async def bury(self, topic_id: UUID) -> None:
        """Delete all that a topic has left."""
        ...

    async def close(self) -> None: ...


class GroupItem(NamedTuple):
    """A consumer group as the coordinator left it."""

    version: int
    state: bytes


class Committed(NamedTuple):
    """A group's offset for one partition."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at: int
    expires_at: int
    """Milliseconds; 0 for never."""


Offsets: TypeAlias = dict[tuple[str, int], Committed]
"""By topic name and partition, as clients name them."""


class Groups(Protocol):
    """Consumer groups and their offsets, beside the log in the same DynamoDB or SQLite."""

    calls: dict[str, int]

    async def group(self, group_id: str, known: int = 0) -> GroupItem | None:
        """Without the state (empty) where that is cheaper and the version is the `known` one."""
        ...

    def is_current(self, group_id: str, version: int) -> bool:
        """Whether this version is stored, as far as that is known without asking: only of a store
        that nobody else uses. False says nothing."""
        ...

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        """Store the item if the version that is there is `after` (0: there is none).

        False if it was another one. Repeating a put that succeeded answers True. The caller sees to
        it that no version is ever used twice, not even by a group that was deleted and made anew.
        """
        ...

    async def delete_group(self, group_id: str, version: int) -> bool:
        """Its state (version 0: it has none) and all its offsets, unless the version has moved."""
        ...

    async def group_ids(self) -> list[str]:
        """Of every group that has state or offsets, in order."""
        ...

    async def commit(self, group_id: str, generation: int, offsets: Offsets) -> bool:
        """Store the offsets, unless a newer generation has committed: False, and none is stored.

        Every partition remembers the newest generation that committed it. Generation −1, of
        whoever is no member, is never refused and leaves what is remembered. One write, whatever
        the number of partitions (up to a hundred topics on DynamoDB).
        """
        ...

    async def offsets(self, group_id: str, now_ms: int) -> Offsets:
        """All of them that have not expired."""
        ...

    async def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]], before: int | None = None
    ) -> None:
        """Deleting what is not there is no error. What was committed at `before` or later stays."""
        ...

    async def forget_topic(self, name: str, before: int) -> None:
        """Every group's offsets for the topic, but for those committed at `before` or later."""
        ...

    async def close(self) -> None: ...


class FileRange:
    """Part of an open file, for sendfile: it has a length like any other piece of a response."""

    __slots__ = ("fd", "length", "start")

    def __init__(self, fd: int, start: int, length: int) -> None:
        self.fd = fd
        self.start = start
        self.length = length

    def __len__(self) -> int:
        return self.length

    def read(self) -> bytes:
        return os.pread(self.fd, self.length, self.start)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    __del__ = close


Piece: TypeAlias = Buffer | FileRange


class Objects(Protocol):
    """S3, a folder, or memory. Keys look like paths."""

    calls: dict[str, int]
    far: bool
    """Whether pieces come over a network, and so take memory while they are sent."""

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        """Store the parts, joined, unless the key exists. False: it existed; nothing written."""
        ...

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        """Store what comes, joined, under a key that only the caller knows: all or nothing.

        No part changes after it was given, and few of them are held at a time.
        """
        ...

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        """Raises Missing."""
        ...

    async def piece(self, key: str, start: int, length: int) -> Piece:
        """A range ready to be sent: bytes, or an open file where there is one. Raises Missing."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Deleting what is not there is no error."""
        ...

    def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        """Keys under `prefix` in order, up to but without `below`. Never on a hot path."""
        ...

    async def close(self) -> None: ...


class Clock(Protocol):
    def now_ms(self) -> int: ...


class CannotWait(Exception):
    """Whoever serves this request never waits: it is parked elsewhere, and comes again."""


class Subscription(Protocol):
    async def wait(self, timeout_ms: int) -> bool:
        """Until one of the things waited for changes (True) or the time is up (False).

        Raises CannotWait where a process lives no longer than its request.
        """
        ...


class GroupKey(NamedTuple):
    """A group as something to wait for."""

    group_id: str


Awaited: TypeAlias = Partition | GroupKey
"""What a request may be parked on: a partition that grows, a group that moves on."""


class Wakeups(Protocol):
    address: str
    """The name under which others wake this process: a head's watcher, a member's waiter."""

    def subscribe(self, awaited: Iterable[Awaited]) -> AbstractContextManager[Subscription]: ...

    def wake(self, awaited: Awaited, watchers: Iterable[str]) -> None: ...
