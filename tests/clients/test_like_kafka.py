"""Administration over the raw wire, on Apache Kafka 4.3.1 and on Samsa: the same answers.

What tools and client libraries never send, or hide: bad requests, every version, every error with
its words. A case is a list of requests; the rows that come back are compared field by field, but
for what cannot be the same (ids, the address) and what is told in our own words.
"""

import itertools
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from property.wire.served import DIFFERENT, Versions, differences, kafkas
from server.administer import APPEND, DELETE, SET, SUBTRACT, assignments, change, changes
from server.peer import Peer
from server.talk import batch
from support.broker import Broker, samsa_up
from support.chain import a_chain
from support.kafka import a_kafka
from support.stores import places
from support.waiting import eventually

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.messages import (
    alter_configs,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    api_versions,
    create_acls,
    create_partitions,
    create_topics,
    delete_acls,
    delete_records,
    delete_topics,
    describe_acls,
    describe_client_quotas,
    describe_cluster,
    describe_configs,
    describe_producers,
    describe_quorum,
    describe_topic_partitions,
    describe_transactions,
    describe_user_scram_credentials,
    elect_leaders,
    fetch,
    find_coordinator,
    incremental_alter_configs,
    list_config_resources,
    list_offsets,
    list_partition_reassignments,
    list_transactions,
    metadata,
    produce,
    sasl_authenticate,
    sasl_handshake,
    update_features,
)
from samsa.wire.rows import Row

NOT_THE_SAME = {
    "topic_id",
    "documentation",
    "throttle_time_ms",
    "leader_epoch",
    "cluster_id",
    "port",
}
UNKNOWN_TOPIC = 3
NO_TRANSACTION = 105
ANY = 1
GROUP = 32
INVALID_TOPIC = 17
INVALID_REQUEST = 42
OFFSETS = "__consumer_offsets"
DEFAULT = 5
PATIENCE_S = 20


@dataclass(frozen=True)
class Both:
    kafka: Peer
    samsa: Peer


@contextmanager
def a_fresh_chain(folder: Path, request: pytest.FixtureRequest) -> Iterator[Broker]:
    with a_chain(folder, places(request.getfixturevalue("stores"))) as chain:
        yield chain


@pytest.fixture(scope="module", params=["samsa-up", "chain"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    folders = [tmp_path_factory.mktemp(name) for name in ("kafka", "samsa")]
    chain = request.param == "chain"
    with (
        a_kafka(folders[0]) as kafka,
        a_fresh_chain(folders[1], request) if chain else samsa_up(folders[1]) as samsa,
        Peer(kafka.address) as one,
        Peer(samsa.address) as other,
    ):
        make(one)
        make(other)
        settle(one)
        yield Both(one, other)


def make(peer: Peer) -> None:
    """What the cases speak of: a topic with three partitions and two configs of its own, another
    one, and the topic that is made for who looks for a group."""
    own = [
        create_topics.CONFIG(name="retention.ms", value="5000000"),
        create_topics.CONFIG(name="cleanup.policy", value="delete"),
    ]
    topics = [
        create_topics.TOPIC(name="plain", num_partitions=3, replication_factor=1, configs=own),
        create_topics.TOPIC(name="dot.ted", num_partitions=1, replication_factor=1),
    ]
    told = peer.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=topics)).topics
    assert [one.error_code for one in told] == [0, 0]
    peer.ask(ApiKey.FIND_COORDINATOR, 4, find_coordinator.REQUEST(coordinator_keys=["g"]))


def settle(kafka: Peer) -> None:
    """Apache Kafka answers before it knows the topics itself."""
    row = describe_topic_partitions.REQUEST(
        topics=[
            describe_topic_partitions.TOPIC(name=name) for name in ("plain", "dot.ted", OFFSETS)
        ]
    )
    deadline = time.monotonic() + PATIENCE_S
    while any(
        topic.error_code or any(p.leader_id < 0 or p.error_code for p in topic.partitions)
        for topic in kafka.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, row).topics
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def comparable(row: Any) -> Any:
    if isinstance(row, Row):
        kept = [name for name in row.field_names if name not in NOT_THE_SAME]
        if getattr(row, "error_code", 0) == UNKNOWN_TOPIC:
            # Where Apache Kafka has no words, or empty ones, ours name the topic.
            kept = [name for name in kept if name != "error_message"]
        return {name: comparable(getattr(row, name)) for name in kept}
    if isinstance(row, memoryview):
        return bytes(row)
    if isinstance(row, list):
        # Kafka lists some things as its hash tables have them.
        return sorted((comparable(one) for one in row), key=repr)
    return row


