"""Samples what plots show, every ten seconds, from when the console was first opened.

Before that it costs nothing. A round has a bound: so many partitions and groups, and so much time;
what it has no time for comes first in the next one. The ledger is asked about topics and groups
only while the console is open, because on DynamoDB each request costs money.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from samsa.http_api.kafka_client import KafkaClient
from samsa.http_api.lag import committed, ends_of
from samsa.ports import Missing, Topic, Unavailable, UnknownPartition
from samsa.runtime.logs import Repeated
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.group_offsets import Where
from samsa.wire.messages import list_groups
from samsa_broker.server.latency import Histogram, percentile_ms

from .inside import Counters, Inside
from .series import STEP_MS, History
from .totals import LARGEST, WATCHED_MS, GroupTotals, Rotation, TopicTotals

log = logging.getLogger("samsa.http")
PARTITIONS_A_ROUND = 4_000
GROUPS_A_ROUND = 200
ROUND_S = 5.0
LIST_GROUPS_MS = 60_000
MARGIN_MS = 20
"""A timer that fires a millisecond early would sample for the step before, and leave a gap."""
MOST_LINES = 50
"""Series of one group; the rest is added up as `others`."""
OTHERS = "others"
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
EXPECTED = (Refused, Unavailable, Missing, UnknownPartition, TimeoutError)


class Rates(NamedTuple):
    bytes_in: float | None = None
    bytes_out: float | None = None
    records_in: float | None = None
    requests: float | None = None
    errors: float | None = None


class Snapshot(NamedTuple):
    at_ms: int
    counters: Counters


class Sampler:
    def __init__(self, kafka: KafkaClient, inside: Inside | None) -> None:
        """`kafka` may do all that this process may."""
        self._kafka = kafka
        self._inside = inside
        self.history = History()
        self.topics = Rotation[TopicTotals]()
        self.groups = Rotation[GroupTotals]()
        self.listed_topics: Sequence[Topic] | None = None
        """None before the first round."""
        self.listed_groups: list[Any] = []
        self._groups_listed_ms: int | None = None
        self.opened_ms = 0
        self._snapshots: list[Snapshot] = []
        self._running: asyncio.Task[None] | None = None
        self._ends: dict[Where, int | None] = {}
        self._failed = Repeated(log, logging.WARNING, "no sample for the console")

    def start(self) -> None:
        self.opened_ms = self._kafka.now_ms()
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())
            self._running.add_done_callback(self._ended)

    def _ended(self, running: "asyncio.Task[None]") -> None:
        """After a mistake of ours: the next request begins anew."""
        self._running = None
        if not running.cancelled() and (error := running.exception()):
            log.error("sampling for the console has failed", exc_info=error)

    async def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while True:
            await self.sample()
            left_ms = STEP_MS - self._kafka.now_ms() % STEP_MS
            await asyncio.sleep((left_ms + MARGIN_MS) / 1000)

    async def sample(self) -> None:
        """One round. What cannot be asked now is a gap."""
        now_ms = self._kafka.now_ms()
        self._count(now_ms)
        if 0 <= now_ms - self.opened_ms < WATCHED_MS:
            for step in (self._look_at_topics, self._look_at_groups):
                try:
                    await step(now_ms)
                except EXPECTED as error:
                    self._failed.happened(why=str(error) or type(error).__name__)

    # What the process counts

    def _count(self, now_ms: int) -> None:
        if self._inside is None:
            return
        counters = self._inside.counters()
        rates = self._rates_since(self._snapshots[-1:], now_ms)
        for name, rate in rates._asdict().items():
            self.history.put(name, now_ms, rate)
        self.history.put("connections", now_ms, self._inside.connections)
        latencies = self._inside.count_latencies()
        for name in ("produce", "fetch"):
            self._take(name, getattr(latencies, name), now_ms)
        self._snapshots = [*self._snapshots[-1:], Snapshot(now_ms, counters)]

    def _take(self, name: str, histogram: Histogram, now_ms: int) -> None:
        counts = histogram.take()
        for label, share in PERCENTILES.items():
            value = percentile_ms(counts, share)
            self.history.put(("latency", f"{name} {label}"), now_ms, value)

    def rates(self) -> Rates:
        """A second, over the last ten seconds or a little more."""
        return self._rates_since(self._snapshots, self._kafka.now_ms())

    def _rates_since(self, snapshots: Sequence[Snapshot], now_ms: int) -> Rates:
        if self._inside is None:
            return self._rates_of_topics()
        if not snapshots or now_ms <= snapshots[0].at_ms:
            return Rates()
        seconds = (now_ms - snapshots[0].at_ms) / 1000
        pairs = zip(self._inside.counters(), snapshots[0].counters, strict=True)
        return Rates(*((new - old) / seconds for new, old in pairs))

    def _rates_of_topics(self) -> Rates:
        """What can be told of a cluster behind TCP: what its logs have grown by."""
        seen = self.topics.seen.values()
        sizes = [each.bytes_per_s for each in seen if each.bytes_per_s is not None]
        records = [each.records_per_s for each in seen if each.records_per_s is not None]
        return Rates(
            bytes_in=sum(sizes) if sizes else None, records_in=sum(records) if records else None
        )

    def mean(self, name: str, now_ms: int, points: int) -> float | None:
        """Of the last so many points that are known."""
        series = self.history.find(name)
        known = [v for _, v in series.points(now_ms)[-points:] if v is not None] if series else []
        return sum(known) / len(known) if known else None

    async def _in_turn(
        self,
        rotation: Rotation[Any],
        names: Sequence[str],
        kept: Collection[str],
        look: Callable[[str], Awaitable[None]],
        weight: Callable[[str], int],
        most: int,
    ) -> None:
        """Half of a round for those whose history is kept, and the rest for all others."""
        left, until = 0, self._now_s()
        kept = set(kept)
        halves = {
            "kept": [name for name in names if name in kept],
            "others": [name for name in names if name not in kept],
        }
        for which, half in halves.items():
            left, until, stopped_at = left + most // 2, until + ROUND_S / 2, None
            async for name in self._kafka.work.pace(rotation.turns(which, half)):
                if left <= 0 or self._now_s() >= until:
                    stopped_at = name
                    break
                left -= weight(name)
                with suppress(*EXPECTED):  # deleted meanwhile, or not readable now
                    await look(name)
            rotation.ended_at(which, stopped_at)

    # Topics

    async def _look_at_topics(self, now_ms: int) -> None:
        self.listed_topics = topics = await self._kafka.topics()
        by_name = {topic.name: topic for topic in topics}
        self.topics.forget_others(by_name, now_ms)
        kept = self.topics.kept(self._largest())
        self._drop_series(("topic_size", "topic_bytes", "topic_records"), kept)

        async def look(name: str) -> None:
            totals = await self.look_at_topic(by_name[name], now_ms)
            if _is_kept(name, kept):
                self._note_topic(name, totals, now_ms)

        def weight(name: str) -> int:
            return by_name[name].partitions

        await self._in_turn(self.topics, sorted(by_name), kept, look, weight, PARTITIONS_A_ROUND)
        self.history.put("storage", now_ms, self.storage)
        if self._inside is None:
            for name, rate in self._rates_of_topics()._asdict().items():
                self.history.put(name, now_ms, rate)

    async def look_at_topic(self, topic: Topic, now_ms: int) -> TopicTotals:
        """Its totals; the size only if its ends have moved since the last look."""
        numbers = range(topic.partitions)
        bounds = await self._kafka.bounds(topic, numbers)
        starts = sum(each.start for each in bounds.values())
        ends = sum(each.end for each in bounds.values())
        before = self.topics.seen.get(topic.name)
        if before is not None and (before.starts, before.ends) == (starts, ends):
            size = before.size
        else:
            size = await self._size(topic, numbers)
        totals = TopicTotals(now_ms, starts, ends, size).after(before)
        self.topics.seen[topic.name] = totals
        return totals

    async def _size(self, topic: Topic, numbers: Sequence[int]) -> int | None:
        try:
            return sum((await self._kafka.sizes(topic, numbers)).values())
        except Refused:
            return None

    def _note_topic(self, name: str, totals: TopicTotals, now_ms: int) -> None:
        self.history.put(("topic_size", name), now_ms, totals.size)
        self.history.put(("topic_bytes", name), now_ms, totals.bytes_per_s)
        self.history.put(("topic_records", name), now_ms, totals.records_per_s)

    def _largest(self) -> list[str]:
        seen = self.topics.seen
        return sorted(seen, key=lambda name: seen[name].size or 0, reverse=True)[:LARGEST]

    @property
    def storage(self) -> int | None:
        """Bytes of all topics; None before all of them were looked at."""
        seen = self.topics.seen
        if self.listed_topics is None or any(
            topic.name not in seen for topic in self.listed_topics
        ):
            return None
        sizes = [totals.size for totals in seen.values()]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def partitions(self) -> int:
        return sum(topic.partitions for topic in self.listed_topics or ())

    # Groups

    async def _look_at_groups(self, now_ms: int) -> None:
        self._ends = {}
        await self._list_groups(now_ms)
        names = sorted(str(group.group_id) for group in self.listed_groups)
        self.groups.forget_others(set(names), now_ms)
        kept = self.groups.kept(self._most_behind())
        self._drop_series(("group_lag", "group_lag_by_partition"), kept)

        async def look(name: str) -> None:
            await self.look_at_group(name, now_ms, is_kept=_is_kept(name, kept))

        await self._in_turn(self.groups, names, kept, look, lambda _: 1, GROUPS_A_ROUND)
        self._ends = {}

    async def _list_groups(self, now_ms: int) -> None:
        """To list them, the broker looks at each: seldom, where each look costs money."""
        since, is_dear = self._groups_listed_ms, self._inside is None or self._inside.is_remote
        least_ms = LIST_GROUPS_MS if is_dear else 0
        if since is None or not 0 <= now_ms - since < least_ms:
            answer = await self._kafka.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
            self.listed_groups = list(answer.groups)
            self._groups_listed_ms = now_ms

    def groups_changed(self) -> None:
        """They are listed anew with the next round."""
        self._groups_listed_ms = None

    async def look_at_group(self, name: str, now_ms: int, *, is_kept: bool = False) -> GroupTotals:
        lags = await self._lags(name)
        totals = GroupTotals(now_ms, sum(lags.values()), tuple(sorted({t for t, _ in lags})))
        self.groups.seen[name] = totals
        if is_kept:
            self._note_group(name, lags, now_ms)
        return totals

    async def _lags(self, group: str) -> dict[Where, int]:
        offsets = await committed(group, self._kafka)
        missing = [where for where in offsets if where not in self._ends]
        self._ends.update(await ends_of(missing, self._kafka))
        ends = {where: self._ends[where] for where in offsets}
        return {
            where: max(0, end - offsets[where]) for where, end in ends.items() if end is not None
        }

    def _note_group(self, group: str, lags: dict[Where, int], now_ms: int) -> None:
        by_topic: dict[str, int] = {}
        for (topic, _), lag in lags.items():
            by_topic[topic] = by_topic.get(topic, 0) + lag
        by_partition = {f"{topic}/{number}": lag for (topic, number), lag in lags.items()}
        self._note_lags(("group_lag", group), by_topic, now_ms)
        self._note_lags(("group_lag_by_partition", group), by_partition, now_ms)

    def _note_lags(self, key: tuple[str, str], lags: dict[str, int], now_ms: int) -> None:
        """The same names again and again, so that a series does not change its meaning."""
        known = [name for name in self.history.keys_of(key) if name in lags]
        new = sorted(set(lags) - set(known), key=lambda name: -lags[name])
        shown = [*known, *new][:MOST_LINES]
        for name in shown:
            self.history.put((*key, name), now_ms, lags[name])
        if len(lags) > len(shown):
            rest = sum(lags.values()) - sum(lags[name] for name in shown)
            self.history.put((*key, OTHERS), now_ms, rest)

    def _most_behind(self) -> list[str]:
        return [name for name, _ in self.behind(LARGEST)]

    def behind(self, most: int) -> list[tuple[str, int]]:
        seen = ((name, totals.lag) for name, totals in self.groups.seen.items() if totals.lag)
        return sorted(seen, key=lambda one: (-one[1], one[0]))[:most]

    def _drop_series(self, kinds: Sequence[str], kept: set[str]) -> None:
        for key in self.history.keys:
            if isinstance(key, tuple) and key[0] in kinds and key[1] not in kept:
                self.history.drop(key)

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


def _is_kept(name: str, kept: set[str]) -> bool:
    """While there are few, every one is."""
    if len(kept) < LARGEST:
        kept.add(name)
    return name in kept
