"""Counts what the stores are asked, by the key that signed it and in all: what AWS would bill.

Each environment of a function has a key of its own and serves one event at a time. So what was
signed by its key since the last look belongs to the event that it has just answered.
"""

from collections import Counter
from dataclasses import dataclass, field

from samsa.bounded import Bounded

READS = ("GetItem", "Query")
PUTS = ("PutObject", "UploadPart", "CreateMultipartUpload", "CompleteMultipartUpload", "List")
GETS = ("GetObject", "HeadObject")
WATCHED = 1_000
"""Keys; more than there are environments at a time."""


@dataclass(slots=True)
class StoreUse:
    """Deletes of objects cost nothing, and are counted as calls only."""

    calls: Counter[str] = field(default_factory=Counter)
    reads: float = 0.0
    writes: float = 0.0
    """DynamoDB's capacity units."""
    puts: int = 0
    """Of S3, also lists."""
    gets: int = 0

    def called(self, name: str, reads: float = 0.0, writes: float = 0.0) -> None:
        """The table's thread calls it, and the event loop for the objects: each changes numbers of
        its own."""
        self.calls[name] += 1
        if name in PUTS:
            self.puts += 1
        elif name in GETS:
            self.gets += 1
        else:
            self.reads += reads
            self.writes += writes

    def read(self) -> dict[str, object]:
        return {
            "calls": dict(self.calls),
            "read_units": self.reads,
            "write_units": self.writes,
            "puts": self.puts,
            "gets": self.gets,
        }


class Meter:
    def __init__(self) -> None:
        self.total = StoreUse()
        self._of_keys = Bounded[str, StoreUse](WATCHED)

    def watch(self, key: str) -> None:
        """From now on count what is signed by this key."""
        self._of_keys.keep(key, StoreUse())

    def called(self, key: str, name: str, reads: float = 0.0, writes: float = 0.0) -> None:
        self.total.called(name, reads, writes)
        use = self._of_keys.get(key)
        if use is not None:
            use.called(name, reads, writes)

    def take(self, key: str) -> StoreUse:
        """What was signed by it since the last look."""
        used = self._of_keys.get(key)
        if used is None:
            return StoreUse()
        self.watch(key)
        return used
