"""Prices as they are shipped, and the same where nothing takes any time."""

from dataclasses import replace
from typing import Any

from samsa_broker.cli.cost import prices_of
from samsa_broker.cost import Bill, Load, Prices

SHIPPED = prices_of(None)
MONTH = 2_628_000
"""Seconds: 730 hours."""


class Instant(Prices):
    """Calls that take no time: each message is a batch, and each batch a commit."""

    def number(self, section: str, name: str) -> float:
        return 0.0 if name.endswith("_ms") else super().number(section, name)


def instant() -> Instant:
    made = Instant({})
    made.region, made.notes, made._values = SHIPPED.region, SHIPPED.notes, SHIPPED._values
    return made


ALONE = Load(1, size=1_000, producers=1, consumers=0, partitions=1, linger_ms=0)
"""A message a second, and nobody who reads."""

SMALL = 61 + 8 + 1_000
"""Bytes of an append of ALONE: a batch of one message."""
HEAD_UNITS = 2
"""To update the head of ALONE: 190 bytes, a producer of 55, an entry of 60 and the append."""
HEAD_UNITS_OF_FUNCTIONS = 3
"""There the append before it is in the head too."""
INDEX_UNITS = 2
"""To put it into the index, or to take it from there: 240 bytes and the append."""
INDEX_READ = (240 + SMALL) / 4_096
"""Units, to look at one of many such entries."""

ROUNDS = 8_760
"""Of one janitor, in a month: twelve an hour."""
ROUND_CALLS = 1
"""Of S3: a segment is put."""
ROUND_HEADS = 1 + 2 + 1
ROUND_WRITES = (2 + 15) + 4 * INDEX_UNITS
"""To move the start and bury; to announce, swap and bury; of entries; and of heads, four times."""
ROUND_READS = 5 + (8 + 9 - 3 + 1) + (3 + 4 - 3 + 2)
"""Its own; those that retain and those that merge, of which three are the same; and heads."""
SEGMENTS = 8 + 604_800_000 / 67_108_864
"""Of the week of ALONE: an eighth of it is in one at most, and 64 MiB."""
INDEX_READS = 4_500 / 4_096 * SEGMENTS + 360 * INDEX_READ
"""To look through them, and through what came within six minutes."""


def a_load(**more: Any) -> Load:
    return replace(ALONE, **more)


def dollars(bill: Bill, what: str) -> float:
    (line,) = [line for line in bill.lines if line.what == what]
    return line.dollars
