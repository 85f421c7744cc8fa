"""The faulty proxy itself: what it passes on, and what it does instead."""

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from faults.proxy import FaultyProxy, faulty_proxy
from faults.upstream import Upstream, an_upstream
from faults.weather import Fault, Weather
from support.waiting import eventually

BODY = b"one morning " * 100


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with an_upstream() as server:
        yield server


@pytest.fixture
def proxy(upstream: Upstream) -> Iterator[FaultyProxy]:
    with faulty_proxy(upstream.url, Weather("seed", {}), silence_s=0.2) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: FaultyProxy) -> Iterator[http.client.HTTPConnection]:
    client = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=10)
    yield client
    client.close()


def ask(client: http.client.HTTPConnection, path: str = "/", body: object = BODY) -> bytes:
    client.request("PUT", path, body, {"Host": "signed.example"})
    return client.getresponse().read()


def test_messages_pass_unchanged_on_one_connection(
    client: http.client.HTTPConnection, upstream: Upstream
):
    assert ask(client) == BODY
    first = client.sock
    assert ask(client, "/chunked") == BODY
    client.request("HEAD", "/", BODY, {"Host": "signed.example"})
    assert client.getresponse().read() == b""
    assert ask(client, body=iter([BODY, b"in chunks"])) == BODY + b"in chunks"
    assert client.sock is first
    assert upstream.told == [("signed.example", BODY)] * 3 + [
        ("signed.example", BODY + b"in chunks")
    ]


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(
    client: http.client.HTTPConnection, upstream: Upstream
):
    client.putrequest("PUT", "/")
    client.putheader("Content-Length", str(len(BODY)))
    client.putheader("Expect", "100-continue")
    client.endheaders()
    assert client.sock.recv(100).startswith(b"HTTP/1.1 100")
    client.send(BODY)
    assert client.getresponse().read() == BODY


@pytest.mark.parametrize(
    ("fault", "status", "forwarded"),
    [
        (Fault.ERROR_500, 500, False),
        (Fault.ERROR_503, 503, False),
        (Fault.ERROR_AFTER, 500, True),
    ],
)
def test_an_error_leaves_the_connection_usable(
    client: http.client.HTTPConnection,
    proxy: FaultyProxy,
    upstream: Upstream,
    fault: Fault,
    status: int,
    forwarded: bool,
):
    for method in ("HEAD", "PUT"):
        proxy.weather.outage = fault
        client.request(method, "/", BODY)
        answer = client.getresponse()
        answer.read()
        assert answer.status == status
    first = client.sock
    proxy.weather.outage = None
    assert ask(client) == BODY
    assert client.sock is first
    assert len(upstream.told) == 1 + 2 * forwarded
    assert proxy.met[fault] == 2


@pytest.mark.parametrize(
    ("fault", "forwarded"),
    [
        (Fault.RESET, False),
        (Fault.RESET_AFTER, True),
        (Fault.SILENCE, False),
        (Fault.SILENCE_AFTER, True),
        (Fault.LATE, True),
    ],
)
def test_a_connection_that_is_cut_off_gives_no_answer(
    client: http.client.HTTPConnection,
    proxy: FaultyProxy,
    upstream: Upstream,
    fault: Fault,
    forwarded: bool,
):
    proxy.weather.outage = fault
    with pytest.raises(ConnectionResetError):
        ask(client)
    assert eventually(lambda: len(upstream.told) == forwarded)


def test_an_answer_that_is_cut_ends_in_the_middle(
    client: http.client.HTTPConnection, proxy: FaultyProxy, upstream: Upstream
):
    proxy.weather.outage = Fault.CUT
    with pytest.raises(http.client.IncompleteRead):
        ask(client)
    assert len(upstream.told) == 1


def test_the_same_seed_draws_the_same_cards_and_every_kind_of_them():
    cards = dict.fromkeys(set(Fault) - {Fault.NONE}, 3)
    one, other = Weather("seed", cards, 100), Weather("seed", cards, 100)
    one.is_stormy = other.is_stormy = True
    drawn = [one.draw() for _ in range(100)]
    assert drawn == [other.draw() for _ in range(100)]
    assert {card.fault for card in drawn} == set(Fault)
    assert sum(card.fault is not Fault.NONE for card in drawn) == 30
