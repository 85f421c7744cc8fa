"""The key map: the newest offset of every key in a part of the log, in bounded memory.

A part ends where the map is full, and the next part begins there. Each part is then cleaned with
everything below it, as if the log ended there. The map never exceeds its limit, however many keys a
log has; more keys cost more rounds.
"""

from array import array
from collections.abc import Iterable, Set

from samsa.ports import Buffer
from samsa.records.batch import headers
from samsa.records.errors import RecordError
from samsa.records.spans import Steps

from .compact_aborted import NONE_ABORTED, AbortedIn
from .compact_batch import Sieve, keys_of

BYTES_PER_KEY = 256
"""Memory for the longest kind of key, with its share of a hash table that has just grown."""


class KeyMap:
    def __init__(self, max_bytes: int, start: int) -> None:
        self.newest: dict[bytes, int] = {}
        self.start = start
        self.end = start
        """Every batch in [start, end) is in the map."""
        self.unread: set[int] = set()
        """Base offsets of batches that could not be read: they stay, and replace nothing."""
        self._most = max(1, max_bytes // BYTES_PER_KEY)

    @property
    def full(self) -> bool:
        return len(self.newest) + len(self.unread) >= self._most

    def sieve(
        self, now_ms: int, tombstones_ms: int, asked_for: Set[int], markers_ms: int = 0
    ) -> Sieve:
        alive = array("q", sorted(self.newest.values()))
        return Sieve(
            self.newest,
            self.end,
            now_ms,
            tombstones_ms,
            asked_for,
            self.start,
            self.unread,
            alive,
            markers_ms,
        )

    def add(
        self, pieces: Iterable[Buffer], below: int, aborted: AbortedIn = NONE_ABORTED
    ) -> Steps[None]:
        """Add the batches that are not in it yet, up to an offset, or until it is full. One batch
        is always added completely, however many keys it has. Aborted records replace nothing."""
        for piece in pieces:
            view = memoryview(piece)
            for position, header in headers(piece):
                if self.full or header.base_offset >= below:
                    return
                if header.base_offset >= self.end:
                    self.end = header.next_offset
                    if aborted.holds(header):
                        continue
                    part = view[position : position + header.size]
                    try:
                        self.newest.update((yield from keys_of(header, part)))
                    except RecordError:
                        self.unread.add(header.base_offset)
