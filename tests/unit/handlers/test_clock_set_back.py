"""After the clock was set back by an hour, nothing is kept, waited for or open for that long."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from faults.inside import a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row
from unit.log.given import PARTITION, a_log

from samsa.groups import TopicInfo
from samsa.local.folder import FolderObjects
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Topic
from samsa.topics.known_topics import KnownTopics
from samsa.wire.apis import ApiKey

HOUR = 3_600_000
TOPIC = "letters"


class SetBack:
    """A clock that is set back once something was waited for."""

    def __init__(self) -> None:
        self.now = 2 * HOUR

    def now_ms(self) -> int:
        return self.now


async def test_a_topic_is_looked_up_again(tmp_path: Path):
    ledger, objects = SqliteLedger(str(tmp_path / "l.db")), FolderObjects(str(tmp_path / "o"))
    clock = SetBack()
    broker = a_broker(ledger, objects, clock)
    await broker.catalog.create(TOPIC, 1, {})
    await broker.catalog.named(TOPIC)
    assert broker.catalog.remembered(TOPIC)
    clock.now -= HOUR
    assert broker.catalog.remembered(TOPIC) is None
    await objects.close()
    await ledger.close()


async def test_the_topics_of_groups_are_looked_up_again():
    looks = []

    async def look_up() -> list[Topic]:
        looks.append(1)
        return [Topic(TOPIC, UUID(int=1), len(looks), 0)]

    known = KnownTopics(look_up)
    await known.at(2 * HOUR)
    assert await known.at(HOUR) == {TOPIC: TopicInfo(UUID(int=1), 2)}


async def test_a_watch_is_entered_again():
    given = await a_log()
    given.clock.now = 2 * HOUR
    await given.log.watches.ensure(PARTITION)
    given.clock.now -= HOUR
    await given.log.watches.ensure(PARTITION)
    assert given.ledger.calls["watch"] == 2


async def test_a_fetch_waits_no_longer_than_it_asked(tmp_path: Path):
    ledger, objects = SqliteLedger(str(tmp_path / "l.db")), FolderObjects(str(tmp_path / "o"))
    clock = SetBack()
    broker = a_broker(ledger, objects, clock)
    await broker.catalog.create(TOPIC, 1, {})
    row = produce_row(TOPIC, batch(b"one", timestamp=clock.now), 0)
    await ask(broker, ApiKey.PRODUCE, PRODUCE, row)
    waits: list[int] = []
    whole = broker.stores.wakeups.subscribe

    class Woken:
        async def wait(self, timeout_ms: int, look_again_ms: int | None = None) -> bool:
            waits.append(timeout_ms)
            clock.now += timeout_ms - (HOUR if len(waits) == 1 else 0)
            return False

    def subscribe(awaited: Any) -> Any:
        @contextmanager
        def open_() -> Any:
            with whole(awaited):
                yield Woken()

        return open_()

    broker.stores.wakeups.subscribe = subscribe  # type: ignore[method-assign]
    asked = fetch_row(TOPIC, 1, range(1), wait_ms=500, min_bytes=1)
    await ask(broker, ApiKey.FETCH, FETCH, asked)
    assert waits == [500, 500]
    await objects.close()
    await ledger.close()
