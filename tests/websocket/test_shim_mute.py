"""A client over its quota is muted by its shim for as long as the function says."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from server.peer import Peer
from server.quotas import is_silent
from server.talk import FETCH, PRODUCE, batch, create, fetch_row, produce_row, versions
from support.fake_gateway import FakeGateway
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import api_versions
from samsa_websocket.envelope import Gather, Message, Reply
from samsa_websocket.shim.settings import ShimLimits, ShimTimes

TOPIC = "letters"
LONG_MS = 600_000
SOON = ShimTimes(client_idle=1.0)


@pytest.fixture
def mute(gateway: FakeGateway) -> Iterator[list[int]]:
    """Milliseconds, for the next answers, one each."""
    times: list[int] = []
    plain = gateway.function.handle

    async def handle(message: Message, caller: Any) -> Message:
        answer = await plain(message, caller)
        if isinstance(answer, Reply | Gather) and times:
            return answer._replace(mute_ms=times.pop(0))
        return answer

    gateway.function.handle = handle  # type: ignore[method-assign]
    yield times
    gateway.function.handle = plain  # type: ignore[method-assign]


def ask(peer: Peer) -> None:
    peer.send(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())


def test_a_muted_client_is_answered_and_its_next_request_is_not_sent(
    connect: Callable[..., Peer], gateway: FakeGateway, mute: list[int]
):
    peer, other = connect(), connect()
    mute.append(LONG_MS)
    assert versions(peer)
    sent = len(gateway.requests())
    ask(peer)
    assert is_silent(peer)
    assert len(gateway.requests()) == sent
    assert versions(other), "another client is not muted"


def test_a_muted_client_is_served_again_when_its_time_is_up(
    connect: Callable[..., Peer], mute: list[int]
):
    peer = connect()
    mute += [50, 50]
    for _ in range(3):
        assert versions(peer)


def test_nobody_is_muted_for_longer_than_a_client_may_be_idle(
    connect: Callable[..., Peer], mute: list[int]
):
    peer = connect(times=SOON)
    mute.append(2**31 - 1)
    assert versions(peer)
    assert versions(peer)


def test_a_large_answer_mutes_too(
    connect: Callable[..., Peer], gateway: FakeGateway, mute: list[int]
):
    peer = connect()
    create(peer, TOPIC)
    for _ in range(3):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"x" * 90_000)))
        peer.answer()
    mute.append(LONG_MS)
    assert peer.ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0)).responses
    assert not mute
    ask(peer)
    assert is_silent(peer)


def test_produces_without_an_answer_are_held_back(
    connect: Callable[..., Peer], gateway: FakeGateway, mute: list[int]
):
    peer = connect()
    create(peer, TOPIC)
    before = len(gateway.requests())
    mute.append(LONG_MS)
    peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"x"), acks=0))
    assert eventually(lambda: not mute)
    time.sleep(0.1)
    for _ in range(5):
        peer.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"x"), acks=0))
    time.sleep(0.3)
    assert len(gateway.requests()) == before + 1


def test_a_muted_client_takes_no_memory_of_others(
    dialled: Callable[..., str], gateway: FakeGateway, mute: list[int]
):
    host, _, port = dialled(limits=ShimLimits(memory=100_000)).rpartition(":")
    muted, other = (Peer((host, int(port))) for _ in range(2))
    mute.append(LONG_MS)
    assert versions(muted)
    time.sleep(0.1)
    muted.say((100_000).to_bytes(4, "big") + bytes(50_000))
    time.sleep(0.1)
    assert versions(other)
    muted.close()
    other.close()


@pytest.mark.parametrize("leave", [Peer.close, Peer.reset])
@pytest.mark.parametrize("last", [b"", b"\0\0", b"\0\0\1\0rest"], ids=["", "part", "request"])
def test_a_muted_client_that_leaves_is_noticed(
    connect: Callable[..., Peer],
    gateway: FakeGateway,
    mute: list[int],
    leave: Callable[[Peer], None],
    last: bytes,
):
    peer = connect(times=ShimTimes(answer_within=0.1))
    mute.append(LONG_MS)
    assert versions(peer)
    time.sleep(0.1)
    peer.say(last)
    leave(peer)
    assert eventually(lambda: not gateway.open)
