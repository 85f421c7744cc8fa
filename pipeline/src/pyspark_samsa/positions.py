"""Where in a topic reading starts and ends, in the words of Spark's Kafka source.

A position is the first or the last offset there is, an offset for each partition (with −2 for the
first and −1 for the last), one time for all partitions, or a time for each. Times are milliseconds,
and mean the first record at or after them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from .errors import BadOption

LATEST, EARLIEST = -1, -2


class TopicPartition(NamedTuple):
    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


Offsets: TypeAlias = dict[TopicPartition, int]
TopicIds: TypeAlias = Mapping[str, UUID]
Json: TypeAlias = Mapping[str, Mapping[str, Any]]
IDS = "$ids"
"""No topic has this name."""


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same for every partition: EARLIEST or LATEST."""

    offset: int


@dataclass(frozen=True, slots=True)
class AtOffsets:
    offsets: Mapping[TopicPartition, int]
    others: int = EARLIEST
    """Of partitions that are not named: EARLIEST or LATEST, whichever is the default."""


@dataclass(frozen=True, slots=True)
class AtTime:
    time: int


@dataclass(frozen=True, slots=True)
class AtTimes:
    times: Mapping[TopicPartition, int]
    others: int = EARLIEST


Position: TypeAlias = Everywhere | AtOffsets | AtTime | AtTimes


def read_position(option: str, text: str) -> Position:
    """`earliest`, `latest`, or an offset for each partition."""
    word = text.strip().lower()
    if word in ("earliest", "latest"):
        return Everywhere(EARLIEST if word == "earliest" else LATEST)
    found = read_partitions(option, text)
    if any(offset < EARLIEST for offset in found.values()):
        raise BadOption(f"{option}: an offset is 0 or more, −1 for latest or −2 for earliest")
    return AtOffsets(found)


def read_time(option: str, text: str) -> AtTime:
    try:
        time = int(text)
    except ValueError:
        raise BadOption(f"{option}: {text!r} is no number of milliseconds since 1970") from None
    if time < 0:
        raise BadOption(f"{option}: a time is 0 or more, not {time}")
    return AtTime(time)


def read_partitions(option: str, text: str) -> Offsets:
    """A JSON object of topics, each an object of partitions: {"orders": {"0": 23, "1": -1}}. Ids of
    topics, as in the offsets that a query reports, are passed over."""
    try:
        found = {
            TopicPartition(topic, int(number)): _integer(value)
            for topic, numbers in json.loads(text).items()
            for number, value in numbers.items()
            if topic != IDS
        }
    except (ValueError, AttributeError, TypeError):
        example = '{"orders": {"0": 23, "1": -1}}'
        raise BadOption(f"{option}: {text!r} is not understood; it looks like {example}") from None
    return found


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value


def to_json(offsets: Offsets, ids: TopicIds) -> Json:
    """As Spark keeps them in a checkpoint: always in the same order, since it compares the text.
    The topics' ids show later whether they are still the same topics."""
    found: dict[str, dict[str, Any]] = {}
    for where in sorted(offsets):
        found.setdefault(where.topic, {})[str(where.number)] = offsets[where]
    known = {name: str(ids[name]) for name in found}
    return {**found, IDS: known} if known else {}


def from_json(offsets: Json) -> Offsets:
    return {
        TopicPartition(topic, int(number)): offset
        for topic, numbers in offsets.items()
        for number, offset in numbers.items()
        if topic != IDS
    }


def ids_from_json(offsets: Json) -> dict[str, UUID]:
    """Checkpoints of older releases have none."""
    return {name: UUID(text) for name, text in offsets.get(IDS, {}).items()}


def made_again(offsets: Json, ids: TopicIds) -> set[str]:
    """Topics that have another id now."""
    before = ids_from_json(offsets)
    return {name for name in before if ids.get(name, before[name]) != before[name]}
