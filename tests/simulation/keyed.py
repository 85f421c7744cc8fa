"""What must hold of a log that is compacted: every key keeps its newest record, for ever.

Records may leave the log, and nothing else about it changes. A record goes when a newer one of its
key is visible; a tombstone also when its time has come, and then nothing that it deleted is left.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from zlib import crc32

from samsa.ports import Buffer, Extent, Partition
from samsa.records import BatchHeader, Record, build, headers, records

from .truth import Shadow, Truth, require

KEYS = 4
ONE_IN = 4
"""Records that are tombstones."""


def keyed_batch(label: str, count: int, **producer: int) -> bytes:
    """A few keys only, and each record unlike any other, tombstones too."""
    return build([_record(f"{label}/{n}".encode(), n) for n in range(count)], **producer)


def _record(label: bytes, number: int) -> Record:
    chance = crc32(label)
    value = None if chance % ONE_IN == 0 else label
    return Record(number, 1000 + number, b"k%d" % (chance // 7 % KEYS), value, (("by", label),))


class KeyedTruth(Truth):
    def __init__(self, retained_bytes: int) -> None:
        # Of the bytes as they came: a tombstone whose time runs takes a few more than it did.
        super().__init__(retained_bytes // 2)
        self.written: dict[int, dict[int, Record]] = defaultdict(dict)
        """By the identity of the shadow: every record that was ever visible, by its offset."""
        self.left: dict[int, dict[int, Record]] = defaultdict(dict)
        """Those that were not compacted away."""
        self.marked: dict[int, set[int]] = defaultdict(set)
        """Offsets of tombstones whose time runs."""
        self.transactional: dict[int, dict[int, int]] = defaultdict(dict)
        """By the offset of a record: the offset of its transactional batch."""

    def committed(self, partition: Partition, entry: Extent) -> None:
        super().committed(partition, entry)
        shadow = self.shadows[partition]
        mine = id(shadow)
        for header, record in _records(shadow.stored[entry.base]):
            self.written[mine][record.offset] = record
            if not header.is_control:
                self.left[mine][record.offset] = record
            if header.is_transactional:
                self.transactional[mine][record.offset] = header.base_offset

    def _counts(self, shadow: Shadow, offset: int) -> bool:
        """Whether the record is a value of its key: it is not, in a transaction that was aborted or
        is not decided."""
        batch = self.transactional[id(shadow)].get(offset)
        return batch is None or shadow.sections.counts(batch)

    def _check_swapped(
        self,
        shadow: Shadow,
        extent: Extent,
        data: bytes,
        bases: Sequence[int],
    ) -> None:
        _is_without_gaps(extent, data)
        found = list(_records(data))
        kept = {record.offset: record for header, record in found if not header.is_control}
        with_records = {header.base_offset for header, _ in found}
        shadow.sections.compacted(extent.base, extent.end, with_records)
        self._compacted(shadow, extent, kept)
        for position, header in headers(data):
            if header.delete_horizon is not None and not header.is_control:
                found = (r.offset for r in records(data, position) if r.value is None)
                self.marked[id(shadow)].update(found)

    def _compacted(self, shadow: Shadow, extent: Extent, kept: dict[int, Record]) -> None:
        left = self.left[id(shadow)]
        there = {at: left[at] for at in left if extent.base <= at < extent.end}
        for offset, record in kept.items():
            require(there.get(offset) == record, f"{offset} has another record, or one again")
        gone = [record for offset, record in there.items() if offset not in kept]
        for record in gone:
            del left[record.offset]
        for record in gone:
            if record.offset >= shadow.log_start:
                self._may_go(shadow, record)

    def _may_go(self, shadow: Shadow, record: Record) -> None:
        if not self._counts(shadow, record.offset):
            return
        left = self.left[id(shadow)].values()
        same = [
            other
            for other in left
            if other.key == record.key
            and other.offset >= shadow.log_start
            and self._counts(shadow, other.offset)
        ]
        if any(other.offset > record.offset for other in same):
            return
        require(record.value is None, f"{record.offset} was the newest of its key")
        timed = record.offset in self.marked[id(shadow)]
        require(timed, f"the tombstone at {record.offset} went before its time")
        require(not same, f"what {record.offset} had deleted is back at {[r.offset for r in same]}")

    def _check_piece(self, shadow: Shadow, piece: Buffer) -> None:
        written = self.written[id(shadow)]
        for _, record in _records(bytes(piece)):
            same = written.get(record.offset) == record
            require(same, f"a reader sees another record at {record.offset}")

    def complete(self, partition: Partition, read_to: int) -> None:
        super().complete(partition, read_to)
        shadow = self.shadows[partition]
        written = sorted(self.written[id(shadow)].items())
        newest = {one.key: one for offset, one in written if self._counts(shadow, offset)}
        for record in newest.values():
            if record.value is not None and record.offset >= shadow.log_start:
                require(record.offset in self.left[id(shadow)], f"{record.offset} is missing")


def _records(data: bytes) -> Iterator[tuple[BatchHeader, Record]]:
    for position, header in headers(data):
        for record in records(data, position):
            yield header, record


def _is_without_gaps(extent: Extent, data: bytes) -> None:
    offset = extent.base
    for _, header in headers(data):
        require(header.base_offset == offset, f"no batch holds offset {offset}")
        offset = header.next_offset
    require(offset == extent.end, f"the extent at {extent.base} ends before {extent.end}")
