"""Every item of the ledger, filled to its bound, can be written; one more is refused cleanly.

The table of bounds is in `samsa.ports.bounds`. On SQLite the bounds are the same, though nothing
there ends at 400 KB. moto counts bytes in its own way: Amazon's emulator is asked alone.
"""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from functional.conftest import open_ledger
from functional.given import DAY_MS, a_topic, an_extent
from functional.groups_given import NOW, committed, open_groups
from functional.journals import a_journal, put

import samsa.aws.journal
from samsa.aws.group_items import Expression, chunks_of
from samsa.aws.head_changes import commit
from samsa.aws.head_items import (
    aborted_name,
    new_head,
    open_name,
    pack_aborted,
    pack_entry,
    producer_attribute,
    weight,
)
from samsa.aws.heads import FORGOTTEN_AT_ONCE
from samsa.aws.items import extent_item, number
from samsa.aws.journal import CLAIM_BYTES, OPEN_BYTES
from samsa.aws.pending_offsets import IN_ONE_UPDATE
from samsa.aws.table import TRANSACTION
from samsa.aws.transaction_items import adding
from samsa.groups.room import MOST_STORED
from samsa.local.sqlite import SqliteLedger
from samsa.ports import (
    Claim,
    End,
    GroupItem,
    Ledger,
    NotDone,
    Partition,
    PendingDeletion,
    Topic,
    TransactionItem,
)
from samsa.ports.bounds import (
    INLINE_BYTES,
    LONG_TAIL_BYTES,
    LONG_TAIL_ENTRIES,
    LONGEST_GROUP_ID,
    LONGEST_TRANSACTIONAL_ID,
    MOST_CONFIG_BYTES,
    MOST_HEAD_BYTES,
    MOST_OPEN_TRANSACTIONS,
    MOST_PENDING_BYTES,
    MOST_PRODUCERS,
    MOST_TRANSACTION_BYTES,
    MOST_WATCHED,
    MOST_WATCHERS,
    ItemTooLarge,
    pending_weight,
)
from samsa.ports.extents import KEYS_PER_DELETION
from samsa.ports.heads import MOST_CLAIMS, MOST_REMOVED, HeadClaim, HeadUpdate, entry_weight
from samsa.ports.joining import MOST_MARKS
from samsa.topics.configs import Refused, check_configs
from samsa_websocket.pushes.open_connections import OpenConnection, OpenConnections

DYNAMODB = "dynamodb-local"
KINDS = ["sqlite", DYNAMODB]
LARGE_OFFSET = 2**62
A_TIME = 1_700_000_000_000
A_MARKER = 78
"""Bytes of a control batch."""
A_STATE = 3 + 5 * 16
"""Bytes of a producer's state with five batches."""
AN_ADDRESS = "255.255.255.255|65535"
EXPRESSION_BYTES = 4_096
OPERATORS = re.compile(r"[=<>+-]+|\bAND\b|\bOR\b|\w+\(")
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


async def crowded(
    ledger: Any,
    watchers: int,
    entries: int = 0,
    producers: int = 0,
    markers: int = 0,
    opened: int = 0,
) -> Partition:
    """A partition whose head is as full as that, with parts as long as they come."""
    topic = a_topic()
    await ledger.create_topic(topic)
    partition = Partition(topic.id, 0)
    watching = {f"{AN_ADDRESS}{n:04}": A_TIME for n in range(watchers)}
    if isinstance(ledger, SqliteLedger):
        ledger._db.execute(
            "UPDATE heads SET watchers=?, next_offset=?", (json.dumps(watching), LARGE_OFFSET)
        )
        return partition
    item = new_head(partition)
    item["watchers"]["M"] = {name: number(value) for name, value in watching.items()}
    item["next_offset"] = number(LARGE_OFFSET)
    inline = an_extent(LARGE_OFFSET, key="", data=b"d" * INLINE_BYTES, stored_at=A_TIME)
    for n in range(entries):
        item["tail"]["M"][f"{n:016}"] = {"B": pack_entry(inline)}
        item["bases"]["M"][f"{n:016}"] = number(LARGE_OFFSET - entries + n)
    marker = inline._replace(data=b"m" * A_MARKER)
    for n in range(markers):
        item["tail"]["M"][f"{n:016x}"] = {"B": pack_entry(marker)}
        item["bases"]["M"][f"{n:016x}"] = number(LARGE_OFFSET - entries - markers + n)
        item[aborted_name(f"{n:016x}")] = {"B": pack_aborted(10**9 + n, LARGE_OFFSET, LARGE_OFFSET)}
        item["aborted_to"] = number(LARGE_OFFSET)
    for n in range(opened):
        item[open_name(2 * 10**9 + n)] = number(LARGE_OFFSET)
    for n in range(producers):
        claim = Claim(n, b"s" * A_STATE, 10_000, A_TIME + DAY_MS)
        item["producers"]["M"][str(10**9 + n)] = producer_attribute(claim, A_TIME)
        item["producer_bases"]["M"][str(10**9 + n)] = number(LARGE_OFFSET)
    await ledger.table.call("put_item", Item=item)
    return partition


