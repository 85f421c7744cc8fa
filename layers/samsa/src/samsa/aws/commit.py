"""One commit: add an append to the head, in up to `TRIES` tries, until it is stored or refused.

The journal runs one `Commit` for each append. The rules are those of `model/one_commit`.

- An update holds only if no sweep was counted since the head was read. The head is read before the
  object is put. So a sweep never deletes an object that becomes visible later.
- An update whose answer is lost may have happened, or may still happen. A retry first fences it, by
  counting a sweep: after that it cannot happen any more. Then the retry looks for the entry's id,
  first in the head, then in the index. If it is in neither, the append starts again, with a new id.
- A transaction opens and ends with a claim. What the claim does to the head is decided by the same
  head that the claim was judged by; if the claim holds, that is still true.
- A merge drops the ids. If extents were merged since, the outcome cannot be found out, and the
  client gets an error that says so.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from samsa.aws.known_heads import KnownHead
from samsa.aws.shared_puts import SharedPuts
from samsa.ports import (
    Bound,
    Buffer,
    Claim,
    Clock,
    CommitResult,
    End,
    Extent,
    Misconfigured,
    NotDone,
    Partition,
    Unavailable,
)
from samsa.ports.heads import HeadClaim, HeadState, HeadStore, HeadUpdate

TRIES = 6
PAUSE_S = 0.05
"""Seconds to wait before the second try; doubled before each further try."""
PAGE = 100


class Tools(NamedTuple):
    heads: HeadStore
    puts: SharedPuts
    nonce: Callable[[], str]
    clock: Clock
    calls: dict[str, int]


class Append(NamedTuple):
    partition: Partition
    extent: Extent
    parts: Sequence[Buffer]
    claims: Sequence[Claim]
    inline_bytes: int
    """Up to this size the append's bytes are kept in the head."""


