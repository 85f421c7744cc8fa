"""Every item of the ledger, filled to its bound, can be written; one more is refused cleanly.

The table of bounds is in `samsa.ports.bounds`. On SQLite the bounds are the same, though nothing
there ends at 400 KB. moto counts bytes in its own way: Amazon's emulator is asked alone.
"""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from functional.conftest import open_ledger
from functional.given import a_topic, an_extent
from functional.groups_given import NOW, committed, open_groups

from samsa.aws.group_items import Expression, chunks_of
from samsa.aws.heads import FORGOTTEN_AT_ONCE
from samsa.aws.items import extent_item, new_head, number
from samsa.aws.open_connections import OpenConnection, OpenConnections
from samsa.aws.table import TRANSACTION
from samsa.groups.room import MOST_STORED
from samsa.handlers.configs import Refused, check_configs
from samsa.joining import MOST_MARKS
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Grave, GroupItem, Ledger, Partition, Topic, Unavailable
from samsa.ports.bounds import (
    LONGEST_GROUP_ID,
    MOST_CONFIG_BYTES,
    MOST_OPEN_SLOTS,
    MOST_WATCHED,
    MOST_WATCHERS,
)

DYNAMODB = "dynamodb-local"
KINDS = ["sqlite", DYNAMODB]
LARGE_OFFSET = 2**62
A_TIME = 1_700_000_000_000
A_TOKEN = f"{2**31}.{A_TIME}.{'n' * 36}"
AN_ADDRESS = "255.255.255.255|65535"
EXPRESSION_BYTES = 4_096
MARKS = tuple((n * 2**21, n * 2**21) for n in range(1, MOST_MARKS + 2))
TIMES = tuple(2**62 + n * 2**50 for n in range(1, MOST_MARKS + 2))


@pytest.fixture(params=KINDS)
async def ledger(request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]) -> Any:
    ledger = await open_ledger(request.param, tmp_path, request)
    closing.append(ledger)
    return ledger


@pytest.fixture(params=KINDS)
async def groups(request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]) -> Any:
    groups = await open_groups(request.param, tmp_path, request)
    yield groups
    await groups.close()


async def crowded(ledger: Any, slots: int, watchers: int) -> Partition:
    """A partition whose head is as full as that, with entries as long as they come."""
    topic = a_topic()
    await ledger.create_topic(topic)
    partition = Partition(topic.id, 0)
    inflight = {f"{A_TOKEN}{n:04}": LARGE_OFFSET for n in range(slots)}
    watching = {f"{AN_ADDRESS}{n:04}": A_TIME for n in range(watchers)}
    if isinstance(ledger, SqliteLedger):
        ledger._db.execute(
            "UPDATE heads SET inflight=?, watchers=?, next_offset=?",
            (json.dumps(inflight), json.dumps(watching), LARGE_OFFSET),
        )
        return partition
    item = new_head(partition)
    item["inflight"]["M"] = {name: number(value) for name, value in inflight.items()}
    item["watchers"]["M"] = {name: number(value) for name, value in watching.items()}
    item["next_offset"] = number(LARGE_OFFSET)
    await ledger.table.call("put_item", Item=item)
    return partition


async def test_a_full_head_is_written_and_takes_no_more_slots(ledger: Any):
    partition = await crowded(ledger, MOST_OPEN_SLOTS - 1, MOST_WATCHERS)
    last = f"1.{A_TIME}.last"
    head = await ledger.reserve(partition, last, 1)
    assert len(head.inflight) == MOST_OPEN_SLOTS
    assert (await ledger.reserve(partition, last, 1)).inflight[last] == LARGE_OFFSET
    with pytest.raises(Unavailable):
        await ledger.reserve(partition, f"1.{A_TIME}.more", 1)
    closed = await ledger.confirm(partition, last, an_extent(LARGE_OFFSET))
    assert closed.was_open
    head = await ledger.reserve(partition, f"1.{A_TIME}.more", 1)
    assert len(head.inflight) == MOST_OPEN_SLOTS


async def test_a_full_head_takes_no_more_watchers_and_renews_those_it_has(ledger: Any):
    partition = await crowded(ledger, MOST_OPEN_SLOTS, MOST_WATCHERS - 1)
    head = await ledger.watch(partition, "last", A_TIME)
    assert len(head.watchers) == MOST_WATCHERS
    head = await ledger.watch(partition, "more", A_TIME)
    assert len(head.watchers) == MOST_WATCHERS
    assert "more" not in head.watchers
    head = await ledger.watch(partition, "last", A_TIME + 1)
    assert head.watchers["last"] == A_TIME + 1


async def test_stale_watchers_of_a_full_head_make_room(ledger: Any):
    partition = await crowded(ledger, 0, MOST_WATCHERS)
    later = A_TIME + 3_600_000
    await ledger.watch(partition, "more", later)
    head = await ledger.watch(partition, "more", later)
    assert head.watchers["more"] == later


async def test_a_full_group_is_written_and_read(groups: Any):
    full = GroupItem(1, random.Random(1).randbytes(MOST_STORED))
    name = "\0" + "g" * 499
    assert await groups.put_group(name, full, 0)
    assert await groups.group(name) == full
    assert await groups.put_group(name, full._replace(version=2), 1)


