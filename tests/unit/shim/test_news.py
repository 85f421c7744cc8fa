"""A fetch that waits is answered with what a wake brought, if that is what it waits for."""

from typing import Any
from uuid import UUID

import pytest
from server.talk import batch, records_in, values

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame, response_frame
from samsa.wire.messages import fetch
from samsa_websocket.envelope import News, Wake
from samsa_websocket.shim.news import (
    FIRST_BY_ID,
    FIRST_WITH_BATCHES,
    answer_with,
    follow,
    identity,
    positions,
)

API = APIS[ApiKey.FETCH]
TOPIC, TOPIC_ID = "letters", UUID(int=7)
DATA = batch(b"hello")
VERSIONS = [version for version in API.versions if version >= FIRST_WITH_BATCHES]
NEWEST = VERSIONS[-1]


def news(base: int = 17, partition: int = 1, topic: str = TOPIC, of: UUID = TOPIC_ID) -> Wake:
    told = News("p/1", topic, of.hex, partition, base, base + 1, 3, len(DATA))
    return Wake(("p/1",), (told,), DATA)


def request(version: int, **more: Any) -> bytes:
    """Of two partitions, from offset 17 on if nothing else is said."""
    size = more.pop("partition_max_bytes", 1 << 20)
    asked = [
        fetch.PARTITION(partition=n, fetch_offset=offset, partition_max_bytes=size)
        for n, offset in enumerate(more.pop("offsets", (17, 17)))
    ]
    topic = fetch.TOPIC(topic=TOPIC, topic_id=TOPIC_ID, partitions=asked)
    row = fetch.REQUEST(**{"max_bytes": 1 << 20, "min_bytes": 1, **more}, topics=[topic])
    return request_frame(API, version, 99, "client", row)[4:]


def empty(version: int) -> bytes:
    rows = [
        fetch.PARTITION_RESPONSE(partition_index=n, high_watermark=17, records=[]) for n in (0, 1)
    ]
    topic = fetch.TOPIC_RESPONSE(topic=TOPIC, topic_id=TOPIC_ID, partitions=rows)
    segments = API.response.encode(version, fetch.RESPONSE(responses=[topic]))
    return b"".join(response_frame(ApiKey.FETCH, version, 5, segments))[4:]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_records_stand_where_they_were_asked_for(version: int):
    answer = answer_with([news()], request(version), empty(version))
    assert answer
    number, row = read_response(API, version, memoryview(answer.frame))
    assert number == 99
    nothing, something = row.responses[0].partitions
    assert (nothing.high_watermark, bytes(nothing.records or b"")) == (17, b"")
    assert values(records_in(something.records)) == [b"hello"]
    assert something.high_watermark == 18
    assert something.last_stable_offset == 18
    if version >= 5:
        assert something.log_start_offset == 3


@pytest.mark.parametrize(
    "wake",
    [news(base=16), news(base=18), news(partition=2), Wake(("p/1",))],
    ids=["before", "after", "another partition", "nothing"],
)
def test_what_does_not_follow_is_asked_for(wake: Wake):
    assert answer_with([wake], request(NEWEST), empty(NEWEST)) is None


def test_a_topic_is_known_by_its_id_and_in_older_versions_by_its_name():
    renamed, anew = news(topic="other"), news(of=UUID(int=8))
    by_name, by_id = FIRST_BY_ID - 1, FIRST_BY_ID
    assert answer_with([renamed], request(by_id), empty(by_id))
    assert answer_with([anew], request(by_id), empty(by_id)) is None
    assert answer_with([anew], request(by_name), empty(by_name))
    assert answer_with([renamed], request(by_name), empty(by_name)) is None


@pytest.mark.parametrize(
    "asked",
    [{"max_bytes": len(DATA) - 1}, {"partition_max_bytes": 10}, {"min_bytes": len(DATA) + 1}],
    ids=["too much", "too much of a partition", "too little"],
)
def test_more_or_less_than_a_client_wants_is_asked_for(asked: dict[str, int]):
    assert answer_with([news()], request(NEWEST, **asked), empty(NEWEST)) is None


def test_old_fetches_and_other_requests_are_asked_again():
    old = FIRST_WITH_BATCHES - 1
    assert answer_with([news()], request(old), empty(old)) is None
    other = ApiKey.METADATA.to_bytes(2, "big") + request(NEWEST)[2:]
    assert answer_with([news()], other, empty(NEWEST)) is None


def test_an_answer_that_cannot_be_read_is_not_built_upon():
    assert answer_with([news()], request(NEWEST), empty(NEWEST)[:20]) is None
    assert answer_with([news()], b"\0\1\0\4", empty(NEWEST)) is None


def after(version: int, offset: int) -> bytes:
    """The fetch of a client that has read to an offset."""
    return request(version, offsets=(17, offset))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_comes_next_and_its_empty_answer_are_known(version: int):
    answer = answer_with([news()], request(version), empty(version))
    assert answer
    assert answer.next_identity == identity(after(version, 18))
    _, row = read_response(API, version, memoryview(answer.next_empty))
    other, place = row.responses[0].partitions
    assert (other.high_watermark, place.high_watermark) == (17, 18)
    assert not place.records


def test_several_wakes_are_one_answer():
    answer = answer_with([news(), news(base=18)], request(NEWEST), empty(NEWEST))
    assert answer
    _, row = read_response(API, NEWEST, memoryview(answer.frame))
    assert values(records_in(row.responses[0].partitions[1].records)) == [b"hello"] * 2
    assert answer.next_identity == identity(after(NEWEST, 19))


def test_several_wakes_with_a_gap_are_asked_for():
    wakes = [news(), news(base=19)]
    assert answer_with(wakes, request(NEWEST), empty(NEWEST)) is None


WATCHES = frozenset({"p/1", "p/2"})


@pytest.mark.parametrize("version", [FIRST_BY_ID - 1, FIRST_BY_ID])
def test_a_wake_that_follows_moves_the_position(version: int):
    at = positions(request(version))
    moved = follow(news(), WATCHES, at)
    assert moved is not None
    assert sorted(moved.values()) == [17, 18]
    assert follow(news(), WATCHES, moved) is None
    assert follow(news(base=18), WATCHES, moved) is not None


def test_a_wake_that_brings_less_than_it_names_does_not_follow():
    wake = news()
    assert follow(wake._replace(names=("p/1", "p/2")), WATCHES, positions(request(NEWEST))) is None
    others = wake._replace(names=("p/1", "p/3"))
    assert follow(others, WATCHES, positions(request(NEWEST))) is not None


def test_old_fetches_stand_nowhere():
    assert positions(request(FIRST_WITH_BATCHES - 1)) == {}
    assert positions(b"\0\3\0\0\0\0\0\1") == {}