async def test_the_parts_of_a_head_at_their_bounds_are_within_its_own(dynamodb: Any):
    tail = LONG_TAIL_BYTES // INLINE_BYTES + 1
    partition = await crowded(
        dynamodb, MOST_WATCHERS, tail, MOST_PRODUCERS, LONG_TAIL_ENTRIES, MOST_OPEN_TRANSACTIONS
    )
    assert (await dynamodb.head_state(partition)).weight < MOST_HEAD_BYTES


def test_an_open_transaction_takes_no_more_bytes_than_are_counted_for_it():
    assert weight({open_name(2**62): number(2**62)}) <= OPEN_BYTES


async def test_a_full_head_takes_a_commit_only_after_it_was_settled(dynamodb: Any):
    entries = MOST_HEAD_BYTES // INLINE_BYTES
    partition = await crowded(dynamodb, 0, entries)
    journal = a_journal(dynamodb)
    result = await journal.commit(partition, an_extent(LARGE_OFFSET), [b"x" * 100], [])
    assert result.base == LARGE_OFFSET
    assert [entry.base for entry in result.head.tail] == [LARGE_OFFSET]
    await journal.drain()  # the new one is settled as well
    assert len(await dynamodb.extents(partition, 0, 99)) == entries + 1
    await journal.close()


async def test_a_head_that_stays_too_large_takes_no_commit(dynamodb: Any):
    partition = await crowded(dynamodb, 2 * MOST_WATCHERS, producers=MOST_PRODUCERS)
    journal = a_journal(dynamodb)
    with pytest.raises(NotDone, match="bytes"):
        await journal.commit(partition, an_extent(LARGE_OFFSET), [b"x" * 100], [])
    assert (await dynamodb.head(partition)).next_offset == LARGE_OFFSET
    await journal.close()


async def test_a_marker_is_taken_by_a_head_that_is_too_large_for_all_else(dynamodb: Any):
    """It ends what fills the head."""
    partition = await crowded(dynamodb, 2 * MOST_WATCHERS, producers=MOST_PRODUCERS, opened=3)
    journal = a_journal(dynamodb)
    begin = Claim(5, b"state", 0, A_TIME + DAY_MS, opens=0)
    with pytest.raises(NotDone, match="bytes"):
        await put(journal, partition, claims=[begin])
    for producer_id in (2 * 10**9, 2 * 10**9 + 2):
        claim = Claim(producer_id, b"ended", 0, A_TIME + DAY_MS, ends=End.ABORT)
        result = await put(journal, partition, claims=[claim])
        assert result.base is not None
    assert result.head.open_transactions.keys() == {2 * 10**9 + 1}
    await journal.close()


async def test_no_more_transactions_are_open_at_a_time_than_a_head_holds(dynamodb: Any):
    """And those that are open go on, and make room when they end."""
    partition = await crowded(dynamodb, 0, opened=MOST_OPEN_TRANSACTIONS - 1)
    journal, other = a_journal(dynamodb), a_journal(dynamodb)
    begin = Claim(5, b"state", 0, A_TIME + DAY_MS, opens=0)
    more = begin._replace(producer_id=6)
    with pytest.raises(NotDone, match="open"):
        await put(journal, partition, claims=[begin, more], offsets=2)
    assert (await put(journal, partition, claims=[begin])).base == LARGE_OFFSET
    assert (await put(journal, partition, claims=[begin._replace(after=1)])).base is not None
    with pytest.raises(NotDone, match="open"):
        await put(journal, partition, claims=[more])
    await put(journal, partition)
    end = Claim(2 * 10**9, b"ended", 0, A_TIME + DAY_MS, ends=End.COMMIT)
    assert (await put(other, partition, claims=[end])).base is not None
    assert (await put(journal, partition, claims=[more])).base is not None
    for each in (journal, other):
        await each.close()


