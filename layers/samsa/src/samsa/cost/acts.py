"""What each act of a client asks of AWS, as counted in tests.

`tests/bundle/test_acts.py` makes the real requests and compares: DynamoDB's units as DynamoDB
Local meters them, calls of S3, messages and invocations of the gateway function. A change of the
code that makes an act dearer or cheaper breaks that test, and this table is where it is then
written down.

Where an act can cost more or less, this is the dearer: a function meets a topic that it has not
looked up within the second, and a producer whose last batch another function has stored.
"""

from typing import NamedTuple


class Act(NamedTuple):
    reads: float = 0
    """DynamoDB's read request units: 4 KB, strongly consistent."""
    writes: float = 0
    """Its write request units: 1 KB."""
    puts: float = 0
    gets: float = 0
    """Also those of the shim."""
    lists: float = 0
    messages: float = 0
    """Through the WebSocket, either way."""
    invocations: float = 0

    def times(self, count: float) -> "Act":
        return Act(*(each * count for each in self))

    def plus(self, other: "Act") -> "Act":
        return Act(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Functions:
    """Through API Gateway and the gateway function."""

    CONNECT = Act(writes=1, invocations=1)
    DISCONNECT = Act(writes=1, invocations=1)
    APPEND = Act(reads=6, writes=4, puts=1, gets=1, messages=2, invocations=1)
    PLAIN_APPEND = Act(reads=1, writes=3, puts=1, messages=2, invocations=1)
    """Of a producer that is not idempotent."""
    UPLOAD = Act(puts=1, gets=1, messages=2, invocations=1)
    """What a request costs more that is too large for a message."""
    READ = Act(reads=3, gets=1, messages=2, invocations=1)
    """A fetch of one partition that finds one object."""
    PARK = Act(reads=3, writes=1, messages=2, invocations=1)
    """A fetch of one partition that finds nothing."""
    WAKE = Act(writes=1, messages=1)
    """What an append costs more that somebody waits for."""
    PARTITION_READ = Act(reads=1)
    """Each partition more that a fetch asks for, if others have something."""
    PARTITION_PARKED = Act(reads=2, writes=1)
    """If none has."""
    BEAT = Act(reads=1, writes=1 / 3, messages=2, invocations=1)
    """One in three moves the end of the session on."""
    COMMIT = Act(reads=2, writes=1, messages=2, invocations=1)


class Processes:
    """Of `samsa up` on DynamoDB and S3."""

    SLOT = Act(writes=3, puts=1)
    """Shared by all that comes while the one before is written."""
    BIND = Act(writes=1)
    """Each batch of an idempotent producer."""
    READ = Act(reads=3)
    """A fetch of one partition that waited and was woken; objects come once to each process."""
    PARTITION_READ = Act(reads=2)
    """Each partition more that it asks for."""
    WATCH = Act(writes=1)
    """Each partition and process, in half a minute."""
    BEAT = Act(reads=1, writes=1 / 3)
    COMMIT = Act(reads=1, writes=1)
    ANNOUNCE = Act(reads=1, writes=1)
    """Each process, every three seconds: it renews its item and looks at the others'."""


ROUND = Act(reads=4)
"""A round of the janitor, of any process: topics, those to be buried, and where it left off."""
ROUND_OF_A_PARTITION = Act(reads=6)
"""Its head as each step finds it, its graves, how far it was merged and when it was looked over."""
ROUND_THAT_EXPIRES = Act(reads=14, writes=4, lists=1)
"""The same if something has aged out: its start moves, a grave is dug, an earlier one emptied."""
ROUND_THAT_MERGES = Act(reads=15, writes=6, puts=1, lists=1)
"""The same if there is something to merge: a segment is announced, put and swapped in, and the
grave of what an earlier one was made of is emptied."""
EXTENT_BYTES = 350
"""Of an index entry: its own 250, and the 100 that DynamoDB counts for each item."""
EXTENTS_LOOKED_AT = 1_000
"""By a round, of a partition that has as many."""
READS_PER_EXTENT = 1 / 14
LEAVING = Act(reads=READS_PER_EXTENT, writes=1)
"""An append leaves the index. S3 deletes for nothing."""
MERGED = LEAVING.plus(Act(reads=READS_PER_EXTENT, gets=1.1))
"""It becomes part of a segment, and so leaves the index: it is found, and got once, or again where
segments are merged."""
UNMERGED_S = 360
"""How long it is a piece of its own: a minute, and up to the next round."""
SEGMENT_BYTES = 64 * 1024 * 1024
SEGMENTS_IN_TIME = 8
"""Of a partition, at least: each holds no more than this part of the time that is kept."""
SEGMENT_ENTRY_BYTES = 4_500
"""Of a large segment in the index, with all its marks and times."""
READS_PER_SEGMENT = 1.1
