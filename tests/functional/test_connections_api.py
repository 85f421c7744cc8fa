"""Pushing to a WebSocket connection, against a server that speaks as @connections does."""

import pytest
from support.servers.faults import Reply, Request, answer, faulty_proxy

from samsa.ports import Misconfigured, Unavailable
from samsa_websocket.pushes.connections import ConnectionsApi, Gone


@pytest.fixture
def api():
    with faulty_proxy("http://127.0.0.1:1") as server:
        yield server


def took(request: Request, _: object) -> Reply:
    return Reply(200)


async def test_a_text_is_posted_to_its_connection(api):
    api.faults = [took]
    connections = ConnectionsApi(f"{api.url}/dev")
    await connections.post("L0SM9cOFvHcCIhw=", "1 wake 0")
    (request,) = api.requests
    assert request.path == "/dev/@connections/L0SM9cOFvHcCIhw%3D"
    assert request.body == b"1 wake 0"
    assert "/execute-api/aws4_request" in request.headers["authorization"]
    await connections.close()


@pytest.mark.parametrize(
    ("status", "error"),
    [(410, Gone), (403, Misconfigured), (429, Unavailable), (500, Unavailable), (413, Unavailable)],
)
async def test_a_refusal_is_told_apart(api, status: int, error: type[Exception]):
    api.faults = [answer(status, b'{"message":"no"}')]
    connections = ConnectionsApi(f"{api.url}/dev")
    with pytest.raises(error) as raised:
        await connections.post("gone=", "text")
    assert raised.type is error
    await connections.close()


async def test_an_api_that_is_away_is_unavailable(dead_endpoint: str):
    with pytest.raises(Unavailable):
        await ConnectionsApi(dead_endpoint).post("someone", "text")