class Case(NamedTuple):
    name: str
    key: ApiKey
    row: Any
    versions: tuple[int, ...] = ()
    """None given: the newest."""


def new(name: str = "new", version: int = 7, **more: Any) -> Any:
    wish = {"num_partitions": -1, "replication_factor": -1, **more}
    return create_topics.TOPIC(name=name, **wish)


def creates(name: str, *topics: Any) -> Case:
    row = create_topics.REQUEST(topics=list(topics), validate_only=True)
    return Case(f"create: {name}", ApiKey.CREATE_TOPICS, row)


def with_config(name: str, value: str | None) -> Any:
    return new(configs=[create_topics.CONFIG(name=name, value=value)])


def widens(name: str, count: int, *replicas: list[int], topic: str = "plain") -> Case:
    wanted = [create_partitions.ASSIGNMENT(broker_ids=nodes) for nodes in replicas] or None
    asked = create_partitions.TOPIC(name=topic, count=count, assignments=wanted)
    row = create_partitions.REQUEST(topics=[asked], timeout_ms=5_000, validate_only=True)
    return Case(f"widen: {name}", ApiKey.CREATE_PARTITIONS, row)


def alters(name: str, *resources: Any) -> Case:
    row = incremental_alter_configs.REQUEST(resources=list(resources), validate_only=True)
    return Case(f"alter: {name}", ApiKey.INCREMENTAL_ALTER_CONFIGS, row)


def replaces(name: str, topic: str, kind: int = 2, **values: str | None) -> Case:
    configs = [
        alter_configs.CONFIG(name=key.replace("_", "."), value=value)
        for key, value in values.items()
    ]
    asked = alter_configs.RESOURCE(resource_type=kind, resource_name=topic, configs=configs)
    row = alter_configs.REQUEST(resources=[asked], validate_only=True)
    return Case(f"replace: {name}", ApiKey.ALTER_CONFIGS, row)


def describes(name: str, topic: str, *keys: str, kind: int = 2, **more: Any) -> Case:
    asked = describe_configs.RESOURCE(
        resource_type=kind, resource_name=topic, configuration_keys=list(keys) or None
    )
    row = describe_configs.REQUEST(resources=[asked], include_synonyms=True, **more)
    return Case(f"describe: {name}", ApiKey.DESCRIBE_CONFIGS, row)


def offsets(name: str, timestamp: int, topic: str = "plain", partition: int = 0) -> Case:
    asked = list_offsets.PARTITION(partition_index=partition, timestamp=timestamp)
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=topic, partitions=[asked])]
    )
    return Case(f"offsets: {name}", ApiKey.LIST_OFFSETS, row, tuple(range(1, 12)))


def deletes(name: str, offset: int, topic: str = "plain", partition: int = 0) -> Case:
    asked = delete_records.PARTITION(partition_index=partition, offset=offset)
    row = delete_records.REQUEST(
        topics=[delete_records.TOPIC(name=topic, partitions=[asked])], timeout_ms=5_000
    )
    return Case(f"delete records: {name}", ApiKey.DELETE_RECORDS, row, (0, 1, 2))


def pages(name: str, *topics: str, limit: int = 2_000, cursor: Any = None) -> Case:
    row = describe_topic_partitions.REQUEST(
        topics=[describe_topic_partitions.TOPIC(name=topic) for topic in topics],
        response_partition_limit=limit,
        cursor=cursor,
    )
    return Case(f"pages: {name}", ApiKey.DESCRIBE_TOPIC_PARTITIONS, row)


def elects(name: str, asked: dict[str, list[int]] | None, kind: int = 0) -> Case:
    topics = None
    if asked is not None:
        topics = [elect_leaders.TOPIC(topic=t, partitions=numbers) for t, numbers in asked.items()]
    row = elect_leaders.REQUEST(election_type=kind, topic_partitions=topics)
    # Version 0 has no kinds.
    return Case(f"elect: {name}", ApiKey.ELECT_LEADERS, row, (0, 1, 2) if kind == 0 else (1, 2))


def reassigns(name: str, *replicas: list[int] | None, topic: str = "plain", first: int = 0) -> Case:
    partitions = [
        alter_partition_reassignments.PARTITION(partition_index=number, replicas=nodes)
        for number, nodes in enumerate(replicas, first)
    ]
    asked = alter_partition_reassignments.TOPIC(name=topic, partitions=partitions)
    row = alter_partition_reassignments.REQUEST(topics=[asked])
    return Case(f"reassign: {name}", ApiKey.ALTER_PARTITION_REASSIGNMENTS, row, (0, 1))


