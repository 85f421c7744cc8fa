"""The commit of a simulated SQLite ledger: one transaction, which also indexes the append."""

from collections.abc import Sequence

from samsa.local.sqlite import SweepsMoved
from samsa.ports import Aborted, Bound, Claim, CommitResult, End, Extent, Partition

from .items import Item, Items


class RowCalls(Items):
    def commit(
        self,
        partition: Partition,
        extent: Extent,
        key: str,
        start: int,
        claims: Sequence[Claim],
        sweeps: int | None = None,
    ) -> CommitResult:
        item = self.item(partition)
        if not self._is_unswept(item, sweeps):
            raise SweepsMoved
        lost = tuple(claim.producer_id for claim in claims if not self._holds(item, claim))
        if lost:
            return CommitResult(item.head(), None, lost)
        base = item.next_offset
        shift = base - extent.base
        placed = extent._replace(base=base, shift=shift, key=key, start=start)
        item.next_offset = placed.end
        for claim in claims:
            self._bind(item, claim, base)
            self._open_or_end(item, claim, base)
        item.add(placed)
        self._truth.committed(partition, placed)
        return CommitResult(item.head(), base)

    def _bind(self, item: Item, claim: Claim, base: int) -> None:
        item.producers[claim.producer_id] = Bound(claim.after + 1, claim.state, base)

    @staticmethod
    def _open_or_end(item: Item, claim: Claim, base: int) -> None:
        if claim.opens >= 0:
            item.open.setdefault(claim.producer_id, base + claim.opens)
        if claim.ends is not None:
            first = item.open.pop(claim.producer_id, None)
            if first is not None and claim.ends is End.ABORT:
                stable = min(item.open.values(), default=item.next_offset)
                aborted = Aborted(base, claim.producer_id, first, stable)
                item.abort(aborted, in_tail=False)

    def _is_unswept(self, item: Item, sweeps: int | None) -> bool:
        return sweeps is None or sweeps == item.sweeps

    def _holds(self, item: Item, claim: Claim) -> bool:
        bound = item.producers.get(claim.producer_id)
        return (bound.version if bound else 0) == claim.after

    def sweeps(self, partition: Partition) -> int:
        return self.item(partition).sweeps

    def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        return self.item(partition).producers.get(producer_id)

    def holds(self, partition: Partition, key: str, offset: int) -> bool:
        return any(e.key == key and e.end > offset for e in self.item(partition).valid())
