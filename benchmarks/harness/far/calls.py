"""What the proxy wrote down: every request to a store, when, and what it consumed."""

import json
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

QUIET_S = 0.3
PATIENCE_S = 10.0


class Call(NamedTuple):
    what: str
    wait_ms: float
    to_partition: bool
    """Whether it is about a partition's items."""
    writes: bool
    began: float
    ended: float
    units: float


class Calls:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0

    def skip(self) -> None:
        self.more()

    def more(self) -> list[Call]:
        """Those since the last time."""
        with self._file.open("rb") as file:
            file.seek(self._read)
            lines = file.read().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        self._read += sum(map(len, whole))
        return [Call(**json.loads(line)) for line in whole]

    def until_quiet(self) -> list[Call]:
        """The same once nothing about a partition has come for a while."""
        found, ends, last = self.more(), time.monotonic() + PATIENCE_S, time.monotonic()
        while time.monotonic() < min(last + QUIET_S, ends):
            time.sleep(QUIET_S / 10)
            more = self.more()
            if any(call.to_partition for call in more):
                last = time.monotonic()
            found += more
        return found


class Span(NamedTuple):
    """From a produce to its acknowledgement, or until it is seen."""

    began: float
    ended: float

    @property
    def ms(self) -> float:
        return 1000 * (self.ended - self.began)

    def within(self, calls: Iterable[Call]) -> list[Call]:
        return [call for call in calls if self.began <= call.began and call.ended <= self.ended]


def waits_ms(calls: Iterable[Call]) -> float:
    return sum(call.wait_ms for call in calls)


def counted(calls: Iterable[Call], appends: float) -> str:
    """How many of each kind for one append. A process that announces itself does so by the clock,
    whatever else it does."""
    counts = Counter(call.what for call in calls if not call.what.endswith("nodes"))
    each = [f"{count / appends:.2f} {what}" for what, count in counts.most_common()]
    return ", ".join(words for words in each if not words.startswith("0.00")) or "none"


def write_units(calls: Iterable[Call]) -> float:
    """Of partitions' items."""
    return sum(call.units for call in calls if call.to_partition and call.writes)
