"""What an append does to the open transactions of its partition. Pure."""

from collections.abc import Mapping, Sequence

from samsa.ports import Aborted, Claim, End, Head, NotDone
from samsa.ports.bounds import MOST_OPEN_TRANSACTIONS


def follow(head: Head, base: int, claims: Sequence[Claim]) -> tuple[Head, Aborted | None]:
    """The head after the claims of an append, and the transaction that the append aborts.

    `head` is the head after the append, still with the transactions that were open before it. The
    append begins at `base`, and its claims hold.
    """
    opened, aborted = head.open_transactions, None
    for producer_id, _, _, _, opens, ends in claims:
        first = opened.get(producer_id)
        if ends is not None and first is not None:
            opened = _without(opened, producer_id)
            if ends is End.ABORT:
                stable = min(opened.values(), default=head.next_offset)
                aborted = Aborted(base, producer_id, first, stable)
        elif ends is None and opens >= 0 and first is None:
            opened = {**opened, producer_id: base + opens}
    if opened is head.open_transactions:
        return head, None
    aborted_to = aborted.marker + 1 if aborted else head.aborted_to
    return head._replace(open_transactions=opened, aborted_to=aborted_to), aborted


def raise_if_too_many(before: Head, after: Head) -> None:
    """Those that are open go on, and end."""
    count = len(after.open_transactions)
    if count > MOST_OPEN_TRANSACTIONS and count > len(before.open_transactions):
        raise NotDone(f"{MOST_OPEN_TRANSACTIONS} transactions are open")


def _without(opened: Mapping[int, int], producer_id: int) -> dict[int, int]:
    return {other: first for other, first in opened.items() if other != producer_id}