class Commit:
    def __init__(self, tools: Tools, known: KnownHead, append: Append) -> None:
        self._tools = tools
        self._known = known
        self._partition, self._extent, self._parts, self._claims, self._inline_bytes = append
        self._entry: Extent | None = None
        self._sweeps = 0
        """The head's `sweeps` when the entry got its id, which is before its object was put."""
        self._unsure = False
        """Whether an update with the entry's id was sent and its answer was lost."""
        self._is_forgotten = False
        """Whether the outcome of that update cannot be found out any more."""

    async def run(self) -> CommitResult:
        """Raises NotDone; Unavailable if it may be stored; UnknownPartition; Misconfigured."""
        failure: Unavailable = NotDone(f"{self._partition}: refused {TRIES} times")
        for attempt in range(TRIES):
            try:
                result = await self._try()
            except Misconfigured:
                raise
            except Unavailable as error:
                failure = error
                if self._is_forgotten:
                    break
                if attempt < TRIES - 1:
                    await asyncio.sleep(PAUSE_S * 2**attempt)
            else:
                if result is not None:
                    return result
            self._tools.calls["again"] += 1
        raise (Unavailable if self._unsure else NotDone)(str(failure)) from failure

    async def _try(self) -> CommitResult | None:
        """None if the update was refused, and another try may succeed."""
        state = self._known.state
        if self._unsure:
            state = await self._tools.heads.count_sweep(self._partition)
            self._known.learn(state)
        found = self._among(state.head.tail)
        if found is None and self._unsure:
            found = await self._in_index(state)
        if found is not None:
            return self._done(state, found)
        claims, lost = await self._guard(state)
        if lost:
            return CommitResult(state.head, None, lost)
        entry = await self._stored(state)
        now_ms, settled = self._tools.clock.now_ms(), self._known.to_take_out(state)
        state, done = await self._send(HeadUpdate(entry, self._sweeps, claims, now_ms, settled))
        self._known.learn(state)
        found = self._among(state.head.tail) if done else None
        return None if found is None else self._done(state, found)

    async def _send(self, update: HeadUpdate) -> tuple[HeadState, bool]:
        try:
            return await self._tools.heads.update_head(self._partition, update)
        except (NotDone, Misconfigured):
            raise
        except Unavailable:
            self._unsure = True
            raise

    def _done(self, state: HeadState, found: Extent) -> CommitResult:
        self._known.own.add(found.id)
        return CommitResult(state.head, found.base)

    def _among(self, entries: Iterable[Extent]) -> Extent | None:
        """The entry as found. Content is compared too, because ids are random and may collide."""
        return next((found for found in entries if _is_same(found, self._entry)), None)

    async def _in_index(self, state: HeadState) -> Extent | None:
        """Raises Unavailable if the outcome cannot be found out: merged extents have no id, and
        extents below the log start are gone."""
        offset = self._extent.base
        self._is_forgotten = state.head.log_start > offset
        while page := await self._tools.heads.extents(self._partition, offset, PAGE):
            if found := self._among(page):
                return found
            self._is_forgotten |= any(not extent.id for extent in page)
            offset = page[-1].end
        if self._is_forgotten:
            raise Unavailable(f"{self._partition}: an append without an answer may be stored")
        return None

    async def _guard(self, state: HeadState) -> tuple[list[HeadClaim], tuple[int, ...]]:
        """The claims that hold in `state`, with their conditions; and the producers whose claims do
        not hold."""
        held: list[HeadClaim] = []
        lost: list[int] = []
        for claim in self._claims:
            there = state.producers.get(claim.producer_id)
            bound = there.bound if there else await self._item(state, claim.producer_id)
            if (bound.version if bound else 0) == claim.after:
                held.append(head_claim(claim, state))
            else:
                lost.append(claim.producer_id)
        return held, tuple(lost)

    async def _item(self, state: HeadState, producer_id: int) -> Bound | None:
        if not self._known.has_item(state, producer_id):
            bound = await self._tools.heads.producer_item(self._partition, producer_id)
            self._known.keep_item(state, producer_id, bound)
            return bound
        return self._known.item(producer_id)

    async def _stored(self, state: HeadState) -> Extent:
        """The entry, after its bytes were put inline or into an object."""
        entry = self._entry
        if entry is not None and not self._is_spoilt(entry, state):
            return entry
        self._entry, self._unsure, fresh = None, False, self._tools.nonce()
        self._sweeps = state.sweeps
        room = 0 if self._known.is_crowded() else self._inline_bytes
        place = await self._tools.puts.put(
            self._partition, fresh, self._extent.base, self._parts, room
        )
        if place is None:
            entry = self._extent._replace(key="", data=b"".join(self._parts), id=fresh)
        else:
            entry = self._extent._replace(key=place.key, start=place.start, id=fresh)
        self._entry = entry
        return entry

    def _is_spoilt(self, entry: Extent, state: HeadState) -> bool:
        """Whether the entry needs a new id: its update is fenced and its object may be swept, or
        another entry has the same id."""
        if state.sweeps != self._sweeps:
            return True
        return any(found.id == entry.id for found in state.head.tail)


def head_claim(claim: Claim, state: HeadState) -> HeadClaim:
    """A claim of the version that is stored, with what it does to the head. It was judged by
    `state`; the producer's own item was read after that."""
    evictions = None if claim.producer_id in state.producers else state.evictions
    opened = state.head.open_transactions
    first = opened.get(claim.producer_id)
    if claim.ends is None:
        opens = claim.opens if claim.opens >= 0 and first is None else None
        return HeadClaim(claim, evictions, opens)
    if claim.ends is End.COMMIT or first is None:
        return HeadClaim(claim, evictions, closes=first is not None)
    others = (begins for other, begins in opened.items() if other != claim.producer_id)
    stable = min([state.head.next_offset, *others])
    return HeadClaim(claim, evictions, closes=True, aborted=(first, stable))


def _is_same(found: Extent, entry: Extent | None) -> bool:
    """Whether `found` is `entry`, apart from the base that the commit gave it."""
    return entry is not None and (
        found.id,
        found.base - found.shift,
        found.offsets,
        found.data,
        found.key,
        found.start,
    ) == (
        entry.id,
        entry.base,
        entry.offsets,
        entry.data,
        entry.key,
        entry.start,
    )
