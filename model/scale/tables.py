"""The tables of docs/scale.md: each is a list of settings, and what came of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import inf
from typing import Any, NamedTuple

from scale.run import Figures, play
from scale.setting import FUNCTIONS, KB, PROCESSES, Setting

NAMES = {
    "requests": "API Gateway requests",
    "connects": "API Gateway connections",
    "invocations": "Lambda invocations",
    "functions": "Lambda concurrency",
    "key_writes": "writes of one key",
    "key_reads": "reads of one key",
    "table_writes": "writes of the table",
    "table_reads": "reads of the table",
    "puts": "S3 puts",
    "gets": "S3 gets",
    "network": "network of a process",
}
MUCH = 1.2
"""From there on it is said how much more than the limit is asked for."""


class Row(NamedTuple):
    label: str
    setting: Setting


class Change(NamedTuple):
    label: str
    fields: dict[str, Any]


QUIET = Change(
    "quiet clients",
    {
        "beat": 30,
        "beats_per_write": 1,
        "is_session_apart": True,
        "commit": inf,
        "refresh": 300,
    },
)
BACK_PRESSURE = Change(
    "back-pressure",
    {"has_back_pressure": True, "patience": 0.1},
)
"""A full head is settled first, and a throttled call is given up soon."""
PARTITIONS = Change("no partition has more than 0.1 % of the appends", {"largest_share": 0.001})
TABLE = Change("table quotas of 400,000 units", {"table_writes": 400_000, "table_reads": 400_000})
HINTS = Change("leader hints, a look at each head in 30 s", {"has_hints": True, "look": 30})
CHANGES = {
    FUNCTIONS: (
        QUIET,
        BACK_PRESSURE,
        PARTITIONS,
        Change("API Gateway quota of 100,000 requests", {"requests": 100_000}),
        Change("Lambda quota of 10,000 functions", {"functions": 10_000}),
        Change("standing watchers", {"has_standing_watchers": True}),
        TABLE,
    ),
    PROCESSES: (
        HINTS,
        QUIET,
        Change("nothing inline: all in a shared object", {"inline": 0}),
        TABLE,
        Change("index and evicted producers have keys of their own", {"is_index_apart": True}),
        PARTITIONS,
        Change("windows of 250 ms", {"window": 0.25}),
    ),
}
OFFERED = {
    FUNCTIONS: (1_000, 5_000, 20_000, 40_000),
    PROCESSES: (1_000, 10_000, 100_000, 200_000),
}
AT = {FUNCTIONS: 10_000, PROCESSES: 50_000}
"""Appends in a second, where the changes are made one after the other."""
ONE = Setting(partitions=1, clients=12, producing=10 / 12, processes=3)
"""One partition, ten producers, two readers."""


def changed(setting: Setting) -> Setting:
    for change in CHANGES[setting.shape]:
        setting = setting.but(**change.fields)
    return setting


def steps(shape: str) -> Iterator[Row]:
    """One change after the other, at the same load."""
    setting = Setting(shape=shape, appends=AT[shape])
    yield Row("as designed", setting)
    for change in CHANGES[shape]:
        setting = setting.but(**change.fields)
        yield Row(f"+ {change.label}", setting)


def loads(shape: str) -> Iterator[Row]:
    for number, appends in enumerate(OFFERED[shape]):
        setting = Setting(shape=shape, appends=appends)
        if number < 2:
            yield Row("as designed", setting)
        yield Row("all changes", changed(setting))


def clients(shape: str) -> Iterator[Row]:
    for count in (1_000, 10_000, 100_000, 1_000_000):
        setting = Setting(shape=shape, appends=100, clients=count)
        yield Row(f"{count:,} clients", setting)
        if shape == PROCESSES:
            setting = setting.but(**HINTS.fields)
        yield Row(f"{count:,} quiet clients", setting.but(**QUIET.fields))


def few_clients(shape: str) -> Iterator[Row]:
    """So that appends, and not clients, meet the first limit."""
    for appends in (300, 500, 1_000, 2_000, 4_000):
        yield Row("10,000 clients", Setting(shape=shape, appends=appends, clients=10_000))


def one_partition() -> Iterator[Row]:
    for appends in (30, 40, 50):
        yield Row("functions", ONE.but(appends=appends))
    safe = ONE.but(**BACK_PRESSURE.fields)
    for appends in (40, 50):
        yield Row(f"functions, {BACK_PRESSURE.label}", safe.but(appends=appends))
    standing = safe.but(has_standing_watchers=True)
    for appends in (60, 80):
        yield Row("the same, standing watchers", standing.but(appends=appends))
    for appends in (100, 150, 200):
        yield Row("the same, 16 KB", standing.but(appends=appends, size=16_000))
    processes = ONE.but(shape=PROCESSES)
    for appends in (50, 200, 1_000):
        yield Row("3 processes", processes.but(appends=appends))
    window = processes.but(has_hints=True, window=0.25)
    for appends in (200, 1_000, 10_000, 20_000):
        yield Row("3 processes, hints, windows of 250 ms", window.but(appends=appends))


def objects() -> Iterator[Row]:
    setting = changed(Setting(size=16_000))
    for appends in (1_000, 3_000, 5_000):
        yield Row("one prefix", setting.but(appends=appends))
        yield Row("16 prefixes", setting.but(appends=appends, prefixes=16))


TABLES = {
    "one-partition": one_partition,
    "clients-functions": lambda: clients(FUNCTIONS),
    "clients-processes": lambda: clients(PROCESSES),
    "few-clients-functions": lambda: few_clients(FUNCTIONS),
    "few-clients-processes": lambda: few_clients(PROCESSES),
    "steps-functions": lambda: steps(FUNCTIONS),
    "steps-processes": lambda: steps(PROCESSES),
    "loads-functions": lambda: loads(FUNCTIONS),
    "loads-processes": lambda: loads(PROCESSES),
    "objects": objects,
}
TITLES = (
    "| setting | offered | acked | p50 ms | p99 ms | writes each | head KB | saturated |",
    "|---|---:|---:|---:|---:|---:|---:|---|",
)


def lines(name: str) -> Iterator[str]:
    yield from TITLES
    for row in TABLES[name]():
        yield line(row.label, row.setting, _played(row.setting))


@cache
def _played(setting: Setting) -> Figures:
    return play(setting)


def line(label: str, setting: Setting, figures: Figures) -> str:
    cells = (
        label,
        f"{setting.appends:,.0f}",
        f"{figures.appends:,.0f}",
        f"{figures.p50 * 1e3:,.0f}",
        f"{figures.p99 * 1e3:,.0f}",
        _units(figures.writes_per_append),
        f"{figures.largest_head / KB:.0f}",
        saturated(figures),
    )
    return f"| {' | '.join(cells)} |"


def _units(each: float) -> str:
    return f"{each:.1f}" if each >= 1 else f"{each:.2f}"


def saturated(figures: Figures) -> str:
    if not figures.saturated:
        nearest = figures.nearest
        return f"none: {NAMES[nearest]} at {figures.use[nearest] * 100:.0f} %"
    return ", ".join(_named(name, figures.demand[name]) for name in figures.saturated)


def _named(name: str, demand: float) -> str:
    return f"{NAMES[name]} ({demand:.1f} ×)" if demand >= MUCH else NAMES[name]
