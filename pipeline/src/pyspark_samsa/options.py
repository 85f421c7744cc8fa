"""The options of the source: the names and forms of Spark's Kafka source, and where the log is."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .columns import ALWAYS, HEADERS, SPARK_TYPES
from .errors import BadOption, did_you_mean
from .positions import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTimes,
    Everywhere,
    Position,
    read_partitions,
    read_position,
    read_time,
)

ENVIRONMENT = {"ledger": "SAMSA_LEDGER", "objects": "SAMSA_OBJECTS"}
SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")
STRATEGIES = ("error", "latest")
LEVELS = ("read_committed", "read_uncommitted")
KNOWN = (
    *ENVIRONMENT,
    *SUBSCRIPTIONS,
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "startingTimestamp",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "maxOffsetsPerTrigger",
    "maxBytesPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "maxBytesPerPartition",
    "failOnDataLoss",
    "includeHeaders",
    "columns",
    "kafka.isolation.level",
)
MAX_TRIGGER_DELAY = "15m"
_DURATION = re.compile(r"(\d+)\s*([a-z]*)")
_UNIT_MS = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
OF_A_CONSUMER = ("groupidprefix", "fetchoffset.", "kafkaconsumer.", "kafka.")
"""Prefixes of options that tell Spark's Kafka source how to consume. There is no consumer here:
they are ignored, so that a job that moves may keep them."""
OF_SPARK = ("provider", "path", "location", "owner", "external", "serialization.format", "option.")
"""Prefixes of what Spark itself adds to the options of a table in its catalog."""
OF_THE_SINK = ("topic", "includeTimestamp", "txnAppId", "txnVersion")
"""A table in a catalog is read and written by the same options."""
NOT_OF_THE_SOURCE = (*OF_A_CONSUMER, *OF_SPARK, *(name.lower() for name in OF_THE_SINK))


@dataclass(frozen=True, slots=True)
class Names:
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    expression: str


@dataclass(frozen=True, slots=True)
class AssignedPartitions:
    partitions: Mapping[str, tuple[int, ...]]


Subscription: TypeAlias = Names | Pattern | AssignedPartitions


@dataclass(frozen=True, slots=True)
class Cuts:
    """How rows are divided among tasks."""

    min_tasks: int | None = None
    most_records: int | None = None
    most_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    ledger: str
    objects: str
    subscription: Subscription
    starting: Position
    ending: Position
    late_start_is_latest: bool
    """If no record is as late as the starting time: start at the end, and raise no error."""
    columns: tuple[str, ...]
    max_offsets: int | None
    max_bytes: int | None
    min_offsets: int | None
    """A micro-batch begins when there are so many, or after `max_delay_ms`."""
    max_delay_ms: int
    cuts: Cuts
    fail_on_data_loss: bool
    read_committed: bool = True


class UserOptions:
    """The user's options, checked against the names that are known."""

    def __init__(
        self,
        options: Mapping[str, str],
        known_names: Sequence[str] = KNOWN,
        passed_over: tuple[str, ...] = NOT_OF_THE_SOURCE,
    ) -> None:
        """Options that begin with one of `passed_over` are ignored: they are for others."""
        names = {name.lower(): name for name in known_names}
        self._values: dict[str, str] = {}
        for name, value in options.items():
            known = names.get(name.lower())
            if known is not None:
                self._values[known] = value
            elif not name.lower().startswith(passed_over):
                raise BadOption(
                    f"there is no option {name!r}{did_you_mean(name, known_names)}"
                    f" There are: {', '.join(known_names)}"
                )

    @property
    def ledger(self) -> str:
        return self._where("ledger", "sqlite:///path/to/ledger.db or dynamodb://table")

    @property
    def objects(self) -> str:
        return self._where("objects", "file:///path/to/objects or s3://bucket/prefix")

    def _where(self, name: str, example: str) -> str:
        url = self.text(name) or os.environ.get(ENVIRONMENT[name])
        if not url:
            raise BadOption(
                f"the option {name!r} is needed, or {ENVIRONMENT[name]} in the environment:"
                f" {example}, as `samsa up` says when it starts"
            )
        return url

    def text(self, name: str) -> str | None:
        return self._values.get(name)

    def number(self, name: str) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            number = int(text)
        except ValueError:
            raise BadOption(f"{name}: {text!r} is no whole number") from None
        if number <= 0:
            raise BadOption(f"{name}: {number} is not more than 0")
        return number

    def duration_ms(self, name: str, default: str) -> int:
        """As Spark's Kafka source takes it: a number without a unit is milliseconds."""
        text = (self.text(name) or default).strip().lower()
        found = _DURATION.fullmatch(text)
        if found is None or found[2] not in _UNIT_MS:
            raise BadOption(f"{name}: {text!r} is no duration; it looks like 500ms, 30s or 15m")
        return int(found[1]) * _UNIT_MS[found[2]]

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        text = (self.text(name) or choices[0]).strip().lower()
        if text not in choices:
            raise BadOption(f"{name}: {text!r} is not one of {', '.join(choices)}")
        return text


