"""A deleted topic: whoever stops while burying it leaves the rest to the next."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.log.retain import Retainer
from samsa.ports import Topic, Unavailable, UnknownPartition

APPENDS = 7


class Stops:
    """Stands before the objects and the ledger, and lets only so many calls through."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def call(self) -> None:
        if not self.left:
            raise Unavailable("the process has stopped")
        self.left -= 1


class StoppingObjects:
    def __init__(self, given: Given, stops: Stops) -> None:
        self._objects, self._stops = given.objects, stops

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        self._stops.call()
        async for key in self._objects.list(prefix, below):
            yield key

    async def delete(self, keys: Sequence[str]) -> None:
        self._stops.call()
        await self._objects.delete(keys[: len(keys) // 2])
        self._stops.call()
        await self._objects.delete(keys)


class StoppingLedger:
    def __init__(self, given: Given, stops: Stops) -> None:
        self._ledger, self._stops = given.ledger, stops

    async def forget_topic(self, topic: Topic) -> None:
        self._stops.call()
        await self._ledger.forget_topic(topic)


async def doomed() -> tuple[Given, Topic]:
    given = await a_log()
    for number in range(APPENDS):
        await given.log.append_once(PARTITION, [a_batch(b"%d" % number)])
    (topic,) = await given.ledger.topics()
    await given.ledger.delete_topic(topic)
    return given, topic


async def bury_until_it_stops(given: Given, topic: Topic, calls: int) -> bool:
    """Whether it came to its end."""
    stops = Stops(calls)
    stores = replace(
        given.stores,
        objects=StoppingObjects(given, stops),
        ledger=StoppingLedger(given, stops),
    )
    try:
        await Retainer(stores, given.log.reader).bury(topic)
    except Unavailable:
        return False
    return True


@pytest.mark.parametrize("calls", range(12))
async def test_what_is_left_of_a_burial_is_done_by_the_next_process(calls: int):
    given, topic = await doomed()
    finished = await bury_until_it_stops(given, topic, calls)
    left = await given.ledger.doomed_topics()
    assert left == [topic] or not [key async for key in given.objects.list("")]
    for doom in left:
        await given.another().log.retainer.bury(doom)
    assert await given.ledger.doomed_topics() == []
    assert [key async for key in given.objects.list("")] == []
    assert await given.ledger.extents(PARTITION, 0, 9) == []
    with pytest.raises(UnknownPartition):
        await given.ledger.head(PARTITION)
    assert finished == (calls >= 5)
