"""The examples of docs/envelope.md are what the code writes and reads."""

import re
from pathlib import Path

import pytest

from samsa_websocket.envelope import (
    EnvelopeError,
    Error,
    ErrorAction,
    Failure,
    Gather,
    News,
    ParkedReply,
    Ping,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    UrlRange,
    Wake,
    decode,
    encode,
)

PAGE = (Path(__file__).parents[3] / "docs" / "envelope.md").read_text()
EXAMPLES = re.findall(r'`(1 [a-z]+ \d+(?: \{.*?\})?|\{"message".*?\})`', PAGE)
WRITTEN = {
    "1 request 17\nAAECAw==": Request(17, b"\0\1\2\3"),
    '1 request 17 {"waited":480}\nAAECAw==': Request(17, b"\0\1\2\3", 480),
    "1 reply 17": Reply(17),
    '1 request 17 {"several":true}\nAAECAw==': Request(17, b"\0\1\2\3", several=True),
    '1 request 17 {"lingers":true}\nAAECAw==': Request(17, b"\0\1\2\3", lingers=True),
    '1 reply 17 {"several":true}\nAAECAw==': Reply(17, b"\0\1\2\3", several=True),
    '1 reply 17 {"mute":2000}\nAAECAw==': Reply(17, b"\0\1\2\3", mute_ms=2000),
    '1 reply 17 {"several":true,"mute":2000}\nAAECAw==': Reply(17, b"\0\1\2\3", True, 2000),
    '1 gather 19 {"urls":[],"pieces":["AA=="],"mute":2000}': Gather(19, (b"\0",), mute_ms=2000),
    '1 reference 18 {"key":"k","size":9,"sha256":"ab","several":true}': Reference(
        18, "k", 9, "ab", several=True
    ),
    '1 gather 19 {"urls":[],"pieces":["AA=="],"several":true}': Gather(19, (b"\0",), several=True),
    '1 parked 17 {"wait":500,"good":30000,"watches":["p/0"]}\nAAAAAQ==': ParkedReply(
        17, 500, ("p/0",), b"\0\0\0\1", 30_000
    ),
    '1 wake 0 {"names":["p/0"]}': Wake(("p/0",)),
    '1 wake 0 {"names":["p/0"],"news":[["p/0","t","0f",2,17,18,3,2]]}\nAAE=': Wake(
        ("p/0",), (News("p/0", "t", "0f", 2, 17, 18, 3, 2),), b"\0\1"
    ),
    '1 upload 18 {"size":9,"sha256":"ab"}': Upload(18, 9, "ab"),
    '1 ticket 18 {"key":"k","url":"u","headers":{"a":"b"}}': Ticket(18, "k", "u", (("a", "b"),)),
    '1 reference 18 {"key":"k","size":9,"sha256":"ab"}': Reference(18, "k", 9, "ab"),
    '1 gather 19 {"urls":["u","v"],"pieces":["AA==",[0,4,9],[1,0,1],[0,20,1]]}': Gather(
        19, (b"\0", UrlRange("u", 4, 9), UrlRange("v", 0, 1), UrlRange("u", 20, 1))
    ),
    '1 gather 19 {"urls":["u"],"pieces":["AA==",[0,4,9,7],[0,13,2]]}': Gather(
        19, (b"\0", UrlRange("u", 4, 9, 7), UrlRange("u", 13, 2))
    ),
    "1 ping 0": Ping(),
    '1 error 17 {"code":"retry","text":"busy"}': Error(17, ErrorAction.RETRY, "busy"),
}


def test_the_page_shows_every_kind_and_each_example_is_a_message():
    kinds = {type(decode(example)) for example in EXAMPLES}
    assert kinds == {type(message) for message in WRITTEN.values()} | {Failure}


@pytest.mark.parametrize(("text", "message"), WRITTEN.items())
def test_a_message_is_written_and_read_in_exactly_this_way(text, message):
    assert encode(message) == text
    assert decode(text) == message


def test_what_api_gateway_says_itself_is_a_failure():
    text = '{"message": "Internal server error", "connectionId":"L0SM9=", "requestId":"X="}'
    assert decode(text) == Failure("Internal server error", "X=")


def test_members_that_are_not_known_are_ignored():
    assert decode('1 wake 0 {"names":["a"],"colour":"blue"}') == Wake(("a",))


def test_an_answer_of_a_function_that_knows_no_quotas_mutes_nobody():
    assert decode("1 reply 17\nAA==") == Reply(17, b"\0", mute_ms=0)
    assert decode('1 gather 19 {"urls":[],"pieces":["AA=="]}') == Gather(19, (b"\0",), mute_ms=0)


@pytest.mark.parametrize("kind", ["reply", "gather"])
def test_a_shim_that_does_not_know_mute_gets_the_same_answer(
    kind: str, monkeypatch: pytest.MonkeyPatch
):
    """Such a shim reads all other members, as `decode` does without this one."""
    told = {"reply": Reply(17, b"\0", mute_ms=2000), "gather": Gather(17, (b"\0",), mute_ms=2000)}
    text = encode(told[kind])
    monkeypatch.setattr("samsa_websocket.envelope.kinds._mute_ms", lambda _: 0)
    assert decode(text) == told[kind]._replace(mute_ms=0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "2 request 17\nAA==",
        "1 letter 17",
        "1 request\nAA==",
        "1 request -1\nAA==",
        "1 request ²\nAA==",
        "1 request 99999999999999999999\nAA==",
        "1 request 17\nAA=",
        "1 request 17\nAA==\n",
        "1 request 17 []\nAA==",
        '1 request 17 {"waited":true}\nAA==',
        '1 request 17 {"waited":1.5}\nAA==',
        '1 request 17 {"several":1}\nAA==',
        '1 request 17 {"lingers":1}\nAA==',
        '1 reply 17 {"mute":-1}\nAA==',
        '1 reply 17 {"mute":true}\nAA==',
        '1 gather 17 {"pieces":[],"mute":"x"}',
        "1 parked 17",
        '1 parked 17 {"wait":1,"watches":"abc"}',
        '1 gather 1 {"urls":["u"],"pieces":[[1,0,1]]}',
        '1 gather 1 {"urls":["u"],"pieces":[[0,-1,1]]}',
        '1 gather 1 {"urls":["u"],"pieces":[[0,1]]}',
        '1 gather 1 {"urls":["u"],"pieces":[[0,1,1,1.5]]}',
        '1 gather 1 {"urls":["u"],"pieces":[[0,1,1,9223372036854775808]]}',
        '1 gather 1 {"urls":["u"],"pieces":[[0,1,1,1,1]]}',
        '1 error 1 {"code":"perhaps"}',
        '{"message": 1}',
        "{",
        "1 wake 0 " + "[" * 100_000,
        '1 wake 0 {"names":[],"news":[["p","t","0f",2,17,18,3,1]]}\nAAE=',
        '1 wake 0 {"names":[],"news":[["p","t","0f",2,17,18,2]]}\nAAE=',
        '1 wake 0 {"names":[],"news":[["p","t",1,2,17,18,3,2]]}\nAAE=',
        '1 wake 0 {"names":' + "9" * 5_000 + "}",
    ],
)  # fmt: skip
def test_a_text_that_is_no_message_is_one_error(text):
    with pytest.raises(EnvelopeError):
        decode(text)