def moves(name: str, *numbers: int, topic: str = "plain") -> Case:
    """To a directory that neither has: what each calls its own is its own."""
    asked = alter_replica_log_dirs.TOPIC(name=topic, partitions=list(numbers))
    row = alter_replica_log_dirs.REQUEST(
        dirs=[alter_replica_log_dirs.DIR(path="/nowhere", topics=[asked])]
    )
    return Case(f"move: {name}", ApiKey.ALTER_REPLICA_LOG_DIRS, row, (1, 2))


def asks_the_quorum(name: str, *places: tuple[str, list[int]]) -> Case:
    topics = [
        describe_quorum.TOPIC(
            topic_name=topic,
            partitions=[describe_quorum.PARTITION(partition_index=one) for one in numbers],
        )
        for topic, numbers in places
    ]
    row = describe_quorum.REQUEST(topics=topics)
    return Case(f"quorum: {name}", ApiKey.DESCRIBE_QUORUM, row, (0, 1, 2))


def lists_resources(*types: int) -> Case:
    row = list_config_resources.REQUEST(resource_types=list(types))
    return Case(f"resources: {types}", ApiKey.LIST_CONFIG_RESOURCES, row, (1,))


EVERY_ACL = {
    "resource_type_filter": ANY,
    "resource_name_filter": None,
    "pattern_type_filter": ANY,
    "principal_filter": None,
    "host_filter": None,
    "operation": ANY,
    "permission_type": ANY,
}


def describes_acls(name: str, kind: int = ANY) -> Case:
    row = describe_acls.REQUEST(**{**EVERY_ACL, "resource_type_filter": kind})
    return Case(f"describe acls: {name}", ApiKey.DESCRIBE_ACLS, row, (1, 2, 3))


def creates_acls(name: str, *topics: str) -> Case:
    made = [
        create_acls.CREATION(
            resource_type=2,
            resource_name=topic,
            principal="User:alice",
            host="*",
            operation=3,
            permission_type=3,
        )
        for topic in topics
    ]
    row = create_acls.REQUEST(creations=made)
    return Case(f"create acls: {name}", ApiKey.CREATE_ACLS, row, (1, 2, 3))


def deletes_acls(name: str, count: int) -> Case:
    one = delete_acls.FILTER(**EVERY_ACL)
    row = delete_acls.REQUEST(filters=[one] * count)
    return Case(f"delete acls: {name}", ApiKey.DELETE_ACLS, row, (1, 2, 3))


def quotas(name: str, *components: tuple[str, int, str | None], strict: bool = False) -> Case:
    asked = [
        describe_client_quotas.COMPONENT(entity_type=type_, match_type=kind, match=match)
        for type_, kind, match in components
    ]
    row = describe_client_quotas.REQUEST(components=asked, strict=strict)
    return Case(f"quotas: {name}", ApiKey.DESCRIBE_CLIENT_QUOTAS, row, (0, 1))


def credentials(name: str, *users: str, everyone: bool = False) -> Case:
    named = [describe_user_scram_credentials.USER(name=user) for user in users]
    row = describe_user_scram_credentials.REQUEST(users=None if everyone else named)
    return Case(f"credentials: {name}", ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, row)


def transactions(name: str, versions: tuple[int, ...] = (2,), **filters: Any) -> Case:
    row = list_transactions.REQUEST(**filters)
    return Case(f"transactions: {name}", ApiKey.LIST_TRANSACTIONS, row, versions)


def updates(name: str, *features: tuple[str, int], kind: int = 1) -> Case:
    wanted = [
        update_features.UPDATE(
            feature=feature, max_version_level=level, upgrade_type=kind, allow_downgrade=kind != 1
        )
        for feature, level in features
    ]
    row = update_features.REQUEST(feature_updates=wanted, timeout_ms=5_000, validate_only=True)
    # Version 0 has neither a type nor a trial run.
    return Case(f"features: {name}", ApiKey.UPDATE_FEATURES, row, (1, 2))


def on_topic(*made: Any, topic: str = "plain", kind: int = 2) -> Any:
    return changes(*made, topic=topic, kind=kind)


VALUES = ("-99999999999999", "-1", "0", "1", "9", "2147483648", "9223372036854775807",
          "99999999999999999999", "x", "", " 5 ", "0.7", "true", "false", "delete",
          "delete,compact", "gzip", "*", "0:0,1:0", "LogAppendTime", "1048576")  # fmt: skip
