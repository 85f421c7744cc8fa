"""Attacks on groups: members that are too large, and more of them than a group may have."""

import random
from functools import cache
from typing import Any

from server.peer import Peer
from server.process import Samsa

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import consumer_group_heartbeat, join_group, sync_group

GIANTS = 60
IDS = 3_000
TURNS = 50


@cache
def _noise(number: int, size: int) -> bytes:
    return random.Random(number).randbytes(size)


def _join(group: str, metadata: bytes, **changes: Any) -> Any:
    return join_group.REQUEST(
        group_id=group,
        session_timeout_ms=6_000,
        rebalance_timeout_ms=2**31 - 1,
        protocol_type="consumer",
        protocols=[join_group.PROTOCOL(name="range", metadata=metadata)],
        **{"member_id": "", **changes},
    )


def a_group_of_giants(samsa: Samsa) -> None:
    """Members with 100 KB each, of which a group has room for two: parked, or refused."""
    peers = [samsa.peer() for _ in range(GIANTS)]
    for number, peer in enumerate(peers):
        peer.send(ApiKey.JOIN_GROUP, 3, _join("giants", _noise(number, 100_000)))
    for peer in peers:
        peer.close()


def ids_that_nobody_uses(samsa: Samsa) -> None:
    with samsa.peer() as peer:
        codes = set()
        for _ in range(0, IDS, TURNS):
            for _ in range(TURNS):
                peer.send(ApiKey.JOIN_GROUP, 9, _join("ghosts", b""))
            codes |= {peer.answer().error_code for _ in range(TURNS)}
        assert codes <= {ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.GROUP_MAX_SIZE_REACHED}


def assignments_larger_than_an_item(samsa: Samsa) -> None:
    with samsa.peer() as peer:
        joined = peer.ask(ApiKey.JOIN_GROUP, 3, _join("hoarders", b""))
        if joined.error_code == ErrorCode.NONE:
            for number in range(10):
                _sync(peer, joined, _noise(number, 1_000_000))


def _sync(peer: Peer, joined: Any, assignment: bytes) -> None:
    row = sync_group.REQUEST(
        group_id="hoarders",
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        assignments=[
            sync_group.ASSIGNMENT(member_id=joined.member_id, assignment=assignment),
        ],
    )
    code = peer.ask(ApiKey.SYNC_GROUP, 3, row).error_code
    assert code != ErrorCode.NONE


def subscriptions_without_end(samsa: Samsa) -> None:
    """Nearly as many topics that do not exist as a request may name, in the consumer protocol."""
    with samsa.peer() as peer:
        for number in range(5):
            peer.say(_subscription(peer, number))
            peer.answer()


def _subscription(peer: Peer, number: int) -> bytes:
    row = consumer_group_heartbeat.REQUEST(
        group_id="readers",
        member_id=f"m{number}",
        member_epoch=0,
        rebalance_timeout_ms=2**31 - 1,
        subscribed_topic_names=_names(),
        topic_partitions=[],
    )
    return peer.frame(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, row)


@cache
def _names() -> list[str]:
    return [f"{_noise(n, 4).hex()}" for n in range(49_000)]
