"""What goes wrong at a seam."""


class Unavailable(Exception):
    """A store is down, throttled or slow: nothing is known about the call. Retriable."""


class NotDone(Unavailable):
    """The call certainly changed nothing: it was throttled, or never sent. It may be repeated."""


class Misconfigured(Unavailable):
    """A store refuses us until somebody mends the set-up: no such table, no permission."""


class StorageError(Unavailable):
    """The disk does not take what is written: it is full, read-only or broken. Retriable, but not
    at once: somebody has to do something about it."""


class UnknownPartition(Exception):
    """The ledger has no such partition (any more)."""


class Missing(Exception):
    """There is no object under that key."""


class CannotWait(Exception):
    """Whoever serves this request never waits: it is parked elsewhere, and comes again."""
