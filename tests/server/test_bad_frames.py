"""Frames that are none: the connection that sent one ends, with at most one line in the log, and no
other connection notices."""

import struct
from pathlib import Path
from typing import Any

import pytest
from server.neighbour import Neighbour
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import append, batch, fetch_row, produce_row, versions, write
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import metadata

MAX_FRAME = 100 * 1024 * 1024


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def header(key: int, version: int, client_id: bytes = b"peer") -> bytes:
    return struct.pack(">hhih", key, version, 1, len(client_id)) + client_id


METADATA_V1 = header(3, 1) + struct.pack(">i", 1) + struct.pack(">h", 3) + b"abc"

BAD_FRAMES = {
    "a negative size": struct.pack(">i", -1),
    "the most negative size": struct.pack(">i", -(2**31)),
    "a huge size": struct.pack(">i", 2**31 - 1),
    "a size one over the limit": struct.pack(">i", MAX_FRAME + 1),
    "another protocol": b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n",
    "garbage of a modest size": framed(bytes(range(256)) * 4),
    "a frame of nothing": framed(b""),
    "a header that is cut": framed(header(3, 1)[:9]),
    "a client id past the end": framed(struct.pack(">hhih", 3, 1, 1, 500) + b"peer"),
    "a client id that is no text": framed(header(3, 1, b"\xff\xfe") + b"\0\0\0\0"),
    "an unknown API key": framed(header(999, 0)),
    "a negative API key": framed(header(-1, 0)),
    "a version of Metadata yet to come": framed(header(3, 99) + b"\0\0\0\0"),
    "a negative version": framed(header(3, -1) + b"\0\0\0\0"),
    "a body that is shorter than its schema": framed(METADATA_V1[:-1]),
    "an array of two thousand million": framed(header(3, 1) + struct.pack(">i", 2**31 - 1)),
    "no body at all": framed(header(0, 9)),
}


@pytest.mark.parametrize("frame", BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_a_bad_frame_ends_its_own_connection_with_one_line_in_the_log_at_most(
    frame: bytes, samsa: Samsa, peer: Peer, neighbour: Neighbour
) -> None:
    before = len(samsa.logged())
    peer.say(frame)
    assert peer.is_closed()
    neighbour.goes_on()
    lines = samsa.logged()[before:]
    assert len(lines) <= 1
    assert all(f"bad request peer={peer.name}" in line for line in lines)


def test_the_first_of_many_bad_frames_is_told_at_once_and_the_others_are_not(
    tmp_path: Path,
) -> None:
    with a_samsa(tmp_path) as running:
        for number in range(20):
            with running.peer() as peer:
                peer.say(framed(header(999, 0)))
                assert peer.is_closed()
                if not number:
                    first = peer.name
        (line,) = [line for line in running.logged() if "bad request" in line]
    assert "WARNING" in line
    assert f"bad request peer={first}" in line


@pytest.mark.parametrize("frame", BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_what_was_asked_before_a_bad_frame_is_still_answered(
    frame: bytes, peer: Peer, topic: str
) -> None:
    produced = peer.frame(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"before")))
    peer.say(produced + frame)
    answer = peer.answer().responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset) == (0, 0)
    assert peer.is_closed()


def test_a_log_line_holds_no_contents(samsa: Samsa, peer: Peer, topic: str) -> None:
    secret = b"SECRET" * 20
    before = len(samsa.logged())
    peer.say(framed(header(0, 9) + secret))
    assert peer.is_closed()
    peer = samsa.peer()
    data = bytearray(batch(secret))
    data[-1] ^= 1
    append(peer, topic, bytes(data))
    peer.close()
    assert "SECRET" not in "\n".join(samsa.logged()[before:])


def test_bytes_that_come_one_by_one_are_a_frame_all_the_same(peer: Peer) -> None:
    for byte in peer.frame(ApiKey.METADATA, 1, metadata.REQUEST(topics=[])):
        peer.say(bytes([byte]))
    assert peer.answer().brokers[0].node_id == 0


def test_api_versions_at_an_unknown_version_is_answered_at_version_0(
    peer: Peer, samsa: Samsa
) -> None:
    before = len(samsa.logged())
    flexible_body = b"\x00\x05name\x02v\x00"
    peer.say(framed(header(18, 32_000) + flexible_body))
    answer = memoryview(peer.read_frame())
    number, error, count = struct.unpack_from(">ihi", answer)
    rows = list(struct.iter_unpack(">hhh", answer[10:]))
    assert (number, error, count) == (1, 35, len(rows))
    assert {key: (least, most) for key, least, most in rows} == versions(peer)
    assert samsa.logged()[before:] == []


def test_a_client_that_falls_silent_within_a_frame_harms_nobody(
    connect: Any, neighbour: Neighbour, topic: str
) -> None:
    whole = connect().frame(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * 200_000)))
    silent = [connect() for _ in range(20)]
    for cut, slow in enumerate(silent):
        slow.say(whole[: 1 + cut * len(whole) // 20])
    neighbour.goes_on()
    for cut, slow in enumerate(silent):
        slow.say(whole[1 + cut * len(whole) // 20 :])
        assert len(slow.read_frame()) > 0
    assert write(connect(), topic, b"last") == 20


def test_a_connection_that_ends_within_a_frame_leaves_nothing_behind(
    samsa: Samsa, connect: Any, neighbour: Neighbour, topic: str
) -> None:
    before, lines = samsa.metrics()["samsa_connections"], len(samsa.logged())
    whole = connect().frame(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * 100_000)))
    for part in (1, 4, 20, 5_000, len(whole) - 1):
        with samsa.peer() as leaving:
            leaving.say(whole[:part])
    assert eventually(lambda: samsa.metrics()["samsa_connections"] <= before + 1)
    assert write(connect(), topic, b"first") == 0
    assert samsa.logged()[lines:] == []


def test_a_client_that_never_reads_its_answers_is_not_read_from_either(
    samsa: Samsa, connect: Any, neighbour: Neighbour, topic: str
) -> None:
    filler = connect()
    for _ in range(8):
        write(filler, topic, b"x" * 1_000_000)
    greedy = Peer(samsa.address, receive_buffer=4096)
    greedy.socket.settimeout(1)
    before = samsa.resident()
    asked = _ask_until_blocked(greedy, topic)
    neighbour.goes_on()
    grown = samsa.resident() - before
    greedy.reset()
    assert asked < 100_000, "every request was taken, though no answer was read"
    assert grown < 64 * 1024 * 1024


def _ask_until_blocked(greedy: Peer, topic: str) -> int:
    frame = greedy.frame(ApiKey.FETCH, 12, fetch_row(topic, 0)) * 100
    for asked in range(0, 100_000, 100):
        try:
            greedy.say(frame)
        except TimeoutError:
            return asked
    return 100_000


@pytest.mark.parametrize("frame", [METADATA_V1 + b"\0\0\0", header(18, 0) + b"\0"])
def test_bytes_left_over_are_ignored_since_librdkafka_sends_them(frame: bytes, peer: Peer) -> None:
    """Its Metadata v13 has three bytes too many (docs/decisions/0005)."""
    peer.say(framed(frame))
    assert not peer.is_closed()
