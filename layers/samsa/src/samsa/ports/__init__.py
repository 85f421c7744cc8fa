"""The ports: Journal, Ledger, Objects, Clock, Wakeups.

Everything above this room (the log, the handlers) is the same on a laptop and on AWS; everything
below it (`local/`, `aws/`) is an adapter. What an adapter promises:

- A **commit** of the journal is one atomic step: it shows an append, or does nothing.
- A **ledger** call is one atomic step, or several steps in the order its doc gives, between which
  the process may stop for ever. A call that may or may not have happened raises `Unavailable`;
  repeating it with the same arguments is then harmless.
- An **object** is written once. `put_if_absent` either stores all the bytes or none, and says
  whether this call did it. Readers never see half an object.
- **Time** only decides when something is looked at again, never whether it is safe.
- A **wake-up** is a hint: losing one costs delay, and nothing else.
"""

from .clock import Clock, has_passed
from .errors import (
    CannotWait,
    ItemTooLarge,
    Misconfigured,
    Missing,
    NotDone,
    StorageError,
    Unavailable,
    UnknownPartition,
)
from .extents import Extent, PendingDeletion, deletions_of
from .groups import GroupItem, Groups
from .journal import Bound, Claim, CommitResult, End, Journal, Tail
from .ledger import Ledger
from .nodes import Node
from .objects import Buffer, FileRange, Objects, Piece
from .offsets import Committed, Offsets
from .partitions import Aborted, Head, Partition, Topic
from .security import (
    SecurityChange,
    SecurityEntry,
    SecurityKind,
    SecurityState,
    SecurityStore,
)
from .transactions import PendingOffsets, TransactionItem, Transactions
from .wakeups import Appended, Awaited, GroupKey, Subscription, Waiting, Wakeups

__all__ = [
    "Aborted",
    "Appended",
    "Awaited",
    "Bound",
    "Buffer",
    "CannotWait",
    "Claim",
    "Clock",
    "CommitResult",
    "Committed",
    "End",
    "Extent",
    "FileRange",
    "GroupItem",
    "GroupKey",
    "Groups",
    "Head",
    "ItemTooLarge",
    "Journal",
    "Ledger",
    "Misconfigured",
    "Missing",
    "Node",
    "NotDone",
    "Objects",
    "Offsets",
    "Partition",
    "PendingDeletion",
    "PendingOffsets",
    "Piece",
    "SecurityChange",
    "SecurityEntry",
    "SecurityKind",
    "SecurityState",
    "SecurityStore",
    "StorageError",
    "Subscription",
    "Tail",
    "Topic",
    "TransactionItem",
    "Transactions",
    "Unavailable",
    "UnknownPartition",
    "Waiting",
    "Wakeups",
    "deletions_of",
    "has_passed",
]
