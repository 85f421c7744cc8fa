"""How much a socket takes at once, by who reads it and how much there is."""

import socket
from collections.abc import Iterator

import pytest

from samsa_broker.server.sender import LARGE, STEP, Sender


def pair(client: str) -> tuple[socket.socket, socket.socket]:
    """A broker's end at 127.0.0.1, and its client's."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        far_end = socket.create_connection(address, source_address=(client, 0))
        near_end, _ = listening.accept()
    near_end.setblocking(False)
    return near_end, far_end


@pytest.fixture(params=["127.0.0.1", "127.0.0.2"], ids=["same host", "other host"])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, socket.socket]]:
    near_end, far_end = pair(request.param)
    with near_end, far_end:
        yield near_end, far_end


def queue_of(sock: socket.socket) -> int:
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)


async def test_a_large_answer_goes_to_this_machine_in_steps(
    ends: tuple[socket.socket, socket.socket],
):
    sock, client = ends
    before = queue_of(sock)
    sender = Sender(sock, lambda: None)
    sender.write([b"small"], 5)
    assert queue_of(sock) == before
    sender.write([b"large"], LARGE + 1)
    same_host = client.getsockname()[0] == "127.0.0.1"
    assert (queue_of(sock) != before) == same_host
    assert not same_host or queue_of(sock) <= 2 * STEP  # Linux doubles it, or allows less
    assert client.recv(10, socket.MSG_WAITALL) == b"smalllarge"


async def test_a_client_that_has_gone_is_no_reason_to_fail():
    sock, client = pair("127.0.0.1")
    with sock:
        client.close()
        sock.close()
        broken: list[bool] = []
        sender = Sender(sock, lambda: broken.append(True))
        sender.write([b"large"], LARGE + 1)
        assert broken
