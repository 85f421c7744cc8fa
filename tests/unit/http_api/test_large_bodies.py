"""Bodies and answers that are work: the event loop goes on meanwhile."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from unit.http_api.given import JSON, Api, Site

from samsa.http_api.routes.produce import MOST_ERRORS, MOST_RECORDS
from samsa.ports import Topic

WRITE = "/topics/orders/records"
MANY = b'{"records":[' + b",".join([b'{"value":"x"}'] * 1_100_000) + b"]}"
MOST_CPU_S = 0.1
"""Of the loop's thread, from one turn of the loop to the next."""


class Loop:
    """How much the event loop did between two turns, at most."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def watch(self) -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest_s, last = max(self.longest_s, now - last), now


@asynccontextmanager
async def a_watched_loop() -> AsyncIterator[Loop]:
    loop = Loop()
    watching = asyncio.create_task(loop.watch())
    yield loop
    for _ in range(3):  # the last turn counts, too
        await asyncio.sleep(0)
    watching.cancel()
    assert loop.longest_s < MOST_CPU_S, f"one turn took {loop.longest_s:.3f} s of CPU time"


async def post(api: Api, body: bytes, path: str = WRITE) -> Any:
    return await api.client.post(path, content=body, headers=JSON)


@pytest.mark.parametrize("path", [WRITE, "/topics"])
async def test_more_values_than_a_request_may_have_are_refused_before_they_are_made(
    api: Api, path: str
):
    async with a_watched_loop():
        answer = await post(api, MANY, path)
    assert answer.status_code == 413
    assert "JSON values" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b'"' * 8_000_000,
        b'"' + b'\\"' * 4_000_000 + b'"' + b"," * 200_000,
        b"[" * 8_000_000,
        b'{"a":' * 200_000,
        b"," * 8_000_000,
        b'{"records":["' + b"," * 200_000,
    ],
    ids=["quotes", "escapes", "brackets", "deep", "commas", "unfinished"],
)
async def test_noise_is_refused_and_holds_nothing_up(api: Api, body: bytes):
    async with a_watched_loop():
        answer = await post(api, body)
    assert answer.status_code in (400, 413, 422)


async def test_what_stands_in_a_string_is_not_counted(api: Api):
    table = 'a,b,{c},[d],\\"e\\"\n' * 20_000
    body = json.dumps({"records": [{"value": table}]}).encode()
    assert (await post(api, body)).status_code == 201
    found = await api.client.get("/topics/orders/partitions/0/records")
    assert found.json()["records"][0]["value"] == {"text": table}


async def test_as_many_records_as_may_be_are_written_and_read_in_turns(api: Api):
    records = [{"key": f"k{n}", "value": {"json": {"n": n}}} for n in range(MOST_RECORDS)]
    body = json.dumps({"records": records}).encode()
    async with a_watched_loop():
        answer = await post(api, body)
        assert answer.status_code == 201
        found = await api.client.get(
            "/topics/orders/partitions/0/records", params={"limit": 10_000, "encoding": "json"}
        )
    assert [each["offset"] for each in answer.json()["records"]] == list(range(MOST_RECORDS))
    assert found.json()["records"][7]["value"] == {"json": {"n": 7}}


async def test_a_long_key_is_hashed_in_turns(api: Api):
    body = json.dumps({"records": [{"key": "k" * 4_000_000, "value": "x"}]}).encode()
    async with a_watched_loop():
        answer = await post(api, body)
    assert answer.status_code == 413


async def test_some_of_many_errors_are_told(api: Api):
    body = json.dumps({"records": [{"value": 1}] * MOST_RECORDS}).encode()
    async with a_watched_loop():
        answer = await post(api, body)
    assert answer.status_code == 422
    told = answer.json()["errors"]
    assert len(told) == MOST_ERRORS
    assert told[0]["where"].startswith("body.records.0.value")


async def test_a_list_of_many_topics_is_made_in_turns(
    api: Api, site: Site, monkeypatch: pytest.MonkeyPatch
):
    stored = [Topic(f"t{n:05}", UUID(int=n), 1, 0, {}) for n in range(20_000)]

    async def topics() -> list[Topic]:
        return stored[::-1]

    monkeypatch.setattr(site.ledger, "topics", topics)
    async with a_watched_loop():
        told = await api.client.get("/topics")
    assert [each["name"] for each in told.json()["topics"]] == [topic.name for topic in stored]


@pytest.mark.parametrize("records", [[], {}, "x", None, [{}] * (MOST_RECORDS + 1)])
async def test_records_are_a_list_that_is_neither_empty_nor_too_long(api: Api, records: Any):
    answer = await post(api, json.dumps({"records": records}).encode())
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "body.records"
