"""Play a setting, and say what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from scale.arithmetic import appends_cost, presence_cost
from scale.functions import Functions
from scale.loop import Loop, Task
from scale.meters import Bucket
from scale.processes import Processes
from scale.setting import FUNCTIONS, Setting
from scale.stores import Stores
from scale.tally import Tally, quantile
from scale.world import world

FULL = 0.95
"""Of a limit: from there on it is called saturated."""
ON_THE_WAY = ("requests", "invocations", "functions", "table_reads", "table_writes")
"""In the order in which a request meets them."""


@dataclass(frozen=True, slots=True)
class Figures:
    appends: float
    """Acknowledged in a second."""
    p50: float
    p99: float
    use: dict[str, float]
    """How much of each limit was used: 1 is all of it. Of the keys, the hottest."""
    demand: dict[str, float]
    """How much was asked for. Beyond 1, the rest was refused."""
    writes_per_append: float
    largest_head: int
    refused_updates: float
    """For each append."""
    under_way: float
    mean_s: float

    @property
    def saturated(self) -> list[str]:
        """The limits that are reached, that which is most in demand first."""
        full = [name for name, use in self.use.items() if use >= FULL]
        return sorted(full, key=lambda name: -self.demand[name])

    @property
    def nearest(self) -> str:
        return max(self.use, key=lambda name: self.use[name])


class Run:
    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.random = Random(setting.seed)  # noqa: S311  # repeatable
        self.loop, self.tally = Loop(), Tally()
        self.stores = Stores(setting, world(setting), self.loop, self.random)
        shape = Functions if setting.shape == FUNCTIONS else Processes
        self.shape = shape(setting, self.stores, self.loop, self.tally)
        self.buckets = self._buckets()
        self.presence = presence_cost(setting)
        self.places_taken = 0.0
        self._make_room()

    def _buckets(self) -> dict[str, Bucket]:
        stores = self.stores
        found = {
            "table_reads": stores.table_reads,
            "table_writes": stores.table_writes,
            "puts": stores.puts,
            "gets": stores.gets,
        }
        if isinstance(self.shape, Functions):
            found |= {"requests": self.shape.requests, "invocations": self.shape.invocations}
            found["connects"] = Bucket(self.setting.limits.connects, 0)
        return found

    def _make_room(self) -> None:
        """Clients that are only there are a fluid: they take a part of each limit for themselves.

        Where there is not enough for all, each gets in proportion to what it asks for; and what is
        refused at one limit does not get to the next.
        """
        asked, passed, theirs = appends_cost(self.setting), 1.0, 1.0
        for name in ON_THE_WAY:
            rate = self._rate(name)
            want = getattr(self.presence, name) * passed
            need = getattr(asked, name) * theirs
            if not want or not rate:
                continue
            taken = min(want, max(rate - need, rate * want / (want + need)))
            passed *= taken / want
            theirs *= min(1.0, (rate - taken) / need) if need else 1.0
            self._set_taken(name, taken)
        if isinstance(self.shape, Functions):
            self.buckets["connects"].taken = min(
                self.presence.connects, self.setting.limits.connects
            )

    def _rate(self, name: str) -> float:
        if name in self.buckets:
            return self.buckets[name].rate
        return self.shape.pool.places if isinstance(self.shape, Functions) else 0.0

    def _set_taken(self, name: str, taken: float) -> None:
        if name in self.buckets:
            self.buckets[name].taken = taken
        elif isinstance(self.shape, Functions):
            self.places_taken = taken
            self.shape.pool.places -= taken

    def play(self) -> Figures:
        setting, loop = self.setting, self.loop
        end = setting.warming + setting.measured
        loop.start(self._arrivals(end))
        loop.run(setting.warming)
        self._begin(loop.now)
        loop.run(end)
        self.tally.end(loop.now)
        return self._figures()

    def _arrivals(self, end: float) -> Task:
        random, rate, producers = self.random, self.setting.appends, self.setting.producers
        while self.loop.now < end:
            yield self.loop.now + random.expovariate(rate)
            self.loop.start(self.shape.append(random.randrange(producers)))

    def _begin(self, now: float) -> None:
        self.tally.measure(now)
        self.stores.key_writes.begin(now)
        self.stores.key_reads.begin(now)
        self.stores.refused_updates, self.stores.throttled_s = 0, 0.0
        for bucket in self.buckets.values():
            bucket.begin(now)
        if isinstance(self.shape, Functions):
            self.shape.pool.begin()
        else:
            for process in self.shape.all:
                process.network.begin(now)

    def _figures(self) -> Figures:
        seconds, tally = self.setting.measured, self.tally
        ordered = sorted(tally.latencies)
        count = len(ordered) or 1
        use, demand = self._use(seconds)
        return Figures(
            appends=len(ordered) / seconds,
            p50=quantile(ordered, 0.5),
            p99=quantile(ordered, 0.99),
            use=use,
            demand=demand,
            writes_per_append=self.stores.table_writes.admitted(self.loop.now) / count,
            largest_head=self.stores.heads.largest,
            refused_updates=self.stores.refused_updates / count,
            under_way=tally.under_way_s / seconds,
            mean_s=sum(ordered) / count,
        )

    def _use(self, seconds: float) -> tuple[dict[str, float], dict[str, float]]:
        limits, stores, now = self.setting.limits, self.stores, self.loop.now
        use = {
            "key_writes": stores.key_writes.busiest(now) / limits.key_writes / seconds,
            "key_reads": stores.key_reads.busiest(now) / limits.key_reads / seconds,
        }
        demand = {
            "key_writes": stores.key_writes.most_asked() / limits.key_writes / seconds,
            "key_reads": stores.key_reads.most_asked() / limits.key_reads / seconds,
        }
        for name, bucket in self.buckets.items():
            wanted = getattr(self.presence, name)
            use[name] = (bucket.admitted(now) / seconds + bucket.taken) / bucket.rate
            demand[name] = (bucket.asked / seconds + wanted) / bucket.rate
        if isinstance(self.shape, Functions):
            pool = self.shape.pool
            pool.count()
            working = max(0.0, pool.busy_s - stores.throttled_s) / seconds + self.places_taken
            use["functions"] = demand["functions"] = working / limits.functions
        else:
            busiest = max(process.network.admitted(now) for process in self.shape.all)
            use["network"] = demand["network"] = busiest / limits.network / seconds
        return use, demand


def play(setting: Setting) -> Figures:
    return Run(setting).play()
