"""Where in a topic reading starts and ends, in the words of Spark's Kafka source.

A position is the first or the last offset there is, an offset for each partition (with −2 for the
first and −1 for the last), one time for all partitions, or a time for each. Times are milliseconds,
and mean the first record at or after them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .errors import BadOption

LATEST, EARLIEST = -1, -2


class TopicPartition(NamedTuple):
    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


Offsets: TypeAlias = dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same for every partition: EARLIEST or LATEST."""

    offset: int


@dataclass(frozen=True, slots=True)
class AtOffsets:
    offsets: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class AtTime:
    time: int


@dataclass(frozen=True, slots=True)
class AtTimes:
    times: Mapping[TopicPartition, int]


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
    """A JSON object of topics, each an object of partitions: {"orders": {"0": 23, "1": -1}}."""
    try:
        found = {
            TopicPartition(topic, int(number)): _integer(value)
            for topic, numbers in json.loads(text).items()
            for number, value in numbers.items()
        }
    except (ValueError, AttributeError, TypeError):
        example = '{"orders": {"0": 23, "1": -1}}'
        raise BadOption(f"{option}: {text!r} is not understood; it looks like {example}") from None
    return found


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value


def to_json(offsets: Offsets) -> dict[str, dict[str, int]]:
    """As Spark keeps them in a checkpoint: always in the same order, since it compares the text."""
    found: dict[str, dict[str, int]] = {}
    for where in sorted(offsets):
        found.setdefault(where.topic, {})[str(where.number)] = offsets[where]
    return found


def from_json(offsets: Mapping[str, Mapping[str, int]]) -> Offsets:
    return {
        TopicPartition(topic, int(number)): offset
        for topic, numbers in offsets.items()
        for number, offset in numbers.items()
    }