def read_options(options: Mapping[str, str], streaming: bool) -> Options:
    given = UserOptions(options)
    first = LATEST if streaming else EARLIEST
    ending = _ending(given)
    if streaming and ending is not None:
        raise BadOption("a stream has no end: endingOffsets and endingTimestamp are for batches")
    max_offsets, max_bytes = (
        given.number("maxOffsetsPerTrigger"),
        given.number("maxBytesPerTrigger"),
    )
    if max_offsets and max_bytes:
        raise BadOption("maxOffsetsPerTrigger and maxBytesPerTrigger exclude one another")
    min_offsets = given.number("minOffsetsPerTrigger")
    if min_offsets and max_offsets and min_offsets > max_offsets:
        raise BadOption("minOffsetsPerTrigger is more than maxOffsetsPerTrigger")
    return Options(
        ledger=given.ledger,
        objects=given.objects,
        subscription=_subscription(given),
        starting=_position(given, "starting", first) or Everywhere(first),
        ending=ending or Everywhere(LATEST),
        late_start_is_latest=given.choice("startingOffsetsByTimestampStrategy", STRATEGIES)
        == "latest",
        columns=read_columns(options),
        max_offsets=max_offsets,
        max_bytes=max_bytes,
        min_offsets=min_offsets,
        max_delay_ms=given.duration_ms("maxTriggerDelay", MAX_TRIGGER_DELAY),
        cuts=Cuts(
            min_tasks=given.number("minPartitions"),
            most_records=given.number("maxRecordsPerPartition"),
            most_bytes=given.number("maxBytesPerPartition"),
        ),
        fail_on_data_loss=given.choice("failOnDataLoss", ("true", "false")) == "true",
        read_committed=given.choice("kafka.isolation.level", LEVELS) == LEVELS[0],
    )


def read_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """Spark does not say which columns a query needs; naming them here makes reading faster."""
    given = UserOptions(options)
    with_headers = given.choice("includeHeaders", ("false", "true")) == "true"
    text = given.text("columns")
    if text is None:
        return (*ALWAYS, HEADERS) if with_headers else ALWAYS
    wanted = [name.strip() for name in text.split(",")]
    for name in wanted:
        if name not in SPARK_TYPES:
            hint = did_you_mean(name, SPARK_TYPES)
            raise BadOption(f"columns: there is no column {name!r}{hint}")
    if with_headers and HEADERS not in wanted:
        wanted.append(HEADERS)
    return tuple(dict.fromkeys(wanted))


def _subscription(given: UserOptions) -> Subscription:
    chosen = [name for name in SUBSCRIPTIONS if given.text(name) is not None]
    if len(chosen) != 1:
        raise BadOption(f"exactly one of {', '.join(SUBSCRIPTIONS)} says what is read")
    return _SUBSCRIPTIONS[chosen[0]](given.text(chosen[0]) or "")


def _names(text: str) -> Subscription:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise BadOption("subscribe: no topic is named; several are separated by commas")
    return Names(names)


def _pattern(text: str) -> Subscription:
    try:
        re.compile(text)
    except re.error as error:
        raise BadOption(f"subscribePattern: {text!r} is no pattern: {error}") from None
    return Pattern(text)


def _assigned(text: str) -> Subscription:
    try:
        found = {topic: tuple(map(int, numbers)) for topic, numbers in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError):
        example = '{"orders": [0, 1]}'
        raise BadOption(f"assign: {text!r} is not understood; it looks like {example}") from None
    if not any(found.values()):
        raise BadOption("assign: no partition is named")
    return AssignedPartitions(found)


_SUBSCRIPTIONS: dict[str, Callable[[str], Subscription]] = {
    "subscribe": _names,
    "subscribePattern": _pattern,
    "assign": _assigned,
}


def _ending(given: UserOptions) -> Position | None:
    ending = _position(given, "ending", LATEST)
    if ending == Everywhere(EARLIEST):
        raise BadOption("endingOffsets: earliest would be nothing at all")
    if isinstance(ending, AtOffsets) and EARLIEST in ending.offsets.values():
        raise BadOption("endingOffsets: −2, earliest, would be nothing at all")
    return ending


def _position(given: UserOptions, side: str, others: int) -> Position | None:
    """One time for all takes precedence over times for each, and these over offsets, as in
    Spark. `others`: where partitions start or end that are not named."""
    if (time := given.text(f"{side}Timestamp")) is not None:
        return read_time(f"{side}Timestamp", time)
    if (times := given.text(f"{side}OffsetsByTimestamp")) is not None:
        return AtTimes(read_partitions(f"{side}OffsetsByTimestamp", times), others)
    if (offsets := given.text(f"{side}Offsets")) is not None:
        found = read_position(f"{side}Offsets", offsets)
        return replace(found, others=others) if isinstance(found, AtOffsets) else found
    return None
