"""The store of transactions of a simulation: transactional ids, and the offsets that wait for them.

Each call is one atomic step. What it does to a transaction, or to a group's offsets, is shown to
the judge of decisions.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from samsa.ports import Offsets, PendingOffsets, TransactionItem

from .decisions import Decisions


@dataclass
class SimGroup:
    offsets: Offsets = field(default_factory=dict)
    pending: dict[int, PendingOffsets] = field(default_factory=dict)
    """By producer id."""
    ended: dict[int, int] = field(default_factory=dict)
    """Producer id → the serial of its last transaction that has ended here."""


class SimTransactions:
    def __init__(self, decisions: Decisions) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.items: dict[str, TransactionItem] = {}
        self.groups: dict[str, SimGroup] = defaultdict(SimGroup)
        self._decisions = decisions
        self._names: dict[int, str] = {}

    def transaction(self, transactional_id: str, known: int = 0) -> TransactionItem | None:
        item = self.items.get(transactional_id)
        return item._replace(state=b"") if item is not None and item.version == known else item

    def put_transaction(
        self, transactional_id: str, item: TransactionItem, after: int
    ) -> TransactionItem | None:
        there = self.items.get(transactional_id)
        if there == item:
            return None
        if not self._is_after(there, after):
            return there or TransactionItem(0, -1, b"")
        self.items[transactional_id] = item
        self._names[item.producer_id] = transactional_id
        self._decisions.stored(transactional_id, item.state)
        return None

    def _is_after(self, there: TransactionItem | None, after: int) -> bool:
        return (there.version if there else 0) == after

    def transactional_id_of(self, producer_id: int) -> str | None:
        return self._names.get(producer_id)

    def transactional_ids(self) -> list[str]:
        return sorted(self.items)

    def add_pending(
        self, group_id: str, producer_id: int, serial: int, offsets: Offsets, expires_at: int
    ) -> bool:
        group = self.groups[group_id]
        if not self._is_open(group, producer_id, serial):
            return False
        there = group.pending.get(producer_id)
        kept = there.offsets if there is not None and there.serial == serial else {}
        group.pending[producer_id] = PendingOffsets(producer_id, serial, {**kept, **offsets})
        return True

    def end_pending(
        self, group_id: str, producer_id: int, serial: int, is_committed: bool, expires_at: int
    ) -> None:
        group = self.groups[group_id]
        if not self._is_open(group, producer_id, serial):
            return
        there = group.pending.pop(producer_id, None)
        if there is not None and self._is_same(there, serial) and is_committed:
            group.offsets.update(there.offsets)
            self._decisions.committed_offsets(producer_id, there.serial, there.offsets)
        group.ended[producer_id] = serial
        self._decisions.ended_in(group_id, producer_id, serial)

    def _is_same(self, there: PendingOffsets, serial: int) -> bool:
        return there.serial == serial

    def _is_open(self, group: SimGroup, producer_id: int, serial: int) -> bool:
        there = group.pending.get(producer_id)
        last = group.ended.get(producer_id, 0)
        return last < serial and (there is None or there.serial <= serial)

    def pending(self, group_id: str) -> list[PendingOffsets]:
        return sorted(self.groups[group_id].pending.values())
