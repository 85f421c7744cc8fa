"""What a process knows of the heads that it commits to: each as the last answer showed it."""

from collections import OrderedDict
from collections.abc import Sequence

from samsa.ports import Bound, Extent, Partition
from samsa.ports.bounds import OTHERS_BYTES, OTHERS_ENTRIES
from samsa.ports.heads import MOST_REMOVED, HeadState, entry_weight

MOST_KNOWN = 10_000
MOST_ITEMS = 1_000


class KnownHead:
    def __init__(self, state: HeadState) -> None:
        self.state = state
        self.own: set[str] = set()
        """Entries of the tail that this process committed, by id."""
        self.settled: dict[str, int] = {}
        """Entries of the tail that are in the index, by id, with their bases: the next commit takes
        them out."""
        self._items: dict[int, tuple[int, Bound | None]] = {}
        """Producers that were not in the head: the evictions that it had counted before the
        producer's own item was read, and what was in that."""

    def learn(self, state: HeadState) -> None:
        """Keep it unless a newer one is known: answers may come late."""
        if state.age < self.state.age:
            return
        self.state = state
        bases = {entry.id: entry.base for entry in state.head.tail}
        self.own &= bases.keys()
        self.settled = {i: base for i, base in self.settled.items() if bases.get(i) == base}

    def keep_item(self, state: HeadState, producer_id: int, bound: Bound | None) -> None:
        """Of a producer that is not in `state`, which was read before its item."""
        if len(self._items) >= MOST_ITEMS:
            self._items.clear()
        self._items[producer_id] = state.evictions, bound

    def has_item(self, state: HeadState, producer_id: int) -> bool:
        """Whether its own item is known. It does not change while the producer is not in the head
        and none is taken out."""
        return self._items.get(producer_id, (-1, None))[0] == state.evictions

    def item(self, producer_id: int) -> Bound | None:
        return self._items[producer_id][1]

    def unsettled(self) -> list[Extent]:
        return [e for e in self.state.head.tail if self.settled.get(e.id) != e.base]

    def is_crowded(self) -> bool:
        """Whether others commit to it all the time: each pays for what the others leave in it."""
        others = [entry for entry in self.state.head.tail if entry.id not in self.own]
        return is_longer(others, OTHERS_ENTRIES, OTHERS_BYTES)

    def to_take_out(self, state: HeadState) -> dict[str, int]:
        """Settled entries that are in the tail of `state`, as many as one update removes."""
        found = [e for e in state.head.tail if self.settled.get(e.id) == e.base]
        return {entry.id: entry.base for entry in found[:MOST_REMOVED]}


class KnownHeads:
    """Bounded: the one that was not used for the longest time goes first."""

    def __init__(self) -> None:
        self._heads: OrderedDict[Partition, KnownHead] = OrderedDict()

    def get(self, partition: Partition) -> KnownHead | None:
        known = self._heads.get(partition)
        if known is not None:
            self._heads.move_to_end(partition)
        return known

    def learn(self, partition: Partition, state: HeadState) -> KnownHead:
        known = self.get(partition)
        if known is not None:
            known.learn(state)
            return known
        known = self._heads[partition] = KnownHead(state)
        if len(self._heads) > MOST_KNOWN:
            self._heads.popitem(last=False)
        return known

    def forget(self, partition: Partition) -> None:
        self._heads.pop(partition, None)

    @property
    def heaviest(self) -> int:
        return max((known.state.weight for known in self._heads.values()), default=0)


def is_longer(entries: Sequence[Extent], count: int, size: int) -> bool:
    return len(entries) >= count or sum(map(entry_weight, entries)) > size
