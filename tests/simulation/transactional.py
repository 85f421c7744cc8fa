"""Transactional producers that behave as Kafka's clients do.

One of them sends the batches of a transaction to its partitions, perhaps offsets too, and commits
or aborts. What is not answered is sent again, perhaps to another process, while the first may still
be at work on it: batches, offsets, and the end. A producer that is fenced, by the time-out or by
another one with its id, begins again with a new epoch.

With version 2 each transaction has an epoch of its own, and a batch adds its partition. With
version 1 the client adds partitions itself, and the epoch goes on: only a client that has lost
count asks for a new one. Kafka's protocol tells late copies of its requests from those of its next
transaction only with version 2. So here a client of version 1 asks for a new epoch too, if the
answer to an end or to offsets was lost.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samsa.log.admit import Outcome, Refusal
from samsa.ports import Committed, End, Partition, Unavailable
from samsa.records import read_header
from samsa.records.header import TRANSACTIONAL
from samsa.transactions import (
    AddGroup,
    AddPartitions,
    Answer,
    EndTransaction,
    Init,
    Request,
    Verify,
    VerifyGroup,
)

from .client import LATER, Client, sendable
from .decisions import Label
from .process import Process

if TYPE_CHECKING:
    from .world import World

GROUP = "readers"


class Fenced(Exception):
    """The transaction was ended by somebody else, or its id has a newer producer."""


class GaveUp(Exception):
    """A batch was not acknowledged, however often it was sent."""


@dataclass(frozen=True)
class Identity:
    producer_id: int
    epoch: int


class TransactionalProducer(Client):
    def __init__(
        self,
        world: "World",
        name: str,
        transactional_id: str,
        partitions: Sequence[Partition],
        transactions: int,
    ) -> None:
        super().__init__(world, name)
        rng = world.rng
        self._id = transactional_id
        self._partitions = partitions
        self._transactions = transactions
        drawn = rng.choice((1, 2, 2))
        self._version = world.setting.version or drawn
        self._timeout_ms = rng.choice((500, 3_000, 60_000))
        self._restarts = rng.choice((0.0, 0.0, 0.1))
        self._two_end = rng.choice((0.0, 0.3))
        self._me = Identity(-1, -1)
        self._sequences: dict[Partition, int] = {}
        self._is_in_doubt = False
        """With version 1: a late copy of a request may still arrive."""

    async def run(self) -> None:
        await self._begin_anew()
        for number in range(self._transactions):
            await self.think()
            label = Label(self.name, number)
            try:
                await self._transaction(label)
            except Fenced:
                self.world.paths["a transactional producer was fenced"] += 1
                await self._begin_anew()

    # Producer id and epoch

    async def _begin_anew(self) -> None:
        self._is(await self._ask(Init(self._timeout_ms)))

    async def _recover(self) -> None:
        """With version 1, to be told from late copies of what was sent before (KIP-360)."""
        me = self._me
        answer = await self._ask(Init(self._timeout_ms, me.producer_id, me.epoch))
        if answer.error is not None:
            await self._begin_anew()
        else:
            self._is(answer)

    def _is(self, answer: Answer) -> None:
        self.world.require(answer.error is None, f"{self.name}: {answer.error}")
        if self._me != (me := Identity(answer.producer_id, answer.epoch)):
            self._me = me
            self._sequences.clear()
        self._is_in_doubt = False

    # One transaction

    async def _transaction(self, label: Label) -> None:
        rng = self.world.rng
        places = rng.sample(self._partitions, min(len(self._partitions), rng.choice((1, 2, 2))))
        if self._version == 1:
            added = AddPartitions(*self._named, frozenset(map(tuple, places)))
            self._require_mine(await self._ask(added))
        sends = [self.world.spawn(self._send(label, at), Fenced, GaveUp) for at in places]
        await asyncio.wait(sends)
        failures = {type(send.exception()) for send in sends}
        if Fenced in failures:
            raise Fenced
        may_commit = not (rng.random() < 0.4 and await self._offsets_are_in_doubt(label))
        if rng.random() < self._restarts:
            self.world.paths["a transactional producer started again"] += 1
            await self._begin_anew()
            return
        all_sent = failures == {type(None)}
        self._is_in_doubt |= not all_sent
        commits = all_sent and rng.random() < 0.7 and may_commit
        await self._end(label, End.COMMIT if commits else End.ABORT)
        if self._version == 1 and self._is_in_doubt:
            await self._recover()

    @property
    def _named(self) -> tuple[int, int]:
        return self._me.producer_id, self._me.epoch

    async def _end(self, label: Label, end: End) -> None:
        wanted = EndTransaction(*self._named, end is End.COMMIT, bumps=self._version == 2)
        if wanted.commit:
            self.world.truth.decisions.wanted(label)
        if self.world.rng.random() < self._two_end:
            process = await self.world.pick()
            self.world.spawn(process.coordinator.ask(self._id, wanted))
            self._is_in_doubt = True
        answer = await self._ask(wanted)
        self._require_mine(answer)
        what = "committed" if end is End.COMMIT else "aborted"
        self.world.paths[f"a transaction was {what}"] += 1
        ended = self.world.truth.decisions.ended
        self.world.judged(lambda: ended(label, end))
        doubt = self._is_in_doubt
        self._is(answer)
        self._is_in_doubt = doubt

    async def _ask(self, request: Request) -> Answer:
        """Any process answers; it is asked again until one does."""
        while True:
            process = await self.world.pick()
            work = process.coordinator.ask(self._id, request)
            try:
                answer: Answer = await self.answer(process, self.world.spawn(work))
            except LATER:
                self._is_in_doubt = True
                await self.think(0.2)
            else:
                self.world.note(self.name, "is told", request, answer)
                return answer

    def _require_mine(self, answer: Answer) -> None:
        if answer.error is not None:
            raise Fenced

    # Batches

    async def _send(self, label: Label, partition: Partition) -> None:
        rng = self.world.rng
        waiting = deque(self._batch(label, partition) for _ in range(rng.choice((1, 1, 2, 3))))
        for _ in range(rng.choice((1, 4, 20))):
            process = await self.world.pick()
            futures = self.world.spawn(self._produce(process, partition, list(waiting)), Fenced)
            try:
                outcomes: list[Outcome | None] = await self.answer(process, futures)
            except LATER:
                await self.think(0.2)
                continue
            self._heard(partition, waiting, outcomes)
            if not waiting:
                return
            await self.think(0.1)
        raise GaveUp

    def _batch(self, label: Label, partition: Partition) -> bytes:
        records = self.world.rng.choice((1, 1, 2))
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = sequence + records
        producer_id, epoch = self._named
        data = self.world.rules.batch_of(
            f"{label.client}/{label.number}/{partition.number}/{sequence}",
            records,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            attributes=TRANSACTIONAL,
        )
        self.world.truth.decisions.belongs(read_header(data).crc, label, self._version)
        return data

    def _heard(
        self, partition: Partition, waiting: deque[bytes], outcomes: Sequence[Outcome | None]
    ) -> None:
        refusals = []
        for data, outcome in zip(list(waiting), outcomes, strict=True):
            if outcome is not None and outcome.refusal is None:
                self.world.acknowledged(partition, outcome.offset, read_header(data))
                waiting.remove(data)
            elif outcome is not None:
                refusals.append(outcome.refusal)
        if {Refusal.STALE_EPOCH, Refusal.ENDED} & set(refusals):
            raise Fenced
        if waiting and len(refusals) == len(outcomes):
            why = refusals[0]
            self.world.require(why is Refusal.TRY_AGAIN, f"{self.name}: its first batch is {why}")

    async def _produce(
        self, process: Process, partition: Partition, batches: Sequence[bytes]
    ) -> list[Outcome | None]:
        """What a process does for a produce request."""
        serial = await self._entered(process, partition)
        appends = [
            process.log.append(partition, sendable(data)._replace(serial=serial))
            for data in batches
        ]
        for one in appends:
            self.world.watch(one)
        await asyncio.wait(appends)
        return [None if isinstance(a.exception(), Unavailable) else a.result() for a in appends]

    async def _entered(self, process: Process, partition: Partition) -> int:
        """The serial of the transaction that the partition is in. Version 2 adds it; version 1
        looks, and not at an old view."""
        coordinator, adds, me = process.coordinator, self._version == 2, self._named
        serial = coordinator.entered(self._id, *me, [partition], is_unique=adds)
        if not serial:
            kind = AddPartitions if adds else Verify
            wanted = kind(*me, frozenset([tuple(partition)]))
            answer = await coordinator.ask(self._id, wanted, fresh=not adds)
            self._require_mine(answer)
            serial = answer.serial
        return serial

    # Offsets

    async def _offsets_are_in_doubt(self, label: Label) -> bool:
        """With version 1, a late copy may begin the next transaction, and the end that is sent
        again would commit it."""
        before, self._is_in_doubt = self._is_in_doubt, False
        await self._commit_offsets(label)
        found = self._is_in_doubt
        self._is_in_doubt |= before
        return found and self._version == 1

    async def _commit_offsets(self, label: Label) -> None:
        """Of the topic that has this client's name, and the transaction's number as the offset."""
        if self._version == 1:
            self._require_mine(await self._ask(AddGroup(*self._named, GROUP)))
        while True:
            process = await self.world.pick()
            work = self.world.spawn(self._offsets_in(process, label), Fenced)
            try:
                done = await self.answer(process, work)
            except LATER:
                self._is_in_doubt = True
                await self.think(0.2)
            else:
                if not done:
                    raise Fenced
                self.world.paths["offsets were added to a transaction"] += 1
                return

    async def _offsets_in(self, process: Process, label: Label) -> bool:
        """What a process does for a TxnOffsetCommit."""
        adds = self._version == 2
        wanted = (AddGroup if adds else VerifyGroup)(*self._named, GROUP)
        answer = await process.coordinator.ask(self._id, wanted, fresh=not adds)
        self._require_mine(answer)
        offsets = {(label.client, 0): Committed(label.number, -1, "", process.now_ms(), 0)}
        add = process.coordinator.add_offsets
        return await add(GROUP, self._me.producer_id, answer.serial, offsets)


class TransactionJanitor(Client):
    """Ends what has timed out, and finishes what others have left."""

    async def run(self) -> None:
        rest = self.world.rng.choice((0.3, 1.0))
        while not self.world.finished:
            await self.think(rest)
            await self.tend_one(await self.world.pick())

    async def tend_one(self, process: Process) -> None:
        names = self.world.transactions.transactional_ids()
        if names:
            work = process.coordinator.tend(self.world.rng.choice(names), FOR_EVER_MS)
            try:
                await self.answer(process, self.world.spawn(work))
            except LATER:
                return


FOR_EVER_MS = 1 << 48
LAST_LOOKS = 3


class LastJanitor(TransactionJanitor):
    """When all is over and every time-out has passed: nothing stays open."""

    async def run(self) -> None:
        await asyncio.sleep(120)
        process = await self.world.pick()
        for name in self.world.transactions.transactional_ids():
            await process.coordinator.tend(name, FOR_EVER_MS)
        items = map(self.world.ledger.item, self.world.partitions)
        left = {producer_id for item in items for producer_id in item.open}
        finished, pending = self.world.truth.decisions.finished, self.world.transactions.pending
        self.world.judged(lambda: finished(left, pending(GROUP)))
