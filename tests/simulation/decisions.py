"""What must hold between a transaction's item, its partitions and its groups.

The items are decoded as they are stored. A batch belongs to the transaction for which its client
made it, which its client tells here (`belongs`).

With version 1 of Kafka's protocol a late copy of a request to add partitions may begin another
transaction, and a late copy of a batch may get into it. That transaction must not be committed: its
client, which is in doubt about what it had sent, asks for a new epoch, and so aborts it.
"""

from collections.abc import Collection
from typing import NamedTuple

from samsa.ports import End, Offsets, Partition, PendingOffsets
from samsa.transactions import State, Transaction, unpack

from .violation import require

ENDS = {State.PREPARE_COMMIT: End.COMMIT, State.PREPARE_ABORT: End.ABORT}


class Label(NamedTuple):
    """A transaction, as its client counts them."""

    client: str
    number: int


class Decisions:
    def __init__(self) -> None:
        self.found: dict[str, Transaction] = {}
        """By transactional id."""
        self.ends: dict[Label, End] = {}
        """How a client's transaction ended."""
        self._wanted: set[Label] = set()
        """Those that their clients want to commit."""
        self._names: dict[int, str] = {}
        self._labels: dict[int, Label] = {}
        """By the checksum of a batch."""
        self._may_stray: set[Label] = set()
        """Those of clients of version 1."""
        self._with_strays: set[tuple[int, int]] = set()
        """Producer id and serial of transactions with batches of earlier ones."""
        self._serials: dict[Label, tuple[int, int]] = {}
        """Producer id and serial."""
        self._by_serial: dict[tuple[int, int], Label] = {}
        self._decided: dict[tuple[int, int], End] = {}
        self._marked: set[tuple[Partition, int, int]] = set()
        self._ended_in: set[tuple[str, int, int]] = set()
        """Group, producer id and serial."""
        self._offsets: dict[tuple[str, int], int] = {}

    # What happens to an item

    def stored(self, transactional_id: str, state: bytes) -> None:
        before, after = self.found.get(transactional_id), unpack(state)
        self.found[transactional_id] = after
        self._names[after.producer_id] = transactional_id
        if after.is_decided:
            self._decide(after)
        elif before is not None and before.is_decided:
            self._completed(transactional_id, before)
        elif before is not None and before.state is State.ONGOING:
            same = after.state is State.ONGOING and after.serial == before.serial
            require(same, f"{transactional_id}: {before.serial} was ongoing, and is forgotten")

    def _decide(self, after: Transaction) -> None:
        key, end = (after.producer_id, after.serial), ENDS[after.state]
        known = self._decided.setdefault(key, end)
        require(known is end, f"{key} is decided twice")
        strays = key in self._with_strays and end is End.COMMIT
        require(not strays, f"{key} is committed, and has batches of another transaction")
        if key in self._by_serial:
            self._told(self._by_serial[key], end)

    def _completed(self, transactional_id: str, before: Transaction) -> None:
        key = (before.producer_id, before.serial)
        places = sorted(Partition(*place) for place in before.partitions)
        left: list[object] = [at for at in places if (at, *key) not in self._marked]
        left += [group for group in sorted(before.groups) if (group, *key) not in self._ended_in]
        require(not left, f"{transactional_id}: {before.serial} is complete, but not in {left}")

    # What happens to a partition

    def belongs(self, crc: int, label: Label, version: int = 2) -> None:
        """A client has made a batch for that transaction."""
        self._labels[crc] = label
        if version == 1:
            self._may_stray.add(label)

    def appended(self, partition: Partition, producer_id: int, crc: int) -> None:
        """Its transaction must not have ended here."""
        label, found = self._labels[crc], self.found[self._names[producer_id]]
        what = f"the batch of {label} in {partition.number}"
        is_open = found.state is State.ONGOING or found.is_decided
        require(is_open and tuple(partition) in found.partitions, f"{what} will have no marker")
        key = (producer_id, found.serial)
        require((partition, *key) not in self._marked, f"{what} comes after the marker")
        if label in self._may_stray and self._serials.get(label, key) != key:
            require(self._decided.get(key) is not End.COMMIT, f"{what} gets into {key}, committed")
            self._with_strays.add(key)
            return
        known = self._serials.setdefault(label, key), self._by_serial.setdefault(key, label)
        require(known == (key, label), f"{what} gets into {key}, which is {known}")
        if key in self._decided:
            self._told(label, self._decided[key])

    def marked(self, partition: Partition, producer_id: int, end: End) -> None:
        found = self.found[self._names[producer_id]]
        what = f"a marker in {partition.number} of {producer_id}: {end.name}"
        require(ENDS.get(found.state) is end, f"{what}, and {found.serial} is {found.state}")
        place = (partition, producer_id, found.serial)
        require(place not in self._marked, f"{what}, and {found.serial} has one")
        self._marked.add(place)

    # What happens to a group

    def ended_in(self, group_id: str, producer_id: int, serial: int) -> None:
        self._ended_in.add((group_id, producer_id, serial))

    def committed_offsets(self, producer_id: int, serial: int, offsets: Offsets) -> None:
        for (topic, number), one in offsets.items():
            label = self._labels_of_offsets(topic, one.offset)
            end = self._decided.get((producer_id, serial))
            require(end is End.COMMIT, f"the offset of {label} counts, and {serial} is {end}")
            self._told(label, End.COMMIT)
            last = self._offsets.get((topic, number), -1)
            require(one.offset > last, f"the offset of {topic} goes back from {last}")
            self._offsets[topic, number] = one.offset

    @staticmethod
    def _labels_of_offsets(topic: str, offset: int) -> Label:
        """A client commits the number of its transaction, for a topic of its name."""
        return Label(topic, offset)

    # What a client asks for, and is told

    def wanted(self, label: Label) -> None:
        """The client asks to commit."""
        self._wanted.add(label)

    def ended(self, label: Label, end: End) -> None:
        self._told(label, end)

    def _told(self, label: Label, end: End) -> None:
        known = self.ends.setdefault(label, end)
        require(known is end, f"{label} is {known.name} and {end.name}")
        wanted = end is End.ABORT or label in self._wanted
        require(wanted, f"{label} is committed, and its client has not asked for it")

    # In the end

    def finished(self, producers: Collection[int], pending: Collection[PendingOffsets]) -> None:
        """`producers`: those that have a transaction open in some partition."""
        for name, found in self.found.items():
            waits = found.is_decided or found.state is State.ONGOING
            require(not waits, f"{name}: {found.serial} is never finished: {found.state}")
        require(not producers, f"{producers} have transactions open that nobody will end")
        require(not pending, f"{pending} wait for nothing")
