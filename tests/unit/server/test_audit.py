"""What the audit log says, how often, and never a secret or a line without a bound."""

import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest

from samsa.access.view import AdminChange
from samsa.broker.broker import Broker
from samsa.runtime import audit
from samsa.runtime.audit import AGAIN_S, LONGEST, REFUSALS_A_SECOND, Audit
from samsa.runtime.audited_changes import CHANGES, MOST_LINES
from samsa.security.access import Question
from samsa.security.kinds import Operation, ResourceType
from samsa.security.principals import Principal
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import KafkaRequest
from samsa.wire.messages import create_topics, delete_records, offset_delete
from samsa_broker.server.audited_requests import AuditedRequests

ALICE = Principal("User", "alice")
DENIED = Question(ALICE, "10.0.0.1", Operation.READ, ResourceType.TOPIC, "orders")


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def written(clock: Clock, caplog: pytest.LogCaptureFixture) -> Audit:
    caplog.set_level(logging.INFO, "samsa.audit")
    return Audit(clock)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    return [(each.getMessage(), each.fields) for each in caplog.records]


def test_a_refused_operation_is_a_line_with_all_that_an_auditor_asks(
    written: Audit, caplog: pytest.LogCaptureFixture
):
    written.decided(DENIED, None)
    ((name, fields),) = lines(caplog)
    assert name == "operation refused"
    assert fields["principal"] == "User:alice"
    assert fields["address"] == "10.0.0.1"
    assert fields["operation"] == "READ"
    assert fields["resource"] == "TOPIC:orders"


def test_the_same_refusal_is_told_once_a_minute_with_a_count(
    written: Audit, caplog: pytest.LogCaptureFixture, clock: Clock
):
    for _ in range(10):
        written.decided(DENIED, None)
    written.decided(DENIED._replace(name="other"), None)
    assert len(caplog.records) == 2
    clock.now_s += AGAIN_S
    written.decided(DENIED, None)
    assert lines(caplog)[-1][1]["before"] == "9"
    assert written.refused_operations == 12


def test_a_flood_of_refusals_has_few_lines_and_is_counted(
    written: Audit, caplog: pytest.LogCaptureFixture, clock: Clock
):
    for number in range(1_000):
        written.refused_login("wrong", address=f"10.0.0.1:{number}", listener="tls", mechanism="")
    assert len(caplog.records) == REFUSALS_A_SECOND
    clock.now_s += 1
    written.refused_login("wrong", address="10.0.0.2:1", listener="tls", mechanism="")
    assert lines(caplog)[-1][1]["left_out"] == str(1_000 - REFUSALS_A_SECOND)
    assert written.refused_logins == 1_001


def test_what_a_client_chose_is_cut(written: Audit, caplog: pytest.LogCaptureFixture):
    written.refused_login("x" * 60_000, address="a", listener="l", mechanism="m" * 60_000)
    written.logged_in(principal="p" * 60_000)
    assert all(len(text) <= LONGEST + 1 for _, fields in lines(caplog) for text in fields.values())


def test_refusals_that_are_remembered_are_bounded(written: Audit, monkeypatch: pytest.MonkeyPatch):
    for number in range(audit.REMEMBERED + 50):
        written.decided(DENIED._replace(name=str(number)), None)
    assert len(written._refusals) == audit.REMEMBERED


def test_refusals_of_long_names_are_told_apart_and_remembered_in_little_memory(
    written: Audit, caplog: pytest.LogCaptureFixture
):
    for name in ("x" * 1_000_000, "x" * 1_000_000 + "y", "x" * 1_000_000):
        written.decided(DENIED._replace(name=name), None)
    assert len(caplog.records) == 2
    assert all(len(question.name) < 300 for question in written._refusals)


# Changes


