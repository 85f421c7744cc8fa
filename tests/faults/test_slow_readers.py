"""A reader that is slow between two calls of the ledger, while others append and merge."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row, records_in

from samsa.aws.dynamodb import DynamoLedger
from samsa.broker.broker import Broker
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Partition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

TOPIC = "letters"


class Site:
    def __init__(self, open_ledger: Callable[[], Any]) -> None:
        objects, clock = MemoryObjects(), TurnedClock()
        self.ledger, self._writers_ledger = open_ledger(), open_ledger()
        self.reader = a_broker(self.ledger, objects, clock)
        self._writer = a_broker(self._writers_ledger, objects, clock)

    async def create(self) -> None:
        topic = await self._writer.catalog.create(TOPIC, 1, {})
        self._partition = Partition(topic.id, 0)

    async def append(self, count: int) -> None:
        for _ in range(count):
            await ask(self._writer, ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
        await self._writer.stores.journal.settle(self._partition)

    async def merge(self) -> None:
        run = await self._writers_ledger.extents(self._partition, 0, 100)
        assert await self._writer.log.merger.copy(self._partition, run)

    async def close(self) -> None:
        await self._writer.log.background_done()
        await self.ledger.close()
        await self._writers_ledger.close()


@pytest.fixture(params=["sqlite", "dynamodb"])
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    if request.param == "sqlite":
        site = Site(lambda: SqliteLedger(str(tmp_path / "ledger.db")))
    else:
        name, endpoint = f"slow-{uuid4()}", request.getfixturevalue("moto")
        site = Site(lambda: DynamoLedger(name, endpoint))
        await site.ledger.create_table()
    await site.create()
    yield site
    await site.close()


async def fetched(broker: Broker) -> tuple[list[int], int]:
    """The offsets from the first on, and the end."""
    answer = await ask(broker, ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
    (one,) = answer.responses[0].partitions
    assert one.error_code == ErrorCode.NONE, one
    found = records_in(b"".join(map(bytes, one.records)))
    return [record.offset for record in found], one.high_watermark


async def test_who_is_given_what_came_after_it_asked_is_told_the_end_of_that_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    await site.append(3)
    extents, calls = site.ledger.extents, 0

    async def late(*arguments: Any) -> Any:
        """The head says 3 by now."""
        nonlocal calls
        calls += 1
        if calls == 1:
            await site.append(3)
            await site.merge()
        return await extents(*arguments)

    monkeypatch.setattr(site.ledger, "extents", late)
    assert await fetched(site.reader) == ([0, 1, 2, 3, 4, 5], 6)
    assert calls == 1
