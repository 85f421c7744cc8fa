"""What must hold after every effect on a store, whoever caused it.

The truth watches the stores from outside, as an all-seeing reader would: whatever becomes visible
is written down once, and compared with everything that is seen, acknowledged, indexed or deleted
later. It knows a batch by its checksum, which covers all but the offset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from samsa.log.read import Plan
from samsa.log.stores import slot_key
from samsa.ports import Buffer, Extent, Head, Partition
from samsa.records import BatchHeader, headers

Index: TypeAlias = Callable[[], list[Extent]]


class Violation(Exception):
    """An invariant of the log does not hold."""


@dataclass
class Shadow:
    """One partition as it must be."""

    slots: dict[int, int] = field(default_factory=dict)
    """Reserved: base → offsets."""
    stored: dict[int, bytes] = field(default_factory=dict)
    """Visible slots: base → what is in them."""
    batches: dict[int, BatchHeader] = field(default_factory=dict)
    """Visible batches, by their offset."""
    acked: dict[int, int] = field(default_factory=dict)
    """Acknowledged: offset → checksum."""
    places: dict[int, int] = field(default_factory=dict)
    """Visible data: checksum → offset."""
    sequences: dict[tuple[int, int], int] = field(default_factory=dict)
    """Producer id and epoch → the sequence that comes next."""
    log_start: int = 0
    visible_end: int = 0

    def passed(self, base: int) -> bool:
        """Whether log_start has passed the whole slot: it may also lie inside of it."""
        return base + self.slots[base] <= self.log_start


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Violation(what)


class Truth:
    def __init__(self, retained_bytes: int) -> None:
        self._retained_bytes = retained_bytes
        self.shadows: dict[Partition, Shadow] = {}
        self._keys: dict[str, tuple[Shadow, int]] = {}
        self._held: Mapping[str, bytes] = {}
        self._packed: dict[tuple[Partition, int], tuple[str, int, int]] = {}
        """Slots that are part of an object: its key, their start and size."""
        self._indexes: dict[int, Index] = {}
        """By the identity of the shadow."""

    def watch(self, partition: Partition, held: Mapping[str, bytes], index: Index) -> None:
        shadow = self.shadows[partition] = Shadow()
        self._indexes[id(shadow)] = index
        self._held = held

    def _extents(self, shadow: Shadow) -> list[Extent]:
        """What readers find above the log's start."""
        found = self._indexes[id(shadow)]()
        return [extent for extent in found if extent.end > shadow.log_start]

    def _is_read(self, shadow: Shadow, base: int, key: str) -> bool:
        """Whether readers look at the key of the slot at `base`: by its extent, or for lack of
        one."""
        for extent in self._extents(shadow):
            if extent.base <= base < extent.end:
                return extent.key == key
        return not shadow.passed(base)

    # What happens to the ledger

    def reserved(self, partition: Partition, base: int, count: int) -> None:
        shadow = self.shadows[partition]
        shadow.slots[base] = count
        self._keys[slot_key(partition, base)] = shadow, base

    def closed(self, partition: Partition, head: Head) -> None:
        """Whatever became visible by it must be there, and is written down."""
        shadow = self.shadows[partition]
        while shadow.visible_end < head.visible_end:
            base = shadow.visible_end
            data = self._data(partition, base)
            require(data is not None, f"offset {base} is visible but has no value")
            shadow.stored[base] = data
            shadow.visible_end += self._reveal(shadow, base, data)
        require(shadow.visible_end == head.visible_end, "the visible end is inside a slot")

    def _data(self, partition: Partition, base: int) -> bytes | None:
        if (partition, base) not in self._packed:
            return self._held.get(slot_key(partition, base))
        key, start, size = self._packed[partition, base]
        return self._held[key][start : start + size] if key in self._held else None

    def _reveal(self, shadow: Shadow, base: int, data: bytes) -> int:
        offset = base
        for _, header in headers(data):
            require(header.base_offset == offset, f"a batch at {offset} says {header.base_offset}")
            shadow.batches[offset] = header
            if header.count:
                self._appears(shadow, header)
            if offset in shadow.acked:
                _same(shadow, offset)
            offset += header.offsets
        require(offset - base == shadow.slots[base], f"the slot at {base} has the wrong length")
        return offset - base

    def _appears(self, shadow: Shadow, header: BatchHeader) -> None:
        at = shadow.places.setdefault(header.crc, header.base_offset)
        # One append stores a batch once, unless nobody can tell any more what became of it.
        again = at != header.base_offset and (header.producer_id >= 0 or at >= shadow.log_start)
        require(not again, f"the batch at {at} is at {header.base_offset} again")
        if header.producer_id >= 0:
            producer = header.producer_id, header.producer_epoch
            expected = shadow.sequences.get(producer, 0)
            require(
                header.base_sequence == expected,
                f"producer {producer} continues with {header.base_sequence}, not {expected}",
            )
            shadow.sequences[producer] = header.last_sequence + 1

    def indexed(self, partition: Partition, extent: Extent) -> None:
        """An extent that a reader may come to says what its object is."""
        shadow = self.shadows[partition]
        if extent.end <= shadow.log_start:
            return
        require(
            shadow.slots.get(extent.base) == extent.offsets,
            f"the extent at {extent.base} has {extent.offsets} offsets",
        )
        data = self._held.get(extent.key, b"")[extent.start :]
        if extent.key != slot_key(partition, extent.base):
            data = data[: self._packed[partition, extent.base][2]]
        require(extent.size == len(data), f"the extent at {extent.base} has the wrong size")

    def swapped(self, partition: Partition, new: Sequence[Extent]) -> None:
        """Whatever takes the place of slots holds the same bytes, and its marks lead to batches."""
        shadow = self.shadows[partition]
        for extent in new:
            slots = [shadow.stored.get(base) for base in self._slots(shadow, extent)]
            require(None not in slots, f"the segment at {extent.base} holds what is not visible")
            data = self._held.get(extent.key, b"")[extent.start : extent.start + extent.size]
            require(data == b"".join(slots), f"the segment at {extent.base} has other bytes")
            self._check_marks(extent, data)

    def _slots(self, shadow: Shadow, extent: Extent) -> list[int]:
        found, offset = [], extent.base
        while offset < extent.end:
            require(offset in shadow.slots, f"no slot begins at {offset}, in a segment")
            found.append(offset)
            offset += shadow.slots[offset]
        require(offset == extent.end, f"the segment at {extent.base} ends inside a slot")
        return found

    @staticmethod
    def _check_marks(extent: Extent, data: bytes) -> None:
        batches = headers(data)
        places = dict(batches)
        for (offset, position), before in zip(extent.marks, extent.times, strict=True):
            header = places.get(position)
            found = header is not None and header.base_offset == extent.base + offset
            require(found, f"a mark of {extent.base} leads to no batch")
            newest = [h.max_timestamp for at, h in batches if at < position and h.count]
            require(before >= max(newest, default=-1), f"a mark of {extent.base} is too old")

    def moved(self, partition: Partition, head: Head) -> None:
        shadow = self.shadows[partition]
        shadow.log_start = head.log_start
        require(
            head.log_start <= head.visible_end,
            f"log_start {head.log_start} has passed the visible end {head.visible_end}",
        )
        left = sum(len(data) for base, data in shadow.stored.items() if base >= head.log_start)
        require(
            left >= self._retained_bytes, f"only {left} bytes are left from {head.log_start} on"
        )

    def dropped(self, partition: Partition, below: int) -> None:
        require(below <= self.shadows[partition].log_start, f"extents of the log below {below}")

    # What happens to the objects

    def put(self, key: str, data: bytes) -> None:
        shadow, base = self._keys[key]
        if base < shadow.visible_end and self._is_read(shadow, base, key):
            require(shadow.stored[base] == data, f"the visible slot at {base} has changed")

    def deleted(self, key: str) -> None:
        if key in self._keys:
            shadow, base = self._keys[key]
            read = self._is_read(shadow, base, key)
            require(not read, f"the slot at {base} was deleted from the log")
            return
        for shadow in self.shadows.values():
            named = [extent.base for extent in self._extents(shadow) if extent.key == key]
            require(not named, f"the segment of {named} was deleted from the log")

    def placed(self, partition: Partition, extent: Extent, key: str, start: int) -> None:
        self._packed[partition, extent.base] = key, start, extent.size

    def swept(self, partition: Partition, key: str) -> None:
        shadow = self.shadows[partition]
        for (where, base), (pack, _, _) in self._packed.items():
            if (where, pack) == (partition, key):
                read = self._is_read(shadow, base, key)
                require(not read, f"the slot at {base} was deleted from the log")

    # What the clients are told

    def acknowledged(self, partition: Partition, offset: int, sent: BatchHeader) -> None:
        shadow = self.shadows[partition]
        known = shadow.acked.setdefault(offset, sent.crc)
        require(known == sent.crc, f"two batches were acknowledged at {offset}")
        if offset < shadow.visible_end:
            _same(shadow, offset)

    def read(self, partition: Partition, offset: int, plan: Plan, pieces: Sequence[Buffer]) -> int:
        """What a reader at `offset` was given; where it goes on."""
        shadow = self.shadows[partition]
        for piece, wanted in zip(pieces, plan.ranges, strict=True):
            require(len(piece) == wanted.length, f"a piece at {offset} is cut")
            self._check_piece(shadow, piece)
            for _, header in headers(piece):
                if header.next_offset > offset:
                    require(header.base_offset <= offset, f"a reader misses offset {offset}")
                    offset = header.next_offset
            require(offset == wanted.end_offset, f"a reader at {offset} was promised another end")
        return offset

    def _check_piece(self, shadow: Shadow, piece: Buffer) -> None:
        for _, header in headers(piece):
            require(
                shadow.batches.get(header.base_offset) == header,
                f"a reader sees another batch at {header.base_offset}",
            )

    def complete(self, partition: Partition, read_to: int) -> None:
        """All is healed and read: nothing that was acknowledged is missing."""
        shadow = self.shadows[partition]
        require(read_to == shadow.visible_end, f"the log is readable only up to {read_to}")
        for offset in shadow.acked:
            require(offset in shadow.batches, f"nothing is at {offset}, which was acknowledged")
            _same(shadow, offset)


def _same(shadow: Shadow, offset: int) -> None:
    stored = shadow.batches.get(offset)
    require(
        stored is not None and stored.crc == shadow.acked[offset],
        f"offset {offset} was acknowledged for a batch that is not there",
    )
