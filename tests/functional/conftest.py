"""Every ledger and every object store, behind one fixture each."""

import socket
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from functional.journals import PLACES, Place, open_place
from functional.racers import crowd_of_processes
from support.servers.faults import FaultyProxy, faulty_proxy
from support.stores import BUCKET

from samsa.ports import Ledger, Objects

LEDGERS = ["sqlite", "in-memory", "dynamodb-moto", "dynamodb-local", "dynamodb-embedded"]
OBJECTS = ["memory", "folder", "s3-moto", "s3-versitygw", "s3-embedded"]
SERVERS = {
    "dynamodb-moto": "moto",
    "dynamodb-local": "local_dynamodb",
    "dynamodb-embedded": "embedded",
    "s3-moto": "moto",
    "s3-versitygw": "versity",
    "s3-embedded": "embedded",
}
"""The fixtures of their endpoints."""


@pytest.fixture(scope="session")
def crowd() -> Iterator[ProcessPoolExecutor]:
    with crowd_of_processes() as crowd:
        yield crowd


@pytest.fixture
def proxy(moto: str) -> Iterator[FaultyProxy]:
    """In front of moto."""
    with faulty_proxy(moto) as proxy:
        yield proxy


@pytest.fixture
def dead_endpoint() -> Iterator[str]:
    """A port that is taken, so that nobody else listens on it, and refuses."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@cache
def shared_client(endpoint: str) -> Any:
    """Making a client takes longer than most tests."""
    from samsa.aws.client import Patience, dynamodb_client

    return dynamodb_client(endpoint, None, 32, Patience())


async def open_ledger(kind: str, folder: Path, request: pytest.FixtureRequest) -> Ledger:
    if kind == "sqlite":
        from samsa.local.sqlite import SqliteLedger

        return SqliteLedger(str(folder / "ledger.db"))
    if kind == "in-memory":
        from samsa.local.memory_ledger import MemoryLedger

        return MemoryLedger()
    from samsa.aws.dynamodb import DynamoLedger

    endpoint = request.getfixturevalue(SERVERS[kind])
    client = shared_client(endpoint)
    ledger = DynamoLedger(f"samsa-{uuid4()}", client=client)
    await ledger.create_table()
    return ledger


@pytest.fixture(params=LEDGERS)
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    ledger = await open_ledger(request.param, tmp_path, request)
    yield ledger
    await ledger.close()


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """A ledger of each kind, with its journals."""
    kind = request.param
    ledger = await open_ledger(kind.partition(" ")[0], tmp_path, request)
    place = open_place(kind, ledger, tmp_path)
    yield place
    for journal in (place.journal, place.other):
        await journal.close()
    await place.objects.close()
    await ledger.close()


@pytest.fixture
async def dynamodb(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    """Amazon's emulator, for what concerns DynamoDB alone."""
    ledger = await open_ledger("dynamodb-local", tmp_path, request)
    yield ledger
    await ledger.close()


@pytest.fixture
async def closing() -> AsyncIterator[list[Ledger]]:
    """What was opened by the way is closed after the test."""
    ledgers: list[Ledger] = []
    yield ledgers
    for ledger in ledgers:
        await ledger.close()


def open_objects(kind: str, folder: Path, request: pytest.FixtureRequest) -> Objects:
    if kind == "memory":
        from samsa.local.memory import MemoryObjects

        return MemoryObjects()
    if kind == "folder":
        from samsa.local.folder import FolderObjects

        return FolderObjects(str(folder / "objects"))
    from samsa.aws.s3 import S3Objects

    endpoint = request.getfixturevalue(SERVERS[kind])
    return S3Objects(BUCKET, prefix=str(uuid4()), endpoint=endpoint)


@pytest.fixture(params=OBJECTS)
async def objects(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Objects]:
    objects = open_objects(request.param, tmp_path, request)
    yield objects
    await objects.close()
