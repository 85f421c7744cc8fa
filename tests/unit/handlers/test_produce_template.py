"""A request that is taken for one like an earlier one means what it would mean if it were read."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.wire.strategies import BLOBS, BRIEF, TEXTS, UUIDS, rows
from unit.log.given import PARTITION as PARTITION_0
from unit.log.given import a_log, sequenced

from samsa.broker.broker import Broker
from samsa.data_path.produce_template import (
    LEARNED,
    SINCE,
    ProduceTemplates,
    TemplateMatch,
    timeout_of,
)
from samsa.handlers.k00_produce import produce_alike
from samsa.topics.catalog import REMEMBER_MS
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import read_request, request_frame
from samsa.wire.messages.produce import PARTITION, REQUEST, RESPONSE, TOPIC

API = APIS[ApiKey.PRODUCE]
NO_ID = UUID(int=0)
VERSIONS = st.integers(SINCE, API.versions[-1])


def frame_of(version: int, row: Any, number: int = 7, client: str | None = "client") -> bytes:
    return request_frame(API, version, number, client, row)[4:]


def request_row(records: bytes, index: int = 0, topic_id: UUID = NO_ID, **more: Any) -> Any:
    partition = PARTITION(index=index, records=records)
    topic = TOPIC(name="letters", topic_id=topic_id, partition_data=[partition])
    return REQUEST(topic_data=[topic], **more)


def learned(*frames: bytes) -> ProduceTemplates:
    templates = ProduceTemplates()
    for frame in frames:
        request = read_request(memoryview(frame))
        templates.learn(request, API.request.decode(request.api_version, request.body))
    return templates


def meaning(frame: bytes) -> tuple[Any, ...]:
    """What a frame says, read as usual."""
    request = read_request(memoryview(frame))
    row = API.request.decode(request.api_version, request.body, exact=False)
    (topic,) = row.topic_data
    (partition,) = topic.partition_data
    return (
        request.correlation_id,
        request.client_id,
        (request.api_version, row.acks),
        timeout_of(row),
        (topic.name, topic.topic_id, partition.index),
        None if partition.records is None else bytes(partition.records),
    )


def taken_for(one: TemplateMatch) -> tuple[Any, ...]:
    template = one.template
    return (
        one.request.correlation_id,
        one.request.client_id,
        (one.request.api_version, template.terms.acks),
        template.timeout_s,
        (template.topic.name, template.topic.topic_id, template.number),
        bytes(one.records),
    )


@st.composite
def likes(draw: Any) -> tuple[bytes, bytes]:
    """Two frames that differ in their numbers and records."""
    version = draw(VERSIONS)
    name, topic_id, index = draw(TEXTS), draw(UUIDS), draw(st.integers(0, 5))
    client = draw(st.none() | TEXTS)
    row = draw(rows(REQUEST, version))
    both = []
    for _ in range(2):
        partition = PARTITION(index=index, records=draw(BLOBS))
        row.topic_data = [TOPIC(name=name, topic_id=topic_id, partition_data=[partition])]
        both.append(frame_of(version, row, draw(st.integers(0, 2**31 - 1)), client))
    return both[0], both[1]


@BRIEF
@given(likes())
def test_the_next_that_is_like_one_is_found_and_means_the_same(both: tuple[bytes, bytes]):
    first, second = both
    found = learned(first).find(memoryview(second))
    assert found is not None
    assert taken_for(found) == meaning(second)


@BRIEF
@given(likes(), st.data())
def test_a_frame_that_differs_anywhere_is_not_taken_for_what_it_is_not(
    both: tuple[bytes, bytes], data: st.DataObject
):
    first, second = both
    changed = bytearray(second)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    cut = changed[: data.draw(st.integers(0, len(changed)))]
    more = changed + data.draw(st.binary(max_size=3))
    for frame in (changed, cut, more):
        try:
            found = learned(first).find(memoryview(frame))
        except DecodeError:
            continue
        if found is not None:
            assert taken_for(found) == meaning(bytes(frame))


def test_every_byte_before_the_records_counts():
    first = frame_of(12, request_row(b"one"))
    templates = learned(first)
    start = len(first) - len(b"one\0\0\0") - 1
    for position in [*range(4), *range(8, start)]:
        changed = bytearray(first)
        changed[position] ^= 1
        assert templates.find(memoryview(changed)) is None, position


@pytest.mark.parametrize("tags", [b"\1\0\0", b"\0\1\0", b"\0\0\1", b"\0\0", b"\0\0\0\0"])
def test_whoever_sends_tags_is_read_as_usual(tags: bytes):
    first = frame_of(12, request_row(b"one"))
    assert learned(first).find(memoryview(first[:-3] + tags)) is None


def test_null_for_records_is_not_no_records():
    first = frame_of(12, request_row(b"one"))
    null = first[: -len(b"one\0\0\0") - 1] + b"\0\0\0\0"
    assert meaning(null)[-1] is None
    assert learned(first).find(memoryview(null)) is None


def test_a_connection_knows_several_templates():
    frames = [frame_of(12, request_row(b"one", index)) for index in range(6)]
    templates = learned(*frames)
    found = [templates.find(memoryview(frame)) for frame in frames]
    assert [one.template.number for one in found if one is not None] == list(range(6))


def test_a_connection_that_always_differs_is_given_up():
    templates = learned(*(frame_of(12, request_row(b"one", index)) for index in range(LEARNED + 1)))
    last = [frame_of(12, request_row(b"two", index)) for index in (LEARNED - 1, LEARNED)]
    assert [templates.find(memoryview(frame)) is None for frame in last] == [False, True]


@BRIEF
@given(st.binary(max_size=40))
def test_nothing_is_like_what_nobody_sent(frame: bytes):
    assert ProduceTemplates().find(memoryview(frame)) is None


def test_a_template_does_not_hold_on_to_the_records_it_was_learned_from():
    data = bytearray(frame_of(12, request_row(b"one")))
    view = memoryview(data)
    request = read_request(view)
    templates = ProduceTemplates()
    templates.learn(request, API.request.decode(12, request.body))
    del request
    view.release()
    data.clear()  # BufferError if anybody still has it


@pytest.mark.parametrize("version", API.versions[-5:])
async def test_it_is_queued_without_being_read(version: int):
    log = await a_log()
    broker = Broker(log.stores, "cluster")
    await broker.catalog.named("letters")
    row = request_row(b"", topic_id=PARTITION_0.topic_id, acks=-1, timeout_ms=1_000)
    templates = learned(frame_of(version, row))
    for number in range(3):
        row.topic_data[0].partition_data[0].records = bytes(sequenced(number).data)
        one = templates.find(memoryview(bytearray(frame_of(version, row))))
        assert one is not None
        later = produce_alike(one, broker)
        assert later is not None
        await asyncio.wait(later.under_way)
        answer = RESPONSE.decode(version, memoryview(later.body() or b""))
        assert answer.responses[0].partition_responses[0].base_offset == number
    assert await log.values() == [b"0", b"1", b"2"]


async def test_a_topic_that_must_be_looked_up_takes_the_long_way():
    log = await a_log()
    broker = Broker(log.stores, "cluster")
    frame = memoryview(bytearray(frame_of(12, request_row(bytes(sequenced(0).data)))))
    one = learned(bytes(frame)).find(frame)
    assert one is not None
    assert produce_alike(one, broker) is None
    await broker.catalog.named("letters")
    assert produce_alike(one, broker) is not None
    log.clock.now += REMEMBER_MS
    assert produce_alike(one, broker) is None
