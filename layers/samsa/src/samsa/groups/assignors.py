"""Server-side assignors (KIP-848): `uniform` and `range`, similar to Kafka's.

Both are pure functions of the members in order, their subscriptions and their last targets. Topics
that do not exist (any more) are not assigned.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias
from uuid import UUID

Partitions: TypeAlias = frozenset[tuple[UUID, int]]
NOTHING: Partitions = frozenset()
MAX_ROUNDS = 16


class Subscriber(NamedTuple):
    instance_id: str | None
    topics: frozenset[UUID]
    target: Partitions
    """What it was assigned last."""


Counts: TypeAlias = Mapping[UUID, int]
"""How many partitions each topic has."""
Assignor: TypeAlias = Callable[[Mapping[str, Subscriber], Counts], dict[str, Partitions]]


def assign_range(members: Mapping[str, Subscriber], counts: Counts) -> dict[str, Partitions]:
    """Each subscriber gets one contiguous range of each topic, so that one member gets the same
    partition numbers of several topics. Static members come first, so that their ranges are stable.
    """
    order = sorted(members, key=lambda each: _range_order(each, members[each]))
    given: dict[str, set[tuple[UUID, int]]] = {member_id: set() for member_id in order}
    for topic, count in counts.items():
        readers = [member_id for member_id in order if topic in members[member_id].topics]
        start = 0
        for number, member_id in enumerate(readers):
            share = count // len(readers) + (number < count % len(readers))
            given[member_id].update((topic, partition) for partition in range(start, start + share))
            start += share
    return {member_id: frozenset(partitions) for member_id, partitions in given.items()}


def _range_order(member_id: str, member: Subscriber) -> tuple[bool, str]:
    return member.instance_id is None, member.instance_id or member_id


def assign_uniform(members: Mapping[str, Subscriber], counts: Counts) -> dict[str, Partitions]:
    """All members get about the same number, and keep what they had as far as that allows."""
    alike = len({member.topics for member in members.values()}) <= 1
    given = _kept(members, counts)
    if alike:
        _level(given, counts, members)
    else:
        _fill(given, _free(given, counts, members), members, counts)
        _balance(given, members)
    return {member_id: frozenset(partitions) for member_id, partitions in given.items()}


Given: TypeAlias = dict[str, set[tuple[UUID, int]]]


def _kept(members: Mapping[str, Subscriber], counts: Counts) -> Given:
    """What each member had and may still read; no partition twice."""
    taken: set[tuple[UUID, int]] = set()
    given: Given = {}
    for member_id, member in members.items():
        mine = {
            (topic, partition)
            for topic, partition in member.target
            if topic in member.topics and partition < counts.get(topic, 0)
        }
        given[member_id] = mine - taken
        taken |= mine
    return given


def _free(
    given: Given, counts: Counts, members: Mapping[str, Subscriber]
) -> list[tuple[UUID, int]]:
    taken = set().union(*given.values())
    wanted = frozenset[UUID]().union(*(member.topics for member in members.values()))
    return [
        (topic, partition)
        for topic, count in counts.items()
        if topic in wanted
        for partition in range(count)
        if (topic, partition) not in taken
    ]


def _level(given: Given, counts: Counts, members: Mapping[str, Subscriber]) -> None:
    """For members that all read the same topics. Members with most partitions get the remainder of
    the division, so that the fewest partitions move."""
    if not given:
        return
    free = _free(given, counts, members)
    total = len(free) + sum(map(len, given.values()))
    share, odd = divmod(total, len(given))
    order = sorted(given, key=lambda member_id: -len(given[member_id]))
    quotas = {member_id: share + (number < odd) for number, member_id in enumerate(order)}
    for member_id, mine in given.items():
        surplus = sorted(mine, key=_by_partition)[quotas[member_id] :]
        mine.difference_update(surplus)
        free.extend(surplus)
    rest = iter(free)
    for member_id, mine in given.items():
        mine.update(next(rest) for _ in range(quotas[member_id] - len(mine)))


def _fill(
    given: Given,
    free: list[tuple[UUID, int]],
    members: Mapping[str, Subscriber],
    counts: Counts,
) -> None:
    """Topics with many partitions per reader first, each partition to the reader with fewest."""
    readers = {topic: _readers(topic, members) for topic in counts}

    def pressing(which: tuple[UUID, int]) -> tuple[float, int, int, int]:
        topic, partition = which
        few = len(readers[topic])
        return -counts[topic] / few, few, topic.int, partition

    for which in sorted(free, key=pressing):
        poorest = min(readers[which[0]], key=lambda member_id: len(given[member_id]))
        given[poorest].add(which)


def _balance(given: Given, members: Mapping[str, Subscriber]) -> None:
    """Move partitions from members with many to members with few, while that helps. Each move
    helps, so few rounds are needed."""
    for _ in range(MAX_ROUNDS):
        moved = False
        for owner in sorted(given, key=lambda member_id: -len(given[member_id])):
            for which in sorted(given[owner], key=_by_partition):
                poorest = min(_readers(which[0], members), key=lambda each: len(given[each]))
                if len(given[owner]) > len(given[poorest]) + 1:
                    given[owner].remove(which)
                    given[poorest].add(which)
                    moved = True
        if not moved:
            return


def _readers(topic: UUID, members: Mapping[str, Subscriber]) -> list[str]:
    return [member_id for member_id, member in members.items() if topic in member.topics]


def _by_partition(which: tuple[UUID, int]) -> tuple[int, int]:
    return which[0].int, which[1]


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
