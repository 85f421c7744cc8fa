"""What must hold after every effect on a store, whoever caused it.

The truth watches the stores from outside, as an all-seeing reader would: whatever is committed is
written down once, and compared with everything that is seen, acknowledged, indexed or deleted
later. It knows a batch by its checksum, which covers all but the offset.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from samsa.log.read import Plan
from samsa.ports import Buffer, End, Extent, Head, Partition
from samsa.records import BatchHeader, headers
from samsa.records.batch import shift_offsets

from .committed import Kind, Sections, Seen, seen
from .decisions import Decisions
from .violation import Violation, require

Index: TypeAlias = Callable[[], list[Extent]]
Held: TypeAlias = Callable[[str], bytes | None]
__all__ = ["Shadow", "Truth", "Violation", "require"]


@dataclass
class Shadow:
    """One partition as it must be."""

    index: Index
    """What readers find: of the index and of the head's tail."""
    sections: Sections
    entries: dict[int, int] = field(default_factory=dict)
    """Committed: base → offsets."""
    stored: dict[int, bytes] = field(default_factory=dict)
    """What is in them, by base, with the right offsets."""
    batches: dict[int, BatchHeader] = field(default_factory=dict)
    """By their offset."""
    acked: dict[int, int] = field(default_factory=dict)
    """Acknowledged: offset → checksum."""
    places: dict[int, int] = field(default_factory=dict)
    """Checksum → offset."""
    sequences: dict[tuple[int, int], int] = field(default_factory=dict)
    """Producer id and epoch → the sequence that comes next."""
    epochs: dict[int, int] = field(default_factory=dict)
    """Producer id → the newest epoch."""
    merged_to: int = 0
    """Below it an entry may have lost its id: a swap has come so far."""
    log_start: int = 0
    end: int = 0


