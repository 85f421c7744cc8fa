"""Requests of one connection: answered in order, and never at one another's cost."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from server.peer import Peer
from server.process import Samsa
from server.talk import (
    append,
    batch,
    create,
    end_of,
    everything,
    fetch_row,
    produce_row,
    values,
    write,
)
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import list_offsets, metadata


def mixed(peer: Peer, topic: str) -> list[bytes]:
    """Fifty requests of four kinds, some with a wait in them."""
    asked = list_offsets.PARTITION(partition_index=0, timestamp=-1)
    offsets = list_offsets.REQUEST(topics=[list_offsets.TOPIC(name=topic, partitions=[asked])])
    kinds: list[Callable[[int], tuple[ApiKey, int, object]]] = [
        lambda n: (ApiKey.PRODUCE, 9, produce_row(topic, batch(b"%d" % n))),
        lambda n: (ApiKey.METADATA, n % 13, metadata.REQUEST(topics=[metadata.TOPIC(name=topic)])),
        lambda n: (ApiKey.PRODUCE, 7, produce_row(topic, batch(b"%d" % n))),
        lambda n: (ApiKey.FETCH, 4 + n % 9, fetch_row(topic, 0, wait_ms=20, min_bytes=1 << 20)),
        lambda n: (ApiKey.LIST_OFFSETS, 1 + n % 9, offsets),
    ]
    return [peer.frame(*kind(n)) for n, kind in zip(range(50), itertools.cycle(kinds))]


@pytest.mark.parametrize("piece", [7, 1000, 1 << 20], ids=lambda size: f"{size} bytes at a time")
def test_fifty_pipelined_requests_are_answered_in_their_order(
    piece: int, peer: Peer, topic: str
) -> None:
    stream = b"".join(mixed(peer, topic))
    for start in range(0, len(stream), piece):
        peer.say(stream[start : start + piece])
    answers = [peer.answer() for _ in range(50)]  # each checks the number of its request
    produced = [a.responses[0].partition_responses[0].base_offset for a in answers[::5]]
    looked_up = [answer.topics[0].partitions[0].offset for answer in answers[4::5]]
    assert produced == list(range(0, 20, 2))
    # A look-up sees all that was produced before it on its connection, and nothing later.
    assert looked_up == list(range(2, 22, 2))


def test_pipelined_produces_never_share_an_offset(peer: Peer, topic: str) -> None:
    for n in range(500):
        peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"%d" % n, b"second of %d" % n)))
    answers = [peer.answer().responses[0].partition_responses[0] for _ in range(500)]
    assert [answer.base_offset for answer in answers] == list(range(0, 1000, 2))
    assert values(everything(peer, topic))[::2] == [b"%d" % n for n in range(500)]


def test_producers_on_many_connections_never_share_an_offset(samsa: Samsa, topic: str) -> None:
    def produce(who: int) -> dict[int, bytes]:
        with samsa.peer() as peer:
            sent = [b"%d of %d" % (n, who) for n in range(60)]
            for value in sent:
                peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(value)))
            answers = [peer.answer().responses[0].partition_responses[0] for _ in sent]
            return {a.base_offset: value for a, value in zip(answers, sent, strict=True)}

    with ThreadPoolExecutor(8) as pool:
        acknowledged = list(pool.map(produce, range(8)))
    with samsa.peer() as peer:
        stored = {record.offset: record.value for record in everything(peer, topic)}
    assert sum(map(len, acknowledged)) == 8 * 60
    assert {o: v for one in acknowledged for o, v in one.items()} == stored
    for one in acknowledged:
        assert list(one) == sorted(one), "a connection's records changed places"


@pytest.mark.parametrize("size", [4_095, 4_096, 4_097, 16_384, 32_768, 1_000_000])
def test_a_message_of_any_size_comes_back_whole(size: int, peer: Peer, topic: str) -> None:
    value = bytes(n % 251 for n in range(size))
    for _ in range(3):
        write(peer, topic, value)
    assert values(everything(peer, topic)) == [value] * 3


def test_ten_megabytes_in_one_message_come_back_whole(peer: Peer, new_name: str) -> None:
    create(peer, new_name, max_message_bytes="12000000")
    value = bytes(range(250)) * 40_000
    write(peer, new_name, value)
    assert values(everything(peer, new_name)) == [value]


def test_requests_of_very_different_sizes_share_a_connection(peer: Peer, topic: str) -> None:
    sizes = [10, 200_000, 1, 900_000, 40_000, 3, 500_000, 64_000, 2, 1_000_000] * 3
    for size in sizes:
        peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * size)))
    for number in range(len(sizes)):
        assert peer.answer().responses[0].partition_responses[0].base_offset == number
    assert [len(record.value) for record in everything(peer, topic)] == sizes


def test_acks_0_is_not_answered_and_still_stored(peer: Peer, topic: str) -> None:
    for n in range(20):
        peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"%d" % n), acks=0))
        peer._asked.pop()
    assert append(peer, topic, batch(b"last")).base_offset == 20
    assert values(everything(peer, topic))[:3] == [b"0", b"1", b"2"]


def test_acks_0_is_stored_though_the_client_leaves_at_once(samsa: Samsa, topic: str) -> None:
    with samsa.peer() as leaving:
        frames = [
            leaving.frame(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * 1_000), acks=0))
            for _ in range(200)
        ]
        leaving.say(b"".join(frames))
    with samsa.peer() as peer:
        assert eventually(lambda: end_of(peer, topic) == 200), end_of(peer, topic)
