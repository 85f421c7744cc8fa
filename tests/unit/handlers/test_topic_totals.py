"""How many topics and partitions there may be, and which names collide: known without a scan."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from faults.inside import TurnedClock, a_broker, ask

from samsa.broker.broker import Broker, Rules
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.topics.configs import Refused
from samsa.topics.topic_totals import Totals
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_partitions, create_topics, metadata


class Site:
    def __init__(self, folder: Path) -> None:
        self.clock = TurnedClock()
        self.ledger = SqliteLedger(str(folder / "ledger.db"))
        self.broker = self.a_broker(Totals(3, 10))

    def a_broker(self, totals: Totals | None) -> Broker:
        stores = a_broker(self.ledger, MemoryObjects(), self.clock).stores
        return Broker(stores, "cluster", Rules(totals=totals))

    async def create(self, name: str, partitions: int = 1) -> ErrorCode:
        row = create_topics.REQUEST(
            topics=[create_topics.TOPIC(name=name, num_partitions=partitions, replication_factor=1)]
        )
        answer = await ask(self.broker, ApiKey.CREATE_TOPICS, 5, row)
        return ErrorCode(answer.topics[0].error_code)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    yield site
    await site.broker.background_done()
    await site.ledger.close()


async def test_one_topic_more_than_allowed_is_refused_and_counted(site: Site):
    assert [await site.create(name) for name in "abcd"] == [0, 0, 0, ErrorCode.POLICY_VIOLATION]
    assert site.broker.catalog.refused == {"topics": 1}
    assert await site.create("a") == ErrorCode.TOPIC_ALREADY_EXISTS


async def test_topics_that_clients_only_name_are_counted_too(site: Site):
    asked = [metadata.TOPIC(name=name) for name in "abcd"]
    answer = await ask(site.broker, ApiKey.METADATA, 9, metadata.REQUEST(topics=asked))
    codes = [topic.error_code for topic in answer.topics]
    assert codes == [0, 0, 0, ErrorCode.POLICY_VIOLATION]


async def test_partitions_of_all_topics_are_counted_together(site: Site):
    assert await site.create("a", 6) == ErrorCode.NONE
    assert await site.create("b", 5) == ErrorCode.POLICY_VIOLATION
    assert await site.create("b", 4) == ErrorCode.NONE
    assert site.broker.catalog.refused == {"partitions": 1}


async def test_partitions_that_are_added_are_counted(site: Site):
    await site.create("a", 6)
    for count, code in ((11, ErrorCode.POLICY_VIOLATION), (10, ErrorCode.NONE)):
        row = create_partitions.REQUEST(
            topics=[create_partitions.TOPIC(name="a", count=count, assignments=None)]
        )
        answer = await ask(site.broker, ApiKey.CREATE_PARTITIONS, 2, row)
        assert answer.results[0].error_code == code
    assert await site.create("b") == ErrorCode.POLICY_VIOLATION


async def test_what_was_deleted_makes_room(site: Site):
    for name in "abc":
        await site.create(name)
    topic = await site.ledger.topic("a")
    assert topic is not None
    await site.broker.catalog.delete(topic)
    assert await site.create("d") == ErrorCode.NONE


async def test_topics_of_other_processes_are_counted_within_a_minute(site: Site):
    await site.create("a")
    other = site.a_broker(None)
    for name in "bcd":
        await other.catalog.create(name, 1, {})
    site.clock.turn(60_000)
    assert await site.create("e") == ErrorCode.POLICY_VIOLATION


async def test_names_that_kafka_takes_for_the_same_collide(site: Site):
    await site.broker.catalog.create("a.b_c", 1, {})
    for name in ("a_b_c", "a.b.c", "a_b.c"):
        with pytest.raises(Refused, match=r"collides with existing topic: a\.b_c"):
            await site.broker.catalog.create(name, 1, {})
    topic = await site.ledger.topic("a.b_c")
    assert topic is not None
    await site.broker.catalog.delete(topic)
    await site.broker.catalog.create("a_b_c", 1, {})


async def test_a_hundred_dotted_names_within_a_second_are_one_listing(site: Site):
    broker = site.a_broker(None)
    for number in range(100):
        await broker.catalog.create(f"dotted.name.{number}", 1, {})
    assert site.ledger.calls["topics"] == 1


async def test_without_limits_nothing_is_counted(site: Site):
    broker = site.a_broker(None)
    await broker.catalog.create("plain", 1, {})
    assert site.ledger.calls["topics"] == 0


async def test_a_collision_with_another_process_is_seen_after_a_second(site: Site):
    mine, other = site.a_broker(None), site.a_broker(None)
    await mine.catalog.create("first.one", 1, {})
    await other.catalog.create("a.b", 1, {})
    site.clock.turn(1_000)
    with pytest.raises(Refused, match="collides"):
        await mine.catalog.create("a_b", 1, {})
