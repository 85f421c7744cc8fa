"""Admission: an idempotent producer's batches before and while they are bound to a slot.

`screen` settles what needs no slot (duplicates, refusals) and drafts the rest; `bind` writes the
draft, with compare-and-swap, once the slot's offsets are known. In between, the log reserves. A
lost race means that another process serves the same producer: the batches then start again.

This process remembers what it confirmed itself: a producer that stays on one connection costs one
conditional write per slot and no read.
"""

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from samsa.ports import Claim, Missing, Partition
from samsa.records.batch import BatchHeader

from .producers import Draft, Entry, ProducerState, Verdict, accept, judge
from .read import Reader
from .stores import Stores
from .tokens import covers

REMEMBERED = 100_000
EXCUSED_MS = 60_000
"""How long after a failure, or after a stranger's first gap, a gap is taken to be of our making."""


class Refusal(Enum):
    OUT_OF_ORDER = "out of order"
    STALE_EPOCH = "stale epoch"
    UNKNOWN_PRODUCER = "unknown producer"
    TRY_AGAIN = "try again"


class Outcome(NamedTuple):
    offset: int
    log_start: int
    refusal: Refusal | None = None


class Fate(Enum):
    """What became of a bound batch."""

    STORED = "stored"
    OPEN = "its slot is still open"
    FILLED = "its slot was fenced"
    AGED = "below log_start, where nobody can tell"


class Known(NamedTuple):
    """A state whose every batch this process knows to be stored."""

    version: int
    state: ProducerState


class Planned(NamedTuple):
    version: int
    draft: Draft
    members: list[int]
    """Which of the append's batches it holds, in order."""


class Binding(NamedTuple):
    lost: set[int]
    """The append's batches that are not bound to this slot."""
    known: dict[int, Known]
    """By producer id: what is true once the slot is confirmed."""


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
}


def refused(why: Refusal) -> Outcome:
    return Outcome(-1, -1, why)


