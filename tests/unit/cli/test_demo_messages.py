"""What the serverless demo says of each message that passes."""

import pytest

from samsa.wire.apis import ApiKey
from samsa_broker.cli.demo_messages import UNKNOWN, WORDS, about
from samsa_websocket.envelope import (
    Error,
    ErrorAction,
    Gather,
    Message,
    ParkedReply,
    Ping,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    UrlRange,
    Wake,
    encode,
)

PRODUCE, FETCH = ApiKey.PRODUCE.to_bytes(2, "big"), ApiKey.FETCH.to_bytes(2, "big")
SEVERAL = b"".join([(10).to_bytes(4, "big") + PRODUCE + bytes(8)] * 3)
SHA = "0" * 64
RANGE = UrlRange("http://here/there", 0, 10)
TOLD: list[tuple[Message, str]] = [
    (Request(1, FETCH + bytes(8)), "Fetch"),
    (Request(1, SEVERAL, several=True), "3 × Produce"),
    (Request(1, b"\xff\xff" + bytes(8)), UNKNOWN),
    (Request(1, b""), UNKNOWN),
    (Request(1, b"", several=True), f"0 × {UNKNOWN}"),
    (Reference(1, "spill/requests/a", 10, SHA), "uploaded request"),
    (Upload(1, 10, SHA), "wants to upload"),
    (Ticket(1, "key", "http://here", ()), "presigned URL"),
    (Reply(1, b"answer"), "answer"),
    (ParkedReply(1, 500, (), b"", 0), "parked"),
    (Gather(1, (b"head", RANGE)), "1 presigned range"),
    (Gather(1, (RANGE, b"head", RANGE)), "2 presigned ranges"),
    (Wake(("p/a",)), "wake-up"),
    (Error(1, ErrorAction.RETRY, "later"), "error: retry"),
    (Ping(), "ping"),
]


@pytest.mark.parametrize(("message", "words"), TOLD, ids=range(len(TOLD)))
def test_each_message_has_its_words(message: Message, words: str):
    assert about(encode(message)) == words


@pytest.mark.parametrize("text", ["", "no envelope", "1 nonsense 1", "{", "1 request 1\n!"])
def test_what_is_no_message_is_unknown(text: str):
    assert about(text) == UNKNOWN


def test_a_failure_is_api_gateways_own():
    assert about('{"message": "Internal server error"}') == "failure"


def test_every_kind_that_passes_has_words():
    assert WORDS.keys() >= {type(message) for message, _ in TOLD}
