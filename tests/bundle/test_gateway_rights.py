"""Who signed the handshake decides what a connection may do, and nothing else does."""

import json
import logging
from hashlib import sha256
from typing import Any

import pytest
from bundle.closed import ADMIN, CLERK, GRETE, LOOK_MS, ClosedCluster, readable, written
from bundle.given_gateway import Client, Cluster, frame_of, put, row_of
from bundle.talk import TOPIC, create, look, values_in
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.ports import Unavailable
from samsa.security.kinds import Operation, Permission
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa_websocket import envelope

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
READ, WRITE = Operation.READ, Operation.WRITE
HOURS_MS = 3_600_000


@pytest.fixture
def closed(cluster: Cluster) -> ClosedCluster:
    return ClosedCluster(cluster)


def test_each_principal_may_do_what_acls_allow_it_and_no_more(closed: ClosedCluster):
    closed.allow(GRETE, READ)
    closed.allow(CLERK, WRITE)
    grete, clerk = closed.grete(), closed.clerk()
    assert (readable(grete), written(grete)) == (0, REFUSED)
    assert (readable(clerk), written(clerk)) == (REFUSED, 0)
    assert (readable(closed.admin), written(closed.admin)) == (0, 0)


def test_every_session_of_a_role_has_the_rights_of_the_role(closed: ClosedCluster):
    closed.allow(CLERK, READ)
    other = closed.client(principal=CLERK.replace("/gregor", "/someone.else"))
    assert readable(other) == 0
    chief = closed.client(principal=CLERK.replace("/clerk/", "/chief/"))
    assert readable(chief) == REFUSED


def test_without_a_signature_a_client_is_anonymous_and_may_do_nothing(closed: ClosedCluster):
    assert readable(closed.client(principal=None)) == REFUSED


def test_a_change_is_in_force_in_every_warm_function_after_a_second(closed: ClosedCluster):
    elsewhere = closed.another()
    grete = closed.grete(elsewhere)
    assert readable(grete) == REFUSED
    closed.allow(GRETE, READ)
    closed.a_moment_later(LOOK_MS)
    assert readable(grete) == 0
    closed.disallow(GRETE, READ)
    closed.a_moment_later(LOOK_MS)
    assert readable(grete) == REFUSED


def test_a_denial_outweighs(closed: ClosedCluster):
    closed.allow(GRETE, READ)
    closed.allow(GRETE, READ, permission=Permission.DENY)
    assert readable(closed.grete()) == REFUSED


# What a client says of itself

FORGED: list[dict[str, Any]] = [
    {"userArn": ADMIN, "principal": f"User:{ADMIN}", "source": "203.0.113.7"},
    {"requestContext": {"identity": {"userArn": ADMIN}, "connectionId": "admins"}},
    {"identity": {"userArn": ADMIN}, "connectionId": "admins", "super": True},
]


@pytest.mark.parametrize("words", FORGED, ids=["members", "requestContext", "identity"])
def test_what_a_message_says_of_its_sender_gives_no_rights(
    closed: ClosedCluster, words: dict[str, Any]
):
    grete = closed.grete()
    row = produce_row(TOPIC, batch(b"forged"))
    plain = envelope.encode(envelope.Request(1, frame_of(ApiKey.PRODUCE, PRODUCE, row)))
    header, _, frame = plain.partition("\n")
    answer = row_of(ApiKey.PRODUCE, PRODUCE, grete.say(f"{header} {json.dumps(words)}\n{frame}"))
    assert answer.responses[0].partition_responses[0].error_code == REFUSED
    refused = grete.say(json.dumps({**words, "message": "x", "body": plain}))
    assert isinstance(refused, envelope.Error)
    assert refused.code is envelope.ErrorAction.CLOSE


def test_the_address_of_an_acl_is_the_one_that_api_gateway_sees(closed: ClosedCluster):
    closed.allow(GRETE, READ, host="203.0.113.7")
    near, far = closed.grete(), Client(closed.first, GRETE)
    far.source = "198.51.100.1"
    assert far.connect(client="203.0.113.7")["statusCode"] == 200
    assert (readable(near), readable(far)) == (0, REFUSED)


@pytest.mark.parametrize(
    "arn",
    ["arn:aws:iam::123456789012:group/staff", "User:admin", f"{ADMIN}\n{GRETE}", "arn:" * 500],
)
def test_who_cannot_be_named_cannot_connect(
    closed: ClosedCluster, arn: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "samsa.audit")
    client = Client(closed.first, arn)
    assert client.connect()["statusCode"] == 403
    assert isinstance(client.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0)), envelope.Error)
    [line] = [each for each in caplog.records if each.getMessage() == "login refused"]
    assert len(str(line.__dict__["fields"])) < 1_000


# Connections that come, go, and come again


def test_a_connection_that_has_gone_has_no_rights_left(closed: ClosedCluster):
    elsewhere = closed.another()
    admin = closed.client(principal=ADMIN)
    admin.disconnect()
    admin.gateway = elsewhere
    answer = admin.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
    assert isinstance(answer, envelope.Error)
    assert answer.code is envelope.ErrorAction.CLOSE


def test_an_id_that_comes_again_brings_no_rights_of_the_one_before(closed: ClosedCluster):
    """API Gateway gives each connection an id of its own; should one come again, functions that
    served the first must not go by what they remember."""
    elsewhere = closed.another()
    admin = closed.client(elsewhere, ADMIN)
    assert readable(admin) == 0
    admin.gateway = closed.first
    admin.disconnect()
    again = Client(closed.first, GRETE)
    again.connection_id = admin.connection_id
    assert again.connect()["statusCode"] == 200
    again.gateway = elsewhere
    assert readable(again) == REFUSED