CONFIGS = (
    "cleanup.policy", "compression.gzip.level", "compression.lz4.level", "compression.type",
    "compression.zstd.level", "delete.retention.ms", "file.delete.delay.ms", "flush.messages",
    "flush.ms", "follower.replication.throttled.replicas", "index.interval.bytes",
    "leader.replication.throttled.replicas", "local.retention.bytes", "local.retention.ms",
    "max.compaction.lag.ms", "max.message.bytes", "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms", "message.timestamp.type", "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms", "min.insync.replicas", "preallocate", "remote.log.copy.disable",
    "remote.log.delete.on.disable", "remote.storage.enable", "retention.bytes", "retention.ms",
    "segment.bytes", "segment.index.bytes", "segment.jitter.ms", "segment.ms",
    "unclean.leader.election.enable",
)  # fmt: skip

CASES = [
    creates("defaults", new()),
    creates("partitions", new(num_partitions=5)),
    creates("no partitions", new(num_partitions=0)),
    creates("fewer than no partitions", new(num_partitions=-2)),
    creates("no replicas", new(replication_factor=0)),
    creates("fewer than no replicas", new(replication_factor=-2)),
    creates("an assignment", new(assignments=assignments([0], [0]))),
    creates("a strange node", new(assignments=assignments([0], [7]))),
    creates("a node twice", new(assignments=assignments([0, 0]))),
    creates("no node", new(assignments=assignments([]))),
    creates("not from 0 on", new(assignments=assignments([0], [0])[1:])),
    creates("an assignment and partitions", new(assignments=assignments([0]), num_partitions=1)),
    creates("an assignment and replicas", new(assignments=assignments([0]), replication_factor=1)),
    creates("what exists", new("plain")),
    creates("a collision", new("dot_ted")),
    creates("the same name", new("dot.ted")),
    creates("the broker's own", new(OFFSETS)),
    creates("a collision with the broker's own", new("__consumer.offsets")),
    creates("an empty name", new("")),
    creates("a dot", new(".")),
    creates("two dots", new("..")),
    creates("a slash", new("a/b")),
    creates("a long name", new("x" * 249)),
    creates("a name that is too long", new("x" * 250)),
    creates("a config without a value", with_config("retention.ms", None)),
    creates("an unknown config", with_config("nonsense", "1")),
    creates("twice in a request", new("twice"), new("twice"), new("once")),
    widens("by one", 4),
    widens("by two, assigned", 5, [0], [0]),
    widens("to as many", 3),
    widens("to fewer", 2),
    widens("to none", 0),
    widens("to a negative number", -1),
    widens("with too few assignments", 5, [0]),
    widens("with too many assignments", 5, [0], [0], [0]),
    widens("on a strange node", 4, [7]),
    widens("on no node", 4, []),
    widens("what is not there", 4, topic="nowhere"),
    widens("the broker's own", 51, topic=OFFSETS),
    Case(
        "widen: twice in a request", ApiKey.CREATE_PARTITIONS,
        create_partitions.REQUEST(
            topics=[
                create_partitions.TOPIC(name=name, count=count, assignments=None)
                for name, count in (("plain", 4), ("plain", 5), ("dot.ted", 2))
            ],
            timeout_ms=5_000, validate_only=True,
        ),
    ),
    alters("a value", on_topic(change("retention.ms", "7"))),
    alters("an unknown config", on_topic(change("nonsense", "7"))),
    alters("an unknown config away", on_topic(change("nonsense", None, DELETE))),
    alters("no value", on_topic(change("retention.ms", None, SET))),
    alters("append to a number", on_topic(change("retention.ms", "7", APPEND))),
    alters("subtract from a number", on_topic(change("retention.ms", "7", SUBTRACT))),
    alters("append", on_topic(change("cleanup.policy", "compact", APPEND))),
    alters("append nonsense", on_topic(change("cleanup.policy", "eat", APPEND))),
    alters("twice", on_topic(change("flush.ms", "7"), change("flush.ms", "8"))),
    alters("two that are one", on_topic(change("flush.ms", "7")), on_topic()),
    alters("what is not there", on_topic(change("flush.ms", "7"), topic="nowhere")),
    alters("the broker's own topic", on_topic(change("flush.ms", "7"), topic=OFFSETS)),
    alters("no name", on_topic(change("flush.ms", "7"), topic="")),
    alters("the broker", on_topic(change("node.id", "7"), topic="0", kind=4)),
    alters("the broker back", on_topic(change("node.id", None, DELETE), topic="0", kind=4)),
    alters("every broker back", on_topic(change("nonsense", None, DELETE), topic="", kind=4)),
    alters("an unknown type", on_topic(change("flush.ms", "7"), kind=99)),
    replaces("a value", "plain", retention_ms="7"),
    replaces("nothing", "plain"),
    replaces("a bad value", "plain", retention_ms="x"),
    replaces("no value", "plain", retention_ms=None),
    replaces("the broker's by nothing", "0", kind=4),
    replaces("what is not there", "nowhere", retention_ms="7"),
    describes("all", "plain"),
    describes("some", "plain", "retention.ms", "cleanup.policy", "nonsense"),
    Case(
        "describe: no keys at all", ApiKey.DESCRIBE_CONFIGS,
        describe_configs.REQUEST(
            resources=[
                describe_configs.RESOURCE(
                    resource_type=2, resource_name="plain", configuration_keys=[]
                )
            ]
        ),
    ),
    describes("what is not there", "nowhere"),
    describes("the broker's own topic", OFFSETS),
    describes("a bad name", "a/b"),
    describes("a strange broker", "7", kind=4),
    describes("a broker without a number", "zero", kind=4),
    describes("every broker", "", kind=4),
    describes("a group without a name", "", kind=GROUP),
    alters("an unknown config of a group", on_topic(change("x", "7"), topic="g", kind=GROUP)),
    alters("a group back", on_topic(change("x", None, DELETE), topic="g", kind=GROUP)),
    alters("nothing of a group", on_topic(topic="g", kind=GROUP)),
    alters("a group's list", on_topic(change("x", "7", APPEND), topic="g", kind=GROUP)),
    alters("all groups", on_topic(
        change("consumer.session.timeout.ms", "50000"), topic="", kind=GROUP)),
    replaces("a group's by nothing", "g", kind=GROUP),
    describes_acls("all"),
    describes_acls("of topics", 2),
    creates_acls("none"),
    creates_acls("one", "plain"),
    creates_acls("two", "plain", "nowhere"),
    deletes_acls("by no filter", 0),
    deletes_acls("by two filters", 2),
    quotas("all"),
    quotas("exactly none", strict=True),
    quotas("of a user", ("user", 0, "alice")),
    quotas("of the default user", ("user", 1, None), strict=True),
    quotas("of a user at a client", ("user", 2, None), ("client-id", 0, "x")),
    quotas("of an address", ("ip", 0, "127.0.0.1")),
    quotas("of an address and a user", ("ip", 2, None), ("user", 2, None)),
    quotas("of a user twice", ("user", 2, None), ("user", 1, None)),
    quotas("of something", ("nonsense", 2, None)),
    quotas("of something without a name", ("", 2, None)),
    quotas("of a user without a name", ("user", 0, None)),
    quotas("of the default user with a name", ("user", 1, "alice")),
    quotas("of any user with a name", ("user", 2, "alice")),
    quotas("by an unknown match", ("user", 9, None)),
    credentials("all", everyone=True),
    credentials("all, by no names"),
    credentials("of two", "alice", "bob"),
    credentials("of one twice", "alice", "alice", "bob"),
    credentials("of nobody", ""),
    transactions("all", (0, 1, 2)),
    transactions("in states", (0, 1, 2), state_filters=["Ongoing", "Dead", "ongoing", "Odd"]),
    transactions("of producers", (0, 1, 2), producer_id_filters=[7]),
    transactions("long ones", (1, 2), duration_filter=5),
    transactions("by a pattern", transactional_id_pattern="a.*"),
    transactions("by a pattern that is none", transactional_id_pattern="("),
    transactions("by an empty pattern", transactional_id_pattern=""),
    *(
        Case(f"describe transactions: {ids}", ApiKey.DESCRIBE_TRANSACTIONS,
             describe_transactions.REQUEST(transactional_ids=ids))
        for ids in ([], [""])
    ),
    Case("sasl: handshake", ApiKey.SASL_HANDSHAKE,
         sasl_handshake.REQUEST(mechanism="PLAIN"), (0, 1)),
    Case("sasl: authenticate", ApiKey.SASL_AUTHENTICATE,
         sasl_authenticate.REQUEST(auth_bytes=b"x"), (0, 1, 2)),
    *(offsets(f"{at}", at) for at in (-1, -2, -3, -4, -5, -6, 0, 10**13)),
    offsets("no such partition", -1, partition=9),
    offsets("no such topic", -1, topic="nowhere"),
    offsets("a bad name", -1, topic="a/b"),
    offsets("of the broker's own", -1, topic=OFFSETS),
    deletes("at the start", 0),
    deletes("up to the end", -1),
    deletes("beyond the end", 1),
    deletes("a senseless offset", -2),
    deletes("no such partition", 0, partition=9),
    deletes("no such topic", 0, topic="nowhere"),
    deletes("the broker's own", -1, topic=OFFSETS),
    deletes("no such partition of the broker's own", -1, topic=OFFSETS, partition=50),
    pages("two topics", "plain", "dot.ted"),
    pages("one at a time", "plain", "dot.ted", limit=1),
    pages("over the end of a topic", "plain", "dot.ted", limit=2),
    pages("exactly a topic", "dot.ted", "plain", limit=1),
    pages("from a cursor on", "plain", "dot.ted", cursor=describe_topic_partitions.CURSOR(
        topic_name="plain", partition_index=1)),
    pages("what is not there", "plain", "nowhere"),
    pages("all there are"),
    pages("the broker's own", OFFSETS, "__transaction_state"),
    Case(
        "delete topics: what is not there", ApiKey.DELETE_TOPICS,
        delete_topics.REQUEST(
            topics=[delete_topics.TOPIC(name="nowhere")], topic_names=["nowhere"], timeout_ms=5_000
        ),
        (1, 3, 4, 5, 6),
    ),
    *(
        Case(
            f"metadata: {name}", ApiKey.METADATA,
            metadata.REQUEST(
                topics=[metadata.TOPIC(name=topic) for topic in topics],
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=operations,
                include_cluster_authorized_operations=operations,
            ),
            tuple(versions),
        )
        for name, topics, operations, versions in (
            ("topics", ("plain", "dot.ted"), False, range(4, 14)),
            ("topics with operations", ("plain",), True, range(8, 14)),
            ("what is not there", ("nowhere",), True, range(8, 14)),
            ("a bad name", ("a/b",), False, range(4, 14)),
            ("the broker's own", (OFFSETS, "__transaction_state"), False, range(4, 14)),
        )
    ),
    *(
        Case(
            f"cluster: operations {operations}", ApiKey.DESCRIBE_CLUSTER,
            describe_cluster.REQUEST(include_cluster_authorized_operations=operations),
            (0, 1, 2),
        )
        for operations in (False, True)
    ),
    Case(
        "producers: none", ApiKey.DESCRIBE_PRODUCERS,
        describe_producers.REQUEST(
            topics=[describe_producers.TOPIC(name="plain", partition_indexes=[0])]
        ),
    ),
    elects("what has its leader", {"plain": [0, 1, 2], "dot.ted": [0]}),
    elects("any leader", {"plain": [0]}, kind=1),
    elects("an unknown kind", {"plain": [0], "nowhere": [0]}, kind=2),
    elects("no such partition", {"plain": [0, 9, -1]}),
    elects("no such topic", {"nowhere": [0], "a/b": [0]}),
    elects("no topics", {}),
    elects("no partitions", {"plain": []}),
    elects("all topics", None),
    elects("the broker's own", {OFFSETS: [0, 50]}),
    reassigns("to where it is", [0], [0]),
    reassigns("to a strange node", [7]),
    reassigns("to one more node", [0, 7]),
    reassigns("to a node twice", [0, 0]),
    reassigns("to no node", []),
    reassigns("not at all", None),
    reassigns("each in its own way", [0], [8, 7], None),
    reassigns("no such partition", [0], None, first=8),
    reassigns("no such topic", [0], None, topic="nowhere"),
    *(
        Case(
            f"reassignments: {name}", ApiKey.LIST_PARTITION_REASSIGNMENTS,
            list_partition_reassignments.REQUEST(topics=topics),
        )
        for name, topics in (
            ("all", None),
            ("of one", [list_partition_reassignments.TOPIC(name="plain", partition_indexes=[0])]),
            ("what is not there", [
                list_partition_reassignments.TOPIC(name="nowhere", partition_indexes=[0])]),
        )
    ),
    moves("a partition", 0),
    moves("no such partition", 9),
    moves("no such topic", 0, topic="nowhere"),
    moves("none"),
    asks_the_quorum("nothing"),
    asks_the_quorum("no such partition", ("__cluster_metadata", [1])),
    asks_the_quorum("more than there is", ("__cluster_metadata", [0, 1])),
    asks_the_quorum("another topic", ("plain", [0])),
    asks_the_quorum("another topic as well", ("__cluster_metadata", [0]), ("plain", [0])),
    asks_the_quorum("no partitions", ("__cluster_metadata", [])),
    Case("resources: version 0", ApiKey.LIST_CONFIG_RESOURCES,
         list_config_resources.REQUEST(), (0,)),
    updates("the level that it has", ("transaction.version", 2)),
    updates("all as they are", ("transaction.version", 2), ("metadata.version", 30)),
    updates("none"),
    updates("twice", ("group.version", 1), ("group.version", 1)),
    updates("a downgrade without saying so", ("transaction.version", 1)),
    updates("more than there is", ("transaction.version", 3)),
    updates("what is not there", ("nonsense", 1)),
    updates("what is not there, to nothing", ("nonsense", 0)),
    updates("one that is there, one that is not", ("group.version", 1), ("nonsense", 1)),
    updates("a bad level", ("transaction.version", -1)),
    updates("a metadata version that is too low", ("metadata.version", 3), kind=2),
    *(lists_resources(*types) for types in (
        (2,), (4,), (16,), (32,), (2, 4), (2, 2), (99,), (0,), (1,), (2, 99))),
]  # fmt: skip
ASKED = [
    pytest.param(case, version, id=f"{case.name} v{version}")
    for case in CASES
    for version in case.versions or (APIS[case.key].versions[-1],)
]


