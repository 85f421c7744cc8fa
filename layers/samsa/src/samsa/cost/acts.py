"""What each act of a client asks of AWS, as counted in tests.

`tests/bundle/test_acts*.py` make the real requests and compare: calls of DynamoDB and its units as
DynamoDB Local meters them, calls of S3, messages and invocations of the gateway function. A change
of the code that makes an act dearer or cheaper breaks those tests, and this table is where it is
then written down.

DynamoDB bills a write by the size of the whole item. So writes of heads and of index entries are
counted as calls here, and `sizes.py` says how many units each of them is.

Where an act can cost more or less, this is the dearer: a function meets a topic that it has not
looked up within the second, and a producer whose last batch another function has stored.
"""

from typing import NamedTuple


class Act(NamedTuple):
    reads: float = 0
    """DynamoDB's read request units: 4 KB, strongly consistent."""
    writes: float = 0
    """Its write request units: 1 KB."""
    head_reads: float = 0
    """Calls that read a partition's head,"""
    head_writes: float = 0
    """and that update one, or try to. In a transaction an update counts twice."""
    index_writes: float = 0
    """Entries of an index that are put, or that somebody has put already, or deleted."""
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


SETTLED = Act(index_writes=1)
"""An append is put into the index, by a function beside its next commit to that partition. The
commit after that takes it out of the head."""
OBJECT = Act(puts=1)
"""What an append costs more that is too large for a head."""


class Functions:
    """Through API Gateway and the gateway function."""

    CONNECT = Act(writes=1, invocations=1)
    DISCONNECT = Act(writes=1, invocations=1)
    APPEND = Act(reads=1, head_reads=1, head_writes=1, messages=2, invocations=1)
    PLAIN_APPEND = Act(reads=1, head_writes=1, messages=2, invocations=1)
    """Of a producer that is not idempotent."""
    WARM_APPEND = Act(head_writes=1, messages=2, invocations=1)
    """By the function that served this producer last, within a second: the least."""
    PARTITION_APPENDED = Act(head_reads=1, head_writes=1)
    """Each partition more of one message."""
    UPLOAD = Act(puts=1, gets=1, messages=2, invocations=1)
    """What a request costs more that is too large for a message."""
    READ = Act(reads=1, head_reads=1, messages=2, invocations=1)
    """A fetch of one partition that finds something in the head."""
    PARK = Act(reads=1, head_reads=2, head_writes=1, messages=2, invocations=1)
    """A fetch of one partition that finds nothing."""
    WAKE = Act(messages=1)
    """What an append costs more that somebody waits for: it is brought along, and they go on
    waiting."""
    CALL = Act(head_writes=1, messages=1)
    """The same if it is too large for that: they are told to come, and wait no more."""
    PARTITION_READ = Act(head_reads=1)
    """Each partition more that a fetch asks for, if others have something."""
    PARTITION_PARKED = Act(head_reads=2, head_writes=1)
    """If none has."""
    BEAT = Act(reads=1, writes=1 / 3, messages=2, invocations=1)
    """One in three moves the end of the session on."""
    COMMIT = Act(reads=2, writes=1, messages=2, invocations=1)


class Processes:
    """Of `samsa up` on DynamoDB and S3."""

    APPEND = Act(head_writes=1)
    """Shared by all that comes to the partition while the one before is written, or in a window."""
    LOOK = Act(head_reads=1)
    """A fetch, at each of its partitions: at first; and if there was nothing, once more when it is
    woken or its time is over. Objects come once to each process."""
    WATCH = Act(head_writes=1)
    """Each partition and process, in half a minute."""
    BEAT = Act(reads=1, writes=1 / 3)
    COMMIT = Act(reads=1, writes=1)
    ANNOUNCE = Act(reads=1, writes=1)
    """Each process, every three seconds: it renews its item and looks at the others'."""


LOOK_UP = Act(reads=1)
"""Of appends that have left the head, in the index; more if there is more to read."""
RETURN = Act(reads=1, writes=1, head_writes=1 / 16)
"""Of an idempotent producer that had left the head of a partition which has many: its own item is
read; and later it leaves again, with up to fifteen others."""

ROUND = Act(reads=5)
"""A round of the janitor, of any process: topics, those to be buried, groups, where it left off and
when windows were swept."""
ROUND_OF_A_PARTITION = Act(reads=3, head_reads=3)
"""Its head as each step finds it, its graves, how far it was merged and when it was looked over."""
ROUND_THAT_SETTLES = Act(reads=1, head_reads=2, head_writes=1)
"""What it costs more if there is something in the head: what is in the index is taken out."""
ROUND_THAT_EXPIRES = Act(reads=8, writes=2, head_reads=3, head_writes=1, index_writes=4)
"""The same if something has aged out: its start moves, a grave is dug, an earlier one emptied."""
ROUND_THAT_MERGES = Act(reads=9, writes=15, head_reads=4, head_writes=2, puts=1, gets=3)
"""The same if there is something to merge: a segment is announced, put and swapped in by a
transaction, perhaps for some smaller ones; a grave is found, and an earlier one emptied."""
LEAVING = Act(index_writes=1)
"""An append leaves the index. S3 deletes for nothing."""
LOOKS = 3
"""At an entry of the index until it has left it: to merge it, to remove it, to empty a grave."""
MERGED_OBJECT = Act(gets=1)
"""What an append costs more if it is an object: it is got, once."""
SWEEP_OF_A_PARTITION = Act(reads=4, head_reads=2, head_writes=1)
SWEPT_WINDOW = Act(gets=1, lists=1 / 1_000)
"""Of objects that several partitions share, each hour: each that nobody needs any more is listed,
a thousand at a time, looked at and deleted; and each partition's head counts the sweep."""
EXTENTS_LOOKED_AT = 1_000
"""By a round, of a partition that has as many."""
UNMERGED_S = 360
"""How long it is a piece of its own: a minute, and up to the next round."""
SEGMENT_BYTES = 64 * 1024 * 1024
SEGMENTS_IN_TIME = 8
"""Of a partition, at least: each holds no more than this part of the time that is kept."""
