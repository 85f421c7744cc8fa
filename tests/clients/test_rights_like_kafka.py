"""What a client may do, on Apache Kafka 4.3.1 with its StandardAuthorizer and on Samsa: the same
answers to the same requests with the same ACLs, error by error.

Each case is a user of its own, so all ACLs are made before the first question. Kafka is asked over
the wire, by SASL PLAIN. Samsa's handlers are asked in this process, with the same ACLs.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.peer import Peer
from support.kafka import a_kafka, free_ports
from support.permissions import AGAIN, CODES, Case, Given, Question, cases, codes, set_up, told
from unit.handlers.matrix import CASES, DOOMED, NOTHING, Asked, Site, access_of, with_ids

from samsa.security.acls import Acl
from samsa.wire.apis import ApiKey
from samsa.wire.messages import (
    create_acls,
    describe_acls,
    describe_topic_partitions,
    sasl_authenticate,
    sasl_handshake,
)

PATIENCE_S = 60
PASSWORD = "gregor"
ANY, LITERAL = 1, 3
SETTINGS = (
    "listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:%d,"
    "CONTROLLER://127.0.0.1:{controller}",
    "advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:%d",
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,"
    "CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms=PLAIN",
)
DIFFERENT = {
    "Metadata, creating": "Kafka's new topic is unknown until the next request",
    "DescribeQuorum": "Kafka's controllers have a listener of their own",
    "DescribeConfigs, of client metrics": "there are none here",
    "DescribeUserScramCredentials": "Kafka repeats the error for each user",
}
"""Questions whose answers differ otherwise: only which errors refuse them is compared."""
REFUSALS = set(CODES.values())
FIRST = (ApiKey.CONSUMER_GROUP_DESCRIBE,)
"""Asked before the session of the group's member ends."""


def in_order() -> list[tuple[str, Asked]]:
    named = [(f"u{number}", asked) for number, asked in enumerate(CASES)]
    return sorted(named, key=lambda one: one[1].question.key not in FIRST)


def its_case(user: str, asked: Asked) -> Case:
    """With the ACLs of this user."""
    found = cases(asked.question, f"User:{user}", asked.given)
    return next(one for one in found if one.name == asked.case.name)


class Kafka:
    def __init__(self, admin: tuple[str, int], clients: tuple[str, int]) -> None:
        self._admin = Peer(admin)
        self._clients = clients

    def set_up(self) -> tuple[Given, dict[str, Any]]:
        steps = set_up(["doomed", *DOOMED], NOTHING)
        try:
            step = next(steps)
            while True:
                step = steps.send(self._answer(step))
        except StopIteration as done:
            given: Given = done.value
        return given, self._ids()

    def _answer(self, step: tuple[ApiKey, int, Any]) -> Any:
        deadline = time.monotonic() + PATIENCE_S
        row = self._admin.ask(*step)
        while set(codes(row)) & AGAIN and time.monotonic() < deadline:
            time.sleep(0.1)  # its internal topics are being made
            row = self._admin.ask(*step)
        assert not any(codes(row)), row
        return row

    def _ids(self) -> dict[str, Any]:
        row = describe_topic_partitions.REQUEST(topics=[])
        topics = self._admin.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, row).topics
        return {topic.name: topic.topic_id for topic in topics}

    def allow(self, acls: list[Acl]) -> None:
        rows = [
            create_acls.CREATION(
                resource_type=acl.resource_type,
                resource_name=acl.name,
                resource_pattern_type=acl.pattern_type,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
            for acl in acls
        ]
        made = self._admin.ask(ApiKey.CREATE_ACLS, 3, create_acls.REQUEST(creations=rows))
        assert not any(codes(made)), made
        deadline = time.monotonic() + PATIENCE_S
        while self._in_force() < len(set(acls)):
            assert time.monotonic() < deadline
            time.sleep(0.1)  # the broker follows its own log

    def _in_force(self) -> int:
        everything = describe_acls.REQUEST(
            resource_type_filter=ANY,
            resource_name_filter=None,
            pattern_type_filter=ANY,
            principal_filter=None,
            host_filter=None,
            operation=ANY,
            permission_type=ANY,
        )
        found = self._admin.ask(ApiKey.DESCRIBE_ACLS, 3, everything)
        return sum(len(resource.acls) for resource in found.resources)

    def ask(self, user: str, question: Question, given: Given) -> Any:
        with Peer(self._clients) as peer:
            peer.ask(ApiKey.SASL_HANDSHAKE, 1, sasl_handshake.REQUEST(mechanism="PLAIN"))
            login = sasl_authenticate.REQUEST(auth_bytes=f"\0{user}\0{PASSWORD}".encode())
            told = peer.ask(ApiKey.SASL_AUTHENTICATE, 2, login)
            assert not told.error_code, told
            return peer.ask(question.key, question.version, question.row(given))

    def close(self) -> None:
        self._admin.close()


@pytest.fixture
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    (port,) = free_ports(1)
    users = " ".join(f'user_{user}="{PASSWORD}"' for user, _ in in_order())
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    supers = [f"User:{user}" for user, asked in in_order() if asked.case.is_super]
    settings = [
        *(line % port if "%d" in line else line for line in SETTINGS),
        f"listener.name.sasl_plaintext.plain.sasl.jaas.config={module} required {users};",
        f"super.users={';'.join(['User:ANONYMOUS', *supers])}",
    ]
    with a_kafka(tmp_path_factory.mktemp("kafka"), *settings) as broker:
        found = Kafka(broker.address, ("127.0.0.1", port))
        yield found
        found.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with asyncio.Runner() as loop:
        found = Site(tmp_path, loop)
        yield found
        found.close()


def test_rights_are_those_of_kafka(kafka: Kafka, site: Site):
    topic_id = site.set_up(["doomed", *DOOMED]).topic_id
    everywhere = [acl for user, asked in in_order() for acl in its_case(user, asked).acls]
    kafka.allow(everywhere)
    given, ids = kafka.set_up()
    differences = []
    for user, asked in in_order():
        question, names, case, what = asked
        doomed = ids.get(names.doomed, names.doomed_id)
        there = names._replace(topic_id=given.topic_id, doomed_id=doomed)
        theirs = kafka.ask(user, question, there)
        here = question.row(with_ids(names, topic_id, site))
        ours = site.ask(question.key, question.version, here, access_of(case))
        if not _are_alike(asked, theirs, ours):
            differences.append(f"{what}\n  Kafka: {told(theirs)}\n  Samsa: {told(ours)}")
    assert not differences, "\n".join(differences)


def _are_alike(asked: Asked, theirs: Any, ours: Any) -> bool:
    if asked.question.name not in DIFFERENT:
        return told(theirs) == told(ours)
    if asked.case.refused is None:
        return not REFUSALS & {*codes(theirs), *codes(ours)}
    return set(codes(theirs)) == set(codes(ours))
