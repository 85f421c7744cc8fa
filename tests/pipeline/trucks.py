"""What must be in the tables of the trucks, computed plainly from what was written.

Times are milliseconds since 1970.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from random import Random

from pipeline.given import moment

from samsa.http_api.partitioner import partition_for
from samsa_broker.demo.position import HEAD, MARKER
from samsa_broker.demo.story import Form, Plot, RecordKind, ToldRecord, tell

PARTITIONS = 3
WINDOW_MS, PATIENCE_MS = 300_000, 600_000


@dataclass(frozen=True)
class Chapter:
    """What one call of `samsa demo trucks` writes."""

    seed: int
    start_ms: int
    count: int
    rate: float = 0.5
    bad: float = 0.04
    late: float = 0.08
    gone: float = 0.004

    @property
    def words(self) -> list[str]:
        start = moment(self.start_ms).isoformat()
        words = f"--fast --format mixed --seed {self.seed} --count {self.count} --rate {self.rate}"
        shares = f"--bad {self.bad} --late {self.late} --gone {self.gone} --start {start}"
        return [*words.split(), *shares.split(), "--partitions", str(PARTITIONS)]

    def told(self) -> list[ToldRecord]:
        plot = Plot(
            form=Form.MIXED,
            bad=self.bad,
            late=self.late,
            gone=self.gone,
            start_ms=self.start_ms,
            step_ms=1000 / self.rate,
        )
        return list(islice(tell(plot, Random(self.seed)), self.count))


@dataclass(frozen=True)
class Placed:
    partition: int
    offset: int
    told: ToldRecord


def placed(told: Iterable[ToldRecord]) -> list[Placed]:
    """Where each record is in the topic."""
    ends = [0] * PARTITIONS
    found = []
    for one in told:
        partition = partition_for(one.key, PARTITIONS, "")
        found.append(Placed(partition, ends[partition], one))
        ends[partition] += 1
    return found


def bronze(records: Iterable[Placed]) -> set[tuple]:
    return {(r.partition, r.offset, r.told.key, r.told.value, r.told.timestamp) for r in records}


def silver(records: Iterable[Placed]) -> set[tuple]:
    return {
        (*r.told.position, r.partition, r.offset, r.told.timestamp)
        for r in records
        if r.told.position is not None
    }


def dead_letters(records: Iterable[Placed]) -> list[tuple]:
    """Key, value, reason, and where it is from."""
    return sorted(
        (r.told.key, r.told.value, why_not(r.told.value), r.partition, r.offset)
        for r in records
        if r.told.kind == RecordKind.BAD
    )


def why_not(value: bytes) -> str:
    if value.startswith(MARKER):
        if not value.startswith(HEAD):
            return f"the schema {'00' * 8} is not known"
        whole = len(value) == len(HEAD) + 1 + len("truck-000") + 6 + 4 * 8
        return (
            "latitude is not from -90 to 90: 999.0" if whole else "it ends before its schema does"
        )
    try:
        fields = json.loads(value)
    except ValueError:
        return "it is not JSON"
    if "truck_id" not in fields:
        return "truck_id is missing"
    if fields["speed_kmh"] == "fast":
        return "speed_kmh is not a DOUBLE: fast"
    return "latitude is not from -90 to 90: 999.0"


def watermark(chapter: Iterable[ToldRecord]) -> int:
    """After a run that has read all of it."""
    return max(one.position.event_timestamp for one in chapter if one.position) - PATIENCE_MS


def window_end(told: ToldRecord) -> int:
    return (told.position.event_timestamp // WINDOW_MS + 1) * WINDOW_MS


def in_time(chapter: Iterable[ToldRecord], mark: int) -> list[ToldRecord]:
    """The positions that still count when a run begins at this watermark."""
    return [one for one in chapter if one.position and window_end(one) > mark]


def speeds(counted: Iterable[ToldRecord], mark: int) -> dict[tuple, tuple]:
    """Start of the window and truck, to the number of positions, their average and top speed."""
    windows: dict[tuple, list[float]] = defaultdict(list)
    for one in counted:
        if window_end(one) <= mark:
            start = window_end(one) - WINDOW_MS
            windows[start, one.position.truck_id].append(one.position.speed_kmh)
    return {where: (len(all_), sum(all_) / len(all_), max(all_)) for where, all_ in windows.items()}


def latest(records: Iterable[Placed]) -> set[tuple]:
    """The newest position of each truck that has not left, and its offset."""
    newest: dict[bytes, tuple] = {}
    for r in records:
        if r.told.kind == RecordKind.BAD:
            continue
        at = r.told.position.event_timestamp if r.told.position else r.told.timestamp
        newest[r.told.key] = max(newest.get(r.told.key, (-1, -1, None)), (at, r.offset, r.told))
    return {(*told.position, offset) for _, offset, told in newest.values() if told.position}
