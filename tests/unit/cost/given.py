"""Prices as they are shipped, and the same where nothing takes any time."""

from dataclasses import replace
from typing import Any

from samsa.cli.cost import prices_of
from samsa.cost import Bill, Load, Prices

SHIPPED = prices_of(None)
MONTH = 2_628_000
"""Seconds: 730 hours."""


class Instant(Prices):
    """Calls that take no time: each message is a batch, and each append a slot."""

    def number(self, section: str, name: str) -> float:
        return 0.0 if name.endswith("_ms") else super().number(section, name)


def instant() -> Instant:
    made = Instant({})
    made.region, made.notes, made._values = SHIPPED.region, SHIPPED.notes, SHIPPED._values
    return made


ALONE = Load(1, size=1_000, producers=1, consumers=0, partitions=1, linger_ms=0)
"""A message a second, and nobody who reads."""

ROUNDS = 8_760
"""Of one janitor, in a month: twelve an hour."""
ROUND_CALLS = 3
"""Of S3: a segment is put; the graves of slots and of what has aged out are listed."""
ROUND_WRITES = 4 + 6
"""To move the start and bury; to announce, swap and bury."""
ROUND_READS = 4 + (14 + 15 - 6)
"""Its own; those that retain and those that merge, of which six are the same."""
SEGMENTS = 8 + 604_800_000 / 67_108_864
"""Of the week of ALONE: an eighth of it is in one at most, and 64 MiB."""
INDEX_READS = 1.1 * SEGMENTS + 360 / 14
"""To look through them, and through what came within six minutes."""


def a_load(**more: Any) -> Load:
    return replace(ALONE, **more)


def dollars(bill: Bill, what: str) -> float:
    (line,) = [line for line in bill.lines if line.what == what]
    return line.dollars
