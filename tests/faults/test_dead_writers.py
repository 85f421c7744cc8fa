"""A writer that dies between two calls of the stores hides nothing of what others append."""

import asyncio
from collections.abc import AsyncIterator, Callable
from copy import copy
from enum import Enum
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row, records_in

from samsa.aws.dynamodb import DynamoLedger
from samsa.broker.broker import Broker
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

TOPIC = "letters"
SMALL, LARGE = b"small", b"large".ljust(6_000)


class Death(Enum):
    BEFORE_PUT = "before the object is put"
    AFTER_PUT = "after the object was put"
    BEFORE_COMMIT = "before the commit is sent"
    AFTER_COMMIT = "after the commit was sent, before its answer"


class Victim:
    """Stops for good where it is to die, and says so."""

    def __init__(self, death: Death) -> None:
        self.is_dead = asyncio.Event()
        self._death = death

    def dies(self, store: Any, method: str, before: Death, after: Death) -> None:
        """In a call of that method."""
        call = getattr(store, method)

        async def dying(*arguments: Any, **named: Any) -> Any:
            if self._death is before:
                await self._die()
            answer = await call(*arguments, **named)
            if self._death is after:
                await self._die()
            return answer

        setattr(store, method, dying)

    async def _die(self) -> NoReturn:
        self.is_dead.set()
        await asyncio.Event().wait()
        raise AssertionError("it lives")


class Site:
    """One ledger, one store of objects, and brokers on them."""

    def __init__(self, open_ledger: Callable[[], Any]) -> None:
        self._open_ledger = open_ledger
        self._objects = MemoryObjects()
        self._clock = TurnedClock()
        self._ledgers: list[Any] = []
        self._dead: list[asyncio.Task[Any]] = []

    def ledger(self) -> Any:
        ledger = self._open_ledger()
        self._ledgers.append(ledger)
        return ledger

    def broker(self, victim: Victim | None = None) -> Broker:
        ledger, objects = self.ledger(), copy(self._objects)  # with the same content
        if victim is not None:
            victim.dies(objects, "put_if_absent", Death.BEFORE_PUT, Death.AFTER_PUT)
            commit = "commit" if isinstance(ledger, SqliteLedger) else "update_head"
            victim.dies(ledger, commit, Death.BEFORE_COMMIT, Death.AFTER_COMMIT)
        return a_broker(ledger, objects, self._clock)

    async def kill_a_writer(self, death: Death, data: bytes) -> None:
        victim = Victim(death)
        self._dead.append(asyncio.create_task(produce(self.broker(victim), data)))
        await asyncio.wait_for(victim.is_dead.wait(), 10)

    async def close(self) -> None:
        for task in self._dead:
            task.cancel()
        await asyncio.wait(self._dead)
        for ledger in self._ledgers:
            await ledger.close()


async def produce(broker: Broker, data: bytes) -> int:
    answer = await ask(broker, ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, data))
    (one,) = answer.responses[0].partition_responses
    assert one.error_code == ErrorCode.NONE, one
    return int(one.base_offset)


async def visible(broker: Broker) -> list[bytes]:
    """All that one fetch shows, from the first offset on; to the end of the log, without holes."""
    answer = await ask(broker, ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
    (one,) = answer.responses[0].partitions
    assert one.error_code == ErrorCode.NONE, one
    found = records_in(b"".join(map(bytes, one.records)))
    assert [record.offset for record in found] == list(range(one.high_watermark))
    return [bytes(record.value or b"") for record in found]


@pytest.fixture(params=["sqlite", "dynamodb"])
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    if request.param == "sqlite":
        site = Site(lambda: SqliteLedger(str(tmp_path / "ledger.db")))
    else:
        name, endpoint = f"dead-{uuid4()}", request.getfixturevalue("moto")
        site = Site(lambda: DynamoLedger(name, endpoint))
        await site.ledger().create_table()
    await site.broker().catalog.create(TOPIC, 1, {})
    yield site
    await site.close()


DEATHS = [
    *((LARGE, death) for death in Death),
    (SMALL, Death.BEFORE_COMMIT),
    (SMALL, Death.AFTER_COMMIT),
]


@pytest.mark.parametrize(("value", "death"), DEATHS)
async def test_what_others_append_after_a_writers_death_is_visible_at_once(
    site: Site, value: bytes, death: Death
):
    survivor, reader = site.broker(), site.broker()
    await produce(survivor, batch(b"before"))
    await site.kill_a_writer(death, batch(value))
    stored = [b"before", *([value] if death is Death.AFTER_COMMIT else [])]
    for number in range(3):
        assert await produce(survivor, batch(b"after %d" % number)) == len(stored)
        stored.append(b"after %d" % number)
        assert await visible(reader) == stored
        assert await visible(survivor) == stored


@pytest.mark.parametrize(("value", "death"), DEATHS)
async def test_a_batch_whose_writer_died_is_stored_once_by_whoever_gets_it_again(
    site: Site, value: bytes, death: Death
):
    def numbered(value: bytes, sequence: int) -> bytes:
        return batch(value, producer_id=7, producer_epoch=0, base_sequence=sequence)

    survivor = site.broker()
    await produce(survivor, numbered(b"before", 0))
    await site.kill_a_writer(death, numbered(value, 1))
    assert await produce(survivor, numbered(value, 1)) == 1
    assert await produce(survivor, numbered(b"after", 2)) == 2
    assert await visible(survivor) == [b"before", value, b"after"]
