"""Several who work on one transaction at the same time. SQLite is raced by processes, DynamoDB
Local by threads; moto is not raced, as in the races of the ledgers."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from functional.given import a_partition
from functional.groups_given import NOW, committed, open_groups
from functional.journals import a_claim, a_journal, put
from functional.racers import Race, race_of_processes, race_of_tasks

from samsa.ports import End, Groups, Ledger, TransactionItem

RACERS = 24
SOON = NOW + 3_600_000
WHERE = [("letters", 0), ("letters", 40), ("parcels", 0)]


class Track(NamedTuple):
    store: Groups
    race: Race


@pytest.fixture(params=["sqlite", "dynamodb-local"])
async def track(
    request: pytest.FixtureRequest, tmp_path: Path, closing: list[Ledger]
) -> AsyncIterator[Track]:
    store = await open_groups(request.param, tmp_path, request)
    if request.param == "sqlite":
        from samsa.local.sqlite_groups import SqliteGroups

        crowd = request.getfixturevalue("crowd")
        opened = partial(SqliteGroups, str(tmp_path / "ledger.db"))
        yield Track(store, partial(race_of_processes, crowd, opened))
    else:
        yield Track(store, partial(race_of_tasks, [store]))
    await store.close()


@pytest.mark.parametrize("is_new_producer", [False, True])
async def test_of_many_states_after_one_version_exactly_one_is_stored(
    track: Track, is_new_producer: bool
):
    for after in range(5):
        items = [
            TransactionItem(after + 1, 1000 * is_new_producer * (after + 1), b"%d" % racer)
            for racer in range(RACERS)
        ]
        answers = await track.race([("put_transaction", "pay", item, after) for item in items])
        (stored,) = (item for item, answer in zip(items, answers, strict=True) if answer is None)
        assert await track.store.transaction("pay") == stored
        assert await track.store.transactional_id_of(stored.producer_id) == "pay"


async def test_of_a_put_and_a_delete_of_one_version_exactly_one_succeeds(track: Track):
    for number in range(8):
        name = f"pay-{number}"
        await track.store.put_transaction(name, TransactionItem(1, number, b""), 0)
        answer, is_deleted = await track.race(
            [
                ("put_transaction", name, TransactionItem(2, number, b""), 1),
                ("delete_transaction", name, 1),
            ]
        )
        assert (answer is None) != is_deleted
        assert (await track.store.transaction(name) is None) == is_deleted


async def test_offsets_that_are_added_beside_the_end_are_committed_or_refused(track: Track):
    """Each of them is added by a call of its own, while others end the transaction."""
    for serial in range(1, 9):
        adds = [
            ("add_pending", "family", 7, serial, {(f"t{n % 3}", n): committed(serial)}, SOON)
            for n in range(RACERS)
        ]
        ends = [("end_pending", "family", 7, serial, True, SOON)] * 3
        answers = await track.race([*adds[:8], *ends[:1], *adds[8:16], *ends[1:], *adds[16:]])
        added = [answers[n] for n in (*range(8), *range(9, 17), *range(19, 27))]
        await track.store.end_pending("family", 7, serial, True, SOON)
        offsets = await track.store.offsets("family", NOW)
        moved = [
            offsets.get((f"t{n % 3}", n), committed(0)).offset == serial for n in range(RACERS)
        ]
        assert moved == added
        assert await track.store.pending("family") == []


async def test_of_many_who_end_none_brings_back_what_was_committed_since(track: Track):
    for serial in range(1, 9):
        await track.store.add_pending("family", 7, serial, dict.fromkeys(WHERE, committed(1)), SOON)
        # All of them know that it is to be committed. One is first; then the group moves on.
        await track.store.end_pending("family", 7, serial, True, SOON)
        newer = dict.fromkeys(WHERE, committed(serial + 100))
        ends = [("end_pending", "family", 7, serial, True, SOON)] * RACERS
        await track.race([*ends[:8], ("commit", "family", -1, newer), *ends[8:]])
        assert await track.store.offsets("family", NOW) == newer


async def test_of_many_who_end_each_finds_all_offsets_committed(track: Track):
    for serial in range(1, 9):
        offsets = dict.fromkeys(WHERE, committed(serial))
        await track.store.add_pending("family", 7, serial, offsets, SOON)
        await track.race([("end_pending", "family", 7, serial, True, SOON)] * RACERS)
        assert await track.store.offsets("family", NOW) == offsets
        assert await track.store.pending("family") == []


# Markers, on DynamoDB


async def test_of_many_who_end_a_transaction_one_writes_the_marker(dynamodb: Any):
    partition = await a_partition(dynamodb)
    journals = [a_journal(dynamodb) for _ in range(8)]
    for number in range(6):
        begin = a_claim(7, after=2 * number)._replace(opens=0)
        await journals[0].producer(partition, 7)
        first = (await put(journals[0], partition, claims=[begin])).base
        assert first is not None
        for journal in journals:
            await journal.producer(partition, 7)
        marker = a_claim(7, after=2 * number + 1)._replace(ends=End.ABORT)
        results = await asyncio.gather(
            *(put(each, partition, claims=[marker]) for each in journals)
        )
        (base,) = (result.base for result in results if result.base is not None)
        head = await dynamodb.head(partition)
        assert (head.next_offset, head.open_transactions) == (base + 1, {})
        assert (base, 7, first) in [one[:3] for one in head.aborted]
    for journal in journals:
        await journal.drain()
    await journals[0].settle(partition)
    assert len(await dynamodb.aborted(partition, 0, 99)) == 6


async def test_a_batch_beside_the_marker_is_in_its_transaction_or_refused(dynamodb: Any):
    """As two processes see it, each with the state that it has judged; and others append beside
    them, and settle."""
    partition = await a_partition(dynamodb)
    writer, ender, beside = (a_journal(dynamodb) for _ in range(3))
    version, outcomes = 0, set()
    for _ in range(40):
        begin = a_claim(7, after=version)._replace(opens=0)
        await beside.producer(partition, 7)
        first = (await put(beside, partition, claims=[begin])).base
        assert first is not None
        version += 1
        for journal in (writer, ender):
            await journal.producer(partition, 7)
        late, marker, _, _ = await asyncio.gather(
            put(writer, partition, claims=[a_claim(7, b"late", version)._replace(opens=0)]),
            put(ender, partition, claims=[a_claim(7, b"ended", version)._replace(ends=End.ABORT)]),
            put(beside, partition),
            beside.settle(partition),
        )
        assert (late.base is None) != (marker.base is None)
        outcomes.add(late.base is None)
        version += 1
        if marker.base is None:
            await ender.producer(partition, 7)
            claim = a_claim(7, b"ended", version)._replace(ends=End.ABORT)
            marker = await put(ender, partition, claims=[claim])
            version += 1
        head = await dynamodb.head(partition)
        assert head.open_transactions == {}
        found = {*await dynamodb.aborted(partition, 0, head.next_offset), *head.aborted}
        (mine,) = (one for one in found if one.marker == marker.base)
        assert mine.first == first
        assert late.base is None or first < late.base < mine.marker
    assert outcomes == {False, True}
    for journal in (writer, ender, beside):
        await journal.drain()
