import itertools
from typing import Any

import pytest

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import fetch
from samsa_websocket.envelope import News, Wake
from samsa_websocket.shim import empty_fetch_cache as kept_module
from samsa_websocket.shim.empty_fetch_cache import MOST, EmptyFetchCache, KeptAnswer, answer_to
from samsa_websocket.shim.news import ToldAnswer, identity


def a_request(correlation: int, body: bytes = b"body") -> bytes:
    return b"\0\x0b\0\x0c" + correlation.to_bytes(4, "big") + body


def a_fetch(
    correlation: int,
    *places: tuple[str, int, int],
    version: int = 12,
    client: str = "reader",
    **more: int,
) -> bytes:
    """Of topics, partitions and offsets, in this order."""
    topics: list[Any] = []
    for topic, number, offset in places:
        if not topics or topics[-1].topic != topic:
            topics.append(fetch.TOPIC(topic=topic, partitions=[]))
        entry = fetch.PARTITION(partition=number, fetch_offset=offset, partition_max_bytes=100)
        topics[-1].partitions.append(entry)
    row = fetch.REQUEST(**more, topics=topics)
    return request_frame(APIS[ApiKey.FETCH], version, correlation, client, row)[4:]


PLACES = [("a", 0, 5), ("a", 1, 6), ("b", 0, 7)]
SAME = a_fetch(1, *PLACES)


@pytest.mark.parametrize("places", list(itertools.permutations(PLACES)))
def test_a_fetch_that_names_its_partitions_in_another_order_is_the_same(places):
    assert identity(a_fetch(2, *places)) == identity(SAME)


@pytest.mark.parametrize(
    "other",
    [
        a_fetch(1, ("a", 0, 5), ("a", 1, 6)),
        a_fetch(1, ("a", 0, 6), ("a", 1, 5), ("b", 0, 7)),
        a_fetch(1, ("b", 0, 5), ("b", 1, 6), ("a", 0, 7)),
        a_fetch(1, ("a", 0, 5), ("a", 1, 6), ("b", 0, 8)),
        a_fetch(1, *PLACES, max_wait_ms=1),
        a_fetch(1, *PLACES, min_bytes=2),
        a_fetch(1, *PLACES, isolation_level=1),
        a_fetch(1, *PLACES, session_id=9),
        a_fetch(1, *PLACES, version=11),
        a_fetch(1, *PLACES, client="another"),
        SAME[:-1],
    ],
)
def test_a_fetch_that_differs_in_anything_else_is_another(other):
    assert identity(other) != identity(SAME)


def test_a_fetch_of_a_version_that_nobody_knows_is_the_same_if_its_bytes_are():
    unknown = b"\0\1\0\x7f%s\xff\xffbody"
    assert identity(unknown % b"\0\0\0\1") == identity(unknown % b"\0\0\0\2")


def kept(*watches: str, good_until: float = 10.0) -> KeptAnswer:
    return KeptAnswer(b"\0\0\0\1empty", 0.5, good_until, frozenset(watches))


def test_a_request_that_differs_only_in_its_number_is_the_same():
    answers = EmptyFetchCache()
    answers.keep(a_request(1), kept("p"))
    assert answers.find(a_request(2), 0) == kept("p")
    assert answers.find(a_request(2, b"another"), 0) is None


def test_the_answer_carries_the_number_of_the_request():
    assert answer_to(a_request(77), b"\0\0\0\1empty") == b"\0\0\0\x4dempty"


def test_a_wake_drops_what_it_concerns_and_nothing_else():
    answers = EmptyFetchCache()
    answers.keep(a_request(1, b"a"), kept("p", "q"))
    answers.keep(a_request(1, b"b"), kept("r"))
    answers.forget(["q"])
    assert answers.find(a_request(1, b"a"), 0) is None
    assert answers.find(a_request(1, b"b"), 0)


def test_an_old_answer_is_not_given():
    answers = EmptyFetchCache()
    answers.keep(a_request(1), kept("p", good_until=10))
    assert answers.find(a_request(1), 9.9)
    assert answers.find(a_request(1), 10) is None


def test_the_oldest_goes_when_there_are_too_many():
    answers = EmptyFetchCache()
    for number in range(MOST + 1):
        answers.keep(a_request(1, b"%d" % number), kept("p"))
    assert answers.find(a_request(1, b"0"), 0) is None
    assert all(answers.find(a_request(1, b"%d" % n), 0) for n in range(1, MOST + 1))


def test_all_is_forgotten_with_the_connection():
    answers = EmptyFetchCache()
    answers.keep(a_request(1), kept())
    answers.forget_all()
    assert answers.find(a_request(1), 0) is None


def brought(name: str, base: int, topic: str = "a", partition: int = 0) -> Wake:
    return Wake((name,), (News(name, topic, "", partition, base, base + 1, 0, 3),), b"xyz")


def following() -> tuple[EmptyFetchCache, KeptAnswer]:
    """A fetch that stands at 5 of the partition "p"."""
    answers, one = EmptyFetchCache(), kept("p", "q")
    answers.keep(SAME, one)
    return answers, one


def test_what_follows_is_kept_until_the_client_comes():
    answers, one = following()
    assert answers.bring(brought("p", 5)) == [one]
    assert answers.bring(brought("p", 6)) == [one]
    found = answers.find(SAME, 0)
    assert found is one
    assert [wake.news[0].base for wake in found.news] == [5, 6]


@pytest.mark.parametrize(
    "wake", [brought("p", 6), brought("p", 4), Wake(("p",)), brought("p", 5, partition=9)]
)
def test_what_does_not_follow_is_forgotten_with_the_answer(wake: Wake):
    answers, _ = following()
    assert not answers.bring(wake)
    assert answers.find(SAME, 0) is None


def test_a_wake_of_others_is_not_brought_to_anybody():
    answers, one = following()
    assert not answers.bring(brought("z", 5))
    assert answers.find(SAME, 0) is one
    assert one.news == []


def test_a_client_that_is_too_slow_has_to_ask(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept_module, "MOST_NEWS", 6)
    answers, _ = following()
    assert answers.bring(brought("p", 5))
    assert answers.bring(brought("p", 6))
    assert not answers.bring(brought("p", 7))
    assert answers.find(SAME, 0) is None


def test_a_client_that_was_told_is_waited_for_where_it_stands_then():
    answers, one = following()
    answers.bring(brought("p", 5))
    after = a_fetch(2, ("a", 0, 6), ("a", 1, 6), ("b", 0, 7))
    answers.told(SAME, one, ToldAnswer(b"told", identity(after), b"empty"))
    assert answers.find(SAME, 0) is None
    found = answers.find(after, 0)
    assert found is not None
    assert (found.frame, found.news, found.good_until) == (b"empty", [], one.good_until)
    assert answers.bring(brought("p", 6))
    assert not answers.bring(brought("p", 6))
