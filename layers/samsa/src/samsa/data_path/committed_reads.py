"""Read_committed readers and the transactions that hold them back.

A reader may be held back by a transaction whose client is gone. A process that died may have left
it decided and not finished, or its time may be up and it was not aborted yet. So a reader that
waits looks after the transactions before it: no reader waits longer than a transaction's timeout.
"""

from collections.abc import Sequence

from samsa.broker.broker import Broker
from samsa.ports import Unavailable, UnknownPartition

from .reads import Read

AT_ONCE = 16
"""Transactions of a partition that one reader looks after: the oldest ones hold it back."""


async def settle(reads: Sequence[Read], broker: Broker) -> int | None:
    """Finish or abort what holds these reads back, if it may be. Returns how long the reader may
    wait before it looks again (ms); None if nothing holds it back."""
    oldest: dict[int, int] = {}
    for read in reads:
        if read.plan is not None and read.plan.waits_for:
            some = sorted((first, one) for one, first in read.plan.waits_for.items())[:AT_ONCE]
            oldest.update((producer_id, first) for first, producer_id in some)
    if not oldest:
        return None
    try:
        again_at = await broker.transactions.settle(oldest)
    except (Unavailable, UnknownPartition):
        return broker.rules.look_at_transactions_ms
    return max(1, again_at - broker.stores.clock.now_ms())
