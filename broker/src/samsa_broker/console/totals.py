"""How large each topic is, and how fast it grows; how far behind each group is.

To ask for the ends and sizes of ten thousand topics takes long, and on DynamoDB it costs money. So
a round asks about the topics and groups that are on an open page, the largest ones, and a few of
all others, which take turns.
"""

from collections.abc import Collection, Iterable
from typing import Generic, NamedTuple, TypeVar

WATCHED_MS = 600_000
"""After this time without a request about it, a topic or group is not watched any more."""
LARGEST = 100
V = TypeVar("V")


class TopicTotals(NamedTuple):
    at_ms: int
    starts: int
    ends: int
    """Sums of the partitions' first offsets, and of the offsets after their last."""
    size: int | None
    """Bytes; None where they are not known."""
    bytes_per_s: float | None = None
    records_per_s: float | None = None

    @property
    def records(self) -> int:
        return self.ends - self.starts

    def after(self, before: "TopicTotals | None") -> "TopicTotals":
        """With the rates since an earlier look."""
        if before is None or self.at_ms <= before.at_ms or self.ends < before.ends:
            return self
        seconds = (self.at_ms - before.at_ms) / 1000
        records = self.ends - before.ends
        grown = self._grown(before, records)
        rate = None if grown is None else grown / seconds
        return self._replace(bytes_per_s=rate, records_per_s=records / seconds)

    def _grown(self, before: "TopicTotals", records: int) -> float | None:
        """Bytes that were written: what the log grew by. If retention or compaction made it
        smaller meanwhile, so many records of its usual size."""
        if self.size is None or before.size is None:
            return None
        grown = self.size - before.size
        if grown >= 0 and self.starts == before.starts:
            return grown
        return records * self.size / self.records if self.records else float(max(0, grown))


class GroupTotals(NamedTuple):
    at_ms: int
    lag: int
    topics: tuple[str, ...]


class Rotation(Generic[V]):
    """Names, what was seen of them last, and whose turn it is."""

    def __init__(self) -> None:
        self.seen: dict[str, V] = {}
        self._watched: dict[str, int] = {}
        self._next: dict[str, str] = {}

    def watch(self, name: str, now_ms: int) -> None:
        self._watched[name] = now_ms

    def forget_others(self, names: Collection[str], now_ms: int) -> None:
        """Forget names that are gone. Stop watching those not asked for in `WATCHED_MS`."""
        for name in [name for name in self.seen if name not in names]:
            del self.seen[name]
        self._watched = {
            name: since
            for name, since in self._watched.items()
            if name in names and 0 <= now_ms - since < WATCHED_MS
        }

    def kept(self, largest: Iterable[str]) -> set[str]:
        """Those whose history is kept."""
        return {*self._watched, *largest}

    def turns(self, which: str, names: list[str]) -> list[str]:
        """The names (sorted) in the order in which a round has time for them. `which`: several
        lists take turns on their own."""
        begin = self._next.get(which, "")
        at = next((i for i, name in enumerate(names) if name >= begin), 0)
        return [*names[at:], *names[:at]]

    def ended_at(self, which: str, name: str | None) -> None:
        """The next round begins with this one; None: with the first."""
        self._next[which] = name or ""
