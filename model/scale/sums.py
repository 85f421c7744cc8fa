"""The tables of docs/scale.md that need no events: what one append costs, and what clients cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scale.arithmetic import Cost, key_writes, presence_cost
from scale.setting import FUNCTIONS, PROCESSES, Design, Limits, Setting
from scale.tables import HINTS, QUIET

LIMITS = Limits()
SIZES = (100, 1_000, 4_000, 16_000)
PRODUCERS = (1, 10, 100)


def of_an_append() -> Iterator[str]:
    yield "| bytes | producers | units | appends/s of one key | of the table |"
    yield "|---:|---:|---:|---:|---:|"
    for size in SIZES:
        for producers in PRODUCERS:
            units = key_writes(producers, 0, size, Design())
            of_key, of_table = LIMITS.key_writes / units, LIMITS.table_writes / units
            yield f"| {size:,} | {producers} | {units:.1f} | {of_key:.0f} | {of_table:,.0f} |"


def of_clients() -> Iterator[str]:
    yield "| 1,000,000 clients | requests/s | functions busy | table writes/s | table reads/s |"
    yield "|---|---:|---:|---:|---:|"
    functions, processes = Setting(shape=FUNCTIONS), Setting(shape=PROCESSES)
    yield _line("functions", functions)
    yield _line("functions, quiet clients", functions.but(**QUIET.fields))
    yield _line("processes", processes)
    yield _line("processes, hints", processes.but(**HINTS.fields))
    yield _line("processes, hints, quiet clients", processes.but(**HINTS.fields, **QUIET.fields))
    yield _cells(
        "limit",
        Cost(
            table_writes=LIMITS.table_writes,
            table_reads=LIMITS.table_reads,
            requests=LIMITS.requests,
            functions=LIMITS.functions,
        ),
    )


def _line(label: str, setting: Setting) -> str:
    return _cells(label, presence_cost(setting))


def _cells(label: str, cost: Cost) -> str:
    asked = (cost.requests, cost.functions, cost.table_writes, cost.table_reads)
    return f"| {label} | {' | '.join(f'{each:,.0f}' if each else '–' for each in asked)} |"


SUMS: dict[str, Callable[[], Iterator[str]]] = {
    "of-an-append": of_an_append,
    "of-clients": of_clients,
}
