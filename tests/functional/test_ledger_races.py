"""Many callers at once. SQLite is raced by processes, DynamoDB Local by threads and connections.

moto is not raced: it reads, changes and writes an item without holding it.
"""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from functional.conftest import open_ledger
from functional.given import DAY_MS, a_partition, a_topic, an_extent
from functional.racers import Race, race_of_processes, race_of_tasks

from samsa.ports import Ledger

RACERS = 24


class Track(NamedTuple):
    ledger: Ledger
    race: Race


@pytest.fixture(params=["sqlite", "dynamodb-local"])
async def track(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Track]:
    ledger = await open_ledger(request.param, tmp_path, request)
    if request.param == "sqlite":
        from samsa.local.sqlite import SqliteLedger

        crowd = request.getfixturevalue("crowd")
        opened = partial(SqliteLedger, str(tmp_path / "ledger.db"))
        yield Track(ledger, partial(race_of_processes, crowd, opened))
    else:
        yield Track(ledger, partial(race_of_tasks, [ledger]))
    await ledger.close()


async def test_concurrent_reserves_never_share_an_offset(track: Track):
    partition = await a_partition(track.ledger)
    counts = {f"token-{number}": number % 5 + 1 for number in range(60)}
    heads = await track.race([("reserve", partition, *slot) for slot in counts.items()])
    bases = {token: head.inflight[token] for token, head in zip(counts, heads, strict=True)}
    taken = [base + i for token, base in bases.items() for i in range(counts[token])]
    assert sorted(taken) == list(range(sum(counts.values())))
    head = await track.ledger.head(partition)
    assert head.inflight == bases
    assert head.next_offset == len(taken)


async def test_one_token_that_many_reserve_is_one_slot(track: Track):
    partition = await a_partition(track.ledger)
    heads = await track.race([("reserve", partition, "token", 10)] * RACERS)
    assert {(head.next_offset, head.inflight["token"]) for head in heads} == {(10, 0)}


async def test_of_many_confirms_exactly_one_finds_the_slot_open(track: Track):
    partition = await a_partition(track.ledger)
    for base in range(5):
        await track.ledger.reserve(partition, "token", 1)
        extents = [an_extent(base, key=f"{base}-{racer}") for racer in range(RACERS)]
        confirms = [("confirm", partition, "token", extent) for extent in extents]
        confirmed = await track.race(confirms)
        winners = [e for e, c in zip(extents, confirmed, strict=True) if c.was_open]
        assert len(winners) == 1
        assert await track.ledger.extents(partition, base, 9) == winners


async def test_of_many_binds_after_one_version_exactly_one_succeeds(track: Track):
    partition = await a_partition(track.ledger)
    for after in range(5):
        states = [f"{after} {racer}".encode() for racer in range(RACERS)]
        binds = [("bind", partition, 1, state, after, DAY_MS) for state in states]
        bound = await track.race(binds)
        assert sum(bound) == 1
        stored = await track.ledger.producer(partition, 1)
        assert stored == (after + 1, states[bound.index(True)])


async def test_of_many_topics_of_one_name_exactly_one_is_created(track: Track):
    topics = [a_topic("letters", 2) for _ in range(RACERS)]
    created = await track.race([("create_topic", topic) for topic in topics])
    assert sum(created) == 1
    assert await track.ledger.topics() == [topics[created.index(True)]]


async def test_of_many_deletes_exactly_one_finds_the_topic(track: Track):
    topic = a_topic()
    await track.ledger.create_topic(topic)
    assert sum(await track.race([("delete_topic", topic)] * RACERS)) == 1


async def test_concurrent_callers_never_share_a_producer_id(track: Track):
    firsts = await track.race([("next_producer_ids", 3)] * RACERS)
    assert sorted(firsts) == list(range(min(firsts), min(firsts) + 3 * RACERS, 3))


async def test_everyone_gets_the_same_cluster_id(track: Track):
    ids = await track.race([("cluster_id", f"id-{racer}") for racer in range(RACERS)])
    assert len(set(ids)) == 1


async def test_concurrent_watchers_all_watch(track: Track):
    partition = await a_partition(track.ledger)
    await track.race([("watch", partition, f"w{racer}", DAY_MS) for racer in range(RACERS)])
    assert len((await track.ledger.head(partition)).watchers) == RACERS
