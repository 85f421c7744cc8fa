"""The heads of a simulation: `ports.heads.HeadStore` in memory, by DynamoDB's conditions.

Each call is one atomic step, which happens or not. What goes wrong on the way to it, or back, is
decided elsewhere (`process.py`).
"""

from collections.abc import Mapping

from samsa.ports import Aborted, Bound, Claim, Partition
from samsa.ports.heads import (
    MOST_CLAIMS,
    MOST_REMOVED,
    HeadClaim,
    HeadProducer,
    HeadState,
    HeadUpdate,
)

from .items import Item, Items


class HeadCalls(Items):
    def head_state(self, partition: Partition) -> HeadState:
        return self.item(partition).state()

    def update_head(self, partition: Partition, update: HeadUpdate) -> tuple[HeadState, bool]:
        item = self.item(partition)
        assert len(update.claims) <= MOST_CLAIMS
        assert len(update.settled) <= MOST_REMOVED
        if not (
            update.entry.id not in item.tail
            and self._claims_hold(item, update)
            and self._is_not_swept(item, update)
            and self._are_same(item, update.settled)
        ):
            return item.state(), False
        base = item.next_offset
        entry = update.entry._replace(base=base, shift=base - update.entry.base)
        item.next_offset = entry.end
        item.tail[entry.id] = entry
        for one in update.claims:
            self._claim(item, one, base, update.now_ms)
        self._truth.committed(partition, entry)
        self._remove(partition, item, update.settled)
        return item.state(), True

    def _claim(self, item: Item, one: HeadClaim, base: int, now_ms: int) -> None:
        claim = one.claim
        self._bind_in_head(item, claim, base, now_ms)
        if one.opens is not None:
            item.open[claim.producer_id] = base + one.opens
        if one.closes:
            del item.open[claim.producer_id]
        if one.aborted is not None:
            item.abort(Aborted(base, claim.producer_id, *one.aborted), in_tail=True)

    def _bind_in_head(self, item: Item, claim: Claim, base: int, now_ms: int) -> None:
        bound = Bound(claim.after + 1, claim.state, base)
        used_at, expires_at = now_ms // 1000 * 1000, claim.expires_at
        item.in_head[claim.producer_id] = HeadProducer(bound, used_at, expires_at)

    def _claims_hold(self, item: Item, update: HeadUpdate) -> bool:
        for claim, evictions, *_ in update.claims:
            there = item.in_head.get(claim.producer_id)
            if evictions is None:
                if there is None or there.bound.version != claim.after:
                    return False
            elif there is not None or not self._none_evicted(item, evictions):
                return False
        return True

    def _none_evicted(self, item: Item, evictions: int) -> bool:
        return item.evictions == evictions

    def _is_not_swept(self, item: Item, update: HeadUpdate) -> bool:
        return update.sweeps == item.sweeps

    @staticmethod
    def _are_same(item: Item, settled: Mapping[str, int]) -> bool:
        return all(
            name not in item.tail or item.tail[name].base == settled[name] for name in settled
        )

    def _remove(self, partition: Partition, item: Item, settled: Mapping[str, int]) -> None:
        for name, base in settled.items():
            if item.tail.pop(name, None) is not None:
                item.in_tail.pop(base, None)
        if settled:
            self._truth.is_whole(partition)

    def take_out(self, partition: Partition, settled: Mapping[str, int]) -> HeadState:
        item = self.item(partition)
        if self._are_same(item, settled):
            self._remove(partition, item, settled)
        return item.state()

    def store_aborted(self, partition: Partition, aborted: Aborted) -> None:
        self.item(partition).aborted.setdefault(aborted.marker, aborted)

    def count_sweep(self, partition: Partition) -> HeadState:
        item = self.item(partition)
        item.sweeps += 1
        return item.state()

    def producer_item(self, partition: Partition, producer_id: int) -> Bound | None:
        return self.item(partition).producers.get(producer_id)

    def store_producer(
        self, partition: Partition, producer_id: int, producer: HeadProducer
    ) -> None:
        producers = self.item(partition).producers
        there, new = producers.get(producer_id), producer.bound
        if there is None or self._is_newer(new, there):
            producers[producer_id] = new

    def _is_newer(self, new: Bound, there: Bound) -> bool:
        return new.version > there.version

    def evict(self, partition: Partition, producers: Mapping[int, HeadProducer]) -> HeadState:
        item = self.item(partition)
        same = all(
            number in item.in_head and item.in_head[number].bound.version == one.bound.version
            for number, one in producers.items()
        )
        if same:
            item.evictions += 1
            for number in producers:
                del item.in_head[number]
        return item.state()
