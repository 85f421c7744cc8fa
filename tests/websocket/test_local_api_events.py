"""Events are shaped as API Gateway shapes them, which tests of functions rely on."""

import asyncio
import json
import re
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.local_api import RunningGateway, a_local_gateway, ask, becomes_true

FUNCTIONS = Path(__file__).with_name("functions")
EVERYWHERE = {
    "apiId", "connectedAt", "connectionId", "domainName", "eventType", "extendedRequestId",
    "identity", "messageDirection", "requestId", "requestTime", "requestTimeEpoch", "routeKey",
    "stage",
}  # fmt: skip


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway:
        yield gateway


async def test_connect_has_headers_and_query_and_the_others_do_not(gateway: RunningGateway):
    async with gateway.client(
        "?v=1&listen=127.0.0.1%3A9092&v=2", user_agent_header="samsa"
    ) as client:
        await ask(client, "echo hello")
    [connect], [message] = gateway.events("CONNECT"), gateway.events("MESSAGE")
    [disconnect] = await becomes_true(lambda: gateway.events("DISCONNECT"))

    assert set(connect["requestContext"]) == EVERYWHERE
    assert connect["queryStringParameters"] == {"v": "2", "listen": "127.0.0.1:9092"}
    assert connect["multiValueQueryStringParameters"]["v"] == ["1", "2"]
    assert connect["headers"]["Sec-WebSocket-Version"] == "13"
    assert connect["multiValueHeaders"]["Host"] == [connect["requestContext"]["domainName"]]
    assert connect["requestContext"]["identity"] == {"sourceIp": "127.0.0.1", "userAgent": "samsa"}

    assert set(message) == {"requestContext", "body", "isBase64Encoded"}
    assert set(message["requestContext"]) == EVERYWHERE | {"messageId"}
    assert (message["body"], message["isBase64Encoded"]) == ("echo hello", False)

    assert set(disconnect) == {"headers", "multiValueHeaders", "requestContext", "isBase64Encoded"}
    assert set(disconnect["headers"]) == {"Host", "x-api-key", "X-Forwarded-For", "x-restapi"}
    assert set(disconnect["requestContext"]) == EVERYWHERE | {
        "disconnectStatusCode",
        "disconnectReason",
    }
    assert disconnect["requestContext"]["disconnectStatusCode"] == 1000

    contexts = [event["requestContext"] for event in (connect, message, disconnect)]
    assert [context["routeKey"] for context in contexts] == ["$connect", "$default", "$disconnect"]
    assert len({context["connectionId"] for context in contexts}) == 1
    assert len({context["connectedAt"] for context in contexts}) == 1
    assert len({context["requestId"] for context in contexts}) == 3
    assert re.fullmatch(r"[\w-]{15}=", connect["requestContext"]["connectionId"])
    assert re.fullmatch(
        r"\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000", message["requestContext"]["requestTime"]
    )


async def test_a_connect_without_a_query_has_no_query_members(gateway: RunningGateway):
    async with gateway.client():
        [connect] = gateway.events("CONNECT")
    assert set(connect) == {"headers", "multiValueHeaders", "requestContext", "isBase64Encoded"}


async def test_a_client_that_vanishes_is_disconnected_too(gateway: RunningGateway):
    async with gateway.client() as client:
        client.transport.abort()
        [event] = await becomes_true(lambda: gateway.events("DISCONNECT"))
    assert event["requestContext"]["disconnectStatusCode"] in (1005, 1006)


async def test_http_requests_come_in_payload_format_2(gateway: RunningGateway):
    request = urllib.request.Request(
        f"{gateway.root}/topics/a%20b?x=1&x=2", b'{"a": 1}', {"Cookie": "c=1; d=2"}, method="PUT"
    )
    with await asyncio.to_thread(urllib.request.urlopen, request) as answer:
        event = json.load(answer)
    assert event["version"] == "2.0"
    assert (event["rawPath"], event["rawQueryString"]) == ("/topics/a%20b", "x=1&x=2")
    assert event["queryStringParameters"] == {"x": "1,2"}
    assert event["cookies"] == ["c=1", "d=2"]
    assert (event["body"], event["isBase64Encoded"]) == ('{"a": 1}', False)
    assert event["requestContext"]["http"]["method"] == "PUT"
    assert "cookie" not in event["headers"]


async def test_http_answers_may_be_bytes_and_set_cookies(gateway: RunningGateway):
    with await asyncio.to_thread(urllib.request.urlopen, f"{gateway.root}/bytes") as answer:
        assert (answer.status, answer.read()) == (201, b"\xff\x00")
        assert answer.headers.get_all("set-cookie") == ["a=1", "b=2"]
