"""Admission: decides which batches of idempotent producers may be committed.

`screen` answers batches that need no commit (duplicates, refusals) and drafts the producer's next
state for the others. `claims` turns the drafts into claims: each holds only if the producer's state
is still the one that was judged. A lost claim means that another process serves the same producer;
the batches are then screened again.

This process remembers the states that it committed itself: a producer that stays on one connection
costs no read.
"""

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from samsa.bounded import Bounded
from samsa.ports import Claim, Partition
from samsa.records.batch import BatchHeader

from .layout import Batch
from .producers import ProducerDraft, ProducerState, Verdict, accept, judge
from .stores import Stores

REMEMBERED = 100_000
EXCUSED_MS = 60_000
"""For this long after a failure, or after the first gap of a producer that is new to this process,
a gap in its sequence numbers counts as our fault: the client is told to try again."""


class Refusal(Enum):
    OUT_OF_ORDER = "out of order"
    STALE_EPOCH = "stale epoch"
    UNKNOWN_PRODUCER = "unknown producer"
    TRY_AGAIN = "try again"
    ENDED = "its transaction has ended"


class Outcome(NamedTuple):
    offset: int
    log_start: int
    refusal: Refusal | None = None


class KnownState(NamedTuple):
    """A state that this process stored itself."""

    version: int
    state: ProducerState


class Planned(NamedTuple):
    version: int
    draft: ProducerDraft
    members: list[int]
    """Numbers of the append's batches that are in the draft, in order."""
    first_transactional: int | None = None
    """The number of the first of them that belongs to a transaction."""


Numbered = tuple[int, Batch]
"""A batch, and its number in the append."""


class Screening(NamedTuple):
    admitted: list[int]
    settled: dict[int, Outcome]
    planned: dict[int, Planned]
    """By producer id."""


_REFUSALS = {
    Verdict.OUT_OF_ORDER: Refusal.OUT_OF_ORDER,
    Verdict.STALE_EPOCH: Refusal.STALE_EPOCH,
    Verdict.UNKNOWN: Refusal.UNKNOWN_PRODUCER,
    Verdict.LATER: Refusal.TRY_AGAIN,
    Verdict.ENDED: Refusal.ENDED,
}


def refused(why: Refusal) -> Outcome:
    return Outcome(-1, -1, why)


