"""The shell of the transaction coordinator: it loads a transaction, calls the pure step, stores the
outcome by compare-and-swap, and finishes what is decided.

Any process may coordinate any transactional id. In one process the requests for an id take turns,
so only processes race; the loser steps again on what the winner stored. A transaction is kept in
memory as it was last seen. A step that changes it is safe on an old view: its compare-and-swap is
refused. A step that changes nothing is repeated on a fresh view, unless the view is certainly
current. So a request of an ordinary transaction is one call of the store.

The compare-and-swap to a decided state is the decision. Then come a marker in each partition, the
pending offsets of each group, and the compare-and-swap that completes the transaction. Each of
these may be repeated by any process, at any time. What was decided and not finished, because its
process ended, is finished by the next one that meets it: the next request for the id, a reader that
is held back by it (`settle`), or upkeep (`tend`). The same ones abort what has timed out.

A process answers an end after the decision, as Kafka does, and finishes the transaction in the
background. Meanwhile it keeps the turn of the transactional id, so the next request for the id
waits until the transaction is complete. A function finishes before it answers: nothing runs after
its answer.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any
from zlib import crc32

from samsa.bounded import Bounded
from samsa.eager_task import Rest, begin
from samsa.log.append import Marker
from samsa.log.background import Background
from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.ports import (
    End,
    Offsets,
    Partition,
    TransactionItem,
    Transactions,
    Unavailable,
    UnknownPartition,
)
from samsa.transactions import (
    Abort,
    Answer,
    Complete,
    Corrupt,
    EndTransaction,
    Expire,
    Init,
    NeedsId,
    Request,
    Settings,
    State,
    Transaction,
    pack,
    step,
    unpack,
)

log = logging.getLogger("samsa.transactions")
REMEMBERED = 10_000
TRIES = 50
"""Lost races before a client is told to retry. In each lost race another process made progress."""
RANDOM = 0xFFFFFF
"""Bits of a version. A version has 63: they last for some 10^12 changes of one transactional id."""
AT_ONCE = 64
"""Markers of one transaction that are written at the same time."""
MOST_LEFT = 256
"""Transactions that are finished in the background. Beyond that, the end waits for its own."""
FEW = 4
REST_S = 0.001
"""A client whose transaction has more than a few partitions gets the processor first, to read its
answer: their markers take longer than that. A request for the same id ends the rest."""
PENDING_EXPIRY_MS = 7 * 24 * 3600 * 1000


class Known:
    """A transactional id, as this process saw it last."""

    __slots__ = ("lock", "resting", "transaction", "version")

    def __init__(self) -> None:
        self.version = 0
        self.transaction: Transaction | None = None
        self.lock = asyncio.Lock()
        self.resting: asyncio.Future[None] | None = None
        """Ends the rest before a transaction is finished in the background."""

    async def take(self) -> None:
        """Wait for the turn."""
        if self.resting is not None and not self.resting.done():
            self.resting.set_result(None)
        await self.lock.acquire()

    async def __aenter__(self) -> None:
        await self.take()

    async def __aexit__(self, *_: object) -> None:
        self.lock.release()


class TransactionCoordinator:
    def __init__(
        self,
        stores: Stores,
        store: Transactions,
        log: Log,
        settings: Settings,
        next_producer_id: Callable[[], Awaitable[int]],
        look_again_ms: int,
        answers_first: bool = False,
    ) -> None:
        """`answers_first`: answer an end after the decision, and finish it in the background."""
        self.settings = settings
        self._stores = stores
        self._store = store
        self._log = log
        self._next_producer_id = next_producer_id
        self._look_again_ms = look_again_ms
        self._answers_first = answers_first
        self.background = Background()
        self._known = Bounded[str, Known](REMEMBERED)
        self._ids = Bounded[int, str](REMEMBERED)
        """Transactional ids by producer id."""
        self._look_again_at = Bounded[int, int](REMEMBERED)
        """By producer id: when readers that it holds back look at its transaction again (ms)."""
        self.aborted = 0
        """Transactions that this process aborted because their time was up."""

    # Requests

    async def ask(self, transactional_id: str, request: Request, fresh: bool = False) -> Answer:
        """`fresh`: read the transaction first, even if a view of it is known. Raises Unavailable:
        then the request may be repeated."""
        known = self._of(transactional_id)
        may_leave = self._may_leave(request)
        is_left = False
        await known.take()
        try:
            answer = await self._ask(transactional_id, known, request, fresh, may_leave)
            is_left = may_leave and known.transaction is not None and known.transaction.is_decided
            if is_left:
                self.background.start(self._finish_left(transactional_id, known))
            return answer
        finally:
            if not is_left:
                known.lock.release()

    def _may_leave(self, request: Request) -> bool:
        """Whether what this request decides may be finished after its answer."""
        is_end = isinstance(request, EndTransaction)
        return is_end and self._answers_first and self.background.count < MOST_LEFT

    async def _finish_left(self, transactional_id: str, known: Known) -> None:
        """In the turn of the request that decided it, which ends here."""
        try:
            if known.transaction is not None and len(known.transaction.partitions) > FEW:
                known.resting = asyncio.get_running_loop().create_future()
                await asyncio.wait([known.resting], timeout=REST_S)
            await self._finish(transactional_id, known)
        finally:
            known.resting = None
            known.lock.release()

    async def drain(self) -> None:
        """Wait until everything that was answered is finished, or has failed to be."""
        await self.background.drain()

    async def _ask(
        self,
        transactional_id: str,
        known: Known,
        request: Request,
        fresh: bool,
        may_leave: bool = False,
    ) -> Answer:
        """`may_leave`: the caller finishes what is decided then."""
        is_fresh = await self._load(transactional_id, known, fresh or not known.version)
        for _ in range(TRIES):
            before = known.transaction
            taken = step(before, request, self._stores.clock.now_ms(), self.settings)
            answer = taken.answer
            if taken.transaction is before and not is_fresh:
                is_fresh = await self._load(transactional_id, known, fresh=True)
                continue
            if isinstance(answer, NeedsId):
                request = _with_id(request, await self._next_producer_id())
                continue
            if taken.transaction is not before:
                assert taken.transaction is not None
                if not await self._put(transactional_id, known, taken.transaction):
                    is_fresh = True  # the refusal brought what is there
                    continue
                is_fresh = False
            is_answered = isinstance(answer, Answer)
            if not (may_leave and is_answered):
                await self._finish_now(transactional_id, known, is_answered)
            if isinstance(answer, Answer):
                return answer
        raise Unavailable(f"transactional id {transactional_id!r} changes too fast")

    async def _finish_now(self, transactional_id: str, known: Known, is_answered: bool) -> None:
        """Finish the transaction if it is decided. If `is_answered`, the decision is what was asked
        for, and any process may do the rest. Otherwise raises Unavailable."""
        if known.transaction is not None and known.transaction.is_decided:
            try:
                await self._finish(transactional_id, known)
            except Unavailable:
                if not is_answered:
                    raise

    def entered(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[Partition],
        is_unique: bool,
    ) -> int:
        """The serial of the ongoing transaction that has these partitions, if that is known without
        a call; else 0. `is_unique`: each transaction has an epoch of its own, so an old view can
        only show the client's transaction, or none of that epoch."""
        known = self._known.get(transactional_id)
        found = known.transaction if known is not None else None
        if (
            known is None
            or found is None
            or found.state is not State.ONGOING
            or (found.producer_id, found.epoch) != (producer_id, epoch)
            or not found.partitions.issuperset(partitions)
        ):
            return 0
        current = self._store.is_current_transaction
        return found.serial if is_unique or current(transactional_id, known.version) else 0

    def has_ongoing(self, producer_id: int, partition: Partition) -> bool:
        """Whether the producer has this partition in an ongoing transaction, as this process saw it
        last. Costs no call."""
        known = self._known.get(self._ids.get(producer_id, ""))
        found = known.transaction if known is not None else None
        return (
            found is not None
            and found.state is State.ONGOING
            and found.producer_id == producer_id
            and tuple(partition) in found.partitions
        )

    async def add_offsets(
        self, group_id: str, producer_id: int, serial: int, offsets: Offsets
    ) -> bool:
        """Store a group's offsets as part of a transaction. False: it has ended."""
        expires_at = self._stores.clock.now_ms() + PENDING_EXPIRY_MS
        retry, add = self._stores.retry, self._store.add_pending
        return await retry(add, group_id, producer_id, serial, offsets, expires_at)

    # The item

    def _of(self, transactional_id: str) -> Known:
        known = self._known.use(transactional_id)
        if known is None:
            known = Known()
            self._known.keep(transactional_id, known)
        return known

    async def _load(self, transactional_id: str, known: Known, fresh: bool) -> bool:
        """Whether the view is the stored one."""
        if self._store.is_current_transaction(transactional_id, known.version):
            return True
        if not fresh:
            return False
        retry, store = self._stores.retry, self._store
        item = await retry(store.transaction, transactional_id, known.version)
        if item is None:
            known.version, known.transaction = 0, None
        elif item.version != known.version:
            self._learn(transactional_id, known, item)
        return True

    def _learn(self, transactional_id: str, known: Known, item: TransactionItem) -> None:
        known.version = item.version
        known.transaction = _read(transactional_id, item) if item.version else None
        self._ids.keep(item.producer_id, transactional_id)

    async def _put(self, transactional_id: str, known: Known, after: Transaction) -> bool:
        """False: another process has changed it. What is there is known now."""
        version = self._next_version(known.version)
        item = TransactionItem(version, after.producer_id, pack(after))
        put, retry = self._store.put_transaction, self._stores.retry
        there = await retry(put, transactional_id, item, known.version)
        if there is not None:
            self._learn(transactional_id, known, there)
            return False
        known.version, known.transaction = version, after
        self._ids.keep(after.producer_id, transactional_id)
        return True

    def _next_version(self, before: int) -> int:
        """One that no item of this id has had. It is partly random: two processes may store the
        same change of the same version in the same millisecond, and the second must not take the
        first one's item for its own."""
        start = before or self._stores.clock.now_ms() << 20
        return start + 1 + (crc32(self._stores.nonce().encode()) & RANDOM)

    # Finishing

    async def _finish(self, transactional_id: str, known: Known) -> None:
        """Write the markers, end the pending offsets, complete the transaction. Raises Unavailable:
        then any process may do it again."""
        found = known.transaction
        assert found is not None
        end = End.COMMIT if found.state is State.PREPARE_COMMIT else End.ABORT
        marker = Marker(found.producer_id, found.marker_epoch, found.serial, end)
        partitions = sorted(found.partitions)
        if len(partitions) == 1 and not found.groups:
            await self._mark(Partition(*partitions[0]), marker)
        else:
            for start in range(0, len(partitions), AT_ONCE):
                if start:
                    await asyncio.sleep(0)  # on one machine nothing else waits
                some = partitions[start : start + AT_ONCE]
                await self._all(self._mark(Partition(*one), marker) for one in some)
            groups = sorted(found.groups)
            await self._all(self._end_offsets(group_id, marker) for group_id in groups)
        now_ms = self._stores.clock.now_ms()
        after = step(found, Complete(found.serial), now_ms, self.settings).transaction
        assert after is not None
        assert after is not found
        # If another process completed it first, what that process stored is known now.
        await self._put(transactional_id, known, after)

    async def _all(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Wait for all of it, even if some fail; then raise the first failure."""
        begun = list(work) if self._stores.journal.remote else _begin(work)
        for failure in await asyncio.gather(*begun, return_exceptions=True) if begun else ():
            if failure is not None:
                raise failure

    async def _mark(self, partition: Partition, marker: Marker) -> None:
        with suppress(UnknownPartition):  # the topic was deleted
            await self._stores.retry(self._log.mark, partition, marker)

    async def _end_offsets(self, group_id: str, marker: Marker) -> None:
        expires_at = self._stores.clock.now_ms() + PENDING_EXPIRY_MS
        is_committed = marker.end is End.COMMIT
        await self._stores.retry(
            self._store.end_pending,
            group_id,
            marker.producer_id,
            marker.serial,
            is_committed,
            expires_at,
        )

    # Transactions that other processes left

    async def settle(self, producer_ids: Iterable[int]) -> int:
        """Finish what is decided of these producers' transactions, and abort what has timed out.
        What this process is at work on is left to that: to write the markers of a wide transaction
        may take longer than a reader wants to wait. Returns when it is worth to look again (ms).
        Raises Unavailable."""
        now_ms = self._stores.clock.now_ms()
        look_again_at = now_ms + self._look_again_ms
        for producer_id in producer_ids:
            again_at = self._look_again_at.get(producer_id, 0)
            if not now_ms < again_at <= now_ms + self._look_again_ms:
                again_at = await self._settle_one(producer_id, now_ms)
                self._look_again_at.keep(producer_id, again_at)
            look_again_at = min(look_again_at, again_at)
        return look_again_at

    async def _settle_one(self, producer_id: int, now_ms: int) -> int:
        transactional_id = await self._id_of(producer_id)
        if transactional_id is not None and not self._of(transactional_id).lock.locked():
            found = await self._expire(transactional_id)
            if found is not None and found.state is State.ONGOING:
                return min(max(found.expires_at, now_ms + 1), now_ms + self._look_again_ms)
        return now_ms + self._look_again_ms

    async def _id_of(self, producer_id: int) -> str | None:
        found = self._ids.get(producer_id)
        if found is None:
            retry = self._stores.retry
            found = await retry(self._store.transactional_id_of, producer_id)
            if found is not None:
                self._ids.keep(producer_id, found)
        return found

    async def _expire(self, transactional_id: str) -> Transaction | None:
        """The transaction, after it was finished if it was decided, aborted if it was too old."""
        known = self._of(transactional_id)
        async with known:
            await self._load(transactional_id, known, fresh=True)
            found = known.transaction
            if found is not None and self._is_due(found):
                await self._ask(transactional_id, known, Expire(), fresh=False)
                after = known.transaction
                if found.state is State.ONGOING and after and after.state is not State.ONGOING:
                    self.aborted += 1
                    log.info("transactional id %.200r timed out: aborted", transactional_id)
            return known.transaction

    def _is_due(self, found: Transaction) -> bool:
        """Whether it is decided, or too old; or began in the future, as the clock was set back."""
        now_ms = self._stores.clock.now_ms()
        is_over = found.begins_after(now_ms) or found.expires_at <= now_ms
        return found.is_decided or (found.state is State.ONGOING and is_over)

    async def look(self, transactional_id: str) -> Transaction | None:
        """The transaction as it is stored."""
        known = self._of(transactional_id)
        async with known:
            await self._load(transactional_id, known, fresh=True)
            return known.transaction

    async def all_ids(self) -> list[str]:
        return await self._stores.retry(self._store.transactional_ids)

    async def abort(self, transactional_id: str) -> Answer:
        """For administrators: abort an ongoing transaction, whatever its age."""
        return await self.ask(transactional_id, Abort(), fresh=True)

    async def abort_of(self, producer_id: int) -> None:
        """Abort what the producer has ongoing, if its transactional id is known."""
        transactional_id = await self._id_of(producer_id)
        if transactional_id is not None:
            found = await self.look(transactional_id)
            if found is not None and found.producer_id == producer_id:
                await self.abort(transactional_id)

    def figures(self) -> tuple[int, int]:
        """How many transactions are open of those that this process served, and for how long the
        oldest of them has been (ms)."""
        views = (known.transaction for known in self._known.values())
        begun = [one.started_at for one in views if one and one.state is State.ONGOING]
        now_ms = self._stores.clock.now_ms()
        return len(begun), max(0, now_ms - min(begun, default=now_ms))

    async def tend(self, transactional_id: str, expiry_ms: int) -> bool:
        """For upkeep: settle one id; and forget it if it was not used for so long. Returns whether
        it was forgotten."""
        found = await self._expire(transactional_id)
        if found is None or found.state is State.ONGOING or found.is_decided:
            return False
        now_ms = self._stores.clock.now_ms()
        if not found.changed_at + expiry_ms <= now_ms:
            return False
        known = self._of(transactional_id)
        async with known:
            if known.transaction is not found:
                return False
            gone = await self._store.delete_transaction(transactional_id, known.version)
            known.version, known.transaction = 0, None
            return gone


def _begin(work: Iterable[Coroutine[Any, Any, None]]) -> list[Awaitable[None]]:
    """On one machine most of it is done without a wait: that needs no tasks. Returns the rest."""
    left: list[Awaitable[None]] = []
    for one in work:
        try:
            rest = begin(one)
        except Exception as error:
            left.append(_raise_failure(error))
        else:
            if rest is not None:
                left.append(_ended(rest))
    return left


async def _ended(rest: Rest) -> None:
    await rest


async def _raise_failure(error: Exception) -> None:
    raise error


def _with_id(request: Request, fresh_id: int) -> Request:
    assert isinstance(request, Init | EndTransaction | Expire | Abort)
    return request._replace(fresh_id=fresh_id)


def _read(transactional_id: str, item: TransactionItem) -> Transaction | None:
    try:
        return unpack(item.state)
    except Corrupt as error:
        # Its partitions are not known any more, so it cannot be finished. Not NotDone: a retry
        # does not mend it.
        raise Unavailable(
            f"transactional id {transactional_id!r} cannot be read: {error}"
        ) from None
