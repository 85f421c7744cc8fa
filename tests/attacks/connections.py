"""Attacks with connections: slow ones, silent ones, many of them, and bodies that are work.

Connections that an attack leaves open stay open for as long as its broker is beside the next one:
what they hold must not be missed by others.
"""

import re
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from server.administer import delete_before
from server.peer import Peer
from server.process import METRICS, Samsa
from server.talk import append, batch, fetch_row, versions, write

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

MB = 1024 * 1024
LARGEST = (100 * MB).to_bytes(4, "big")
HTTP = ("--http", "127.0.0.1:0")
WITH_METRICS = ("--metrics-port", "0")
URL = re.compile(r"http     http://127\.0\.0\.1:(\d+)")
HEAD = "POST /topics/t/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
STALLED_S = 0.3

_kept: dict[int, list[socket.socket]] = {}


def _keep(samsa: Samsa, sockets: Iterable[socket.socket]) -> None:
    for pid in [pid for pid in _kept if pid != samsa.pid]:
        for sock in _kept.pop(pid):
            sock.close()
    _kept.setdefault(samsa.pid, []).extend(sockets)


def clients_that_announce_much_and_send_little(samsa: Samsa) -> None:
    """And one beside them that sends what is worth a large buffer."""
    slow = [samsa.peer() for _ in range(6)]
    for peer in slow:
        peer.say(LARGEST + b"x" * 100_000)
    with samsa.peer() as peer:
        for _ in range(3):
            assert append(peer, "large", batch(b"x" * 900_000)).error_code == ErrorCode.NONE
            for one in slow:
                one.say(b"x")
    _keep(samsa, [peer.socket for peer in slow])


def large_requests_that_stop_half_way(samsa: Samsa) -> None:
    """More than fits into the broker's memory, as fast as it takes it."""
    stalled = [samsa.peer() for _ in range(6)]
    for peer in stalled:
        peer.say(LARGEST)
    _pour([peer.socket for peer in stalled], 70 * MB)
    with samsa.peer() as peer:
        assert append(peer, "large", batch(b"x" * 900_000)).error_code == ErrorCode.NONE
    _keep(samsa, [peer.socket for peer in stalled])


def _pour(sockets: list[socket.socket], size: int) -> None:
    """So much into each, or until none of them takes anything for a moment."""
    data = memoryview(_noise())
    left = dict.fromkeys(sockets, size)
    for sock in sockets:
        sock.setblocking(False)
    last = time.monotonic()
    while left and time.monotonic() - last < STALLED_S:
        for sock in list(left):
            with suppress(BlockingIOError):
                try:
                    left[sock] -= sock.send(data[: left[sock]])
                    last = time.monotonic()
                except (BrokenPipeError, ConnectionResetError):
                    left[sock] = 0
            if left[sock] <= 0:
                del left[sock]
        time.sleep(0.001)


@cache
def _noise() -> bytes:
    return b"x" * MB


def clients_that_do_not_read_their_answers(samsa: Samsa) -> None:
    with samsa.peer() as peer:
        for _ in range(16):
            write(peer, "deaf", b"x" * 900_000)
    deaf = [Peer(samsa.address, receive_buffer=4096) for _ in range(40)]
    for one in deaf:
        for _ in range(4):
            one.send(ApiKey.FETCH, 12, fetch_row("deaf", 0))
    with samsa.peer() as peer:
        assert versions(peer)
    _keep(samsa, [one.socket for one in deaf])


def a_crowd_of_one_address(samsa: Samsa) -> None:
    """All that one address may have, and some more."""
    crowd = [socket.create_connection(samsa.address) for _ in range(1_000)]
    with Peer(samsa.address, host="127.0.0.2") as peer:
        assert versions(peer)
    _keep(samsa, crowd)


def delete_records_without_time(samsa: Samsa) -> None:
    with samsa.peer() as peer:
        for _ in range(50):
            end = write(peer, "deleted", b"x") + 1
            assert delete_before(peer, "deleted", end, timeout_ms=0) == (ErrorCode.NONE, end)
            out_of_range = (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
            assert delete_before(peer, "deleted", end + 9, timeout_ms=0) == out_of_range


# By HTTP


def _http(samsa: Samsa) -> tuple[str, int]:
    found = URL.search((samsa.folder / "stdout").read_text())
    assert found, "started without --http"
    return "127.0.0.1", int(found[1])


def _said_by_http(samsa: Samsa, *said: bytes, count: int = 1) -> list[socket.socket]:
    sockets = []
    for _ in range(count):
        sock = socket.create_connection(_http(samsa), 20)
        for part in said:
            sock.sendall(part)
        sockets.append(sock)
    return sockets


def _status(sock: socket.socket) -> int:
    """0 if the broker has closed it."""
    with sock, suppress(OSError):
        first = sock.makefile("rb").readline().split()
        return int(first[1]) if len(first) > 1 else 0
    return 0


def _is_answered(samsa: Samsa) -> None:
    [asked] = _said_by_http(samsa, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert _status(asked) == 200


def idle_http_connections(samsa: Samsa) -> None:
    _keep(samsa, _said_by_http(samsa, count=150))
    _is_answered(samsa)


def http_heads_that_never_end(samsa: Samsa) -> None:
    _keep(samsa, _said_by_http(samsa, HEAD.encode(), b"X-More: ", count=150))
    _is_answered(samsa)


def http_bodies_that_never_end(samsa: Samsa) -> None:
    """Of nearly 16 MiB each, as much as the broker takes."""
    head = f"{HEAD}Content-Length: {16 * MB}\r\n\r\n".encode()
    sockets = _said_by_http(samsa, head, count=60)
    _pour(sockets, 15 * MB)
    _keep(samsa, sockets)
    _is_answered(samsa)


def an_http_body_of_a_million_records(samsa: Samsa) -> None:
    body = _million_records()
    head = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode()
    [sock] = _said_by_http(samsa, head, body)
    assert _status(sock) == 413


@cache
def _million_records() -> bytes:
    return b'{"records":[' + b",".join([b'{"value":"x"}'] * 1_100_000) + b"]}"


def http_bodies_of_as_many_records_as_may_be(samsa: Samsa) -> None:
    body = _ten_thousand_records()
    head = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode()
    for sock in _said_by_http(samsa, head, body, count=4):
        assert _status(sock) == 201


@cache
def _ten_thousand_records() -> bytes:
    record = b'{"key":"k","value":{"json":{"a":[1,2,3]}}}'
    return b'{"records":[' + b",".join([record] * 10_000) + b"]}"


# The metrics port


def idle_connections_to_the_metrics_port(samsa: Samsa) -> None:
    found = METRICS.search((samsa.folder / "stdout").read_text())
    assert found, "started without --metrics-port"
    port = int(found[0].rpartition(":")[2].partition("/")[0])
    _keep(samsa, [socket.create_connection(("127.0.0.1", port)) for _ in range(300)])
    assert samsa.metrics()["samsa_connections"] >= 0
