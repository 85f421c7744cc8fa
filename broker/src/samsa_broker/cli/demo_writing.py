"""Writes generated records to a topic at a given rate, shows progress, and ends cleanly."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from types import FrameType
from typing import Self

from samsa.http_api.partitioner import partition_for
from samsa.records.record import Record
from samsa_broker.demo.story import RecordKind, ToldRecord

from .client import Client
from .produce import send

TICK_S = 0.1
MOST_AT_ONCE = 1_000
TOLD_EVERY_S = 10.0
"""Progress is printed this often if the output is no terminal."""
BAR = 24


class DemoWriter:
    """Ctrl-C ends it cleanly: what was begun is written, and the summary is printed. A second
    Ctrl-C ends it at once."""

    def __init__(self, client: Client, topic: str, partitions: int, total: int | None) -> None:
        self._client, self._topic, self._partitions, self._total = client, topic, partitions, total
        self._kinds: Counter[RecordKind] = Counter()
        self._keys: set[bytes] = set()
        self._bytes = 0
        self._started = self._told = time.monotonic()
        self._drawn = sys.stderr.isatty()
        self._stopped = False

    @property
    def written(self) -> int:
        return self._kinds.total()

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._sum_up()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped = True
        signal.signal(signal.SIGINT, self._before)

    def write(self, story: Iterator[ToldRecord], rate: float | None) -> None:
        while chunk := list(islice(story, self._due(rate))):
            self._send(chunk)
            self._progress()

    def _due(self, rate: float | None) -> int:
        """How many records to write now; 0 at the end. Waits until some are due."""
        while not self._stopped:
            if rate is None:
                return MOST_AT_ONCE
            due = int((time.monotonic() - self._started) * rate) + 1 - self.written
            if due > 0:
                return min(due, MOST_AT_ONCE)
            time.sleep(TICK_S)
        return 0

    def _send(self, chunk: list[ToldRecord]) -> None:
        by_partition: dict[int, list[Record]] = {}
        for told in chunk:
            batch = by_partition.setdefault(partition_for(told.key, self._partitions, ""), [])
            batch.append(Record(len(batch), told.timestamp, told.key, told.value, ()))
        send(self._client, self._topic, by_partition)
        self._kinds.update(told.kind for told in chunk)
        self._keys.update(told.key for told in chunk)
        self._bytes += sum(len(told.key) + len(told.value or b"") for told in chunk)

    def _progress(self) -> None:
        now = time.monotonic()
        if self._drawn:
            print(f"\r\x1b[K{self._line(now)}", end="", file=sys.stderr, flush=True)
        elif now - self._told >= TOLD_EVERY_S:
            self._told = now
            print(self._line(now), file=sys.stderr)

    def _line(self, now: float) -> str:
        seconds = max(now - self._started, 0.001)
        pace = f"{self.written:,} records, {self.written / seconds:,.0f}/s, {seconds:.0f} s"
        if self._total is None:
            return f"{pace}  (Ctrl-C ends it)"
        full = BAR * self.written // self._total
        return f"[{'#' * full}{'.' * (BAR - full)}] {pace} of {self._total:,}"

    def _sum_up(self) -> None:
        if self._drawn:
            print(file=sys.stderr)
        seconds, kinds = time.monotonic() - self._started, self._kinds
        print(
            f"{self.written:,} records of {len(self._keys):,} trucks written to {self._topic}"
            f" ({self._bytes / 1e6:,.1f} MB, {seconds:.1f} s): {kinds[RecordKind.BAD]:,} cannot be"
            f" read, {kinds[RecordKind.LATE]:,} are late, {kinds[RecordKind.GONE]:,} trucks left"
        )
