"""How many units a write of a partition's head or index takes: DynamoDB bills the whole item.

A head has its idempotent producers, its watchers and a tail: appends that are not in the index yet,
the small ones with their bytes. An update is billed by the head's size before or after it,
whichever is larger. The sizes are those that `tests/bundle/test_sizes.py` finds in real items.
"""

from collections.abc import Sequence
from math import ceil, exp
from typing import NamedTuple

from samsa.ports.bounds import (
    FEW_PRODUCERS,
    IDLE_PRODUCER_MS,
    MOST_PRODUCERS,
    OTHERS_BYTES,
    OTHERS_ENTRIES,
    SETTLE_OTHERS_MS,
)

from .acts import Act
from .load import AppendShare, by_chance

HEAD_BYTES = 190
PRODUCER_BYTES = 55
WATCHER_BYTES = 50
ENTRY_BYTES = 60
"""Of an append in a head, without its records."""
EXTENT_BYTES = 240
"""Of an append in the index, without its records."""
ITEM_BYTES = 100
"""Bytes that DynamoDB adds to each stored item."""
SEGMENT_ENTRY_BYTES = 4_500
"""Of a large segment in the index, with all its marks and times."""
DELETION_KEY_BYTES = 62
"""Bytes of an object's name in a pending deletion."""
DELETION_WRITES = 4
"""Units of a pending deletion: put in a transaction, found, and removed."""
FILLED, OFTEN = 0.75, 0.85
"""Of the room for what others leave in a head, on average; and how often a head is crowded that
they would fill."""
OLD_S = SETTLE_OTHERS_MS / 1000
STAYS = 0.18
"""Old entries in the head for each writer beyond three: the writer that indexed one takes it out
with its own next commit."""
KB = 1024
READ = 4 * KB


class Crowd(NamedTuple):
    """The producers, watchers and writers that share a head."""

    producers: float
    watchers: float
    writers: float = 1
    """Processes or functions that commit to it, in turn."""
    kept: float = 1
    """Entries that each of them has in the tail at a commit: the new one, which takes out the one
    before; and in functions that one too, which is put into the index meanwhile."""
    gap_s: float = 0
    """Seconds between two commits, whichever writer makes them."""
    at_once: bool = False
    """Each writer takes its entry out by an update of its own, as soon as it is in the index."""
    stays_s: float = 0
    """How long an entry is in the head then."""

    @property
    def left(self) -> float:
        """Entries that other writers leave in the tail of a head that is not crowded: until each of
        them commits again, or until the entries are old enough to be settled by any writer."""
        theirs = max(0.0, self.writers - 1) * self.kept
        old = OLD_S / self.gap_s + 1 + STAYS * max(0.0, self.writers - 3) if self.gap_s else theirs
        return min(theirs, old)

    @property
    def stale(self) -> float:
        """The share of entries that become so old before their writer commits again."""
        back_s = self.writers * self.gap_s if self.writers > 1 else 0.0
        return exp(-OLD_S / back_s) if back_s else 0.0


class Units(NamedTuple):
    """Seconds of a call of DynamoDB, on average."""

    head_read: float
    head_write: float
    index_write: float
    index_read: float
    """If many entries are written at the same time, for each of them."""
    deletion_write: float
    index_bytes: float
    """Of an entry."""
    again: float
    """Entries that are put into the index though they are there already, for each commit: a writer
    does not know what another one has settled."""
    crowded: float
    """The share of commits that find many entries of others in the head: they take out what they
    have settled at once, by another update."""
    small_put: float
    """The share of appends that are small enough for the head, but put because it is crowded."""

    def reads(self, act: Act) -> float:
        return act.reads + act.head_reads * self.head_read

    def writes(self, act: Act) -> float:
        heads = act.head_writes * self.head_write
        return act.writes + heads + act.index_writes * self.index_write


