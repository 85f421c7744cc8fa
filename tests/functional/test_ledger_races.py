"""Many callers at once. SQLite is raced by processes, DynamoDB Local by threads and connections.

moto is not raced: it reads, changes and writes an item without holding it.
"""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from functional.conftest import open_ledger
from functional.given import DAY_MS, a_partition, a_topic
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