@pytest.mark.parametrize(("case", "version"), ASKED)
def test_samsa_answers_as_apache_kafka_does(case: Case, version: int, both: Both) -> None:
    samsa, kafka = (
        comparable(peer.ask(case.key, version, case.row)) for peer in (both.samsa, both.kafka)
    )
    assert samsa == kafka


@pytest.mark.parametrize("name", CONFIGS)
def test_a_value_is_granted_or_refused_as_apache_kafka_does(name: str, both: Both) -> None:
    told = {}
    for value, peer in itertools.product(VALUES, (both.samsa, both.kafka)):
        row = create_topics.REQUEST(topics=[with_config(name, value)], validate_only=True)
        (one,) = peer.ask(ApiKey.CREATE_TOPICS, 7, row).topics
        told[value, peer is both.samsa] = one.error_code, one.error_message
    samsa = {value: plain(*told[value, True]) for value in VALUES}
    assert samsa == {value: plain(*told[value, False]) for value in VALUES}
    assert {code for code, _ in samsa.values()} == {0, 40}


def test_the_brokers_defaults_are_apache_kafkas(both: Both) -> None:
    case = describes("the broker", "0", kind=4)
    samsa, kafka = (
        {one.name: one for one in peer.ask(case.key, 4, case.row).results[0].configs}
        for peer in (both.samsa, both.kafka)
    )
    assert samsa.keys() <= kafka.keys()
    differ = {
        name: (one.value, kafka[name].value)
        for name, one in samsa.items()
        if one.config_source == DEFAULT and one.value != kafka[name].value
    }
    assert differ == {}
    assert {name: one.config_type for name, one in samsa.items()} == {
        name: kafka[name].config_type for name in samsa
    }