async def test_a_head_with_room_for_a_batch_may_have_none_for_a_transaction(
    dynamodb: Any, monkeypatch: pytest.MonkeyPatch
):
    plain = Claim(5, b"state", 0, A_TIME + DAY_MS)
    for claim, is_taken in ((plain, True), (plain._replace(opens=0), False)):
        partition = await crowded(dynamodb, 0)
        before = (await dynamodb.head_state(partition)).weight
        added = entry_weight(an_extent(0)) + 100 + CLAIM_BYTES + len(claim.state)
        monkeypatch.setattr(samsa.aws.journal, "MOST_HEAD_BYTES", before + added)
        journal = a_journal(dynamodb)
        if is_taken:
            assert (await put(journal, partition, claims=[claim])).base is not None
        else:
            with pytest.raises(NotDone, match="bytes"):
                await put(journal, partition, claims=[claim])
        await journal.close()


async def test_more_open_transactions_than_allowed_stop_no_other_append(dynamodb: Any):
    """As two processes leave them that opened the last ones at the same time."""
    partition = await crowded(dynamodb, 0, opened=MOST_OPEN_TRANSACTIONS + 1)
    journal = a_journal(dynamodb)
    plain = Claim(5, b"state", 0, A_TIME + DAY_MS)
    goes_on = plain._replace(producer_id=2 * 10**9, opens=0)
    for claims in ([], [plain], [goes_on]):
        assert (await put(journal, partition, claims=claims)).base is not None
    await journal.close()


async def test_a_full_head_takes_no_more_watchers_and_renews_those_it_has(ledger: Any):
    partition = await crowded(ledger, MOST_WATCHERS - 1)
    head = await ledger.watch(partition, "last", A_TIME)
    assert len(head.watchers) == MOST_WATCHERS
    head = await ledger.watch(partition, "more", A_TIME)
    assert len(head.watchers) == MOST_WATCHERS
    assert "more" not in head.watchers
    head = await ledger.watch(partition, "last", A_TIME + 1)
    assert head.watchers["last"] == A_TIME + 1


async def test_stale_watchers_of_a_full_head_make_room(ledger: Any):
    partition = await crowded(ledger, MOST_WATCHERS)
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


def fullest_commit(absent: bool) -> Any:
    claim = Claim(2**62, b"s" * A_STATE, 2**31, A_TIME)
    claims = [HeadClaim(claim, 2**31 if absent else None, opens=2**31)] * MOST_CLAIMS
    settled = {f"{n:016}": LARGE_OFFSET for n in range(MOST_REMOVED)}
    return commit(HeadUpdate(an_extent(LARGE_OFFSET), 2**31, claims, A_TIME, settled))