def test_a_client_that_connects_again_as_another_has_the_other_s_rights(closed: ClosedCluster):
    """A shim goes on with its numbers when it replaces its WebSocket: the same number is the same
    request, and not the same sender."""
    admin = closed.client(principal=ADMIN)
    row = produce_row(TOPIC, batch(b"v", producer_id=3, producer_epoch=0, base_sequence=0))
    admin.ask(ApiKey.PRODUCE, PRODUCE, row)
    grete = closed.grete()
    grete.seq = admin.seq
    repeated = grete.ask(ApiKey.PRODUCE, PRODUCE, row, again=True)
    assert repeated.responses[0].partition_responses[0].error_code == REFUSED
    assert repeated.responses[0].partition_responses[0].base_offset == -1


def test_a_connection_of_an_older_version_has_to_connect_again(closed: ClosedCluster):
    """Its item does not say where it came from."""
    admin = closed.client(principal=ADMIN)
    table = closed.first._parts.ledger.table
    forget = table.call(
        "update_item",
        Key={"pk": {"S": f"C#{admin.connection_id}"}, "sk": {"S": "CONNECTION"}},
        UpdateExpression="REMOVE #s",
        ExpressionAttributeNames={"#s": "source"},
    )
    closed.first._loop.run_until_complete(forget)
    admin.gateway = closed.another()
    answer = admin.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
    assert isinstance(answer, envelope.Error)
    assert "connect again" in answer.text
    assert admin.connect()["statusCode"] == 200
    admin.connected_at += 1
    assert readable(admin) == 0


def test_what_was_uploaded_before_a_right_was_taken_is_refused(closed: ClosedCluster):
    closed.allow(GRETE, WRITE)
    grete = closed.grete()
    frame = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"v" * 200_000)))
    digest = sha256(frame).hexdigest()
    ticket = grete.say(envelope.Upload(1, len(frame), digest))
    assert isinstance(ticket, envelope.Ticket)
    put(ticket, frame)
    closed.disallow(GRETE, WRITE)
    closed.a_moment_later()
    answer = grete.say(envelope.Reference(1, ticket.key, len(frame), digest))
    row = row_of(ApiKey.PRODUCE, PRODUCE, answer)
    assert row.responses[0].partition_responses[0].error_code == REFUSED


# Waiting


def test_a_wake_up_brings_no_records_and_the_fetch_after_it_is_checked(closed: ClosedCluster):
    closed.allow(GRETE, READ)
    grete = closed.grete(closed.another())
    assert isinstance(look(grete, 0, wait_ms=500), envelope.ParkedReply)
    closed.disallow(GRETE, READ)
    written(closed.admin, b"secret")
    [(to, wake)] = closed.pushes.sent
    assert to == grete.connection_id
    assert isinstance(wake, envelope.Wake)
    assert (wake.news, wake.frame) == ((), b"")
    closed.a_moment_later()
    answer = look(grete, 0, wait_ms=500, again=True, waited=10)
    assert isinstance(answer, envelope.Reply)
    row = row_of(ApiKey.FETCH, FETCH, answer)
    assert row.responses[0].partitions[0].error_code == REFUSED
    assert b"secret" not in bytes(answer.frame)


def test_who_may_not_read_is_not_parked_and_watches_nothing(closed: ClosedCluster):
    grete = closed.grete()
    answer = look(grete, 0, wait_ms=500)
    assert isinstance(answer, envelope.Reply | envelope.Gather)
    written(closed.admin)
    assert closed.pushes.sent == []


# The store of the ACLs


def failing(closed: ClosedCluster) -> None:
    async def fails(*_: object) -> int:
        raise Unavailable("not now")

    groups: Any = closed.first._parts.broker.groups
    groups.security_version = fails


def test_while_acls_cannot_be_read_those_of_a_moment_ago_hold(closed: ClosedCluster):
    closed.allow(GRETE, READ)
    grete = closed.grete()
    assert readable(grete) == 0
    failing(closed)
    closed.a_moment_later()
    assert (readable(grete), written(grete)) == (0, REFUSED)


def test_a_function_that_was_frozen_for_hours_does_not_go_by_its_old_acls(closed: ClosedCluster):
    grete = closed.grete()
    assert readable(closed.admin) == 0
    failing(closed)
    closed.a_moment_later(HOURS_MS)
    for client in (grete, closed.admin):
        answer = client.send(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
        assert isinstance(answer, envelope.Error)
        assert "ACLs" in answer.text


# The audit


def test_logins_refusals_and_changes_are_lines_of_the_audit(
    closed: ClosedCluster, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "samsa.audit")
    grete = closed.grete()
    written(grete)
    closed.allow(GRETE, READ)
    create(closed.admin, topic="orders")
    lines = [(r.getMessage(), r.__dict__["fields"]) for r in caplog.records]
    assert {fields["address"] for _, fields in lines} == {"203.0.113.7"}
    assert [what for what, _ in lines] == ["login", "operation refused", "change", "change"]
    login, refusal, allowed, made = (fields for _, fields in lines)
    assert (login["principal"], login["mechanism"]) == (f"User:{GRETE}", "AWS_IAM")
    assert (refusal["operation"], refusal["resource"]) == ("WRITE", f"TOPIC:{TOPIC}")
    assert (made["action"], made["resource"]) == ("CreateTopics", "orders")
    assert allowed["action"] == "create acl"
    assert made["principal"] == allowed["principal"] == f"User:{ADMIN}"


def test_values_are_read_by_those_who_may(closed: ClosedCluster):
    closed.allow(CLERK, READ)
    written(closed.admin, b"value")
    answer = closed.clerk().ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0))
    assert values_in(answer) == [b"value"]