async def test_the_longest_name_of_a_group_is_written_and_listed(groups: Any):
    name = "\N{GRINNING FACE}" * LONGEST_GROUP_ID
    assert await groups.put_group(name, GroupItem(1, b"state"), 0)
    await groups.commit(name, -1, {("letters", 0): committed(1)})
    assert await groups.group_ids() == [name]


@pytest.mark.parametrize("generation", [-1, 2**31 - 1])
async def test_an_item_full_of_offsets_is_written_and_deleted(groups: Any, generation: int):
    metadata = "\N{SAMARITAN LETTER ALAF}" * 4_096  # three bytes each, and one unit of UTF-16
    name, topic = "g" * 500, "t" * 249
    numbers = range(10_000_000 // 32 * 32, 10_000_000 // 32 * 32 + 32)
    offsets = {(topic, number): committed(LARGE_OFFSET, metadata) for number in numbers}
    assert await groups.commit(name, generation, offsets)
    assert await groups.commit(name, generation, offsets)
    assert await groups.offsets(name, NOW) == offsets
    await groups.delete_offsets(name, list(offsets), before=NOW + 1)
    assert await groups.offsets(name, NOW) == {}


async def test_a_commit_larger_than_a_transaction_is_several(groups: Any):
    metadata = "m" * 4_096
    offsets = {(f"t{n:02}", p): committed(p, metadata) for n in range(40) for p in range(32)}
    assert await groups.commit("family", 1, offsets)
    assert await groups.offsets("family", NOW) == offsets


def test_the_largest_expressions_and_transactions_are_within_what_dynamodb_takes():
    last = 10_000_000 // 32 * 32
    offsets = {("t", last + n): committed(LARGE_OFFSET, "m") for n in range(32)}
    (chunk,) = chunks_of(offsets)
    watchers = {f"#w{n}": AN_ADDRESS for n in range(FORGOTTEN_AT_ONCE)}
    expressions = [
        chunk.commit(2**31 - 1),
        chunk.removal(unchanged=True),
        Expression(" AND ".join(f"watchers.{name} = :{name[1:]}" for name in watchers)),
    ]
    for each in expressions:
        assert len(each.condition) < EXPRESSION_BYTES
        assert len(each.update) < EXPRESSION_BYTES
        assert each.condition.count(" ") < 300  # no more operators than words
    marked = an_extent(0, 2**31 - 1, marks=MARKS, times=TIMES, key="k" * 200)
    size = len(str(extent_item(Partition(UUID(int=1), 0), marked)))
    assert TRANSACTION * size < 4_000_000


def full_configs() -> dict[str, str]:
    """Two lists of replicas, whose values may be of any length."""
    names = ["leader.replication.throttled.replicas", "follower.replication.throttled.replicas"]
    room = MOST_CONFIG_BYTES - sum(map(len, names))
    return {names[0]: ",".join(["1:2"] * (room // 4)), names[1]: ""}


async def test_a_topic_full_of_configs_is_made_changed_and_deleted(ledger: Any):
    configs = full_configs()
    check_configs(configs)
    topic = Topic("t" * 249, uuid4(), 1, A_TIME, configs)
    assert await ledger.create_topic(topic)
    more = replace(topic, partitions=2)
    assert await ledger.change_topic(topic, more)
    assert await ledger.topic(topic.name) == more
    assert await ledger.delete_topic(more)
    assert [each.id for each in await ledger.doomed_topics()] == [topic.id]


def test_configs_beyond_their_bound_are_refused():
    configs = full_configs()
    name = "follower.replication.throttled.replicas"
    with pytest.raises(Refused):
        check_configs({**configs, name: ",".join(["1:2"] * 10)})


async def test_an_extent_with_all_its_marks_is_written(ledger: Any):
    topic = a_topic()
    await ledger.create_topic(topic)
    partition = Partition(topic.id, 0)
    extent = an_extent(0, 2**31 - 1, marks=MARKS, times=TIMES, key="k" * 200)
    await ledger.index(partition, extent)
    assert await ledger.extents(partition, 0, 1) == [extent]


async def test_a_grave_of_a_hundred_segments_is_written(ledger: Any):
    topic = a_topic()
    await ledger.create_topic(topic)
    partition = Partition(topic.id, 0)
    keys = tuple(f"{'k' * 200}{n}" for n in range(100))
    grave = Grave("after", 0, LARGE_OFFSET, keys, A_TIME)
    await ledger.announce(partition, grave)
    assert (await ledger.graves(partition, 1))[0].keys == keys


async def test_a_connection_remembers_so_many_watches_and_no_more(
    tmp_path: Path, request: pytest.FixtureRequest, closing: list[Ledger]
):
    ledger: Any = await open_ledger(DYNAMODB, tmp_path, request)
    closing.append(ledger)
    connections = OpenConnections(ledger.table)
    await connections.open("c", OpenConnection("h" * 255, 9092, "c" * 255), NOW)
    topic = UUID(int=2**127)

    def some(first: int, count: int) -> list[Partition]:
        return [Partition(topic, 9_000_000 + n) for n in range(first, first + count)]

    await connections.watches("c", some(0, MOST_WATCHED - 1))
    await connections.watches("c", some(MOST_WATCHED - 1, MOST_WATCHED + 5))
    await connections.watches("c", some(3 * MOST_WATCHED, 1))
    assert len(await connections.close_one("c")) == 2 * MOST_WATCHED - 1
