"""Turns positions into offsets: the first, the last, and times, as the log has them."""

import asyncio
from collections.abc import Mapping

from samsa.ports import Head

from .access import StoreAccess
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

Heads = Mapping[TopicPartition, Head]


async def look_at(access: StoreAccess, partitions: Partitions, read_committed: bool) -> Heads:
    """With read_committed a partition ends at its last stable offset. Raises UnknownPartition if a
    topic is deleted at this moment."""
    heads = await asyncio.gather(*(access.log.head(where) for where in partitions.values()))
    if read_committed:
        heads = [head._replace(next_offset=head.stable_end) for head in heads]
    return dict(zip(partitions, heads, strict=True))


async def starting_offsets(
    access: StoreAccess,
    partitions: Partitions,
    heads: Heads,
    position: Position,
    late_is_latest: bool,
) -> Offsets:
    found = await _offsets(access, partitions, heads, position, "startingOffsets")
    missing = [where for where, offset in found.items() if offset is None]
    if missing and not late_is_latest:
        raise SamsaError(
            f"{missing[0]} has no record at or after its starting timestamp; "
            "startingOffsetsByTimestampStrategy=latest starts at its end instead"
        )
    return {where: heads[where].next_offset if at is None else at for where, at in found.items()}


async def ending_offsets(
    access: StoreAccess, partitions: Partitions, heads: Heads, position: Position
) -> Offsets:
    found = await _offsets(access, partitions, heads, position, "endingOffsets")
    return {where: heads[where].next_offset if at is None else at for where, at in found.items()}


async def _offsets(
    access: StoreAccess, partitions: Partitions, heads: Heads, position: Position, option: str
) -> dict[TopicPartition, int | None]:
    """None if a time is later than every record."""
    match position:
        case Everywhere(offset):
            return {where: _special(offset, head) for where, head in heads.items()}
        case AtOffsets(offsets, others):
            _check_known(option, offsets, heads)
            return {w: _special(offsets.get(w, others), head) for w, head in heads.items()}
        case AtTime(time):
            return await _at_times(access, partitions, heads, dict.fromkeys(heads, time))
        case AtTimes(times, others):
            _check_known(f"{option}ByTimestamp", times, heads)
            unnamed = {w: _special(others, head) for w, head in heads.items() if w not in times}
            return {**await _at_times(access, partitions, heads, times), **unnamed}


def _special(offset: int, head: Head) -> int:
    return {EARLIEST: head.log_start, LATEST: head.next_offset}.get(offset, offset)


def _check_known(option: str, named: Mapping[TopicPartition, int], heads: Heads) -> None:
    for where in named:
        if where not in heads:
            raise BadOption(f"{option} names {where}, which is not read")


async def _at_times(
    access: StoreAccess,
    partitions: Partitions,
    heads: Heads,
    times: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int | None]:
    """None also for what is not committed, if only that is read, and for what came after the look
    at the heads: it lies above their ends."""

    async def at(where: TopicPartition, time: int) -> int | None:
        if time == LATEST:
            return None
        found = await access.log.times.at(partitions[where], max(time, 0))
        return None if found is None or found.offset >= heads[where].next_offset else found.offset

    offsets = await asyncio.gather(*(at(where, times[where]) for where in times))
    return dict(zip(times, offsets, strict=True))
