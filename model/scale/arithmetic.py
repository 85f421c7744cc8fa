"""The same limits without events: what one append and one client cost, and so where it must bend.

The simulation takes from here what clients cost that are only there. All else it counts itself,
and tests hold the two against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from scale.heads import (
    EVICTED_DOWN_TO,
    HEAD,
    PRODUCER,
    WATCHER,
    entries_per_settle,
    entry_size,
    extent_units,
    read_units,
    units,
)
from scale.setting import FUNCTIONS, Design, Setting
from scale.world import world


@dataclass(frozen=True, slots=True)
class Cost:
    """Units of each limit; of `functions`, seconds of one."""

    table_writes: float = 0
    table_reads: float = 0
    puts: float = 0
    gets: float = 0
    requests: float = 0
    invocations: float = 0
    functions: float = 0
    connects: float = 0

    def times(self, count: float) -> Cost:
        return Cost(*(getattr(self, each.name) * count for each in fields(self)))


def total(costs: Iterable[Cost]) -> Cost:
    sums: Counter[str] = Counter()
    for cost in costs:
        for each in fields(cost):
            sums[each.name] += getattr(cost, each.name)
    return Cost(**sums)


@lru_cache(maxsize=100_000)
def append_writes(producers: int, watchers: int, size: int, design: Design) -> float:
    """Write units that an append costs the key of its partition, from one settling to the next."""
    head, entry, count = _head(producers, watchers, design), *_entry(size, design)
    commits = sum(units(head + number * entry) for number in range(1, count + 1))
    beside = 0 if design.is_index_apart else 2 * count * extent_units(size, design)
    return (commits + beside + units(head + count * entry)) / count


def evict_writes(producers: int, watchers: int, size: int, design: Design) -> float:
    """The same, for the producers that are not in the head when they append."""
    crowd = design.producers + 1 - EVICTED_DOWN_TO
    update = _mean(units, producers, watchers, size, design)
    return strangers(producers, design) * (update / crowd + (0 if design.is_index_apart else 1))


def strangers(producers: int, design: Design) -> float:
    """How many of the appends are of a producer that is not in the head."""
    return max(0.0, 1 - _inside(producers, design) / producers) if producers else 0.0


def key_writes(producers: int, watchers: int, size: int, design: Design) -> float:
    return append_writes(producers, watchers, size, design) + evict_writes(
        producers, watchers, size, design
    )


def _inside(producers: int, design: Design) -> float:
    if producers <= design.producers:
        return producers
    return (EVICTED_DOWN_TO + design.producers) / 2


def _head(producers: int, watchers: int, design: Design) -> float:
    return HEAD + WATCHER * watchers + PRODUCER * _inside(producers, design)


def _entry(size: int, design: Design) -> tuple[int, int]:
    return entry_size(size, design), entries_per_settle(size, design)


def _mean(
    counted: Callable[[float], int], producers: int, watchers: int, size: int, design: Design
) -> float:
    """Units of a head, as one finds it."""
    head, entry, count = _head(producers, watchers, design), *_entry(size, design)
    return sum(counted(head + number * entry) for number in range(count)) / count


def function_append(setting: Setting, producers: int) -> Cost:
    """One append through a function, and what it makes its readers do."""
    design, times, size = setting.design, setting.times, setting.size
    watchers = round(setting.readers)
    read = _mean(read_units, producers, watchers, size, design)
    update = _mean(units, producers, watchers, size, design)
    in_object = size > design.inline
    alien, count = strangers(producers, design), entries_per_settle(size, design)
    apart = 2 * extent_units(size, design) + alien if design.is_index_apart else 0
    calls = 2 + 2 / count + alien * (1 + 2 / (design.producers + 1 - EVICTED_DOWN_TO))
    mine = Cost(
        table_writes=key_writes(producers, watchers, size, design) + apart,
        table_reads=read + alien,
        puts=in_object,
        requests=1,
        invocations=1,
        functions=times.own + calls * times.ledger + in_object * times.put,
    )
    fetch = 0 if design.has_standing_watchers else 1
    reader = Cost(
        table_writes=fetch * update,
        table_reads=fetch * read,
        gets=in_object,
        requests=1 + fetch,
        invocations=fetch,
        functions=fetch * (times.own + 2 * times.ledger),
    )
    return total([mine, reader.times(setting.readers)])


def process_appends(setting: Setting, producers: int, rate: float) -> Cost:
    """A second of one partition, with so many appends: a process has one update under way."""
    design, size = setting.design, setting.size
    lanes = 1 if design.has_hints else min(setting.processes, producers)
    in_object = size > design.inline
    cycle = max(design.window, setting.times.ledger + in_object * setting.times.put)
    updates = rate / (1 + rate / lanes * cycle)
    gathered = round(rate / updates * size)
    watchers = round(setting.readers)
    each = append_writes(producers, watchers, gathered, design)
    writes = updates * each + rate * evict_writes(producers, watchers, gathered, design)
    return Cost(table_writes=writes, table_reads=rate * strangers(producers, design))


def appends_cost(setting: Setting) -> Cost:
    """Of all appends in a second, if none of them waits."""
    rate = setting.appends / setting.producers if setting.producers else 0.0
    costs = []
    for producers, count in Counter(world(setting).producers).items():
        if producers and setting.shape == FUNCTIONS:
            cost = function_append(setting, producers).times(producers * rate)
        elif producers:
            cost = process_appends(setting, producers, producers * rate)
        else:
            continue
        costs.append(cost.times(count))
    return total(costs)


def presence_cost(setting: Setting) -> Cost:
    """Of all clients in a second, if none of them does anything."""
    often, times, design = setting.presence, setting.times, setting.design
    producers = round(setting.producers / setting.partitions)
    write = _mean(units, producers, round(setting.readers), setting.size, design)
    read = _mean(read_units, producers, round(setting.readers), setting.size, design)
    group = 1 if often.is_session_apart else units(200 + 250 * setting.group)
    own, call = times.own, times.ledger
    in_group = group / often.beats_per_write
    beat_s = own + call * (1 + 1 / often.beats_per_write)
    beat = Cost(in_group, 1, requests=1, invocations=1, functions=beat_s)
    commit = Cost(1, 1, requests=1, invocations=1, functions=own + 2 * call)
    metadata = Cost(0, 1, requests=1, invocations=1, functions=own + call)
    refresh = Cost(write, read, requests=1, invocations=1, functions=own + 2 * call)
    connect = Cost(2, 0, requests=2, invocations=2, functions=2 * (own + call), connects=1)
    consumers = setting.consumers
    acts = [beat.times(consumers / often.beat), commit.times(consumers / often.commit)]
    if setting.shape == FUNCTIONS:
        connections = setting.producers + 2 * consumers
        acts += [
            metadata.times(setting.clients / often.metadata),
            refresh.times(consumers / often.refresh),
            connect.times(connections / often.life),
        ]
        return total(acts)
    watched = min(setting.partitions, consumers) if design.has_hints else consumers
    acts += [
        Cost(table_reads=read).times(watched / often.look),
        Cost(table_writes=write).times(watched / often.refresh),
    ]
    stored = total(acts)
    return Cost(stored.table_writes, stored.table_reads)