def units(appends: Sequence[AppendShare], crowd: Crowd) -> Units:
    """`appends`: what is appended, each with the share that it has of all."""
    rest = HEAD_BYTES + crowd.producers * PRODUCER_BYTES + crowd.watchers * WATCHER_BYTES
    if not appends:
        return Units(
            1.0, ceil(rest / KB), 1.0, EXTENT_BYTES / READ, 0.0, EXTENT_BYTES, 0.0, 0.0, 0.0
        )
    each_units = _units_at_once if crowd.at_once else _units
    found = [each_units(each, rest, crowd) for each in appends]
    shares = [each.share for each in appends]
    return Units(
        *(
            sum(share * one for share, one in zip(shares, column, strict=True))
            for column in zip(*found, strict=True)
        )
    )


def _units(append: AppendShare, rest: float, crowd: Crowd) -> Units:
    """The cost of several writers is as measured by `test_functions_that_commit_in_turn…`."""
    inline = append.size if append.inline else 0.0
    in_head = ENTRY_BYTES + inline
    room = FILLED * min(OTHERS_ENTRIES, OTHERS_BYTES / in_head)
    crowded = OFTEN * max(0.0, 1 - room / crowd.left) if crowd.left else 0.0
    own = crowd.kept - (crowd.kept - 1) * crowded
    head = rest + (own + min(crowd.left, room)) * in_head
    is_put = crowded if inline else 1.0
    return Units(
        head_read=ceil(head / READ),
        head_write=ceil(head / KB),
        **_indexed(inline, is_put),
        again=crowd.stale,
        crowded=crowded,
        small_put=crowded if inline else 0.0,
    )


def _units_at_once(append: AppendShare, rest: float, crowd: Crowd) -> Units:
    """Each writer takes its entry out by an update of its own: a commit finds only entries of calls
    that are under way, and their number is random."""
    inline = append.size if append.inline else 0.0
    in_head = ENTRY_BYTES + inline
    room = int(min(OTHERS_ENTRIES, OTHERS_BYTES / in_head))
    head_write = head_read = is_put = 0.0
    for share, entries in by_chance(1 + (crowd.stays_s / crowd.gap_s if crowd.gap_s else 0.0)):
        others = entries - 1
        is_crowded = others > room
        own = ENTRY_BYTES if is_crowded else in_head
        head = rest + own + min(others, room) * in_head
        head_write += share * ceil(head / KB)
        head_read += share * ceil(head / READ)
        is_put += share * (is_crowded or not inline)
    return Units(
        head_read=head_read,
        head_write=head_write,
        **_indexed(inline, is_put),
        again=0.0,
        crowded=1.0,
        small_put=is_put if inline else 0.0,
    )


def _indexed(inline: float, is_put: float) -> dict[str, float]:
    """What an entry costs in the index. `is_put`: the share of entries whose bytes are objects."""
    kept, put = EXTENT_BYTES + inline, EXTENT_BYTES
    size = is_put * put + (1 - is_put) * kept
    return {
        "index_write": is_put * ceil(put / KB) + (1 - is_put) * ceil(kept / KB),
        "index_read": size / READ,
        "deletion_write": is_put * DELETION_WRITES * DELETION_KEY_BYTES / KB,
        "index_bytes": size,
    }


def producers_in_head(producers: float, gap_s: float) -> float:
    """Of all producers of a partition, if each one's appends are `gap_s` apart."""
    if producers <= FEW_PRODUCERS:
        return producers
    lately = producers * (1 - _is_away(gap_s))
    return min(MOST_PRODUCERS, max(FEW_PRODUCERS, lately))


def returning(producers: float, gap_s: float) -> float:
    """The share of a producer's appends before which it was evicted from the head."""
    return _is_away(gap_s) if producers > FEW_PRODUCERS else 0.0


def _is_away(gap_s: float) -> float:
    return exp(-IDLE_PRODUCER_MS / 1000 / gap_s) if gap_s else 0.0
