"""From positions to offsets: what the log says about the first, the last, and times."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from samsa.ports import Head, Partition

from .access import Access
from .errors import BadOption, SamsaError
from .positions import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTime,
    AtTimes,
    Everywhere,
    Offsets,
    Position,
    TopicPartition,
)
from .subscribed import Partitions


class Log(NamedTuple):
    """What there is of a partition: [start, end)."""

    start: int
    end: int


Logs = Mapping[TopicPartition, Log]


async def look_at(access: Access, partitions: Partitions) -> dict[TopicPartition, Log]:
    """Raises UnknownPartition if a topic goes at this moment."""
    heads = await asyncio.gather(*(access.log.glance(where) for where in partitions.values()))
    return {name: _log(head) for name, head in zip(partitions, heads, strict=True)}


def _log(head: Head) -> Log:
    return Log(head.log_start, head.visible_end)


async def starting_offsets(
    access: Access, partitions: Partitions, logs: Logs, position: Position, late_is_latest: bool
) -> Offsets:
    found = await _offsets(access, partitions, logs, position, "startingOffsets")
    missing = [where for where, offset in found.items() if offset is None]
    if missing and not late_is_latest:
        raise SamsaError(
            f"{missing[0]} has no record at or after its starting timestamp; "
            "startingOffsetsByTimestampStrategy=latest starts at its end instead"
        )
    return {where: logs[where].end if at is None else at for where, at in found.items()}


async def ending_offsets(
    access: Access, partitions: Partitions, logs: Logs, position: Position
) -> Offsets:
    found = await _offsets(access, partitions, logs, position, "endingOffsets")
    return {where: logs[where].end if at is None else at for where, at in found.items()}


async def _offsets(
    access: Access, partitions: Partitions, logs: Logs, position: Position, option: str
) -> dict[TopicPartition, int | None]:
    """None where a time is later than every record."""
    match position:
        case Everywhere(offset):
            return {where: _special(offset, log) for where, log in logs.items()}
        case AtOffsets(offsets):
            _check_complete(option, offsets, logs)
            return {where: _special(offsets[where], log) for where, log in logs.items()}
        case AtTime(time):
            return await _at_times(access, partitions, dict.fromkeys(logs, time))
        case AtTimes(times):
            _check_complete(f"{option}ByTimestamp", times, logs)
            return await _at_times(access, partitions, {where: times[where] for where in logs})


def _special(offset: int, log: Log) -> int:
    return {EARLIEST: log.start, LATEST: log.end}.get(offset, offset)


def _check_complete(option: str, named: Mapping[TopicPartition, int], logs: Logs) -> None:
    for where in logs:
        if where not in named:
            raise BadOption(f"{option} must name every partition; {where} is missing")
    for where in named:
        if where not in logs:
            raise BadOption(f"{option} names {where}, which is not read")


async def _at_times(
    access: Access, partitions: Partitions, times: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | None]:
    async def at(partition: Partition, time: int) -> int | None:
        if time == LATEST:
            return None
        found = await access.log.times.at(partition, max(time, 0))
        return None if found is None else found.offset

    offsets = await asyncio.gather(*(at(partitions[where], times[where]) for where in times))
    return dict(zip(times, offsets, strict=True))
