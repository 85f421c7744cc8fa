"""Aborted transactions in a part of a log: which batches are theirs, and which markers are listed.

Pure. Between its first batch and its marker, all transactional batches of the producer belong to
the transaction.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from samsa.ports import Aborted
from samsa.records.header import BatchHeader


class AbortedIn:
    """The aborted transactions that the ledger lists and that may have batches in the part."""

    def __init__(self, found: Iterable[Aborted] = (), as_of_ms: int = 0) -> None:
        """`found`: by marker. `as_of_ms`: a time after the ledger was asked. What it did not list
        was forgotten before that."""
        self.as_of_ms = as_of_ms
        self._firsts: dict[int, list[int]] = {}
        self._markers: dict[int, list[int]] = {}
        for marker, producer_id, first, _ in found:
            self._firsts.setdefault(producer_id, []).append(first)
            self._markers.setdefault(producer_id, []).append(marker)

    def holds(self, header: BatchHeader) -> bool:
        """Whether the batch is data of one of them."""
        if not header.is_transactional or header.is_control:
            return False
        firsts = self._firsts.get(header.producer_id, [])
        at = bisect_right(firsts, header.base_offset) - 1
        return at >= 0 and header.base_offset < self._markers[header.producer_id][at]

    def lists(self, marker: BatchHeader) -> bool:
        """Whether the batch is the marker of one of them."""
        markers = self._markers.get(marker.producer_id, [])
        at = bisect_left(markers, marker.base_offset)
        return at < len(markers) and markers[at] == marker.base_offset

    def below(self, offset: int) -> list[int]:
        """The markers below an offset."""
        return [one for markers in self._markers.values() for one in markers if one < offset]


NONE_ABORTED = AbortedIn()
