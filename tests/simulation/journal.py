"""The journal of a simulation: ledger and objects in one step, over packs of a few slots."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from samsa.ports import Claim, Extent, Journaled, Partition, Tail

from .ledger import SimLedger
from .objects import SimObjects
from .truth import Truth

SLOTS_IN_A_PACK = 3


class SimJournal:
    """One for all processes: a pack is written by whoever comes, which the log cannot tell."""

    def __init__(self, truth: Truth, ledger: SimLedger, objects: SimObjects) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self._truth = truth
        self._ledger = ledger
        self._objects = objects
        self._packs: dict[Partition, list[tuple[str, list[int]]]] = defaultdict(list)
        """Of each partition: keys, and the ends of the slots in each."""

    def append(
        self, partition: Partition, extent: Extent, data: bytes, claims: Sequence[Claim]
    ) -> Journaled:
        item = self._ledger.item(partition)
        lost = tuple(
            claim.producer_id for claim in claims if not self._holds(item.producers, claim)
        )
        if lost or extent.base != item.next_offset:
            return Journaled(item.head(), False, lost)
        key, start = self._place(partition, extent, data)
        for claim in claims:
            self._ledger.bind(partition, *claim)
        self._ledger.take(partition, extent._replace(key=key, start=start))
        return Journaled(item.head(), True)

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """A process that is alone knows this; here everyone may, as long as it is true."""
        item = self._ledger.item(partition)
        head = item.head()
        if head.inflight:
            return None
        found = [extent for extent in item.valid() if extent.end > offset]
        joined = all(one.end == after.base for one, after in pairwise(found))
        if not found or found[0].base > offset or found[-1].end != head.next_offset or not joined:
            return Tail(head, []) if offset == head.next_offset else None
        return Tail(head, found)

    @staticmethod
    def _holds(producers: dict, claim: Claim) -> bool:
        bound = producers.get(claim.producer_id)
        return (bound.version if bound else 0) == claim.after

    def _place(self, partition: Partition, extent: Extent, data: bytes) -> tuple[str, int]:
        packs = self._packs[partition]
        if not packs or len(packs[-1][1]) == SLOTS_IN_A_PACK:
            packs.append((f"pack/{partition.number}/{extent.base}", []))
        key, ends = packs[-1]
        before = self._objects.held.get(key, b"")
        ends.append(extent.end)
        self._objects.held[key] = before + data
        self._truth.placed(partition, extent, key, len(before))
        return key, len(before)

    def sweep(self, partition: Partition, below: int) -> None:
        packs = self._packs[partition]
        while packs and packs[0][1][-1] <= below:
            key, _ = packs.pop(0)
            del self._objects.held[key]
            self._truth.swept(partition, key)

    def discard(self, partition: Partition, key: str) -> bool:
        packs = self._packs[partition]
        if packs and packs[-1][0] == key:
            return False  # it may be written to
        named = {extent.key for extent in self._ledger.item(partition).valid()}
        if key in self._objects.held and key not in named:
            self._packs[partition] = [pack for pack in packs if pack[0] != key]
            del self._objects.held[key]
            self._truth.swept(partition, key)
        return True
