"""ACLs, users and quotas on Apache Kafka 4.3.1 with its StandardAuthorizer and on Samsa: the same
answers to `kafka-acls` and `kafka-configs`, and to requests that these tools never send.

The steps are one story, told to both brokers by tools in one Java process. On both, clients without
a login are a super user.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from clients.kafka_tools import KafkaTools, Said
from server.peer import Peer
from support.broker import samsa_up
from support.kafka import a_kafka

from samsa.wire.apis import ApiKey
from samsa.wire.messages import (
    alter_client_quotas,
    alter_user_scram_credentials,
    create_acls,
    delete_acls,
)

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
EVERYONE = "User:ANONYMOUS"
PATIENCE_S = 10
ALICE, BOB = "User:alice", "User:bob"


@dataclass(frozen=True)
class Step:
    name: str
    tool: str
    arguments: tuple[str, ...]


def acls(name: str, *arguments: str) -> Step:
    return Step(name, "acls", arguments)


def users(name: str, action: str, *arguments: str, who: tuple[str, ...] = ("alice",)) -> Step:
    named = [word for each in who for word in ("--entity-name", each)]
    return Step(name, "configs", (action, "--entity-type", "users", *named, *arguments))


def configs(name: str, *arguments: str) -> Step:
    return Step(name, "configs", arguments)


OF_ALICE = ("--allow-principal", ALICE)
SALTED = "SCRAM-SHA-256=[iterations=8192,password=s3cret]"
STEPS = [
    acls("nothing is listed at first", "--list"),
    acls("reading and writing a topic is allowed", "--add", *OF_ALICE,
         "--operation", "Read", "--operation", "Write", "--topic", "orders"),
    acls("the same once more", "--add", *OF_ALICE, "--operation", "Read", "--topic", "orders"),
    acls("a prefix is allowed from one address", "--add", *OF_ALICE, "--allow-host", "10.0.0.7",
         "--operation", "All", "--group", "billing-", "--resource-pattern-type", "prefixed"),
    acls("a user is denied every topic", "--add", "--deny-principal", BOB,
         "--deny-host", "10.0.0.9", "--operation", "Read", "--topic", "*"),
    acls("the cluster", "--add", *OF_ALICE, "--operation", "Alter", "--cluster"),
    acls("what a producer needs", "--add", "--allow-principal", BOB, "--producer",
         "--topic", "parcels", "--transactional-id", "parcels-1"),
    acls("what a consumer needs", "--add", "--allow-principal", BOB, "--consumer",
         "--topic", "parcels", "--group", "readers"),
    acls("all are listed", "--list"),
    acls("those of a topic are listed", "--list", "--topic", "orders"),
    acls("those that match a topic are listed", "--list", "--topic", "orders",
         "--resource-pattern-type", "match"),
    acls("those of a principal are listed", "--list", "--principal", ALICE),
    acls("one is removed", "--remove", "--force", *OF_ALICE,
         "--operation", "Write", "--topic", "orders"),
    acls("one that is not there is removed", "--remove", "--force", *OF_ALICE,
         "--operation", "Write", "--topic", "orders"),
    acls("all of a topic are removed", "--remove", "--force", "--topic", "parcels"),
    acls("all that match a group are removed", "--remove", "--force", "--group", "billing-7",
         "--resource-pattern-type", "match"),
    acls("the rest is listed", "--list"),
    users("a user gets a password", "--alter", "--add-config", SALTED),
    users("a user gets another for another mechanism", "--alter",
          "--add-config", "SCRAM-SHA-512=[password=s3cret]"),
    users("too few iterations", "--alter",
          "--add-config", "SCRAM-SHA-256=[iterations=100,password=s3cret]"),
    users("too many iterations", "--alter",
          "--add-config", "SCRAM-SHA-256=[iterations=20000,password=s3cret]"),
    users("a user is described", "--describe"),
    users("a user that is not there is described", "--describe", who=("nobody",)),
    users("a user gets quotas", "--alter",
          "--add-config", "producer_byte_rate=1048576,request_percentage=12.5"),
    users("a user gets a quota that is none", "--alter", "--add-config", "nonsense=1"),
    users("a user gets a quota that is not positive", "--alter",
          "--add-config", "producer_byte_rate=-1"),
    configs("the default of users", "--alter", "--entity-type", "users", "--entity-default",
            "--add-config", "consumer_byte_rate=2048"),
    configs("a user at a client", "--alter", "--entity-type", "users", "--entity-name", "bob",
            "--entity-type", "clients", "--entity-default",
            "--add-config", "controller_mutation_rate=5"),
    configs("an address", "--alter", "--entity-type", "ips", "--entity-name", "10.0.0.7",
            "--add-config", "connection_creation_rate=3"),
    configs("users are described", "--describe", "--entity-type", "users"),
    configs("addresses are described", "--describe", "--entity-type", "ips"),
    configs("a user at a client is described", "--describe", "--entity-type", "users",
            "--entity-name", "bob", "--entity-type", "clients", "--entity-default"),
    users("a quota is removed", "--alter", "--delete-config", "producer_byte_rate"),
    users("a password is removed", "--alter", "--delete-config", "SCRAM-SHA-256"),
    users("a password that is not there is removed", "--alter",
          "--delete-config", "SCRAM-SHA-256"),
    users("what is left of a user", "--describe"),
]  # fmt: skip


@dataclass(frozen=True)
class Both:
    kafka: Peer
    samsa: Peer
    told: dict[str, tuple[Said, Said]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folders = [tmp_path_factory.mktemp(name) for name in ("kafka", "samsa", "tools")]
    closed = (f"authorizer.class.name={AUTHORIZER}", f"super.users={EVERYONE}")
    with (
        a_kafka(folders[0], *closed) as kafka,
        samsa_up(folders[1], "--acls", "--super-user", EVERYONE) as samsa,
        Peer(kafka.address) as one,
        Peer(samsa.address) as other,
    ):
        tools = KafkaTools((folders[2] / "log").open("w"))
        brokers = (kafka.bootstrap, samsa.bootstrap)
        told = {step.name: tell(tools, step, brokers) for step in STEPS}
        tools.close()
        yield Both(one, other, told)


def tell(tools: KafkaTools, step: Step, brokers: tuple[str, str]) -> tuple[Said, Said]:
    """Apache Kafka answers before it knows everything itself: steps that look are repeated."""
    looks = step.arguments[0] in ("--list", "--describe")
    deadline = time.monotonic() + (PATIENCE_S if looks else 0)
    while True:
        kafka, samsa = (
            comparable(tools.run(step.tool, broker, *step.arguments)) for broker in brokers
        )
        if kafka == samsa or time.monotonic() >= deadline:
            return kafka, samsa
        time.sleep(0.2)


def comparable(said: Said) -> Said:
    """ACLs, and the configs of a user, come in the order of hash tables."""
    return Said(said.status, sorted(map(in_order, said.out)), sorted(map(in_order, said.err)))


def in_order(line: str) -> str:
    head, are, listed = line.partition(" are ")
    return head + are + ", ".join(sorted(re.split(r", ", listed))) if are else line


@pytest.mark.parametrize("name", [step.name for step in STEPS])
def test_samsa_says_what_apache_kafka_says(name: str, both: Both):
    kafka, samsa = both.told[name]
    assert samsa == kafka


def test_the_story_is_not_about_nothing(both: Both):
    """If the tools failed on both brokers alike, every step would pass."""
    (all_of_them, _) = both.told["all are listed"]
    assert sum("permissionType" in line for line in all_of_them.out) == 12
    (user, _) = both.told["a user is described"]
    assert any("SCRAM-SHA-256=iterations=8192" in line for line in user.out)
    (left, _) = both.told["what is left of a user"]
    assert any("request_percentage=12.5" in line for line in left.out)
    assert not any("SCRAM-SHA-256" in line for line in left.out)


# What the tools never send


def of_entities(entries: list[Any]) -> dict[Any, tuple[int, str | None]]:
    return {
        frozenset((part.entity_type, part.entity_name) for part in entry.entity): (
            entry.error_code,
            entry.error_message,
        )
        for entry in entries
    }


ENTITIES: list[tuple[dict[str, str | None], list[tuple[str, float | None]]]] = [
    ({}, [("producer_byte_rate", 1)]),
    ({"group": "g"}, [("producer_byte_rate", 1)]),
    ({"user": ""}, [("producer_byte_rate", 1)]),
    ({"ip": "10.0.0.1", "user": "alice"}, [("connection_creation_rate", 1)]),
    ({"ip": "10.0.0.2"}, [("producer_byte_rate", 1)]),
    ({"ip": "10.0.0.3"}, [("connection_creation_rate", 2**31)]),
    ({"ip": None}, [("connection_creation_rate", 1.5)]),
    ({"user": "a"}, [("producer_byte_rate", 0)]),
    ({"user": "b"}, [("producer_byte_rate", 1), ("producer_byte_rate", 2)]),
    ({"user": "c"}, [("nonsense", None)]),
    ({"user": "d"}, [("request_percentage", 1.5), ("consumer_byte_rate", 2)]),
    ({"user": "e"}, [("consumer_byte_rate", 2)]),
    ({"user": "e"}, [("consumer_byte_rate", 3)]),
]


@pytest.mark.parametrize("validate_only", [True, False])
def test_quotas_are_refused_in_the_same_words(both: Both, validate_only: bool):
    entries = [
        alter_client_quotas.ENTRY(
            entity=[
                alter_client_quotas.ENTITY(entity_type=kind, entity_name=name)
                for kind, name in entity.items()
            ],
            ops=[
                alter_client_quotas.OP(key=key, value=value or 0.0, remove=value is None)
                for key, value in values
            ],
        )
        for entity, values in ENTITIES
    ]
    row = alter_client_quotas.REQUEST(entries=entries, validate_only=validate_only)
    kafka, samsa = (
        of_entities(peer.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, row).entries)
        for peer in (both.kafka, both.samsa)
    )
    assert samsa == kafka


def test_credentials_are_refused_in_the_same_words(both: Both):
    def put(name: str, mechanism: int = 1, iterations: int = 4096) -> Any:
        return alter_user_scram_credentials.UPSERTION(
            name=name, mechanism=mechanism, iterations=iterations, salt=b"salt",
            salted_password=b"p" * 32,
        )  # fmt: skip

    def drop(name: str, mechanism: int = 1) -> Any:
        return alter_user_scram_credentials.DELETION(name=name, mechanism=mechanism)

    row = alter_user_scram_credentials.REQUEST(
        deletions=[drop("nobody"), drop("nobody"), drop("odd", 7), drop("twice")],
        upsertions=[put(""), put("odd2", 0), put("few", 1, 1), put("many", 2, 99_999), put("ok"),
                    put("twice"), put("both"), put("both", 2)],
    )  # fmt: skip
    kafka, samsa = (
        {
            one.user: (one.error_code, one.error_message)
            for one in peer.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, row).results
        }
        for peer in (both.kafka, both.samsa)
    )
    assert samsa == kafka


TOPIC, CLUSTER, LITERAL, ANY, READ, ALLOW = 2, 4, 3, 1, 3, 3
CREATIONS = [{}, {"resource_type": CLUSTER}, {"resource_name": ""}, {"host": "10.0.0.7"}]
"""To a request with an ANY or a principal without a colon in one of them, Apache Kafka answers
UNKNOWN_SERVER_ERROR to all; Samsa refuses just that one."""


def test_acls_are_refused_in_the_same_words(both: Both):
    given = {
        "resource_type": TOPIC, "resource_name": "raw", "resource_pattern_type": LITERAL,
        "principal": ALICE, "host": "*", "operation": READ, "permission_type": ALLOW,
    }  # fmt: skip
    row = create_acls.REQUEST(
        creations=[create_acls.CREATION(**{**given, **changed}) for changed in CREATIONS]
    )
    kafka, samsa = (
        [
            (one.error_code, one.error_message)
            for one in peer.ask(ApiKey.CREATE_ACLS, 3, row).results
        ]
        for peer in (both.kafka, both.samsa)
    )
    assert samsa == kafka
    wanted = {
        "resource_type_filter": TOPIC, "resource_name_filter": "raw", "pattern_type_filter": ANY,
        "principal_filter": None, "host_filter": None, "operation": ANY, "permission_type": ANY,
    }  # fmt: skip
    row = delete_acls.REQUEST(filters=[delete_acls.FILTER(**wanted)] * 2)
    kafka, samsa = (
        [in_order_of_hosts(one) for one in peer.ask(ApiKey.DELETE_ACLS, 3, row).filter_results]
        for peer in (both.kafka, both.samsa)
    )
    assert samsa == kafka


def in_order_of_hosts(result: Any) -> Any:
    result.matching_acls.sort(key=lambda acl: acl.host)
    return result
