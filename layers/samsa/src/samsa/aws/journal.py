"""The journal of remote stores: heads in DynamoDB, objects on S3.

Small appends are kept in the head, and later in the index; larger appends are objects. `commit.py`
makes one commit, `tidying.py` keeps heads small. Any number of commits to one partition may run at
the same time, in one process or in many.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from uuid import UUID

from samsa.aws.commit import Append, Commit, Tools
from samsa.aws.known_heads import KnownHead, KnownHeads
from samsa.aws.shared_puts import SharedPuts
from samsa.aws.tidying import Settling, Tidier
from samsa.ports import (
    Bound,
    Buffer,
    Claim,
    Clock,
    CommitResult,
    Extent,
    NotDone,
    Objects,
    Partition,
    Tail,
    UnknownPartition,
)
from samsa.ports.bounds import (
    FRUGAL_INLINE_BYTES,
    INLINE_BYTES,
    MOST_HEAD_BYTES,
    MOST_OPEN_TRANSACTIONS,
)
from samsa.ports.heads import HeadState, HeadStore, entry_weight

CLAIM_BYTES = 50
"""Bytes that a producer takes in the head, without its state."""
OPEN_BYTES = 35
"""Bytes that an open transaction takes in the head."""


class HeadJournal:
    remote = True

    def __init__(
        self,
        heads: HeadStore,
        objects: Objects,
        nonce: Callable[[], str],
        clock: Clock,
        has_window: bool = False,
        settling: Settling = Settling.AFTERWARDS,
    ) -> None:
        """`nonce` returns a short, unique word of characters that are allowed in a key.
        `has_window`: appends have already waited for each other before they come here."""
        self.calls: dict[str, int] = defaultdict(int)
        self._settling = settling
        self._heads = heads
        puts = SharedPuts(objects, nonce, clock, has_window)
        self._tools = Tools(heads, puts, nonce, clock, self.calls)
        self._known = KnownHeads()
        self._tidier = Tidier(heads, self._known, clock)

    @property
    def head_bytes(self) -> int:
        return self._known.heaviest

    async def next_offset(self, partition: Partition) -> int:
        self.calls["next_offset"] += 1
        return (await self._head(partition)).state.head.next_offset

    async def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        """Always read from the ledger: by an old state, a retry would be refused for a gap."""
        self.calls["producer"] += 1
        state = await self._heads.head_state(partition)
        known = self._known.learn(partition, state)
        if there := state.producers.get(producer_id):
            return there.bound
        bound = await self._heads.producer_item(partition, producer_id)
        known.keep_item(state, producer_id, bound)
        return bound

    async def commit(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
        lingers: bool = False,
    ) -> CommitResult:
        self.calls["commit"] += 1
        settling = Settling.AT_ONCE if lingers else self._settling
        inline_bytes = FRUGAL_INLINE_BYTES if settling is Settling.AT_ONCE else INLINE_BYTES
        try:
            known = await self._head(partition)
            await self._tidier.make_room(partition, known)
            await self._raise_if_full(partition, known, extent, claims)
            if settling is Settling.BESIDE:
                self._tidier.begin_settling(partition, known)
            append = Append(partition, extent, parts, claims, inline_bytes)
            result = await Commit(self._tools, known, append).run()
        except UnknownPartition:
            self._known.forget(partition)
            raise
        if settling is not Settling.BESIDE or known.is_crowded():
            at_once = settling is not Settling.AFTERWARDS
            self._tidier.begin_settling(partition, known, take_out=at_once)
        self._tidier.begin_evicting(partition, known)
        return result

    async def _head(self, partition: Partition) -> KnownHead:
        known = self._known.get(partition)
        if known is None:
            state = await self._heads.head_state(partition)
            known = self._known.learn(partition, state)
        return known

    async def _raise_if_full(
        self, partition: Partition, known: KnownHead, extent: Extent, claims: Sequence[Claim]
    ) -> None:
        """A marker is taken in any case: it ends what fills the head."""
        if _is_full(known.state, extent, claims):
            await self._tidier.settle(partition)
        if any(claim.ends is not None for claim in claims):
            return
        if _is_full(known.state, extent, claims):
            raise NotDone(f"{partition}: its head has {known.state.weight} bytes")
        if _has_too_many_open(known.state, claims):
            known.learn(await self._heads.head_state(partition))
        if _has_too_many_open(known.state, claims):
            raise NotDone(f"{partition}: {MOST_OPEN_TRANSACTIONS} transactions are open")

    def tail(self, partition: Partition, offset: int) -> Tail | None:  # noqa: ARG002
        """Always None: another process may have appended, so readers must ask the ledger."""
        return None

    async def settle(self, partition: Partition) -> None:
        self.calls["settle"] += 1
        await self._tidier.settle(partition)

    async def count_sweep(self, partition: Partition) -> None:
        self.calls["count_sweep"] += 1
        self._known.learn(partition, await self._heads.count_sweep(partition))

    async def sweep(self, partition: Partition, below: int) -> None:
        """Does nothing: the log itself deletes the objects under log/."""

    async def discard(self, partition: Partition, key: str) -> bool:  # noqa: ARG002
        """A window is deleted when no partition names it any more (`log/windows.py`)."""
        return True

    async def bury(self, topic_id: UUID) -> None:
        """Does nothing, as `sweep`."""

    async def drain(self) -> None:
        await self._tidier.drain()

    async def close(self) -> None:
        """Does not close heads and objects: the caller that opened them does."""
        await self.drain()


def _is_full(state: HeadState, extent: Extent, claims: Sequence[Claim]) -> bool:
    added = entry_weight(extent) + (extent.size if extent.size <= INLINE_BYTES else 0)
    added += sum(CLAIM_BYTES + len(claim.state) for claim in claims)
    added += OPEN_BYTES * len(_opening(state, claims))
    return state.weight + added > MOST_HEAD_BYTES


def _opening(state: HeadState, claims: Sequence[Claim]) -> list[Claim]:
    opened = state.head.open_transactions
    return [one for one in claims if one.opens >= 0 and one.producer_id not in opened]


def _has_too_many_open(state: HeadState, claims: Sequence[Claim]) -> bool:
    opening = len(_opening(state, claims))
    return opening > 0 and len(state.head.open_transactions) + opening > MOST_OPEN_TRANSACTIONS