def test_a_groups_configs_are_apache_kafkas_and_cannot_be_changed(both: Both) -> None:
    case = describes("a group", "any", kind=GROUP)
    samsa, kafka = (
        peer.ask(case.key, 4, case.row).results[0].configs for peer in (both.samsa, both.kafka)
    )
    assert all(config.read_only for config in samsa)
    assert not any(config.read_only for config in kafka)
    for config in samsa:
        config.read_only = False
    assert comparable(samsa) == comparable(kafka)
    change_one = alters(
        "one", on_topic(change("consumer.session.timeout.ms", "50000"), topic="any", kind=GROUP)
    )
    (refused,) = both.samsa.ask(change_one.key, 1, change_one.row).responses
    assert refused.error_code == INVALID_REQUEST
    assert "consumer.session.timeout.ms" in refused.error_message


def offered(peer: Peer, version: int) -> tuple[Versions, dict[str, tuple[int, int]], dict]:
    """Versions by key; features with the levels that are known; and with those that hold."""
    row = api_versions.REQUEST(client_software_name="test", client_software_version="1")
    told = peer.ask(ApiKey.API_VERSIONS, version, row)
    assert (told.error_code, told.zk_migration_ready) == (0, False)
    assert told.finalized_features_epoch >= (0 if version >= 3 else -1)
    return (
        {api.api_key: (api.min_version, api.max_version) for api in told.api_keys},
        {one.name: (one.min_version, one.max_version) for one in told.supported_features},
        {one.name: one.max_version_level for one in told.finalized_features},
    )


