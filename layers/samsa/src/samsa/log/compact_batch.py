"""Compaction of one batch: which of its records stay.

The rules are Kafka's. A record stays if it is the newest of its key; a record without a key never
stays. A tombstone stays too, for `delete.retention.ms` from when it was first cleaned. The end of
that time is stored as the batch's base timestamp, marked by an attribute, and counts once
everything older than the tombstone has been cleaned. A record that stays keeps its offset. Its
batch keeps its range of offsets, its producer and its sequence.

Records of an aborted transaction do not stay, and replace nothing. Those of a committed one are
records like any other. A batch that cannot be read stays as it is.

Of the markers, only those of aborted transactions matter: a reader that was told of the transaction
leaves out all of its producer's batches, from the first on until it meets the marker. So a marker
stays while its transaction is listed. From then on it goes as a tombstone does. A round that does
not find it listed starts its time; a later round removes it. No reader is told of the transaction
any more then: a reader reads the extents before the list, so if it reads extents without the
marker, it reads a list without the transaction. The waiting time is for a process that was
suspended while it stored the transaction in the list, and continues only now. Markers of committed
transactions go at once. Kafka keeps them for a time too, because it restores its producers' states
from the log.

The last batch of a round may be the last one of the log, where Kafka has its active segment and
cleans nothing. So a marker stays there, and so does a batch whose records would all go: a client
that reads to the end of the log sees something at the end. librdkafka, for one, moves a program's
position by records and markers, and not by empty batches. The next round may remove them.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

from samsa.records.batch import seal
from samsa.records.compression import CODEC_MASK, compress, decompress
from samsa.records.control import commits
from samsa.records.errors import RecordError
from samsa.records.header import DELETE_HORIZON, HEADER_SIZE, BatchHeader
from samsa.records.parse import LARGEST_LONG
from samsa.records.spans import (
    Sifted,
    Steps,
    newest_by_key,
    newest_time,
    pick,
    sift,
    with_times_from,
)

from .compact_aborted import NONE_ABORTED, AbortedIn

BatchBytes: TypeAlias = bytes | memoryview

MOST_UNPACKED = 128 * 1024 * 1024


class Sieve(NamedTuple):
    newest: Mapping[bytes, int]
    """The newest offset of every key in this round."""
    end: int
    """Batches that begin at or above this offset stay as they are. A batch begins here."""
    now_ms: int
    tombstones_ms: int
    asked_for: Set[int] = frozenset()
    """Base offsets of batches in the states of idempotent producers. If no record of such a batch
    stays, an empty batch stays."""
    start: int = 2**63
    """From here on, every batch is in the map, except for those in `unread`."""
    unread: Set[int] = frozenset()
    """Base offsets of batches that could not be read."""
    alive: Sequence[int] = ()
    """The offsets in the map, in order: from `start` on, those of the records that stay."""
    markers_ms: int = 0
    """How long a marker stays after its transaction was forgotten."""
    aborted: AbortedIn = NONE_ABORTED


def keys_of(header: BatchHeader, part: BatchBytes) -> Steps[dict[bytes, int]]:
    """The newest offset of every key in a batch. Raises RecordError."""
    if header.is_empty or header.is_control:
        return {}
    return (yield from newest_by_key(header, _plain(header, part)))


def clean(header: BatchHeader, part: BatchBytes, sieve: Sieve) -> Steps[BatchBytes | None]:
    """The batch after cleaning: the same object if nothing changes, None if nothing stays."""
    if header.base_offset >= sieve.end:
        return part
    if header.is_control:
        return part if _is_last(header, sieve) else _marker(header, part, sieve)
    asked_for = header.producer_id >= 0 and header.base_offset in sieve.asked_for
    if header.is_empty:
        return part if asked_for else None
    if sieve.aborted.holds(header):
        return _emptied(header) if asked_for else None
    try:
        return (yield from _kept(header, part, sieve, asked_for))
    except RecordError:
        return part


def _is_last(header: BatchHeader, sieve: Sieve) -> bool:
    return header.next_offset >= sieve.end


def _kept(
    header: BatchHeader, part: BatchBytes, sieve: Sieve, asked_for: bool
) -> Steps[BatchBytes | None]:
    """Raises RecordError if the bytes are no records, or if their times fit into no batch."""
    sifted = yield from _sifted(header, part, sieve)
    if sifted.count == 0 and _is_last(header, sieve):
        return part
    if sifted.count == 0:
        return _emptied(header) if asked_for else None
    is_new_to_it = sifted.tombstones > 0 and header.delete_horizon is None
    if sifted.count == header.count and not is_new_to_it:
        return part
    horizon = min(LARGEST_LONG, sieve.now_ms + sieve.tombstones_ms) if is_new_to_it else None
    yield
    return _rebuilt(header, sifted, horizon)


def _marker(header: BatchHeader, part: BatchBytes, sieve: Sieve) -> BatchBytes | None:
    try:
        if commits(part):
            return None
        if sieve.aborted.lists(header):
            return part
        if header.delete_horizon is not None:
            return part if header.delete_horizon > sieve.aborted.as_of_ms else None
        horizon = min(LARGEST_LONG, sieve.aborted.as_of_ms + sieve.markers_ms)
        return _rebuilt(header, Sifted([_plain(header, part)], header.count, 0), horizon)
    except RecordError:
        return part


def _plain(header: BatchHeader, part: BatchBytes) -> bytes:
    return decompress(header.codec, memoryview(part)[HEADER_SIZE : header.size], MOST_UNPACKED)


def _sifted(header: BatchHeader, part: BatchBytes, sieve: Sieve) -> Steps[Sifted]:
    horizon = header.delete_horizon
    if _is_noted(header, sieve):
        first = bisect_left(sieve.alive, header.base_offset)
        stays = sieve.alive[first : bisect_left(sieve.alive, header.next_offset)]
        if not stays:
            return Sifted([], 0, 0)
        return (yield from pick(header, _plain(header, part), stays))
    expired = horizon is not None and horizon <= sieve.now_ms and not _is_last(header, sieve)
    return (yield from sift(header, _plain(header, part), sieve.newest, expired))


def _is_noted(header: BatchHeader, sieve: Sieve) -> bool:
    """Whether the map tells which of its records stay. Record n then has the offset base + n."""
    return (
        header.base_offset >= sieve.start
        and header.count == header.offsets
        and header.delete_horizon is None
        and header.base_offset not in sieve.unread
    )


def _emptied(header: BatchHeader) -> bytes:
    return seal(header._replace(attributes=header.attributes & ~CODEC_MASK, count=0))


def _rebuilt(header: BatchHeader, sifted: Sifted, horizon: int | None) -> bytes:
    data = b"".join(sifted.runs)
    kept = header._replace(count=sifted.count)
    if not header.log_append_time:
        kept = kept._replace(max_timestamp=newest_time(header, data, sifted.count))
    if horizon is not None:
        data = with_times_from(horizon, header, data, sifted.count)
        kept = kept._replace(attributes=header.attributes | DELETE_HORIZON, base_timestamp=horizon)
    return seal(kept, compress(header.codec, data))
