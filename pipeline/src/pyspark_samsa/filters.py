"""Finds out from a query's filters which bytes are worth reading.

Only filters on what the index knows are used: topic, partition, offset, and the earliest time.
Every filter is returned to Spark, which applies it to the rows: here it only reduces what is read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from .columns import OFFSET, PARTITION, TIMESTAMP, TOPIC
from .positions import TopicPartition

LAST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Worth:
    """What may hold rows that pass."""

    topics: frozenset[str] | None = None
    numbers: frozenset[int] | None = None
    first: int = 0
    end: int = LAST
    since: int = -1

    def takes(self, where: TopicPartition) -> bool:
        return (self.topics is None or where.topic in self.topics) and (
            self.numbers is None or where.number in self.numbers
        )


def worth_reading(filters: Iterable[Filter]) -> Worth:
    topics: frozenset[str] | None = None
    numbers: frozenset[int] | None = None
    first, end, since = 0, LAST, -1
    for one in filters:
        column = _column(one)
        low, high = _range(one)
        if column == TOPIC:
            topics = _both(topics, _values(one))
        elif column == PARTITION:
            numbers = _both(numbers, _values(one))
        elif column == OFFSET:
            first = first if low is None else max(first, int(low))
            end = end if high is None else min(end, int(high) + 1)
        elif column == TIMESTAMP and isinstance(low, datetime):
            since = max(since, int(low.timestamp() * 1000) - 1)
    return Worth(topics, numbers, first, end, since)


def _column(one: Filter) -> str | None:
    path: tuple[str, ...] = getattr(one, "attribute", ())
    return path[0] if len(path) == 1 else None


def _values(one: Filter) -> frozenset[Any] | None:
    if isinstance(one, EqualTo | EqualNullSafe):
        return frozenset([one.value])
    return frozenset(one.value) if isinstance(one, In) else None


def _both(one: frozenset[Any] | None, other: frozenset[Any] | None) -> frozenset[Any] | None:
    return other if one is None else one if other is None else one & other


def _range(one: Filter) -> tuple[Any, Any]:
    """The least and the greatest value that pass, as far as the filters tell."""
    if isinstance(one, EqualTo | EqualNullSafe):
        return one.value, one.value
    if isinstance(one, In) and one.value and None not in one.value:
        return min(one.value), max(one.value)
    if isinstance(one, GreaterThan | GreaterThanOrEqual):
        return one.value, None
    if isinstance(one, LessThan | LessThanOrEqual):
        return None, one.value
    return None, None