@pytest.mark.parametrize("version", range(5))
def test_samsa_offers_what_apache_kafka_does_but_for_what_has_a_reason(
    version: int, both: Both
) -> None:
    samsa, known, finalized = offered(both.samsa, version)
    kafka, kafka_knows, kafka_finalized = offered(both.kafka, version)
    assert kafka == kafkas()
    assert differences(samsa, kafka) == set(DIFFERENT)
    # No share groups, streams groups, voters: none of their features.
    assert known.items() <= kafka_knows.items()
    assert finalized.items() <= kafka_finalized.items()
    names = {"metadata.version", "group.version", "transaction.version"}
    assert set(finalized) == (names if version >= 3 else set())
    assert set(known) == names & set(kafka_knows)


def test_the_quorum_has_one_voter_here_and_there(both: Both) -> None:
    case = asks_the_quorum("its log", ("__cluster_metadata", [0]))
    for version in case.versions:
        for peer in (both.samsa, both.kafka):
            (topic,) = peer.ask(case.key, version, case.row).topics
            (partition,) = topic.partitions
            assert (partition.error_code, partition.leader_id, partition.observers) == (0, 0, [])
            (voter,) = partition.current_voters
            # Nobody lags behind itself.
            assert (voter.replica_id, voter.log_end_offset) == (0, partition.high_watermark)