async def test_a_commit_with_all_that_it_may_have_is_taken(dynamodb: Any):
    partition = await crowded(dynamodb, 0, 0, MOST_CLAIMS // 2, MOST_REMOVED)
    known = [
        HeadClaim(Claim(10**9 + n, b"s" * A_STATE, 10_001, A_TIME), None, opens=2**30 + n)
        for n in range(MOST_CLAIMS // 2)
    ]
    new = [
        HeadClaim(Claim(n, b"s" * A_STATE, 0, A_TIME), 0, opens=2**30 - n)
        for n in range(MOST_CLAIMS - MOST_CLAIMS // 2)
    ]
    tail = (await dynamodb.head(partition)).tail
    settled = {entry.id: entry.base for entry in tail}
    entry = an_extent(LARGE_OFFSET, id="new", stored_at=A_TIME)
    state, done = await dynamodb.update_head(
        partition, HeadUpdate(entry, 0, [*known, *new], A_TIME, settled)
    )
    assert done
    assert [one.id for one in state.head.tail] == ["new"]
    assert {p.bound.version for p in state.producers.values()} == {1, 10_002}
    assert len(state.head.open_transactions) == MOST_CLAIMS
    assert state.head.aborted == ()


def test_the_largest_expressions_and_transactions_are_within_what_dynamodb_takes():
    last = 10_000_000 // 32 * 32
    offsets = {("t", last + n): committed(LARGE_OFFSET, "m") for n in range(32)}
    (chunk,) = chunks_of(offsets)
    watchers = {f"#w{n}": AN_ADDRESS for n in range(FORGOTTEN_AT_ONCE)}
    expressions = [
        chunk.commit(2**31 - 1),
        chunk.removal(unchanged=True),
        Expression(" AND ".join(f"watchers.{name} = :{name[1:]}" for name in watchers)),
        fullest_commit(absent=True),
        fullest_commit(absent=False),
        adding(2**31, {("t", last + n): committed(1) for n in range(IN_ONE_UPDATE)}),
    ]
    for each in expressions:
        assert len(each.condition) < EXPRESSION_BYTES
        assert len(each.update) < EXPRESSION_BYTES
        assert len(OPERATORS.findall(each.condition)) < 300
        assert len(OPERATORS.findall(each.update)) < 300
    marked = an_extent(0, 2**31 - 1, marks=MARKS, times=TIMES, key="k" * 200)
    size = len(str(extent_item(Partition(UUID(int=1), 0), marked)))
    assert TRANSACTION * size < 4_000_000


# Transactions


async def test_a_full_transaction_is_written_and_a_larger_one_is_refused(groups: Any):
    name = "\N{GRINNING FACE}" * LONGEST_TRANSACTIONAL_ID
    full = TransactionItem(1, 2**62, random.Random(1).randbytes(MOST_TRANSACTION_BYTES))
    larger = full._replace(version=2, state=full.state + b"+")
    assert await groups.put_transaction(name, full, 0) is None
    assert await groups.put_transaction(name, full._replace(version=2), 1) is None
    third = full._replace(version=3, producer_id=7)
    assert await groups.put_transaction(name, third, 2) is None
    for after, producer_id in ((3, 7), (3, 8)):
        with pytest.raises(ItemTooLarge):
            await groups.put_transaction(name, larger._replace(producer_id=producer_id), after)
    with pytest.raises(ItemTooLarge):
        await groups.put_transaction("other", larger, 0)
    assert await groups.transaction(name) == third
    assert await groups.transactional_ids() == [name]


METADATA = "\N{SAMARITAN LETTER ALAF}" * 4_096


def waiting(count: int, start: int = 0) -> Any:
    """Of topics with the longest names and metadata."""
    numbers = range(10_000_000 + start, 10_000_000 + start + count)
    return {("t" * 249, number): committed(LARGE_OFFSET, METADATA) for number in numbers}


MOST_LARGE = MOST_PENDING_BYTES // pending_weight(waiting(1))
MOST_SMALL = MOST_PENDING_BYTES // pending_weight({("t", 0): committed(0)})


@pytest.mark.parametrize(
    "full",
    [
        waiting(MOST_LARGE),
        {("t", 10_000_000 + n): committed(LARGE_OFFSET) for n in range(MOST_SMALL)},
    ],
    ids=["metadata", "partitions"],
)
async def test_pending_offsets_fill_their_item_and_become_the_groups(groups: Any, full: Any):
    group = "g" * 500
    assert await groups.add_pending(group, 2**62, 1, full, NOW + DAY_MS)
    ((_, _, found),) = await groups.pending(group)
    assert found == full
    with pytest.raises(ItemTooLarge):
        await groups.add_pending(group, 2**62, 1, waiting(1, start=5_000), NOW + DAY_MS)
    with pytest.raises(ItemTooLarge):
        await groups.add_pending(group, 7, 1, {**full, **waiting(1, start=5_000)}, NOW + DAY_MS)
    await groups.end_pending(group, 2**62, 1, True, NOW + DAY_MS)
    assert await groups.offsets(group, NOW) == full
    assert await groups.pending(group) == []


async def test_offsets_that_replace_others_take_no_room_of_their_own(groups: Any):
    """However often: a client may commit the same partitions with every batch of messages."""
    for n in range(2 * MOST_LARGE):
        offsets = {("t", 0): committed(n, METADATA), ("t", 1): committed(n)}
        assert await groups.add_pending("family", 7, 1, offsets, NOW + DAY_MS)
    ((_, _, found),) = await groups.pending("family")
    assert found == offsets


async def test_the_end_of_a_transaction_over_more_topics_than_dynamodb_writes_at_once(groups: Any):
    offsets = {(f"t{n:03}", 0): committed(n) for n in range(2 * TRANSACTION + 1)}
    for serial in (1, 2):
        assert await groups.add_pending("family", 7, serial, offsets, NOW + DAY_MS)
        await groups.end_pending("family", 7, serial, True, NOW + DAY_MS)
        assert await groups.offsets("family", NOW) == offsets
        assert await groups.pending("family") == []
        await groups.commit("family", -1, dict.fromkeys(offsets, committed(0)))
        await groups.end_pending("family", 7, serial, True, NOW + DAY_MS)
        assert set((await groups.offsets("family", NOW)).values()) == {committed(0)}


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


async def test_a_pending_deletion_of_as_many_objects_as_it_holds_is_written(ledger: Any):
    topic = a_topic()
    await ledger.create_topic(topic)
    partition = Partition(topic.id, 0)
    keys = tuple(f"{'k' * 200}{n}" for n in range(KEYS_PER_DELETION))
    deletion = PendingDeletion("after", 0, LARGE_OFFSET, keys, A_TIME)
    await ledger.announce(partition, deletion)
    assert (await ledger.pending_deletions(partition, 1))[0].keys == keys


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
