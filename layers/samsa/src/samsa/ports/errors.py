"""What goes wrong at a seam."""


class Unavailable(Exception):
    """A store is down, throttled or slow: nothing is known about the call. Retriable."""


class Misconfigured(Unavailable):
    """A store refuses us until somebody mends the set-up: no such table, no permission."""


class UnknownPartition(Exception):
    """The ledger has no such partition (any more)."""


class Missing(Exception):
    """There is no object under that key."""


class CannotWait(Exception):
    """Whoever serves this request never waits: it is parked elsewhere, and comes again."""
