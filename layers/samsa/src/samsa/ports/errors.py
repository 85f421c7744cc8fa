"""The errors that ports raise."""


class Unavailable(Exception):
    """A store is down, throttled or slow: the call may have happened or not. Retriable."""


class NotDone(Unavailable):
    """The call certainly changed nothing: it was throttled, or never sent. It may be repeated."""


class Misconfigured(Unavailable):
    """A store refuses us until an operator repairs the set-up: no such table, no permission."""


class StorageError(Unavailable):
    """The disk takes no writes: it is full, read-only or broken. Retriable, but not immediately:
    an operator has to act first."""


class UnknownPartition(Exception):
    """The ledger has no such partition (any more)."""


class Missing(Exception):
    """There is no object under that key."""


class CannotWait(Exception):
    """This process cannot wait (a function): the request is parked elsewhere, and served again."""


class ItemTooLarge(Exception):
    """What was to be stored is larger than its bound (`bounds.py`). Nothing is stored, and to
    repeat the call does not help."""
