"""A process and functions on the same stores: who waits on one side hears of the other's appends.

Each wait is longer than the test waits for it, so that only a wake-up can end it in time.
"""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import pytest
from server.peer import Peer
from server.talk import FETCH, create, fetch_row, read, records_in, values, write
from support.broker import Broker, samsa_up
from support.chain import Chain, a_chain
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.ports import Head, Partition
from samsa.runtime.store_address import read_remote_url
from samsa.wire.apis import ApiKey

WAIT_MS = 100_000
"""Longer than a peer waits for an answer."""
PARKED_S = 1.0
APPENDS = 5


@pytest.fixture
def chain(environment: dict[str, str], tmp_path: Path) -> Iterator[Chain]:
    with a_chain(tmp_path, environment) as running:
        yield running


@pytest.fixture
def process(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Broker]:
    folder = tmp_path / "process"
    folder.mkdir()
    for name, value in environment.items():
        monkeypatch.setitem(os.environ, name, value)
    stores = ["--ledger", environment["SAMSA_LEDGER"], "--objects", environment["SAMSA_OBJECTS"]]
    with samsa_up(folder, *stores) as running:
        yield running


def test_a_consumer_behind_functions_hears_of_a_process_and_the_other_way_round(
    chain: Chain, process: Broker, environment: dict[str, str]
):
    topic = f"letters-{uuid4()}"
    with Peer(process.address) as by_process:
        create(by_process, topic)
    _passes_on(chain, process, topic, 0, environment)
    _passes_on(process, chain, topic, 1, environment)


def _passes_on(
    reads: Broker, writes: Broker, topic: str, offset: int, environment: dict[str, str]
) -> None:
    with (
        Peer(reads.address) as reader,
        Peer(writes.address) as writer,
        ThreadPoolExecutor(1) as beside,
    ):
        reading = beside.submit(read, reader, topic, offset, wait_ms=WAIT_MS)
        assert eventually(lambda: _head(environment, topic).watchers)
        sleep(PARKED_S)
        began = monotonic()
        write(writer, topic, b"hello")
        found: Any = reading.result()
        print(f"heard after {monotonic() - began:.2f} s")
        assert values(records_in(found.records)) == [b"hello"]


def _head(environment: dict[str, str], topic: str) -> Head:
    async def look() -> Head:
        store = read_remote_url(environment["SAMSA_LEDGER"], "dynamodb")
        ledger = DynamoLedger(store.name, store.endpoint, store.region)
        try:
            found = await ledger.topic(topic)
            assert found
            return await ledger.head(Partition(found.id, 0))
        finally:
            await ledger.close()

    return asyncio.run(look())


def test_a_consumer_at_the_end_is_answered_by_wakes_and_asks_nothing_of_the_cluster(
    chain: Chain, environment: dict[str, str]
):
    """A push brings what was appended, and the shim goes on waiting for the next one."""
    topic = f"letters-{uuid4()}"
    with Peer(chain.address) as reader, Peer(chain.address) as writer:
        create(writer, topic)
        write(writer, topic, b"0")
        assert values(records_in(read(reader, topic, 0).records)) == [b"0"]
        reader.send(ApiKey.FETCH, FETCH, fetch_row(topic, 1, wait_ms=WAIT_MS))
        assert eventually(lambda: _head(environment, topic).watchers)
        sleep(PARKED_S)
        before = chain.stats()
        for number in range(1, APPENDS + 1):
            write(writer, topic, b"%d" % number)
            found = reader.answer().responses[0].partitions[0]
            assert values(records_in(found.records)) == [b"%d" % number]
            assert found.high_watermark == number + 1
            reader.send(ApiKey.FETCH, FETCH, fetch_row(topic, number + 1, wait_ms=WAIT_MS))
        sleep(PARKED_S)
        after = chain.stats()
    assert after["messages_in"] - before["messages_in"] == APPENDS  # the produces
    assert after["pushed"] - before["pushed"] == APPENDS
