"""Two teams and an admin on one cluster, through the whole chain: each signs as itself, and gets
what ACLs allow it."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from support.chain import local_api, shim

SECONDS = 60
ACCOUNT = "123456789012"
ADMIN = f"User:arn:aws:iam::{ACCOUNT}:user/admin"
WRITER = f"User:arn:aws:iam::{ACCOUNT}:role/writer"
READER = f"User:arn:aws:iam::{ACCOUNT}:user/reader"
IN_FORCE_S = 2.0
CALLERS = """
[admin]
aws_access_key_id = AKIAADMIN
aws_secret_access_key = of the admin
[writer]
aws_access_key_id = AKIAWRITER
aws_secret_access_key = of the writer
role = writer
[reader]
aws_access_key_id = AKIAREADER
aws_secret_access_key = of the reader
"""


class Shims(NamedTuple):
    admin: str
    writer: str
    reader: str
    more: ExitStack
    folder: Path
    url: str


@pytest.fixture
def shims(environment: dict[str, str], tmp_path: Path) -> Iterator[Shims]:
    callers = tmp_path / "callers.ini"
    callers.write_text(CALLERS)
    options = ["--sign", "--callers", str(callers), "--acls", "--super-user", ADMIN]
    keys = {"AWS_SHARED_CREDENTIALS_FILE": str(callers), "AWS_CONFIG_FILE": "/dev/null"}
    with ExitStack() as stack:
        url = stack.enter_context(local_api(tmp_path, environment, *options))
        found = [
            stack.enter_context(
                shim(
                    tmp_path, url, "--profile", name, "--region", "eu-central-1", name=name, **keys
                )
            )
            for name in ("admin", "writer", "reader")
        ]
        yield Shims(*found, stack, tmp_path, url)


def allow(admin: AdminClient, who: str, operation: AclOperation, name: str = "orders") -> None:
    kind = ResourceType.GROUP if operation is AclOperation.ALL else ResourceType.TOPIC
    allowed = AclPermissionType.ALLOW
    acl = AclBinding(kind, name, ResourcePatternType.LITERAL, who, "*", operation, allowed)
    for made in admin.create_acls([acl], request_timeout=SECONDS).values():
        made.result(SECONDS)


def sent(bootstrap: str, value: bytes) -> KafkaError | None:
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap, "message.timeout.ms": SECONDS * 1000})
    producer.produce(
        "orders", value, partition=0, on_delivery=lambda error, _: errors.append(error)
    )
    assert producer.flush(SECONDS) == 0
    return errors[0]


def received(bootstrap: str) -> bytes | KafkaError:
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": "readers"})
    try:
        reader.assign([TopicPartition("orders", 0, 0)])
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            message = reader.poll(1.0)
            if message is not None:
                error = message.error()
                return error if error is not None else message.value()
        raise AssertionError("nothing came")
    finally:
        reader.close()


def test_each_team_gets_what_acls_allow_it(shims: Shims):
    admin = AdminClient({"bootstrap.servers": shims.admin})
    for made in admin.create_topics([NewTopic("orders", 1)], request_timeout=SECONDS).values():
        made.result(SECONDS)
    allow(admin, WRITER, AclOperation.WRITE)
    allow(admin, READER, AclOperation.READ)
    for who in (READER, WRITER):
        allow(admin, who, AclOperation.ALL, "readers")
    time.sleep(IN_FORCE_S)
    assert sent(shims.writer, b"an order") is None
    assert received(shims.reader) == b"an order"
    forbidden = sent(shims.reader, b"forged")
    assert forbidden is not None
    assert forbidden.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    hidden = received(shims.writer)
    assert isinstance(hidden, KafkaError)
    assert hidden.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    writer = AdminClient({"bootstrap.servers": shims.writer})
    [deletion] = writer.delete_topics(["orders"], request_timeout=SECONDS).values()
    with pytest.raises(KafkaException) as refused:
        deletion.result(SECONDS)
    assert refused.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_who_cannot_sign_is_not_let_in(shims: Shims):
    stranger = shims.folder / "stranger.ini"
    stranger.write_text(CALLERS.replace("of the reader", "guessed"))
    keys = {"AWS_SHARED_CREDENTIALS_FILE": str(stranger), "AWS_CONFIG_FILE": "/dev/null"}
    options = ["--profile", "reader", "--region", "eu-central-1"]
    with pytest.raises(RuntimeError, match="403"):
        shims.more.enter_context(shim(shims.folder, shims.url, *options, name="stranger", **keys))
