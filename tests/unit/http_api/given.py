"""The HTTP API in this process, over SQLite and objects in memory, with a clock set by hand."""

from collections.abc import AsyncIterator
from functools import cache
from itertools import count
from json import dumps
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from unit.log.given import HandClock

from samsa.broker.broker import Broker, Rules
from samsa.groups import GroupSettings
from samsa.http_api.app import application
from samsa.http_api.kafka_client import InProcessClient, ServedBroker
from samsa.http_api.sessions import EVERYONE, Session
from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.wire.apis import ApiKey
from samsa.wire.messages import consumer_group_heartbeat, join_group, sync_group

NOW = 1_700_000_000_000
JSON = {"content-type": "application/json"}
PROBLEM = "application/problem+json"


@cache
def the_application() -> FastAPI:
    """Putting it together takes longer than a test; it keeps nothing but whom to ask."""
    return application(ServedBroker(None))  # type: ignore[arg-type]


class Site:
    """A broker, and the API on it."""

    def __init__(self, folder: Path, **rules: Any) -> None:
        path = str(folder / "ledger.db")
        self.clock = HandClock(NOW)
        self.ledger = SqliteLedger(path)
        self.objects = MemoryObjects()
        self.groups = SqliteGroups(path)
        numbers = count()

        def nonce() -> str:
            return f"n{next(numbers)}"

        self.stores = Stores(
            self.ledger,
            self.objects,
            ObjectJournal(self.ledger, self.objects, nonce),
            self.clock,
            LocalWakeups("127.0.0.1|1"),
            nonce,
            Limits(backoff_ms=1),
        )
        told = Rules(groups=GroupSettings(initial_rebalance_delay_ms=0), **rules)
        self.broker = Broker(self.stores, "a-cluster", told, groups=self.groups)
        self.served = ServedBroker(self.broker, ("127.0.0.1", 9092))
        self.kafka = InProcessClient(self.served, Session())
        self.app = the_application()
        self.app.state.served, self.app.state.login = self.served, EVERYONE

    async def close(self) -> None:
        await self.broker.log.drain()
        await self.broker.background_done()
        await self.groups.close()
        await self.ledger.close()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    yield site
    await site.close()


class Api:
    """What each call returns is the answer's JSON, once its status is the expected one."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def __call__(
        self, method: str, path: str, status: int = 200, json: Any = None, **params: Any
    ) -> Any:
        body = {} if json is None else {"content": dumps(json), "headers": JSON}
        answer = await self.client.request(method, path, params=params, **body)
        assert answer.status_code == status, answer.text
        kind = answer.headers.get("content-type")
        assert (kind == PROBLEM) == (status >= 400)
        return answer.json() if answer.content else None

    async def get(self, path: str, status: int = 200, **params: Any) -> Any:
        return await self("GET", path, status, **params)

    async def post(self, path: str, json: Any, status: int = 200) -> Any:
        return await self("POST", path, status, json)

    async def patch(self, path: str, json: Any, status: int = 200) -> Any:
        return await self("PATCH", path, status, json)

    async def delete(self, path: str, status: int = 204, **params: Any) -> Any:
        return await self("DELETE", path, status, **params)

    async def topic(self, name: str = "orders", partitions: int = 1, **configs: str) -> None:
        new = {"name": name, "partitions": partitions, "configs": configs}
        await self.post("/topics", new, 201)

    async def write(self, *values: str, topic: str = "orders", partition: int = 0) -> None:
        records = [{"value": value, "partition": partition} for value in values]
        await self.post(f"/topics/{topic}/records", {"records": records}, 201)


@pytest.fixture
async def api(site: Site) -> AsyncIterator[Api]:
    # What is not handled shall come out as the client would see it, and be seen in the test.
    transport = httpx.ASGITransport(site.app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield Api(client)


async def a_consumer(kafka: InProcessClient, group: str, topic: str, partitions: int = 1) -> str:
    """Joins a group of the consumer protocol; the member's id."""
    member_id = f"member-of-{group}"
    row = consumer_group_heartbeat.REQUEST(
        group_id=group,
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=[topic],
        server_assignor="uniform",
        topic_partitions=[],
    )
    answer = await kafka.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, row)
    assert answer.error_code == 0, answer.error_message
    given = [n for each in answer.assignment.topic_partitions for n in each.partitions]
    assert len(given) == partitions
    return member_id


async def a_classic_member(kafka: InProcessClient, group: str, assignment: bytes) -> str:
    """Joins a group of the classic protocol, alone, and assigns this to itself."""
    protocols = [join_group.PROTOCOL(name="range", metadata=b"\0\0\0\0\0\0\xff\xff\xff\xff")]
    row = join_group.REQUEST(
        group_id=group,
        member_id="",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=protocols,
    )
    told = await kafka.ask(ApiKey.JOIN_GROUP, row, 3)
    assert told.error_code == 0
    given = sync_group.ASSIGNMENT(member_id=told.member_id, assignment=assignment)
    row = sync_group.REQUEST(
        group_id=group,
        generation_id=told.generation_id,
        member_id=told.member_id,
        assignments=[given],
    )
    answer = await kafka.ask(ApiKey.SYNC_GROUP, row, 3)
    assert answer.error_code == 0
    return str(told.member_id)
