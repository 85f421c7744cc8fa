"""Rules of transactions to take out, one at a time."""

from dataclasses import replace as changed
from typing import Any

from samsa.aws import commit as aws_commit
from samsa.coordinator.transactions import TransactionCoordinator
from samsa.log.admit import judge
from samsa.log.append import NO_EPOCH, Marker
from samsa.log.core import Log
from samsa.log.producers import ProducerState, Verdict
from samsa.ports import (
    Aborted,
    Claim,
    End,
    Head,
    Partition,
    PendingOffsets,
    Unavailable,
)
from samsa.ports.heads import HeadClaim, HeadState, HeadUpdate
from samsa.records import BatchHeader

from .broken_log import far
from .items import Item
from .ledger import SimLedger
from .rules import BROKEN, Rules, instead, replace
from .setting import Setting
from .transactions import SimGroup, SimTransactions

FAR_END = 1 << 60


def transactional(setting: Setting) -> Setting:
    """Little else happens."""
    return changed(
        setting, transactional=3, rivals=False, idempotent=0, grouped=0, partitions=2, processes=3
    )


def far_transactional(setting: Setting) -> Setting:
    return far(transactional(setting))


def old(setting: Setting) -> Setting:
    """Each producer keeps its epoch, and wants its transactions to end soon."""
    return changed(transactional(setting), version=1)


# A partition's markers


def judge_without_serial(draft: Any, header: BatchHeader, _: int = 0) -> Verdict:
    return judge(draft, header)


BROKEN["append whatever transaction has ended"] = Rules(
    tune=old, patches={"samsa.log.admit.judge": judge_without_serial}
)


class MarkersClaimNothing(SimLedger):
    def _claims_hold(self, item: Item, update: HeadUpdate) -> bool:
        data = [one for one in update.claims if one.claim.ends is None]
        return super()._claims_hold(item, update._replace(claims=data))

    def _holds(self, item: Item, claim: Claim) -> bool:
        return claim.ends is not None or super()._holds(item, claim)

    def _claim(self, item: Item, one: HeadClaim, base: int, now_ms: int) -> None:
        if one.claim.producer_id not in item.open:
            one = one._replace(closes=False)
        super()._claim(item, one, base, now_ms)

    def _bind_in_head(self, item: Item, claim: Claim, base: int, now_ms: int) -> None:
        if claim.ends is None:
            super()._bind_in_head(item, claim, base, now_ms)

    def _bind(self, item: Item, claim: Claim, base: int) -> None:
        if claim.ends is None:
            super()._bind(item, claim, base)


BROKEN["mark without claiming the producer's state"] = Rules(
    ledger=MarkersClaimNothing, tune=transactional
)


@instead("mark without looking whether there is a marker", transactional)
def mark_again(log: Log) -> None:
    appender = log.appender

    async def mark(_: Any, partition: Partition, wanted: Marker) -> bool:
        known = await appender._producers.state(partition, wanted.producer_id)
        state = known.state if known else ProducerState(NO_EPOCH, ())
        after = state.after_marker(wanted.epoch, wanted.serial)
        done = await appender._mark(partition, wanted, known.version if known else 0, after)
        return done or await mark(_, partition, wanted)

    replace(appender, "mark", mark)


@instead("mark only partitions that have data", transactional)
def mark_data_only(log: Log) -> None:
    async def mark(original: Any, partition: Partition, wanted: Marker) -> bool:
        head = await log.head(partition)
        if wanted.producer_id not in head.open_transactions:
            return False
        done: bool = await original(partition, wanted)
        return done

    replace(log.appender, "mark", mark)


# What readers are told


class DropsAborted(SimLedger):
    def store_aborted(self, partition: Partition, aborted: Aborted) -> None:
        """Its marker leaves the head, and nobody knows of it any more."""


BROKEN["settle without storing what was aborted"] = Rules(
    ledger=DropsAborted, tune=far_transactional
)


def claim_alone(claim: Claim, state: HeadState) -> HeadClaim:
    """In place of `head_claim`: it knows of no other open transaction."""
    own = {claim.producer_id: state.head.open_transactions.get(claim.producer_id, -1)}
    open_transactions = {one: first for one, first in own.items() if first >= 0}
    head = state.head._replace(open_transactions=open_transactions)
    return aws_head_claim(claim, state._replace(head=head))


aws_head_claim = aws_commit.head_claim
BROKEN["abort without looking at other open transactions"] = Rules(
    tune=far_transactional, patches={"samsa.aws.commit.head_claim": claim_alone}
)


