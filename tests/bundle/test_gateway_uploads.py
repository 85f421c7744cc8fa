"""What was uploaded belongs to the principal that asked for its ticket."""

import logging
from hashlib import sha256

import pytest
from bundle.given_gateway import Client, Cluster, frame_of, put, row_of
from bundle.talk import TOPIC, create, offset_in, read
from server.talk import PRODUCE, batch, fetch_row, produce_row

from samsa.wire.apis import ApiKey
from samsa_websocket import envelope
from samsa_websocket.gateway.uploads import request_key

GRETE = "arn:aws:iam::123456789012:user/grete"
GREGOR = "arn:aws:sts::123456789012:assumed-role/clerk/gregor"


def large() -> bytes:
    return frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"v" * 200_000)))


def uploaded(client: Client, frame: bytes) -> envelope.Ticket:
    ticket = client.say(envelope.Upload(1, len(frame), sha256(frame).hexdigest()))
    assert isinstance(ticket, envelope.Ticket)
    put(ticket, frame)
    return ticket


def refer(client: Client, key: str, frame: bytes) -> envelope.Message:
    return client.say(envelope.Reference(1, key, len(frame), sha256(frame).hexdigest()))


def why_refused(answer: envelope.Message) -> str:
    assert isinstance(answer, envelope.Error), answer
    assert (answer.seq, answer.code) == (1, envelope.ErrorAction.CLOSE)
    return answer.text


@pytest.mark.parametrize("stranger", [GREGOR, None])
def test_another_principal_cannot_submit_what_one_has_uploaded(
    cluster: Cluster, stranger: str | None
):
    client, other = cluster.client(principal=GRETE), cluster.client(principal=stranger)
    create(client)
    frame = large()
    key = uploaded(client, frame).key
    assert "no upload of this caller" in why_refused(refer(other, key, frame))
    assert read(client) == []
    assert offset_in(row_of(ApiKey.PRODUCE, PRODUCE, refer(client, key, frame))) == 0


def test_whether_another_principal_has_uploaded_something_is_not_to_be_found_out(
    cluster: Cluster,
):
    client, other = cluster.client(principal=GRETE), cluster.client(principal=GREGOR)
    frame = large()
    there = uploaded(client, frame).key
    missing = f"{there}0"
    told = [why_refused(refer(other, key, frame)) for key in (there, missing)]
    assert told[0].replace(there, "KEY") == told[1].replace(missing, "KEY")


def test_a_principal_may_submit_on_another_connection_what_it_has_uploaded(cluster: Cluster):
    """A shim replaces its WebSocket now and then, also between an upload and its reference."""
    client = cluster.client(principal=GRETE)
    create(client)
    frame = large()
    key = uploaded(client, frame).key
    later = cluster.client(cluster.another(), GRETE)
    assert offset_in(row_of(ApiKey.PRODUCE, PRODUCE, refer(later, key, frame))) == 0


OWN = request_key(GRETE, 1, "word")
NO_KEYS = {
    "a way up": "spill/../x",
    "a way up within": f"{OWN.rpartition('/')[0]}/../../log/x",
    "a way up behind": f"{OWN}/..",
    "a way up, encoded": OWN.replace("/1-", "/%2e%2e/1-"),
    "nothing behind the folder": "spill/",
    "nothing at all": "",
    "the log": "log/x",
    "a slash before": f"/{OWN}",
    "two slashes": OWN.replace("requests/", "requests//"),
    "an empty word": OWN.removesuffix("word"),
    "another case": OWN.upper(),
    "other digits": OWN.replace("/1-", "/١-"),
    "a line break behind": f"{OWN}\n",
    "a null": f"{OWN}\0",
    "half a character": f"{OWN}\ud800",
    "something long": OWN + "x" * 10_000,
    "a long number": OWN.replace("/1-", f"/{'1' * 40}-"),
    "another's": request_key(GREGOR, 1, "word"),
}


@pytest.mark.parametrize("key", NO_KEYS.values(), ids=NO_KEYS.keys())
def test_what_no_ticket_has_named_is_refused_in_one_line_and_no_store_is_asked(
    cluster: Cluster, key: str, caplog: pytest.LogCaptureFixture
):
    client = cluster.client(principal=GRETE)
    objects = cluster.first._parts.objects
    before = objects.calls["get"]
    with caplog.at_level(logging.INFO):
        caplog.clear()
        assert "no upload of this caller" in why_refused(refer(client, key, b"frame"))
    [line] = [record for record in caplog.records if record.name == "samsa.gateway"]
    assert (line.levelno, line.exc_info) == (logging.WARNING, None)
    assert len(line.getMessage()) < 500
    assert objects.calls["get"] == before


def test_a_response_that_was_spilled_cannot_be_sent_as_a_request(cluster: Cluster):
    client = cluster.client(principal=GRETE)
    create(client)
    client.upload(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"v" * 200_000)))
    row = fetch_row(TOPIC, 0)
    row.replica_id = -1
    answer = client.send(ApiKey.FETCH, 2, row)  # converted, and so put under spill/
    assert isinstance(answer, envelope.Gather)
    (piece,) = answer.pieces
    assert isinstance(piece, envelope.UrlRange)
    key = "spill/" + piece.url.partition("/spill/")[2].partition("?")[0]
    assert "no upload of this caller" in why_refused(refer(client, key, b"frame"))


def test_a_ticket_is_for_a_key_that_nobody_else_can_be_given(cluster: Cluster):
    clients = [cluster.client(principal=each) for each in (GRETE, GREGOR, GRETE)]
    tickets = [client.say(envelope.Upload(1, 5, "00")) for client in clients]
    keys = {ticket.key for ticket in tickets if isinstance(ticket, envelope.Ticket)}
    assert len(keys) == 3
