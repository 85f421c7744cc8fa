"""Several registries on one ledger, at the same moment: ids and versions are given once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from samsa.broker.broker import Broker, Rules
from samsa.http_api.kafka_client import InProcessClient, ServedBroker
from samsa.http_api.registry.refusals import RegistryRefusal
from samsa.http_api.registry.service import Draft, Registry
from samsa.http_api.sessions import Session
from samsa.http_api.writing import RecordDraft, write
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits
from samsa.runtime.opening import opened
from samsa.schemas import log_records
from samsa.schemas.contents import Content, Registered, SchemaKind
from samsa.schemas.state import SchemaState
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

REGISTRIES = 3


@pytest.fixture
async def registries(local_dynamodb: str, tmp_path: Path) -> AsyncIterator[list[Registry]]:
    """Each with a broker and connections of its own, as in as many processes."""
    ledger = f"dynamodb://schemas-{uuid4()}?region=us-east-1&endpoint={local_dynamodb}"
    async with AsyncExitStack() as closing:
        found = []
        for _ in range(REGISTRIES):
            wakeups = LocalWakeups()
            closing.callback(wakeups.close)
            stores = opened(ledger, f"file://{tmp_path}", wakeups, Limits(backoff_ms=1))
            one = await closing.enter_async_context(stores)
            broker = Broker(one.stores, "a-cluster", Rules(), groups=one.groups)
            closing.push_async_callback(broker.background_done)
            found.append(Registry(InProcessClient(ServedBroker(broker), Session())))
        yield found


def draft(name: str) -> Draft:
    text = json.dumps({"type": "record", "name": "R", "fields": [], "doc": name})
    return Draft(Content(SchemaKind.AVRO, text))


def told(state: SchemaState) -> dict[str, list[tuple[int, int, str, bool]]]:
    return {
        subject: [
            (v.version, v.id, v.content.text, v.deleted) for v in state.versions(subject, True)
        ]
        for subject in sorted(state.subjects)
    }


async def replayed(registry: Registry) -> SchemaState:
    """What a process that starts now makes of the log."""
    return await Registry(registry.log._kafka).log.caught_up()


async def test_ids_and_versions_never_collide(registries: list[Registry]):
    work = [
        registry.register(f"s{number % 3}", draft(f"{number}" if number % 4 else "shared"))
        for number in range(16)
        for registry in registries
    ]
    ids = await asyncio.gather(*work)
    per_schema = {
        (f"{number}" if number % 4 else "shared"): set(ids[number * REGISTRIES :][:REGISTRIES])
        for number in range(16)
    }
    assert all(len(each) == 1 for each in per_schema.values()), "a schema has one id"
    assert len(set().union(*per_schema.values())) == len(per_schema), "an id is that of one schema"
    states = [told(await each.log.caught_up()) for each in registries]
    assert states[0] == states[1] == states[2] == told(await replayed(registries[0]))
    for versions in states[0].values():
        assert [each[0] for each in versions] == list(range(1, len(versions) + 1))


async def test_a_subject_that_several_delete_is_deleted_once(registries: list[Registry]):
    """Those who ask at the same moment write the same record: it does not matter whose it was."""
    await registries[0].register("s", draft("a"))

    async def delete(registry: Registry) -> Any:
        try:
            return await registry.delete_subject("s", permanent=False)
        except RegistryRefusal as refusal:
            return refusal.code

    answers = await asyncio.gather(*map(delete, registries))
    assert [1] in answers
    assert all(each in ([1], 40404) for each in answers)
    kafka = registries[0].log._kafka
    head = await kafka.broker.log.head(await kafka.partition("_schemas", 0))
    assert head.next_offset == 2, "one registration, one deletion"


class Interfering:
    """Lets another registry write at the one moment that matters: after the log was read."""

    def __init__(self, kafka: Any, before: Any) -> None:
        self._kafka, self._before = kafka, before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kafka, name)

    async def ask(self, key: ApiKey, row: Any, *more: Any) -> Any:
        if key is ApiKey.PRODUCE and self._before is not None:
            before, self._before = self._before, None
            await before()
        return await self._kafka.ask(key, row, *more)


async def test_what_was_planned_on_an_old_state_is_not_written(registries: list[Registry]):
    first, second, _ = registries
    await first.register("s", draft("a"))

    async def other() -> None:
        assert await second.register("s", draft("b")) == 2

    first.log._kafka = Interfering(first.log._kafka, other)  # type: ignore[assignment]
    assert await first.register("s", draft("c")) == 3
    state = await replayed(second)
    assert [each.id for each in state.versions("s")] == [1, 2, 3]
    head = await first.log._kafka.broker.log.head(await second.log._kafka.partition("_schemas", 0))
    assert head.next_offset == 3, "nothing was written twice"


async def test_a_program_that_writes_without_asking_does_not_lose_its_record(
    registries: list[Registry],
):
    """Another registry that was not stopped has a producer of its own, and is not refused."""
    first, second, _ = registries
    await first.register("s", draft("a"))

    async def foreign() -> None:
        kafka = second.log._kafka
        stored = Registered("s", 2, 2, draft("foreign").content)
        record = log_records.of_schema(stored)
        topic = await kafka.topic("_schemas")
        await write(topic, [RecordDraft(record.key, record.value, (), 0)], kafka)

    first.log._kafka = Interfering(first.log._kafka, foreign)  # type: ignore[assignment]
    assert await first.register("s", draft("c")) == 3
    versions = (await replayed(second)).versions("s")
    assert [(each.version, each.id) for each in versions] == [(1, 1), (2, 2), (3, 3)]
    assert "foreign" in versions[1].content.text


async def test_an_answer_that_is_lost_changes_nothing(registries: list[Registry]):
    """The record is stored, and the client of the log is told that it may not be."""
    first, second, _ = registries

    class Losing(Interfering):
        async def ask(self, key: ApiKey, row: Any, *more: Any) -> Any:
            answer = await self._kafka.ask(key, row, *more)
            if key is ApiKey.PRODUCE:
                entry = answer.responses[0].partition_responses[0]
                entry.error_code = ErrorCode.REQUEST_TIMED_OUT
            return answer

    first.log._kafka = Losing(first.log._kafka, None)  # type: ignore[assignment]
    assert await first.register("s", draft("a")) == 1
    assert await first.delete_subject("s", permanent=False) == [1]
    assert [each.version for each in (await replayed(second)).versions("s", True)] == [1]
