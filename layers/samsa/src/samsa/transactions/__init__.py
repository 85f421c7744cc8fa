"""The transaction coordinator: pure. State, request and time in; state and answer out.

    transaction = unpack(item.state)        # or None where there is no item
    after, answer = step(transaction, request, now_ms, settings)
    if isinstance(answer, NeedsId):         # ask again with a producer id that is new
        request = request._replace(fresh_id=...)
    elif after is not transaction:          # compare-and-swap; after a lost race, step again
        put(pack(after))

If the transaction is decided after that (`is_decided`), its markers and offsets are to be written,
and then `Complete(serial)` is the next step. `Unfinished` says that this comes first, and that the
same request is then asked again. With an `Answer` the client may be answered before that.

The serial counts the transactions of an id. An answer without an error has the serial of the
transaction that it is about, so a late request can be told from one of the next transaction.

Semantics are those of Kafka's TransactionCoordinator 4.3 (KIP-98, KIP-360, KIP-890), and differ in
this:

- A producer that recovers with an epoch that is not the current one does not abort what is ongoing.
  In Kafka it does, and is fenced only then.
- One that recovers, whose answer with the last epoch of a producer id was lost, gets it again. In
  Kafka it gets UNKNOWN_SERVER_ERROR.
- A producer that was fenced is never told the epoch of the new one. In Kafka it is, if it bumps
  epochs and the new one does not.
- The abort of an empty transaction is complete at once.
- A transaction has a bounded size (`Settings.most_bytes`, `most_parts`); what would exceed it is
  refused with INVALID_REQUEST.
- If the clock was set back, a transaction ends its timeout after that was noticed.
"""

from .errors import TransactionError
from .packing import Corrupt, pack, unpack
from .replies import Answer, NeedsId, Step, Unfinished
from .requests import (
    Abort,
    AddGroup,
    AddPartitions,
    Complete,
    EndTransaction,
    Expire,
    Init,
    Request,
    Verify,
    VerifyGroup,
)
from .settings import Settings
from .state import State, Transaction
from .step import step

__all__ = [
    "Abort",
    "AddGroup",
    "AddPartitions",
    "Answer",
    "Complete",
    "Corrupt",
    "EndTransaction",
    "Expire",
    "Init",
    "NeedsId",
    "Request",
    "Settings",
    "State",
    "Step",
    "Transaction",
    "TransactionError",
    "Unfinished",
    "Verify",
    "VerifyGroup",
    "pack",
    "step",
    "unpack",
]
