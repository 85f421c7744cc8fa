"""How large the ledger's items may become. Each bound is checked before the write, on every ledger.

DynamoDB limits an item to 400 KB (409,600 bytes), a transaction to 100 items and 4 MB, and an
expression to 4 KB. SQLite has no such limits but keeps the same bounds: what works on a laptop
works on AWS. `tests/functional/test_item_bounds.py` fills each item to its bound.

| item       | what grows                | bound                      | beyond it                  |
|------------|---------------------------|----------------------------|----------------------------|
| group      | members, subscriptions,   | 240 KiB with a newcomer,   | GROUP_MAX_SIZE_REACHED,    |
|            | assignments (groups/room) | 360 with assignments, 390  | and nothing is stored      |
| group name | the group's id            | `LONGEST_GROUP_ID`         | INVALID_GROUP_ID           |
| offsets    | metadata, 32 partitions   | 4,096 characters each,     | OFFSET_METADATA_TOO_LARGE  |
|            |                           | which are 12 KiB in UTF-8  |                            |
| head       | all that follows          | `MOST_HEAD_BYTES`          | Unavailable: the producer  |
|            |                           |                            | tries again                |
| head       | entries of the tail       | `LONG_TAIL_ENTRIES`,       | the commit waits until     |
|            |                           | `LONG_TAIL_BYTES`          | they are in the index      |
| head       | idempotent producers      | `MOST_PRODUCERS`           | the least recently used is |
|            |                           |                            | moved to its own item      |
| head       | open transactions         | `MOST_OPEN_TRANSACTIONS`   | Unavailable: the producer  |
|            |                           |                            | tries again                |
| head       | markers of transactions   | as other entries           | see there; but a full head |
|            |                           |                            | takes a marker too         |
| head       | watchers                  | `MOST_WATCHERS`            | not entered: the consumer  |
|            |                           |                            | looks after max_wait       |
| topic, and | configs                   | `MOST_CONFIG_BYTES`        | INVALID_CONFIG             |
| its doom   |                           |                            |                            |
| connection | partitions it watches     | `MOST_WATCHED`, twice      | not entered: the watch     |
|            |                           |                            | ends by itself             |
| producer   | its last batches          | five                       | the oldest goes            |
| trans-     | partitions, groups        | `MOST_TRANSACTION_BYTES`   | `ItemTooLarge`, and        |
| action     |                           |                            | nothing is stored          |
| its name   | the transactional id      | `LONGEST_TRANSACTIONAL_ID` | INVALID_REQUEST            |
| pending    | partitions, metadata      | `MOST_PENDING_BYTES`, of   | `ItemTooLarge`, and        |
| offsets    |                           | one producer in one group  | nothing is stored          |
| extent     | marks and their times     | `MOST_MARKS` (joining)     | fewer, further apart       |
| pending    | objects of one swap       | `KEYS_PER_DELETION`        | the swap has several       |
| deletion   |                           | (extents)                  |                            |
| node       | host, zone                | `LONGEST_HOST`,            | not announced; `--zone`    |
|            |                           | `LONGEST_ZONE`             | refused at the start       |
| nodes      | one item for each process | `MOST_NODES`               | not announced: it serves   |
|            |                           |                            | clients that connect to it |
| entry of   | names in it               | `MOST_ENTRY_BYTES`         | `ItemTooLarge`, and        |
| security   |                           |                            | nothing is stored          |
| cursor, id | nothing                   |                            |                            |

An offset commit that is too large for one transaction is split into several
(`TRANSACTION_BYTES`).
"""

from .errors import ItemTooLarge
from .offsets import Offsets
from .security import SecurityChange, SecurityEntry

MOST_HEAD_BYTES = 100 * 1024
"""DynamoDB bills each commit by the size of the whole head: one write unit for each KB."""
INLINE_BYTES = 4 * 1024
"""Appends up to this size are kept in the head, and later in the index: they need no object."""
FRUGAL_INLINE_BYTES = 5 * 512
"""The same if cost matters more than latency: an append is written to the head and to the index,
and removed from both, each billed by the KB. Above this size a put to S3 costs less."""
SETTLE_OTHERS_MS = 2_000
"""A process settles its own entries at once, and those of other processes at this age: the process
that committed them may have ended."""
OTHERS_BYTES = 3 * 1024
OTHERS_ENTRIES = 16
"""If the tail holds this much of other processes, a process takes out its own settled entries in a
separate update, and does not wait for its next commit."""
LONG_TAIL_BYTES = 2 * INLINE_BYTES
LONG_TAIL_ENTRIES = 32
"""Above this, a process settles all entries, and waits for that before it commits."""
FEW_PRODUCERS = 16
"""Up to this many stay in the head, however long ago they were used."""
MOST_PRODUCERS = 256
"""Each with five batches takes about 130 bytes."""
IDLE_PRODUCER_MS = 60_000
"""After this time a producer leaves a head with more than FEW_PRODUCERS."""
MOST_OPEN_TRANSACTIONS = 256
"""In one partition. One takes about 35 bytes, also while its producer is not in the head."""
MOST_WATCHERS = 1_000
"""Processes, or connections to functions, that wait for one partition: about 45 bytes each."""
MOST_WATCHED = 4_000
"""Partitions that one connection may add in one request; and those it may watch before that."""
MOST_CONFIG_BYTES = 64 * 1024
"""Of one topic, names and values."""
LONGEST_GROUP_ID = 1_000
"""Characters. To count groups, a process holds the names of all groups in memory."""
LONGEST_TRANSACTIONAL_ID = 1_000
"""Characters, as for groups."""
MOST_TRANSACTION_BYTES = 360 * 1024
"""Of the coordinator's state for one transactional id."""
MOST_PENDING_BYTES = 360 * 1024
"""As `pending_weight` counts them."""
MOST_NODES = 100
"""Processes of one cluster that are named to clients. Each of them reads all of these items."""
LONGEST_HOST = 255
"""Characters. A DNS name has at most 253."""
LONGEST_ZONE = 255
TRANSACTION_BYTES = 3_500_000
MOST_CHANGED_AT_ONCE = 90
"""Entries of security in one change. A transaction of DynamoDB has a hundred parts."""
MOST_ENTRY_BYTES = 16 * 1024
"""Of one entry of security. As many as a change has fit into one transaction."""


def raise_if_large_transaction(state: bytes) -> None:
    if len(state) > MOST_TRANSACTION_BYTES:
        raise ItemTooLarge(f"a transaction of {len(state)} bytes")


def raise_if_large_pending(weight: int) -> None:
    if weight > MOST_PENDING_BYTES:
        raise ItemTooLarge(f"pending offsets of {weight} bytes")


def pending_weight(offsets: Offsets) -> int:
    """At least the bytes that they take in an item of DynamoDB."""
    return sum(
        80 + len(topic.encode()) + len(one.metadata.encode()) for (topic, _), one in offsets.items()
    )


def raise_if_large_security(change: SecurityChange) -> None:
    entries = [*change.put, *change.removed]
    if len(entries) > MOST_CHANGED_AT_ONCE:
        raise ItemTooLarge(f"a change of {len(entries)} entries of security")
    for entry in entries:
        raise_if_large_entry(entry)


def raise_if_large_entry(entry: SecurityEntry) -> None:
    size = len(entry.name.encode()) + len(entry.value.encode())
    if size > MOST_ENTRY_BYTES:
        raise ItemTooLarge(f"an entry of security of {size} bytes")
