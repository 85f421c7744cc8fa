"""What each act of a client costs in calls to AWS, as counted in tests.

`tests/bundle/test_acts*.py` make the real requests and compare: calls of DynamoDB and its units as
DynamoDB Local meters them, calls of S3, messages and invocations of the gateway function. If a
change of the code makes an act more or less expensive, those tests fail, and this table has to be
updated.

DynamoDB bills a write by the size of the whole item. So writes of heads and of index entries are
counted as calls here, and `sizes.py` says how many units each of them takes.

If the cost of an act varies, this is the more expensive case: the function has not looked up the
topic within the second, and another function has stored the producer's last batch.
"""

from typing import NamedTuple


class Act(NamedTuple):
    reads: float = 0
    """DynamoDB's read request units: 4 KB, strongly consistent."""
    writes: float = 0
    """Its write request units: 1 KB."""
    head_reads: float = 0
    """Calls that read a partition's head."""
    head_writes: float = 0
    """Calls that update a head, or try to. In a transaction an update counts twice."""
    index_writes: float = 0
    """Entries of an index that are put, even if they were there already, or deleted."""
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
"""What an append costs in addition if it is too large for a head."""


class FunctionActs:
    """Through API Gateway and the gateway function."""

    CONNECT = Act(writes=1, invocations=1)
    DISCONNECT = Act(writes=1, invocations=1)
    APPEND = Act(reads=1, head_reads=1, head_writes=1, messages=2, invocations=1)
    PLAIN_APPEND = Act(reads=1, head_writes=1, messages=2, invocations=1)
    """Of a producer that is not idempotent."""
    WARM_APPEND = Act(head_writes=1, messages=2, invocations=1)
    """By the function that served this producer last, within a second: the cheapest case."""
    PARTITION_APPENDED = Act(head_reads=1, head_writes=1)
    """Each further partition of one message."""
    UPLOAD = Act(puts=1, gets=1, messages=2, invocations=1)
    """What a request costs in addition if it is too large for a message."""
    READ = Act(reads=1, head_reads=1, messages=2, invocations=1)
    """A fetch of one partition that finds something in the head."""
    PARK = Act(reads=1, head_reads=2, head_writes=1, messages=2, invocations=1)
    """A fetch of one partition that finds nothing."""
    WAKE = Act(messages=1)
    """What an append costs in addition if a consumer waits for it: its records are pushed, and the
    consumer goes on waiting."""
    CALL = Act(head_writes=1, messages=1)
    """The same if it is too large for that: the push only tells the consumer to fetch, which ends
    its wait."""
    PARTITION_READ = Act(head_reads=1)
    """Each further partition that a fetch asks for, if others have something."""
    PARTITION_PARKED = Act(head_reads=2, head_writes=1)
    """The same if no partition has records."""
    BEAT = Act(reads=1, writes=1 / 3, messages=2, invocations=1)
    """One in three heartbeats extends the session."""
    COMMIT = Act(reads=2, writes=1, messages=2, invocations=1)


class ProcessActs:
    """Of `samsa up` on DynamoDB and S3."""

    APPEND = Act(head_writes=1)
    """Shared by all appends to the partition that come during the previous commit, or in a
    window."""
    LOOK = Act(head_reads=1)
    """For each partition of a fetch: once at first; and if there was nothing, once more when it is
    woken or its time is over. Each process gets an object once."""
    WATCH = Act(head_writes=1)
    """For each partition and process, once in half a minute."""
    BEAT = Act(reads=1, writes=1 / 3)
    COMMIT = Act(reads=1, writes=1)
    ANNOUNCE = Act(reads=1, writes=1)
    """For each process, every three seconds: it renews its item and reads those of the others."""


LOOK_UP = Act(reads=1)
"""A read in the index, for appends that have left the head; more if there is more to read."""
RETURN = Act(reads=1, writes=1, head_writes=1 / 16)
"""The head of a partition with many producers does not hold all of them. If an evicted producer
writes again, its own item is read, and later it is evicted again, with up to fifteen others."""

ROUND = Act(reads=5)
"""A round of the janitor, in any process: it reads topics, doomed topics, groups, where it left off
and when windows were swept."""
ROUND_OF_A_PARTITION = Act(reads=3, head_reads=3)
"""A round reads the head for each step, the pending deletions, and two cursors: how far it was
merged, and when it was last looked through."""
ROUND_THAT_SETTLES = Act(reads=1, head_reads=2, head_writes=1)
"""What it costs in addition if the head has entries: those that are in the index are taken out."""
ROUND_THAT_EXPIRES = Act(reads=8, writes=2, head_reads=3, head_writes=1, index_writes=4)
"""The same if something has aged out: the log start moves, a pending deletion is written, an
earlier one is done."""
ROUND_THAT_MERGES = Act(reads=9, writes=15, head_reads=4, head_writes=2, puts=1, gets=3)
"""The same if there is something to merge: a segment is announced, put and swapped in by a
transaction, perhaps for some smaller ones; a pending deletion is found, and an earlier one is
done."""
LEAVING = Act(index_writes=1)
"""An append leaves the index. Deletes in S3 are free."""
LOOKS = 3
"""How often an entry of the index is read before it leaves: to merge it, to remove it, to carry out
a pending deletion."""
MERGED_OBJECT = Act(gets=1)
"""What an append costs in addition if it is an object: one GET."""
SWEEP_OF_A_PARTITION = Act(reads=4, head_reads=2, head_writes=1)
SWEPT_WINDOW = Act(gets=1, lists=1 / 1_000)
"""For objects that several partitions share, each hour: each one that is no longer needed is
listed, a thousand at a time, read and deleted; and each partition's head counts the sweep."""
EXTENTS_LOOKED_AT = 1_000
"""Extents that a round reads of a partition that has as many."""
UNMERGED_S = 360
"""How long an append stays unmerged: a minute, and up to the next round."""
SEGMENT_BYTES = 64 * 1024 * 1024
SEGMENTS_IN_TIME = 8
"""Segments of a partition, at least: each holds no more than this part of the retention time."""
