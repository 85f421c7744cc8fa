"""A shim that is told to linger: produces wait a little for others of their client."""

from collections.abc import Callable
from time import sleep

from server.peer import Peer
from server.talk import (
    FETCH,
    PRODUCE,
    batch,
    create,
    fetch_row,
    produce_row,
    records_in,
    values,
    write,
)
from support.fake_gateway import FakeGateway

from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import MOST_TOGETHER

TOPIC = "parcels"
VERY_LONG_S = 1_000.0


def test_produces_that_come_one_by_one_share_a_message(
    connect: Callable[..., Peer], gateway: FakeGateway
):
    peer = connect(linger_s=VERY_LONG_S)
    create(peer, TOPIC)
    before = len(gateway.requests())
    for number in range(MOST_TOGETHER):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"%d" % number)))
        sleep(0.05)
    answers = [peer.answer().responses[0].partition_responses[0] for _ in range(MOST_TOGETHER)]
    assert [each.base_offset for each in answers] == list(range(MOST_TOGETHER))
    assert [each.several for each in gateway.requests()[before:]] == [True]


def test_a_lone_produce_is_asked_when_its_time_is_over(
    connect: Callable[..., Peer], gateway: FakeGateway
):
    peer = connect(linger_s=0.05)
    create(peer, TOPIC)
    before = len(gateway.requests())
    assert write(peer, TOPIC, b"alone") == 0
    assert [each.lingers for each in gateway.requests()[before:]] == [True]


def test_only_produces_say_that_they_lingered_and_only_if_they_did(
    connect: Callable[..., Peer], gateway: FakeGateway
):
    peer = connect(linger_s=0.05)
    create(peer, TOPIC)
    assert not any(each.lingers for each in gateway.requests())
    at_once = connect(linger_s=0.0)
    before = len(gateway.requests())
    write(at_once, TOPIC, b"at once")
    assert not any(each.lingers for each in gateway.requests()[before:])


def test_whatever_else_a_client_asks_does_not_wait_and_takes_produces_along(
    connect: Callable[..., Peer],
):
    peer = connect(linger_s=VERY_LONG_S)
    create(peer, TOPIC)
    peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
    peer.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
    assert peer.answer().responses[0].partition_responses[0].base_offset == 0
    found = peer.answer().responses[0].partitions[0]
    assert values(records_in(found.records)) == [b"value"]
