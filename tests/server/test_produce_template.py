"""Requests that are like the one before are handled on a shorter way, which nobody can tell."""

import struct
from collections.abc import Callable

import pytest
from server.peer import Peer
from server.process import Samsa
from server.talk import (
    append,
    batch,
    create,
    delete,
    describe,
    everything,
    produce_row,
    values,
    write,
)
from server.test_bad_batches import BAD_BATCHES

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import produce


@pytest.mark.parametrize("version", [7, 9, 12])
def test_they_are_stored_in_their_order(version: int, peer: Peer, topic: str) -> None:
    for n in range(40):
        peer.send(ApiKey.PRODUCE, version, produce_row(topic, batch(b"%d" % n)))
    answers = [peer.answer().responses[0] for _ in range(40)]
    assert {answer.name for answer in answers} == {topic}
    assert [answer.partition_responses[0].base_offset for answer in answers] == list(range(40))
    assert values(everything(peer, topic)) == [b"%d" % n for n in range(40)]


def test_topics_may_be_named_by_their_ids(peer: Peer, topic: str) -> None:
    topic_id = describe(peer, topic).topics[0].topic_id
    for n in range(5):
        entry = produce.PARTITION(index=0, records=batch(b"%d" % n))
        named = produce.TOPIC(topic_id=topic_id, partition_data=[entry])
        row = produce.REQUEST(acks=-1, timeout_ms=30_000, topic_data=[named])
        answer = peer.ask(ApiKey.PRODUCE, 13, row).responses[0]
        assert (answer.topic_id, answer.partition_responses[0].base_offset) == (topic_id, n)


@pytest.mark.parametrize(("make", "error"), BAD_BATCHES.values(), ids=BAD_BATCHES)
def test_a_bad_batch_among_them_gets_its_own_error(
    make: Callable[[], bytes | None], error: ErrorCode, peer: Peer, topic: str
) -> None:
    write(peer, topic, b"before")
    assert append(peer, topic, make()).error_code == error
    write(peer, topic, b"after")
    assert values(everything(peer, topic)) == [b"before", b"after"]


def test_each_may_be_for_another_partition(peer: Peer, new_name: str) -> None:
    create(peer, new_name, partitions=3)
    rounds = [write(peer, new_name, b"x", partition=n % 3) for n in range(12)]
    assert rounds == [n // 3 for n in range(12)]


def test_a_topic_that_is_made_anew_is_another(samsa: Samsa, peer: Peer, new_name: str) -> None:
    create(peer, new_name)
    assert [write(peer, new_name, b"old") for _ in range(2)] == [0, 1]
    with samsa.peer() as other:
        delete(other, new_name)
        create(other, new_name)
    assert write(peer, new_name, b"new") == 0


def test_a_size_that_does_not_fit_closes_the_connection(peer: Peer, topic: str) -> None:
    write(peer, topic, b"one")
    frame = bytearray(peer.frame(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"two"))))
    at = frame.rindex(batch(b"two")) - 1
    frame[at : at + 1] = b"\xff\xff\xff\xff\x0f"
    frame[:4] = struct.pack(">i", len(frame) - 4)
    peer.say(bytes(frame))
    assert peer.is_closed()