class Truth:
    def __init__(self, retained_bytes: int) -> None:
        self._retained_bytes = retained_bytes
        self.shadows: dict[Partition, Shadow] = {}
        self.decisions = Decisions()
        self._held: Held = lambda _: None

    def watch(self, partition: Partition, held: Held, index: Index, sections: Sections) -> None:
        self.shadows[partition] = Shadow(index, sections)
        self._held = held

    def _extents(self, shadow: Shadow) -> list[Extent]:
        """What readers find above the log's start."""
        return [extent for extent in shadow.index() if extent.end > shadow.log_start]

    def _bytes(self, extent: Extent) -> bytes:
        """As readers get them."""
        data = extent.data
        if extent.key:
            held = self._held(extent.key)
            require(held is not None, f"the object of the entry at {extent.base} is not there")
            data = held[extent.start : extent.start + extent.size]
        require(len(data) == extent.size, f"the entry at {extent.base} has the wrong size")
        return bytes(shift_offsets(data, extent.shift))

    # What happens to the ledger

    def committed(self, partition: Partition, entry: Extent) -> None:
        """Readers see it from now on: it must be there, and is written down."""
        shadow = self.shadows[partition]
        require(entry.base == shadow.end, f"{entry.base} follows {shadow.end}")
        data = self._bytes(entry)
        offset = entry.base
        for position, header in headers(data):
            require(header.base_offset == offset, f"a batch at {offset} says {header.base_offset}")
            shadow.batches[offset] = header
            self._appears(shadow, header)
            if header.is_transactional:
                self._in_transaction(partition, header, seen(header, data[position:]))
            if offset in shadow.acked:
                _same(shadow, offset)
            offset += header.offsets
        require(offset == entry.end, f"the entry at {entry.base} has the wrong length")
        shadow.entries[entry.base] = entry.offsets
        shadow.stored[entry.base] = data
        shadow.end = entry.end
        shadow.sections.agree()

    def _in_transaction(self, partition: Partition, header: BatchHeader, batch: Seen) -> None:
        shadow = self.shadows[partition]
        shadow.sections.appears(batch)
        if batch.kind is Kind.DATA:
            self.decisions.appended(partition, batch.producer_id, header.crc)
        else:
            end = End.COMMIT if batch.kind is Kind.COMMIT else End.ABORT
            self.decisions.marked(partition, batch.producer_id, end)
            shadow.sections.readable(batch.end)

    def _appears(self, shadow: Shadow, header: BatchHeader) -> None:
        if header.is_control:
            self._fences(shadow, header)
            return
        at = shadow.places.setdefault(header.crc, header.base_offset)
        if at != header.base_offset:
            # One append stores a batch once, unless its writer could not find out any more.
            excused = header.producer_id < 0 and at < max(shadow.log_start, shadow.merged_to)
            require(excused, f"the batch at {at} is at {header.base_offset} again")
        if header.producer_id >= 0:
            self._follows(shadow, header)

    def _fences(self, shadow: Shadow, header: BatchHeader) -> None:
        producer, epoch = header.producer_id, header.producer_epoch
        newest = shadow.epochs.setdefault(producer, epoch)
        require(epoch >= newest, f"producer {producer} goes back to epoch {epoch}")
        shadow.epochs[producer] = epoch

    def _follows(self, shadow: Shadow, header: BatchHeader) -> None:
        self._fences(shadow, header)
        producer, epoch = header.producer_id, header.producer_epoch
        expected = shadow.sequences.get((producer, epoch), 0)
        found = header.base_sequence
        require(found == expected, f"producer {producer} continues with {found}, not {expected}")
        shadow.sequences[producer, epoch] = header.last_sequence + 1

    def indexed(self, partition: Partition, extent: Extent) -> None:
        """An extent that a reader may come to holds what was committed."""
        shadow = self.shadows[partition]
        if extent.end > shadow.log_start:
            stored = shadow.stored.get(extent.base)
            require(stored is not None, f"the extent at {extent.base} was never committed")
            require(self._bytes(extent) == stored, f"the extent at {extent.base} has other bytes")

    def is_whole(self, partition: Partition) -> None:
        """From log_start to the end, readers find every offset in the index or in the tail."""
        shadow = self.shadows[partition]
        offset = shadow.log_start
        for extent in sorted(self._extents(shadow)):
            require(extent.base <= offset, f"nothing leads to offset {offset}")
            offset = max(offset, extent.end)
        require(offset == shadow.end, f"nothing leads to offset {offset}")
        shadow.sections.agree()

    def swapped(self, partition: Partition, new: Sequence[Extent]) -> None:
        """What takes the place of entries holds the same bytes, and its marks lead to batches."""
        shadow = self.shadows[partition]
        for extent in new:
            bases = self._entries(shadow, extent)
            data = self._bytes(extent)
            self._check_swapped(shadow, extent, data, bases)
            self._check_marks(extent, data)
        shadow.merged_to = max(shadow.merged_to, new[-1].end)
        self.is_whole(partition)

    def _check_swapped(
        self, shadow: Shadow, extent: Extent, data: bytes, bases: Sequence[int]
    ) -> None:
        same = data == b"".join(shadow.stored[base] for base in bases)
        require(same, f"the segment at {extent.base} has other bytes")

    @staticmethod
    def _entries(shadow: Shadow, extent: Extent) -> list[int]:
        found, offset = [], extent.base
        while offset < extent.end:
            require(offset in shadow.entries, f"no entry begins at {offset}, in a segment")
            found.append(offset)
            offset += shadow.entries[offset]
        require(offset == extent.end, f"the segment at {extent.base} ends inside an entry")
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
        require(head.log_start <= head.next_offset, f"log_start {head.log_start} is past the end")
        left = sum(len(data) for base, data in shadow.stored.items() if base >= head.log_start)
        enough = left >= self._retained_bytes
        require(enough, f"only {left} bytes are left from {head.log_start} on")

    def dropped(self, partition: Partition, below: int) -> None:
        require(below <= self.shadows[partition].log_start, f"extents of the log below {below}")
        self.is_whole(partition)

    # What happens to the objects

    def deleted(self, key: str) -> None:
        for shadow in self.shadows.values():
            named = [extent.base for extent in self._extents(shadow) if extent.key == key]
            require(not named, f"the object of {named} was deleted from the log")

    # What the clients are told

    def acknowledged(self, partition: Partition, offset: int, sent: BatchHeader) -> None:
        shadow = self.shadows[partition]
        known = shadow.acked.setdefault(offset, sent.crc)
        require(known == sent.crc, f"two batches were acknowledged at {offset}")
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

    def read_committed(
        self, partition: Partition, offset: int, plan: Plan, pieces: Sequence[Buffer]
    ) -> int:
        """The same, for a reader that skips what was aborted."""
        shadow = self.shadows[partition]
        end = self.read(partition, offset, plan, pieces)
        stable_end = max(shadow.sections.stable_end(shadow.end), shadow.log_start)
        require(plan.stable_end <= stable_end, f"{plan.stable_end} is not stable yet")
        require(end <= max(offset, stable_end), f"a reader gets to {end}, past {stable_end}")
        found = [
            seen(header, memoryview(piece)[position:])
            for piece in pieces
            for position, header in headers(piece)
            if header.is_transactional and header.count and header.next_offset > offset
        ]
        shadow.sections.delivers(found, plan.aborted)
        return end

    def _check_piece(self, shadow: Shadow, piece: Buffer) -> None:
        for _, header in headers(piece):
            same = shadow.batches.get(header.base_offset) == header
            require(same, f"a reader sees another batch at {header.base_offset}")

    def complete(self, partition: Partition, read_to: int) -> None:
        """All is healed and read: nothing that was acknowledged is missing."""
        shadow = self.shadows[partition]
        require(read_to == shadow.end, f"the log is readable only up to {read_to}")
        for offset in shadow.acked:
            _same(shadow, offset)


def _same(shadow: Shadow, offset: int) -> None:
    stored = shadow.batches.get(offset)
    require(
        stored is not None and stored.crc == shadow.acked[offset],
        f"offset {offset} was acknowledged for a batch that is not there",
    )
