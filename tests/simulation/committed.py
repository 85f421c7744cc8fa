"""What readers of committed data may see: judged by the bytes of the log alone.

Every transactional batch that is stored is written down here, and with each marker the fate of what
it ends. The head and the ledger have to agree with that; a reader has to deliver what was committed
and nothing else. A reader is played as Kafka's clients do it, with the list that comes with a
fetch.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from samsa.ports import Aborted, End
from samsa.records import BatchHeader
from samsa.records.control import commits

from .violation import Violation, require


class Kind(Enum):
    DATA = "a batch of a transaction"
    COMMIT = "the marker of a commit"
    ABORT = "the marker of an abort"


class Seen(NamedTuple):
    """A transactional batch."""

    kind: Kind
    producer_id: int
    base: int
    end: int


def seen(header: BatchHeader, batch: bytes | memoryview) -> Seen:
    kind = Kind.DATA
    if header.is_control:
        kind = Kind.COMMIT if commits(batch) else Kind.ABORT
    return Seen(kind, header.producer_id, header.base_offset, header.next_offset)


class Told(Protocol):
    """What the stores say of a partition."""

    log_start: int
    aborted_to: int

    @property
    def open(self) -> Mapping[int, int]: ...

    def all_aborted(self) -> set[Aborted]:
        """What readers can find of them, wherever they are stored."""
        ...


@dataclass
class AbortedHere:
    producer_id: int
    first: int
    batches: list[Seen]
    """Those that have not been compacted away."""


@dataclass
class Sections:
    """A partition's transactions. Between two markers of a producer there is at most one."""

    told: Told
    log: list[Seen] = field(default_factory=list)
    """What was not compacted away."""
    open: dict[int, list[Seen]] = field(default_factory=dict)
    """Producer id → its batches that have no marker yet."""
    fates: dict[int, End] = field(default_factory=dict)
    """By the offset of a batch."""
    aborted: dict[int, AbortedHere] = field(default_factory=dict)
    """By the offset of the marker."""

    def stable_end(self, end: int) -> int:
        """Of a log that ends there."""
        return min((batches[0].base for batches in self.open.values()), default=end)

    def appears(self, batch: Seen) -> None:
        self.log.append(batch)
        if batch.kind is Kind.DATA:
            self.open.setdefault(batch.producer_id, []).append(batch)
            return
        ended = self.open.pop(batch.producer_id, [])
        fate = End.COMMIT if batch.kind is Kind.COMMIT else End.ABORT
        self.fates.update(dict.fromkeys((one.base for one in ended), fate))
        if ended:
            first = ended[0].base
            if fate is End.ABORT:
                self.aborted[batch.base] = AbortedHere(batch.producer_id, first, ended)
            self._begins_late_enough(batch.base, first)

    def _begins_late_enough(self, marker: int, first: int) -> None:
        """No reader stops before it, on its way through the aborted transactions."""
        for one in self.told.all_aborted():
            late = one.marker >= marker or first >= one.stable
            require(late, f"the transaction of [{first}, {marker}] begins before {one.stable}")

    def agree(self) -> None:
        """The head and the ledger say the same as the bytes."""
        told = self.told
        first = {producer_id: batches[0].base for producer_id, batches in self.open.items()}
        require(told.open == first, f"{told.open} are open, and should be {first}")
        kept = {
            marker: (one.producer_id, one.first)
            for marker, one in self.aborted.items()
            if one.batches and one.batches[-1].end > told.log_start
        }
        if kept:
            found = {one.marker: (one.producer_id, one.first) for one in told.all_aborted()}
            require(kept.items() <= found.items(), f"aborted are {kept}, and found {found}")
            require(told.aborted_to > max(kept), f"{max(kept)} is not asked for")

    def compacted(self, base: int, end: int, kept: set[int]) -> None:
        """Of [base, end), only these batches have records left."""
        gone = {one for one in self.log if base <= one.base < end and one.base not in kept}
        self.log = [one for one in self.log if one not in gone]
        listed = {one.marker for one in self.told.all_aborted()}
        for one in gone:
            undecided = one.kind is Kind.DATA and one.base not in self.fates
            require(not undecided, f"{one.base} is gone, and was not decided")
            matters = one.kind is Kind.ABORT and one.base in listed
            require(not matters, f"the marker at {one.base} is gone, and its transaction is listed")
        for aborted in self.aborted.values():
            aborted.batches = [one for one in aborted.batches if one not in gone]

    def counts(self, base: int) -> bool:
        """Whether a reader gets the records of this transactional batch."""
        return self.fates.get(base) is End.COMMIT

    def readable(self, end: int) -> None:
        """From every offset of a log that ends there."""
        end, aborted = self.stable_end(end), self.told.all_aborted()
        log = [one for one in self.log if self.told.log_start < one.end <= end]
        for number, first in enumerate(log):
            given = [a for a in aborted if a.marker >= first.base and a.first < end]
            self.delivers(log[number:], given)

    def delivers(self, log: Sequence[Seen], aborted: Iterable[Aborted]) -> None:
        """What a client makes of these batches, with this list."""
        delivered = {one.base for one in _delivered(log, aborted)}
        for one in log:
            if one.kind is Kind.DATA:
                fate = self.fates.get(one.base)
                if (fate is End.COMMIT) != (one.base in delivered) or fate is None:
                    done = "delivers" if one.base in delivered else "skips"
                    raise Violation(f"a reader {done} {one.base}, whose fate is {fate!r}")


def _delivered(log: Iterable[Seen], aborted: Iterable[Aborted]) -> Iterator[Seen]:
    """The algorithm of Kafka's clients."""
    coming = sorted((one.first, one.producer_id) for one in aborted)
    aborting: set[int] = set()
    for one in log:
        while coming and coming[0][0] < one.end:
            aborting.add(coming.pop(0)[1])
        if one.kind is Kind.ABORT:
            aborting.discard(one.producer_id)
        elif one.kind is Kind.DATA and one.producer_id not in aborting:
            yield one
