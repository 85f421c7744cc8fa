"""A topic that is in use is looked up again before it would be forgotten."""

from typing import Any

import pytest
from unit.log.given import Given, a_log

from samsa.broker.broker import Broker
from samsa.ports import Unavailable
from samsa.topics.catalog import LOOK_AHEAD_MS, REMEMBER_MS, Catalog

TOPIC = "numbers"


class Site:
    def __init__(self, given: Given) -> None:
        self.given = given
        self.broker = Broker(given.stores, "")
        self.looked = 0
        topic = given.ledger.topic

        async def counted(name: str) -> Any:
            self.looked += 1
            return await topic(name)

        given.ledger.topic = counted  # type: ignore[method-assign]

    @property
    def catalog(self) -> Catalog:
        return self.broker.catalog

    def later(self, ms: int) -> None:
        self.given.clock.now += ms

    async def rest(self) -> None:
        await self.broker.log.background.drain()


@pytest.fixture
async def site() -> Site:
    site = Site(await a_log())
    site.catalog.look_ahead = site.broker.log.background
    await site.catalog.create(TOPIC, 1, {})
    await site.catalog.named(TOPIC)
    site.looked = 0
    return site


async def test_a_topic_that_is_in_use_is_never_waited_for(site: Site):
    for _ in range(20):
        site.later(REMEMBER_MS - LOOK_AHEAD_MS)
        assert site.catalog.remembered(TOPIC)
        await site.rest()
    assert site.looked == 20


async def test_many_who_ask_look_once(site: Site):
    site.later(REMEMBER_MS - LOOK_AHEAD_MS)
    for _ in range(50):
        site.catalog.remembered(TOPIC)
    await site.rest()
    assert site.looked == 1


async def test_a_change_by_another_process_is_seen_within_a_second(site: Site):
    old = await site.catalog.named(TOPIC)
    assert old is not None
    changed = type(old)(old.name, old.id, 2, old.created_at, old.configs)
    await site.given.ledger.change_topic(old, changed)
    site.later(REMEMBER_MS - 1)
    site.catalog.remembered(TOPIC)
    await site.rest()
    assert site.catalog.remembered(TOPIC) == changed


async def test_a_topic_that_nobody_asks_for_is_not_looked_up(site: Site):
    site.later(10 * REMEMBER_MS)
    await site.rest()
    assert site.looked == 0
    assert site.catalog.remembered(TOPIC) is None


async def test_a_topic_that_is_gone_is_forgotten(site: Site):
    topic = await site.catalog.named(TOPIC)
    assert topic is not None
    await site.given.ledger.delete_topic(topic)
    site.later(REMEMBER_MS - 1)
    site.catalog.remembered(TOPIC)
    await site.rest()
    assert site.catalog.remembered(TOPIC) is None


async def test_a_ledger_that_is_down_is_asked_again(site: Site):
    good = site.given.ledger.topic

    async def down(_: str) -> Any:
        raise Unavailable("down")

    site.given.ledger.topic = down  # type: ignore[method-assign]
    site.later(REMEMBER_MS - 1)
    assert site.catalog.remembered(TOPIC)
    await site.rest()
    site.given.ledger.topic = good  # type: ignore[method-assign]
    site.later(REMEMBER_MS - 1)
    assert site.catalog.remembered(TOPIC)
    await site.rest()
    assert site.looked == 1


async def test_without_it_whoever_asks_first_looks(site: Site):
    site.catalog.look_ahead = None
    site.later(REMEMBER_MS - 1)
    assert site.catalog.remembered(TOPIC)
    await site.rest()
    assert site.looked == 0