def claim_anew(claim: Claim, state: HeadState) -> HeadClaim:
    """In place of `head_claim`: each batch opens the transaction."""
    made = aws_head_claim(claim, state)
    return made._replace(opens=claim.opens) if claim.opens >= 0 else made


BROKEN["open a transaction again with its next batch"] = Rules(
    tune=far_transactional, patches={"samsa.aws.commit.head_claim": claim_anew}
)
BROKEN["read committed data past the stable end"] = Rules(
    tune=transactional,
    patches={"samsa.ports.partitions.Head.stable_end": property(lambda head: head.next_offset)},
)


@instead("look for what was aborted in the index only", far_transactional)
def index_only(log: Log) -> None:
    async def aborted(_: Any, partition: Partition, offset: int, end: int, head: Head) -> Any:
        return await log._stores.ledger.aborted(partition, offset, end)

    replace(log.reader, "aborted", aborted)


@instead("look for what was aborted in the head only", far_transactional)
def head_only(log: Log) -> None:
    async def aborted(_: Any, partition: Partition, offset: int, end: int, head: Head) -> Any:
        return [one for one in head.aborted if one.marker >= offset and one.first < end]

    replace(log.reader, "aborted", aborted)


@instead("look for what was aborted before the head", far_transactional)
def index_first(log: Log) -> None:
    early: dict[tuple[Partition, int], list[Aborted]] = {}

    async def plan(original: Any, partition: Partition, offset: int, *rest: Any) -> Any:
        found = await log._stores.ledger.aborted(partition, offset, FAR_END)
        early[partition, offset] = found
        return await original(partition, offset, *rest)

    async def aborted(_: Any, partition: Partition, offset: int, end: int, head: Head) -> Any:
        found = {*early[partition, offset], *head.aborted}
        return sorted(one for one in found if one.marker >= offset and one.first < end)

    replace(log.reader, "plan", plan)
    replace(log.reader, "aborted", aborted)


# The coordinator


def take_any_partition(coordinator: TransactionCoordinator) -> None:
    entered = coordinator.entered

    def known(name: str, producer_id: int, epoch: int, _: Any, is_unique: bool) -> int:
        return entered(name, producer_id, epoch, (), is_unique)

    coordinator.entered = known  # type: ignore[method-assign, assignment]


BROKEN["take any partition for one of the transaction"] = Rules(
    tune=transactional, break_coordinator=take_any_partition
)


def decide_after_the_markers(coordinator: TransactionCoordinator) -> None:
    async def put(original: Any, name: str, known: Any, after: Any) -> bool:
        if after.is_decided:
            end = End.COMMIT if "Commit" in after.state.value else End.ABORT
            marker = Marker(after.producer_id, after.marker_epoch, after.serial, end)
            for place in sorted(after.partitions):
                await coordinator._mark(Partition(*place), marker)
        done: bool = await original(name, known, after)
        return done

    replace(coordinator, "_put", put)


def complete_without_all_markers(coordinator: TransactionCoordinator) -> None:
    async def mark(original: Any, partition: Partition, marker: Marker) -> None:
        try:
            await coordinator._log.mark(partition, marker)
        except Unavailable:
            return

    replace(coordinator, "_mark", mark)


def complete_before_the_offsets(coordinator: TransactionCoordinator) -> None:
    async def end_offsets(original: Any, group_id: str, marker: Marker) -> None:
        coordinator._stores.clock.world.spawn(original(group_id, marker))  # type: ignore[attr-defined]

    replace(coordinator, "_end_offsets", end_offsets)


class ForgetsTheVersion(SimTransactions):
    def _is_after(self, there: Any, after: int) -> bool:
        return True


class EndsAnyPending(SimTransactions):
    def _is_open(self, group: SimGroup, producer_id: int, serial: int) -> bool:
        return True

    def _is_same(self, there: PendingOffsets, serial: int) -> bool:
        return True


BROKEN["decide after the markers"] = Rules(
    tune=transactional, break_coordinator=decide_after_the_markers
)
BROKEN["complete without all markers"] = Rules(
    tune=transactional, break_coordinator=complete_without_all_markers
)
BROKEN["complete before the offsets count"] = Rules(
    tune=transactional, break_coordinator=complete_before_the_offsets
)
BROKEN["store a transaction whatever is there"] = Rules(
    tune=transactional, transactions=ForgetsTheVersion
)
BROKEN["end pending offsets whatever their serial"] = Rules(
    tune=transactional, transactions=EndsAnyPending
)