class Producers:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader
        self._known: OrderedDict[tuple[Partition, int], Known] = OrderedDict()
        self._failed: OrderedDict[tuple[Partition, int], int] = OrderedDict()
        """When a producer was last told to send a batch again, or came here with a gap."""

    async def screen(
        self, partition: Partition, batches: list[tuple[int, BatchHeader]]
    ) -> Screening:
        screening = Screening([], {}, {})
        by_producer: dict[int, list[tuple[int, BatchHeader]]] = {}
        for number, header in batches:
            if header.producer_id < 0:
                screening.admitted.append(number)
            else:
                by_producer.setdefault(header.producer_id, []).append((number, header))
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
        self, partition: Partition, producer_id: int, mine: list[tuple[int, BatchHeader]]
    ) -> Planned | None:
        """The plain case: every batch follows what this process stored last."""
        known = self._known.get((partition, producer_id))
        if known is None:
            return None
        draft: Draft | None = Draft.of(known.state)
        for _, header in mine:
            if judge(draft, header) is not Verdict.NEXT:
                return None
            draft = accept(draft, header)
        assert draft is not None
        return Planned(known.version, draft, [number for number, _ in mine])

    async def _judge_all(
        self,
        partition: Partition,
        producer_id: int,
        mine: list[tuple[int, BatchHeader]],
        settled: dict[int, Outcome],
    ) -> Planned | None:
        bound = await self._stores.insist(self._stores.ledger.producer, partition, producer_id)
        version = bound.version if bound else 0
        draft = Draft.of(ProducerState.unpack(bound.state) if bound else None)
        members: list[int] = []
        for number, header in mine:
            outcome, draft = await self._judge(partition, version, draft, header)
            if outcome is None:
                members.append(number)
            else:
                settled[number] = self._excused((partition, producer_id), outcome)
        return Planned(version, draft, members) if draft and members else None

    async def _judge(
        self, partition: Partition, version: int, draft: Draft | None, header: BatchHeader
    ) -> tuple[Outcome | None, Draft | None]:
        """None as the outcome: the batch was taken into the draft."""
        verdict = judge(draft, header)
        if verdict is Verdict.NEXT:
            refusal = await self._may_follow(partition, version, draft, header)
            return (refused(refusal), draft) if refusal else (None, accept(draft, header))
        if verdict is Verdict.DUPLICATE:
            assert draft is not None
            return await self._duplicate(partition, version, draft, header), draft
        if verdict is Verdict.UNKNOWN and (partition, header.producer_id) in self._failed:
            # The batch before failed here, unbound: the client is about to send it again.
            return refused(Refusal.OUT_OF_ORDER), draft
        return refused(_REFUSALS[verdict]), draft

    def _excused(self, key: tuple[Partition, int], outcome: Outcome) -> Outcome:
        """What follows a batch that failed is too early, and not out of order: on that error
        librdkafka starts a new epoch, and sends again under it what may be stored already. Of a
        producer that this process has not served, nobody here knows what failed elsewhere."""
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

    async def _may_follow(
        self, partition: Partition, version: int, draft: Draft | None, header: BatchHeader
    ) -> Refusal | None:
        """The batch before must be stored, else it could be overtaken."""
        if draft is None or draft.new or not draft.kept or header.producer_epoch > draft.epoch:
            return None
        fate = await self._fate(partition, version, draft.kept[-1], header)
        if fate is Fate.AGED:
            return Refusal.UNKNOWN_PRODUCER
        return None if fate is Fate.STORED else Refusal.OUT_OF_ORDER

    async def _duplicate(
        self, partition: Partition, version: int, draft: Draft, header: BatchHeader
    ) -> Outcome | None:
        entry = draft.find(header)
        assert entry is not None
        if entry.slot != draft.kept[-1].slot:
            return Outcome(entry.base, -1)  # else what came after it could not have been bound
        fate = await self._fate(partition, version, entry, header)
        if fate is Fate.STORED:
            return Outcome(entry.base, -1)
        if fate is Fate.AGED:
            return refused(Refusal.UNKNOWN_PRODUCER)
        if fate is Fate.OPEN or draft.new:
            return refused(Refusal.TRY_AGAIN)
        at = draft.kept.index(entry)
        if at and draft.kept[at - 1].slot == entry.slot:
            # Its predecessor was in the same fenced slot, and must come first.
            return refused(Refusal.OUT_OF_ORDER)
        draft.rebind(entry, header)
        return None

    async def _fate(
        self, partition: Partition, version: int, entry: Entry, header: BatchHeader
    ) -> Fate:
        known = self._known.get((partition, header.producer_id))
        if known is not None and known.version == version:
            return Fate.STORED
        head = await self._stores.insist(self._reader.head, partition)
        if entry.base < head.log_start:
            return Fate.AGED
        if any(covers(token, base, entry.base) for token, base in head.inflight.items()):
            return Fate.OPEN
        try:
            stored = await self._stores.insist(
                self._reader.batch_at, partition, entry.base, entry.slot
            )
        except Missing:
            same = False
        else:
            ours = (header.producer_id, header.producer_epoch, entry.first)
            same = (stored.producer_id, stored.producer_epoch, stored.base_sequence) == ours
        if not await self._in_log(partition, entry):
            return Fate.AGED  # once it is swept, someone slow may put anything there
        return Fate.STORED if same else Fate.FILLED

    async def _in_log(self, partition: Partition, entry: Entry) -> bool:
        head = await self._stores.insist(self._stores.ledger.head, partition)
        return entry.base >= head.log_start

    async def bind(
        self, partition: Partition, planned: dict[int, Planned], bases: dict[int, int], slot: int
    ) -> Binding:
        """Write each draft. Those that lose their race, or came too early, start again."""
        binding = Binding(set(), {})
        for producer_id, plan in planned.items():
            known = await self._bind(partition, producer_id, plan, bases, slot)
            if known is None:
                self._known.pop((partition, producer_id), None)
                binding.lost.update(plan.members)
            else:
                binding.known[producer_id] = known
        return binding

    async def _bind(
        self,
        partition: Partition,
        producer_id: int,
        plan: Planned,
        bases: dict[int, int],
        slot: int,
    ) -> Known | None:
        if plan.draft.kept and plan.draft.kept[-1].base >= slot:
            return None  # this slot was reserved before the one it must follow
        claim, known = self._claim(producer_id, plan, bases, slot)
        bound = await self._stores.insist(self._stores.ledger.bind, partition, *claim)
        return known if bound else None

    def _claim(
        self, producer_id: int, plan: Planned, bases: dict[int, int], slot: int
    ) -> tuple[Claim, Known]:
        state = plan.draft.bound([bases[number] for number in plan.members], slot)
        expires_at = self._stores.clock.now_ms() + self._stores.limits.producer_expiry_ms
        claim = Claim(producer_id, state.pack(), plan.version, expires_at)
        return claim, Known(plan.version + 1, state)

    def claims(
        self, planned: dict[int, Planned], bases: dict[int, int], slot: int
    ) -> tuple[list[Claim], dict[int, Known]]:
        """What `bind` would write, for who binds and stores in one step; and what is true then."""
        claims: list[Claim] = []
        known: dict[int, Known] = {}
        for producer_id, plan in planned.items():
            claim, known[producer_id] = self._claim(producer_id, plan, bases, slot)
            claims.append(claim)
        return claims, known

    def forget(self, partition: Partition, producer_ids: Iterable[int]) -> None:
        """Another process serves them as well: what is known here is old."""
        for producer_id in producer_ids:
            self._known.pop((partition, producer_id), None)

    def stored(self, partition: Partition, known: dict[int, Known]) -> None:
        """Remember what this process saw confirmed, by producer id."""
        for producer_id, one in known.items():
            self._remember((partition, producer_id), one)

    def _remember(self, key: tuple[Partition, int], known: Known) -> None:
        # Each look-up hashes a UUID in Python: only what is needed.
        self._known[key] = known
        if self._failed:
            self._failed.pop(key, None)
        if len(self._known) > REMEMBERED // 2:
            self._known.move_to_end(key)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def failed(self, partition: Partition, headers: list[BatchHeader]) -> None:
        for header in headers:
            if header.producer_id >= 0:
                self._known.pop((partition, header.producer_id), None)
                self._note_failure((partition, header.producer_id))

    def _note_failure(self, key: tuple[Partition, int]) -> None:
        self._failed[key] = self._stores.clock.now_ms()
        self._failed.move_to_end(key)
        if len(self._failed) > REMEMBERED:
            self._failed.popitem(last=False)
