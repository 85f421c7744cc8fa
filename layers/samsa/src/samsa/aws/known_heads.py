"""A process's cache of the heads that it commits to: each as the newest answer showed it."""

from collections.abc import Sequence

from samsa.bounded import Bounded
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
        """Entries of the tail that are in the index already: id and base. The next commit takes
        them out."""
        self._items = Bounded[int, tuple[int, Bound | None]](MOST_ITEMS)
        """Producers that were not in the head: the head's `evictions` before the producer's own
        item was read, and the content of that item."""

    def learn(self, state: HeadState) -> None:
        """Keep `state` unless a newer one is known: answers may arrive out of order."""
        if state.age < self.state.age:
            return
        self.state = state
        bases = {entry.id: entry.base for entry in state.head.tail}
        self.own &= bases.keys()
        self.settled = {i: base for i, base in self.settled.items() if bases.get(i) == base}

    def keep_item(self, state: HeadState, producer_id: int, bound: Bound | None) -> None:
        """Keep the item of a producer that is not in `state`. `state` was read before the item."""
        self._items.keep(producer_id, (state.evictions, bound))

    def has_item(self, state: HeadState, producer_id: int) -> bool:
        """Whether the producer's own item is known. The item cannot change while the producer is
        not in the head and no producer is evicted."""
        return self._items.get(producer_id, (-1, None))[0] == state.evictions

    def item(self, producer_id: int) -> Bound | None:
        return self._items[producer_id][1]

    def unsettled(self) -> list[Extent]:
        return [e for e in self.state.head.tail if self.settled.get(e.id) != e.base]

    def is_crowded(self) -> bool:
        """Whether other processes commit to it all the time: each pays for the others' entries."""
        others = [entry for entry in self.state.head.tail if entry.id not in self.own]
        return is_longer(others, OTHERS_ENTRIES, OTHERS_BYTES)

    def to_take_out(self, state: HeadState) -> dict[str, int]:
        """Settled entries that are in the tail of `state`, at most what one update removes."""
        found = [e for e in state.head.tail if self.settled.get(e.id) == e.base]
        return {entry.id: entry.base for entry in found[:MOST_REMOVED]}


class KnownHeads:
    """Bounded: the least recently used head is dropped first."""

    def __init__(self) -> None:
        self._heads = Bounded[Partition, KnownHead](MOST_KNOWN)

    def get(self, partition: Partition) -> KnownHead | None:
        return self._heads.use(partition)

    def learn(self, partition: Partition, state: HeadState) -> KnownHead:
        known = self.get(partition)
        if known is not None:
            known.learn(state)
            return known
        known = KnownHead(state)
        self._heads.keep(partition, known)
        return known

    def forget(self, partition: Partition) -> None:
        self._heads.pop(partition, None)

    @property
    def heaviest(self) -> int:
        return max((known.state.weight for known in self._heads.values()), default=0)


def is_longer(entries: Sequence[Extent], count: int, size: int) -> bool:
    return len(entries) >= count or sum(map(entry_weight, entries)) > size