@pytest.mark.parametrize("partition", [0, 49, 50])
def test_nobody_writes_to_the_brokers_own_topic(partition: int, both: Both) -> None:
    entry = produce.PARTITION(index=partition, records=batch(b"x"))
    asked = produce.TOPIC(name=OFFSETS, partition_data=[entry])
    row = produce.REQUEST(acks=-1, timeout_ms=5_000, topic_data=[asked])
    samsa, kafka = (
        peer.ask(ApiKey.PRODUCE, 9, row).responses[0].partition_responses[0]
        for peer in (both.samsa, both.kafka)
    )
    assert (samsa.error_code, samsa.base_offset) == (kafka.error_code, kafka.base_offset)
    assert samsa.error_code == (UNKNOWN_TOPIC if partition == 50 else INVALID_TOPIC)


@pytest.mark.parametrize("version", [3, 7, 9, 12])
@pytest.mark.parametrize("topic", ["nowhere", "a/b", ""])
def test_a_batch_for_a_topic_that_is_not_there_makes_none(
    topic: str, version: int, both: Both
) -> None:
    entry = produce.PARTITION(index=0, records=batch(b"x"))
    asked = produce.TOPIC(name=topic, partition_data=[entry])
    row = produce.REQUEST(acks=-1, timeout_ms=5_000, topic_data=[asked])
    named = [metadata.TOPIC(name=topic)]
    look = metadata.REQUEST(topics=named, allow_auto_topic_creation=False)
    for peer in (both.samsa, both.kafka):
        told = peer.ask(ApiKey.PRODUCE, version, row).responses[0].partition_responses[0]
        assert (told.error_code, told.base_offset) == (UNKNOWN_TOPIC, -1)
        assert peer.ask(ApiKey.METADATA, 12, look).topics[0].error_code in (3, INVALID_TOPIC)


@pytest.mark.parametrize("topic", ["nowhere", "a/b", ""])
def test_a_topic_that_is_not_there_is_not_read(topic: str, both: Both) -> None:
    entry = fetch.PARTITION(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    asked = fetch.TOPIC(topic=topic, partitions=[entry])
    row = fetch.REQUEST(max_wait_ms=1, min_bytes=1, max_bytes=1_000, topics=[asked])
    for peer in (both.samsa, both.kafka):
        told = peer.ask(ApiKey.FETCH, 12, row).responses[0].partitions[0]
        assert told.error_code == UNKNOWN_TOPIC


def test_the_brokers_own_topic_is_read_as_any_other(both: Both) -> None:
    entry = fetch.PARTITION(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    asked = fetch.TOPIC(topic=OFFSETS, partitions=[entry])
    row = fetch.REQUEST(max_wait_ms=1, min_bytes=1, max_bytes=1_000, topics=[asked])
    samsa, kafka = (
        peer.ask(ApiKey.FETCH, 12, row).responses[0].partitions[0]
        for peer in (both.samsa, both.kafka)
    )
    assert (samsa.error_code, samsa.high_watermark) == (kafka.error_code, kafka.high_watermark)
    assert (samsa.error_code, samsa.high_watermark) == (0, 0)
    assert not samsa.records
    assert not kafka.records


def test_a_transaction_that_is_not_there_is_described_alike(both: Both) -> None:
    """Last, for Apache Kafka makes its `__transaction_state` now."""
    look_for = find_coordinator.REQUEST(key_type=1, coordinator_keys=["x"])
    row = describe_transactions.REQUEST(transactional_ids=["x", "y", "x", ""])

    def describe(peer: Peer) -> Any:
        peer.ask(ApiKey.FIND_COORDINATOR, 4, look_for)
        return comparable(peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, row))

    samsa = describe(both.samsa)
    assert eventually(lambda: describe(both.kafka) == samsa, PATIENCE_S), describe(both.kafka)
    assert {one["error_code"] for one in samsa["transaction_states"]} == {42, NO_TRANSACTION}


def plain(code: int, message: str | None) -> tuple[int, str | None]:
    """Java writes large fractions in a way of its own."""
    return code, message and re.sub(r"value -?[\d.]+([eE]\+?\d+)? for", "value NUMBER for", message)
