"""Whatever one client sends, and whatever breaks: one error to that client, one line in the log."""

import logging
from typing import Any

import pytest
from bundle.given_gateway import Client, Cluster, frame_of
from bundle.talk import TOPIC, create, describe, read, write
from server.talk import PRODUCE, batch, produce_row

from samsa.ports import GroupKey
from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import MOST_TOGETHER, Error, ErrorAction, Request, joined

GARBAGE = {
    "JSON without end": '1 upload 1 {"size":' + "[" * 100_000,
    "a number without end": '1 upload 1 {"size":' + "9" * 100_000 + "}",
    "a size below nothing": '1 upload 1 {"size":-1,"sha256":""}',
    "a size that is a fraction": '1 upload 1 {"size":1e400,"sha256":""}',
    "a size that is true": '1 upload 1 {"size":true,"sha256":""}',
    "a digest that is a number": '1 upload 1 {"size":1,"sha256":7}',
    "a key that is a list": '1 reference 1 {"key":[],"size":1,"sha256":""}',
    "no key": '1 reference 1 {"size":1,"sha256":""}',
    "a sequence number below nothing": "1 request -1\nAAAA",
    "a sequence number without end": f"1 request {'9' * 100_000}\nAAAA",
    "other digits": "1 request ١\nAAAA",
    "no frame": "1 request 1",
    "base64 that breaks off": "1 request 1\nAAA",
    "base64 with a line break": "1 request 1\nAAAA\nAAAA",
    "no base64": "1 request 1\n" + "\N{PILE OF POO}" * 30_000,
    "half a character": "1 request 1\n\ud800",
    "another version": "2 request 1\nAAAA",
    "an unknown kind": "1 " + "x" * 100_000 + " 1",
    "a wait of ages": '1 request 1 {"waited":9223372036854775808}\nAAAA',
    "a frame of noise": "1 request 1\n" + "/+" * 60_000,
    "several, of noise": '1 request 1 {"several":true}\n' + "/+" * 60_000,
    "several, of nothing": '1 request 1 {"several":true}\n' + "AAAA" * 30_000,
}


def lines(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "samsa.gateway"]


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_refused_in_one_line_without_a_stack_trace(
    cluster: Cluster, text: str, caplog: pytest.LogCaptureFixture
):
    client = cluster.client()
    caplog.clear()
    answer = client.say(text)
    assert isinstance(answer, Error), answer
    assert answer.code == ErrorAction.CLOSE
    [line] = lines(caplog)
    assert (line.levelno, line.exc_info) == (logging.WARNING, None)
    assert len(line.getMessage()) < 1_200
    assert describe(client)


def test_more_requests_in_one_message_than_a_shim_sends_are_refused(cluster: Cluster):
    client = cluster.client()
    create(client)
    frame = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
    most, more = (b"".join(joined((frame,) * (MOST_TOGETHER + extra))) for extra in (0, 1))
    answer = client.say(Request(1, more, several=True))
    assert isinstance(answer, Error)
    assert answer.code == ErrorAction.CLOSE
    assert read(client) == []
    client.say(Request(1, most, several=True))
    assert read(client) == [b"value"] * MOST_TOGETHER


def test_an_error_that_nobody_expected_is_one_answer_and_one_line(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
):
    client = cluster.client()

    async def broken(*_: Any) -> str:
        raise KeyError("a bug")

    cluster.first._kafka.serve = broken  # type: ignore[method-assign]
    caplog.clear()
    answer = client.say(Request(7, b"frame"))
    assert answer == Error(7, ErrorAction.CLOSE, "'a bug'")
    [line] = lines(caplog)
    assert line.levelno == logging.ERROR
    assert line.exc_info


@pytest.mark.parametrize("name", ["open", "close_one"])
def test_connecting_and_leaving_never_raise(
    cluster: Cluster, name: str, caplog: pytest.LogCaptureFixture
):
    async def broken(*_: Any) -> None:
        raise KeyError("a bug")

    setattr(cluster.first._parts.connections, name, broken)
    client = Client(cluster.first)
    caplog.clear()
    assert client.connect()["statusCode"] == (500 if name == "open" else 200)
    assert client.disconnect()["statusCode"] == 200
    assert len(lines(caplog)) == 1


def test_wake_ups_that_break_do_not_take_the_answer_with_them(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
):
    client = cluster.client()
    create(client)
    wakeups = cluster.first._parts.wakeups

    async def broken(*_: Any) -> None:
        raise KeyError("a bug")

    wakeups.flush = broken  # type: ignore[method-assign]
    wakeups.pushes.add(GroupKey("family"), ["somebody"])
    assert write(client, b"value") == 0
    assert read(client) == [b"value"]