def test_a_change_of_access_control_is_a_line(written: Audit, caplog: pytest.LogCaptureFixture):
    written.administered(AdminChange(ALICE, "/10.0.0.1", "user added", "bob SCRAM-SHA-512"))
    ((name, fields),) = lines(caplog)
    assert (name, fields["address"], fields["resource"]) == (
        "change",
        "10.0.0.1",
        "bob SCRAM-SHA-512",
    )


async def changed(written: Audit, key: ApiKey, row: Any, answer: Any) -> None:
    class Access:
        principal = ALICE

    async def answered(*_: Any, **__: Any) -> Any:
        return answer

    requests = AuditedRequests.__new__(AuditedRequests)
    requests._audit, requests._peer, requests.access = written, "10.0.0.1:5", Access()  # type: ignore[assignment]
    version = APIS[key].versions[-1]
    body = memoryview(APIS[key].request.encode_bytes(version, row))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("samsa.client_requests.answer", answered)
        for name in ("_address", "_client_host"):
            setattr(requests, name, None)
        requests._broker = cast(Broker, SimpleNamespace(throttling=None))
        request = KafkaRequest(key, version, 1, "c", body)
        assert await requests.answer(request) is answer


async def test_a_change_is_a_line_for_each_resource_with_its_outcome(
    written: Audit, caplog: pytest.LogCaptureFixture
):
    topics = [
        create_topics.TOPIC_RESPONSE(name="made"),
        create_topics.TOPIC_RESPONSE(name="there", error_code=36),
    ]
    answer = create_topics.RESPONSE(topics=topics)
    await changed(written, ApiKey.CREATE_TOPICS, create_topics.REQUEST(), answer)
    assert [(fields["resource"], fields["outcome"]) for _, fields in lines(caplog)] == [
        ("made", "none"),
        ("there", "topic already exists"),
    ]
    assert lines(caplog)[0][1]["action"] == "CreateTopics"


async def test_a_change_of_thousands_has_a_bounded_number_of_lines(
    written: Audit, caplog: pytest.LogCaptureFixture
):
    partitions = [delete_records.PARTITION_RESPONSE(partition_index=n) for n in range(5_000)]
    answer = delete_records.RESPONSE(
        topics=[delete_records.TOPIC_RESPONSE(name="t", partitions=partitions)]
    )
    await changed(written, ApiKey.DELETE_RECORDS, delete_records.REQUEST(), answer)
    assert len(caplog.records) == MOST_LINES


async def test_changes_that_were_refused_have_few_lines_and_are_counted(
    written: Audit, caplog: pytest.LogCaptureFixture, clock: Clock
):
    refused = [create_topics.TOPIC_RESPONSE(name=f"t{n}", error_code=29) for n in range(90)]
    answer = create_topics.RESPONSE(topics=refused)
    for _ in range(10):
        await changed(written, ApiKey.CREATE_TOPICS, create_topics.REQUEST(), answer)
    assert len(caplog.records) == REFUSALS_A_SECOND
    made = create_topics.RESPONSE(topics=[create_topics.TOPIC_RESPONSE(name="made")])
    await changed(written, ApiKey.CREATE_TOPICS, create_topics.REQUEST(), made)
    assert lines(caplog)[-1][1]["resource"] == "made"
    clock.now_s += 1
    await changed(written, ApiKey.CREATE_TOPICS, create_topics.REQUEST(), answer)
    left_out = [fields.get("left_out") for _, fields in lines(caplog)]
    assert str(900 - REFUSALS_A_SECOND) in left_out


async def test_an_answer_that_does_not_name_its_group_is_audited_by_the_request(
    written: Audit, caplog: pytest.LogCaptureFixture
):
    asked = offset_delete.REQUEST(group_id="billing")
    await changed(written, ApiKey.OFFSET_DELETE, asked, offset_delete.RESPONSE())
    assert lines(caplog)[0][1]["resource"] == "group billing"


@pytest.mark.parametrize("key", CHANGES)
async def test_every_audited_answer_may_be_empty(key: ApiKey, written: Audit):
    await changed(written, key, APIS[key].request(), APIS[key].response())