class Producers:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._known: OrderedDict[tuple[Partition, int], KnownState] = OrderedDict()
        self._failed = Bounded[tuple[Partition, int], int](REMEMBERED)
        """When a producer was last told to send a batch again, or first came here with a gap."""

    async def screen(self, partition: Partition, batches: list[Numbered]) -> Screening:
        screening = Screening([], {}, {})
        by_producer: dict[int, list[Numbered]] = {}
        for numbered in batches:
            producer_id = numbered[1].header.producer_id
            if producer_id < 0:
                screening.admitted.append(numbered[0])
            else:
                by_producer.setdefault(producer_id, []).append(numbered)
        for producer_id, mine in by_producer.items():
            planned = self._follow_known(partition, producer_id, mine)
            if planned is None:
                planned = await self._judge_all(partition, producer_id, mine, screening.settled)
            if planned is not None:
                screening.planned[producer_id] = planned
                screening.admitted.extend(planned.members)
        screening.admitted.sort()
        return screening

    def _follow_known(
        self, partition: Partition, producer_id: int, mine: list[Numbered]
    ) -> Planned | None:
        """The fast path: every batch follows the state that this process stored last."""
        known = self._known.get((partition, producer_id))
        if known is None:
            return None
        draft: ProducerDraft | None = ProducerDraft.of(known.state)
        for _, (header, _, serial, _) in mine:
            if judge(draft, header, serial) is not Verdict.NEXT:
                return None
            draft = accept(draft, header)
        assert draft is not None
        return _planned(known.version, draft, mine)

    async def _judge_all(
        self,
        partition: Partition,
        producer_id: int,
        mine: list[Numbered],
        settled: dict[int, Outcome],
    ) -> Planned | None:
        stored = await self.stored_state(partition, producer_id)
        draft = ProducerDraft.of(stored.state) if stored else None
        members: list[Numbered] = []
        for number, batch in mine:
            verdict = judge(draft, batch.header, batch.serial)
            if verdict is Verdict.NEXT:
                draft = accept(draft, batch.header)
                members.append((number, batch))
            else:
                key = (partition, producer_id)
                settled[number] = self._settled(key, verdict, draft, batch.header)
        return _planned(stored.version if stored else 0, draft, members) if draft else None

    async def stored_state(self, partition: Partition, producer_id: int) -> KnownState | None:
        bound = await self._stores.retry(self._stores.journal.producer, partition, producer_id)
        return KnownState(bound.version, ProducerState.of(bound)) if bound else None

    async def state(self, partition: Partition, producer_id: int) -> KnownState | None:
        """The state that this process stored last, else the one in the ledger. If another process
        has stored one since, a claim that follows from it is lost."""
        known = self._known.get((partition, producer_id))
        return known or await self.stored_state(partition, producer_id)

    def _settled(
        self,
        key: tuple[Partition, int],
        verdict: Verdict,
        draft: ProducerDraft | None,
        header: BatchHeader,
    ) -> Outcome:
        if verdict is Verdict.DUPLICATE:
            entry = draft.find(header) if draft else None
            assert entry is not None
            return Outcome(entry.base, -1)
        if verdict is Verdict.UNKNOWN and key in self._failed:
            # The batch before it failed here: the client will send that one again.
            verdict = Verdict.OUT_OF_ORDER
        return self._excused(key, refused(_REFUSALS[verdict]))

    def _excused(self, key: tuple[Partition, int], outcome: Outcome) -> Outcome:
        """After a failed batch, the next ones are refused with TRY_AGAIN and not OUT_OF_ORDER: on
        that error librdkafka starts a new epoch, and repeats under it batches that may be stored
        already. The same for a producer that is new here: it may have failed elsewhere."""
        if outcome.refusal is Refusal.TRY_AGAIN:
            self._note_failure(key)
        elif outcome.refusal is Refusal.OUT_OF_ORDER:
            if key not in self._known and key not in self._failed:
                self._note_failure(key)
            if self._failed_lately(key):
                return refused(Refusal.TRY_AGAIN)
        return outcome

    def _failed_lately(self, key: tuple[Partition, int]) -> bool:
        since = self._failed.get(key)
        return since is not None and abs(self._stores.clock.now_ms() - since) < EXCUSED_MS

    def claims(
        self, planned: dict[int, Planned], deltas: dict[int, int]
    ) -> tuple[list[Claim], dict[int, KnownState]]:
        """The claims for a commit, and the states by producer id that are true once it has its
        base."""
        if not planned:
            return [], {}
        claims: list[Claim] = []
        known: dict[int, KnownState] = {}
        expires_at = self._stores.clock.now_ms() + self._stores.limits.producer_expiry_ms
        for producer_id, plan in planned.items():
            state = plan.draft.state([deltas[number] for number in plan.members])
            first = plan.first_transactional
            opens = -1 if first is None else deltas[first]
            claims.append(Claim(producer_id, self.packed(state), plan.version, expires_at, opens))
            known[producer_id] = KnownState(plan.version + 1, state)
        return claims, known

    def packed(self, state: ProducerState) -> bytes:
        return state.pack_small() if self._stores.journal.remote else state.pack()

    def lost(self, partition: Partition, producer_ids: Iterable[int]) -> None:
        """Forget these states: another process serves the same producers, so they are old."""
        for producer_id in producer_ids:
            self._known.pop((partition, producer_id), None)

    def stored(self, partition: Partition, known: dict[int, KnownState], base: int) -> None:
        """Remember what this process committed, by producer id."""
        for producer_id, one in known.items():
            self._remember((partition, producer_id), KnownState(one.version, one.state.at(base)))

    def _remember(self, key: tuple[Partition, int], known: KnownState) -> None:
        # As few look-ups as possible: each hashes a UUID in Python.
        self._known[key] = known
        if self._failed:
            self._failed.pop(key, None)
        if len(self._known) > REMEMBERED // 2:
            self._known.move_to_end(key)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def failed(self, partition: Partition, batches: Iterable[Batch]) -> None:
        for batch in batches:
            producer_id = batch.header.producer_id
            if producer_id >= 0:
                self._known.pop((partition, producer_id), None)
                self._note_failure((partition, producer_id))

    def _note_failure(self, key: tuple[Partition, int]) -> None:
        self._failed.keep(key, self._stores.clock.now_ms())


def _planned(version: int, draft: ProducerDraft, members: list[Numbered]) -> Planned | None:
    if not members:
        return None
    first = next((number for number, batch in members if batch.serial), None)
    return Planned(version, draft, [number for number, _ in members], first)
