"""Transactional ids in every state, and a shell that serves requests as the real one does."""

from itertools import count
from uuid import UUID

from samsa.transactions import (
    Answer,
    Complete,
    NeedsId,
    Settings,
    State,
    Transaction,
    step,
)

NOW = 1_000_000
TIMEOUT = 60_000
ID, EPOCH = 7, 5
"""Of the producer, in `found`."""
LAST = 32_766
"""The last epoch that a producer gets."""
TOPIC = UUID(int=1)
ONE, TWO = (TOPIC, 0), (TOPIC, 1)
HOLDING = {State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT}


def found(state, **values):
    """What is stored in that state, of a producer whose epoch was bumped once before."""
    known = {
        "producer_id": ID,
        "epoch": EPOCH,
        "state": state,
        "serial": 3,
        "timeout_ms": TIMEOUT,
        "changed_at": NOW,
        "last_producer_id": ID,
        "last_epoch": EPOCH - 1,
    }
    if state in HOLDING:
        known |= {"partitions": frozenset({ONE}), "groups": frozenset({"g"}), "started_at": NOW}
    return Transaction(**(known | values))


class Shell:
    def __init__(self, transaction=None, now=NOW, settings=None):
        self.transaction = transaction
        self.now = now
        self.settings = settings or Settings()
        self.ids = count(100)
        self.markers = []
        """(producer id, epoch, serial, decision) of the transactions that were finished."""

    def once(self, request):
        """One step: the answer as it comes."""
        self.transaction, answer = step(self.transaction, request, self.now, self.settings)
        return answer

    def ask(self, request):
        """The last answer, with ids where they are needed, and all that is decided finished."""
        while True:
            answer = self.once(request)
            if isinstance(answer, NeedsId):
                request = request._replace(fresh_id=next(self.ids))
            self.finish()
            if isinstance(answer, Answer):
                return answer

    def finish(self):
        one = self.transaction
        if one is not None and one.is_decided:
            self.markers.append((one.producer_id, one.marker_epoch, one.serial, one.state))
            self.once(Complete(one.serial))
