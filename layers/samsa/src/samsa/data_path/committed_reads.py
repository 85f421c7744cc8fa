"""Read_committed readers and the transactions that hold them back.

A reader may be held back by a transaction whose client is gone. A process that died may have left
it decided and not finished, or its time may be up and it was not aborted yet. So a reader that
waits looks after the transactions before it: no reader waits longer than a transaction's timeout.
So does one that asks where the stable end is, which may fetch nothing while it has not moved.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from samsa.broker.broker import Broker
from samsa.ports import Head, Partition, Unavailable, UnknownPartition

from .reads import Read

AT_ONCE = 16
"""Transactions of a partition that one reader looks after: the oldest ones hold it back."""


def is_held_back(read: Read) -> bool:
    """Whether it gets nothing while a transaction is open."""
    return read.plan is not None and bool(read.plan.waits_for) and not read.plan.size


async def settle(reads: Sequence[Read], broker: Broker) -> int | None:
    """Finish or abort what holds these reads back, if it may be. Returns how long the reader may
    wait before it looks again (ms); None if nothing holds it back."""
    oldest: dict[int, int] = {}
    for read in reads:
        if read.plan is not None and read.plan.waits_for:
            oldest.update(_oldest(read.plan.waits_for))
    if not oldest:
        return None
    try:
        again_at = await broker.transactions.settle(oldest)
    except (Unavailable, UnknownPartition):
        return broker.rules.look_at_transactions_ms
    return max(1, again_at - broker.stores.clock.now_ms())


async def settle_before(partition: Partition, broker: Broker) -> Head:
    """The same for one that asks for offsets. Returns the head as it was before. Raises Unavailable
    if it cannot be read; UnknownPartition."""
    head = await broker.log.head(partition)
    if head.open_transactions:
        with suppress(Unavailable, UnknownPartition):
            await broker.transactions.settle(_oldest(head.open_transactions))
    return head


def _oldest(open_transactions: Mapping[int, int]) -> dict[int, int]:
    """First offsets by producer."""
    first_offsets = sorted((first, one) for one, first in open_transactions.items())[:AT_ONCE]
    return {producer_id: first for first, producer_id in first_offsets}
