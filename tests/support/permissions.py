"""What each API asks of a client's rights: a table of requests, and the ACLs that decide them.

The same questions go to Samsa's handlers (`tests/unit/handlers/test_matrix.py`) and to Apache Kafka
(`tests/clients/test_rights_like_kafka.py`). `docs/security.md` has the same table in words.

A question needs one right of each of its groups; any right of a group will do. Groups are in the
order in which they are asked for: a client without any right gets the error of the first.
"""

from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import Any, NamedTuple
from uuid import UUID

from server.talk import batch, produce_row

from samsa.security.acls import Acl
from samsa.security.kinds import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    add_partitions_to_txn,
    consumer_group_heartbeat,
    create_topics,
    describe_quorum,
    find_coordinator,
    init_producer_id,
    offset_commit,
)
from samsa.wire.rows import Row

TOPIC, CLUSTER = ResourceType.TOPIC, ResourceType.CLUSTER
GROUP, TRANSACTIONAL_ID = ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
OP = Operation
CODES = {
    TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
ON_TOPIC, ON_GROUP, ON_BROKER, ON_CLIENT_METRICS = 2, 32, 4, 16
"""Resource types of the config APIs."""


class Given(NamedTuple):
    """The names that a question is about."""

    fresh: str
    """There is nothing of that name yet."""
    doomed: str
    """A topic that the question may delete."""
    topic: str = "books"
    topic_id: UUID = UUID(int=0)
    doomed_id: UUID = UUID(int=0)
    group: str = "readers"
    """It has a committed offset, and no members."""
    consumers: str = "consumers"
    """A group of the consumer protocol, with one member that has the topic's partition."""
    transactional_id: str = "writers"
    """It has a transaction in which the topic's partition is."""


class Right(NamedTuple):
    operation: Operation
    resource: ResourceType
    of: str = ""
    """The field of `Given` with the name; nothing for the cluster."""
    any_will_do: bool = False
    """The name does not matter."""

    def acl(
        self,
        principal: str,
        given: Given,
        permission: Permission = Permission.ALLOW,
        pattern: PatternType = PatternType.LITERAL,
    ) -> Acl:
        name: str = getattr(given, self.of) if self.of else CLUSTER_NAME
        if pattern is PatternType.PREFIXED and self.of:
            name = name[:-1]
        kind = self.resource
        return Acl(kind, pattern, name, principal, "*", self.operation, permission)

    @property
    def words(self) -> str:
        article = "any" if self.any_will_do else "the"
        return f"{self.operation.name} on {article} {_NAMES[self.resource]}"


_NAMES = {TOPIC: "topic", GROUP: "group", CLUSTER: "cluster", TRANSACTIONAL_ID: "transactional id"}


def topic(operation: Operation, of: str = "topic") -> Right:
    return Right(operation, TOPIC, of)


def group(operation: Operation, of: str = "group") -> Right:
    return Right(operation, GROUP, of)


def cluster(operation: Operation) -> Right:
    return Right(operation, CLUSTER)


WRITE_BY_ID = Right(OP.WRITE, TRANSACTIONAL_ID, "transactional_id")
DESCRIBE_BY_ID = Right(OP.DESCRIBE, TRANSACTIONAL_ID, "transactional_id")


class Question(NamedTuple):
    name: str
    key: ApiKey
    version: int
    row: Callable[[Given], Any]
    needs: tuple[tuple[Right, ...], ...]
    hides: str = ""
    """Without the last group of rights there is no error: what this field of `Given` names is left
    out of the answer."""
    also: tuple[Right, ...] = ()
    """Rights that are not needed, and of which the answer tells."""
    names_nothing: bool = True
    """Whether a refusal is the same where nothing exists: only names are given, not ids."""

    def code(self, group: int) -> ErrorCode | None:
        """The error of a client that lacks this group of rights. None: the answer hides a name."""
        is_last = group == len(self.needs) - 1
        return None if self.hides and is_last else CODES[self.needs[group][0].resource]


RowMaker = Callable[[Given, Any], Any]
"""Makes a request of what is given, and of the module of the API's messages."""
KEYS = {key.name.title().replace("_", ""): key for key in ApiKey}


def ask(
    name: str,
    version: int,
    row: RowMaker,
    *needs: Right | tuple[Right, ...],
    hides: str = "",
    also: tuple[Right, ...] = (),
    names_nothing: bool = True,
) -> Question:
    """The name begins with that of the API. Of several rights in brackets any will do."""
    key = KEYS[name.partition(",")[0]]
    groups = tuple((each,) if isinstance(each, Right) else each for each in needs)
    api = import_module(f"samsa.wire.messages.{key.name.lower()}")
    return Question(
        name, key, version, lambda given: row(given, api), groups, hides, also, names_nothing
    )


class Case(NamedTuple):
    name: str
    acls: list[Acl]
    refused: int | None
    """The group of rights that is missing; None: the request is granted."""
    is_super: bool = False


IMPLIES = {OP.DESCRIBE: {OP.READ, OP.WRITE, OP.DELETE, OP.ALTER}}


def cases(question: Question, principal: str, given: Given) -> Iterator[Case]:
    """The names are independent of the principal."""

    def allow(*rights: Right, pattern: PatternType = PatternType.LITERAL) -> list[Acl]:
        return [one.acl(principal, given, pattern=pattern) for one in rights]

    def deny(*rights: Right) -> list[Acl]:
        return [one.acl(principal, given, Permission.DENY) for one in rights]

    needs = question.needs
    firsts = [rights[0] for rights in needs]
    everything = [right for rights in needs for right in rights]
    yield Case("no ACL", [], 0 if needs else None)
    for right in question.also:
        yield Case(f"allowed, with {right.words}", allow(*firsts, right), None)
    if not needs:
        return
    yield Case("allowed", allow(*firsts), None)
    yield Case("prefixed", allow(*firsts, pattern=PatternType.PREFIXED), None)
    for other in {right for rights in needs for right in rights[1:]}:
        rest = [rights[0] for rights in needs if other not in rights]
        yield Case(f"allowed by {other.words}", allow(other, *rest), None)
    for number, rights in enumerate(needs):
        others = [one for at, one in enumerate(firsts) if at != number]
        if others and not any(_implies(one, rights[0]) for one in others):
            yield Case(f"without {rights[0].words}", allow(*others), number)
        acls = [*allow(*everything), *deny(*rights)]
        yield Case(f"denied {rights[0].words}", acls, number)
    yield Case("super user", deny(*everything), None, is_super=True)


def _implies(one: Right, other: Right) -> bool:
    same = (one.resource, one.of) == (other.resource, other.of)
    return same and one.operation in IMPLIES.get(other.operation, ())


def table() -> list[str]:
    """The table of `docs/security.md`. Questions of one API that need the same are one line."""
    lines: dict[tuple[ApiKey, str, str], str] = {}
    for one in QUESTIONS:
        what = "; ".join(" or ".join(right.words for right in rights) for rights in one.needs)
        found = (one.code(number) for number in range(len(one.needs)))
        errors = dict.fromkeys(f"`{code.name}`" if code else "left out" for code in found)
        lines.setdefault((one.key, what, ", ".join(errors)), one.name)
    head = ["| API | needs | without it |", "|---|---|---|"]
    rows = [
        f"| {name} | {what or 'nothing'} | {errors or 'granted'} |"
        for (_, what, errors), name in lines.items()
    ]
    return [*head, *rows]


# What is there before the questions are asked

Setup = Generator[tuple[ApiKey, int, Any], Any, Given]
AGAIN = {3, 5, 6, 14, 15, 16, 51, 72}
"""Errors of Apache Kafka that has not made its internal topics yet."""


def set_up(doomed: list[str], given: Given) -> Setup:
    """Requests to send one after the other; each is sent again while its answer has one of `AGAIN`.
    It returns what is given, with the topic's id."""
    names = [given.topic, *doomed]
    rows = [create_topics.TOPIC(name=n, num_partitions=1, replication_factor=1) for n in names]
    made = yield ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=rows, timeout_ms=60_000)
    given = given._replace(topic_id=next(t.topic_id for t in made.topics if t.name == given.topic))
    yield ApiKey.PRODUCE, 9, produce_row(given.topic, batch(b"one"))
    for kind, key in enumerate((given.group, given.transactional_id)):
        wanted = find_coordinator.REQUEST(key_type=kind, coordinator_keys=[key])
        yield ApiKey.FIND_COORDINATOR, 4, wanted
    yield ApiKey.OFFSET_COMMIT, 9, commits(given, given.topic)
    init = init_producer_id.REQUEST(
        transactional_id=given.transactional_id,
        transaction_timeout_ms=300_000,
        producer_id=-1,
        producer_epoch=-1,
    )
    producer = yield ApiKey.INIT_PRODUCER_ID, 4, init
    yield ApiKey.ADD_PARTITIONS_TO_TXN, 3, adds(given, producer.producer_id)
    yield (
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        1,
        consumer_group_heartbeat.REQUEST(
            group_id=given.consumers,
            member_id="member",
            member_epoch=0,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=[given.topic],
            topic_partitions=[],
        ),
    )
    return given


ERRORS = ("error_code", "partition_error_code")


def codes(row: Any) -> list[int]:
    """Every error code in an answer."""
    if isinstance(row, list):
        return [code for one in row for code in codes(one)]
    if not isinstance(row, Row):
        return []
    found: list[int] = []
    for name in row.field_names:
        value = getattr(row, name)
        found += [value] if name in ERRORS else codes(value)
    return found


TRANSACTION_STATE = "__transaction_state"
TOLD = {
    "name",
    "topic",
    "topic_name",
    "group_id",
    "key",
    "transactional_id",
    "resource_name",
    "is_internal",
    "topic_authorized_operations",
    "cluster_authorized_operations",
    "authorized_operations",
}


def told(row: Any) -> Any:
    """What an answer says of rights: errors, names, allowed operations. Rows of a list that say the
    same count once, in no order; what only Apache Kafka has is left out."""
    if isinstance(row, list):
        rows = [told(one) for one in row if isinstance(one, Row)]
        unique = {repr(one): one for one in rows if one and one.get("name") != TRANSACTION_STATE}
        return [unique[key] for key in sorted(unique)]
    if not isinstance(row, Row):
        return row
    kept = {}
    for name in row.field_names:
        value = getattr(row, name)
        if name.endswith("error_code") or name in TOLD:
            kept[name] = value
        elif isinstance(value, list | Row) and (inner := told(value)):
            kept[name] = inner
    return kept


# The requests

PRODUCER = 999
"""There is no such producer."""


def commits(given: Given, name: str) -> Any:
    entry = offset_commit.PARTITION(partition_index=0, committed_offset=1, committed_metadata="")
    rows = [offset_commit.TOPIC(name=name, partitions=[entry])]
    return offset_commit.REQUEST(group_id=given.group, topics=rows)


def adds(given: Given, producer_id: int) -> Any:
    return add_partitions_to_txn.REQUEST(
        v3_and_below_transactional_id=given.transactional_id,
        v3_and_below_producer_id=producer_id,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[add_partitions_to_txn.TOPIC(name=given.topic, partitions=[0])],
    )


def produces_by_id(given: Given, api: Any) -> Any:
    entry = api.PARTITION(index=0, records=batch(b"one"))
    topics = [api.TOPIC(topic_id=given.topic_id, partition_data=[entry])]
    return api.REQUEST(acks=-1, timeout_ms=10_000, topic_data=topics)


def produces_in_transaction(given: Given, _: Any) -> Any:
    data = batch(b"one", producer_id=PRODUCER, producer_epoch=0, base_sequence=0, attributes=0x10)
    row = produce_row(given.topic, data)
    row.transactional_id = given.transactional_id
    return row


def fetches(given: Given, api: Any, by_id: bool = False) -> Any:
    entry = api.PARTITION(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    named = {"topic_id": given.topic_id} if by_id else {"topic": given.topic}
    return api.REQUEST(max_wait_ms=0, min_bytes=0, topics=[api.TOPIC(partitions=[entry], **named)])


def describes(api: Any, name: str | None, create: bool = False, **more: Any) -> Any:
    topics = None if name is None else [api.TOPIC(name=name)]
    return api.REQUEST(
        topics=topics,
        allow_auto_topic_creation=create,
        include_topic_authorized_operations=True,
        **more,
    )


def wants_offsets(given: Given, api: Any) -> Any:
    topics = [api.GROUP_TOPIC(name=given.topic, partition_indexes=[0])]
    return api.REQUEST(groups=[api.GROUP(group_id=given.group, topics=topics)])


def wants_offsets_of_one(given: Given, api: Any) -> Any:
    topics = [api.TOPIC(name=given.topic, partition_indexes=[0])]
    return api.REQUEST(group_id=given.group, topics=topics)


def wants_offsets_by_id(given: Given, api: Any) -> Any:
    topics = [api.GROUP_TOPIC(topic_id=given.topic_id, partition_indexes=[0])]
    return api.REQUEST(groups=[api.GROUP(group_id=given.group, topics=topics)])


def commits_by_id(given: Given, _: Any) -> Any:
    row = commits(given, "")
    row.topics[0].topic_id = given.topic_id
    return row


def joins(given: Given, api: Any) -> Any:
    return api.REQUEST(
        group_id=given.fresh,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[api.PROTOCOL(name="range", metadata=b"")],
    )


def syncs(given: Given, api: Any) -> Any:
    return api.REQUEST(
        group_id=given.fresh,
        generation_id=1,
        member_id="nobody",
        protocol_type="consumer",
        protocol_name="range",
    )


def makes(given: Given, api: Any) -> Any:
    wanted = api.TOPIC(name=given.fresh, num_partitions=1, replication_factor=1)
    return api.REQUEST(topics=[wanted], timeout_ms=10_000, validate_only=True)


def commits_in_transaction(given: Given, api: Any) -> Any:
    entry = api.PARTITION(partition_index=0, committed_offset=1, committed_metadata="")
    return api.REQUEST(
        transactional_id=given.transactional_id,
        group_id=given.group,
        producer_id=PRODUCER,
        producer_epoch=0,
        topics=[api.TOPIC(name=given.topic, partitions=[entry])],
    )


def wants_configs(kind: int, of: str) -> RowMaker:
    def row(given: Given, api: Any) -> Any:
        name = getattr(given, of) if of else "0"
        resource = api.RESOURCE(
            resource_type=kind, resource_name=name, configuration_keys=["retention.ms"]
        )
        return api.REQUEST(resources=[resource])

    return row


def sets_configs(kind: int, of: str, config: str) -> RowMaker:
    """Deletes what is not set: nothing changes, and Kafka allows it for nodes too."""

    def row(given: Given, api: Any) -> Any:
        name = getattr(given, of) if of else "0"
        change = api.CONFIG(name=config, config_operation=1, value=None)
        resource = api.RESOURCE(resource_type=kind, resource_name=name, configs=[change])
        return api.REQUEST(resources=[resource], validate_only=True)

    return row


def replaces_configs(kind: int, of: str = "", *names: str) -> RowMaker:
    def row(given: Given, api: Any) -> Any:
        resource = api.RESOURCE(
            resource_type=kind,
            resource_name=getattr(given, of) if of else "0",
            configs=[api.CONFIG(name=name, value="3600000") for name in names],
        )
        return api.REQUEST(resources=[resource], validate_only=True)

    return row


def marks(given: Given, api: Any) -> Any:
    marked = api.TOPIC(name=given.fresh, partition_indexes=[0])
    marker = api.MARKER(producer_id=PRODUCER, topics=[marked])
    return api.REQUEST(markers=[marker])


def verifies(given: Given, api: Any) -> Any:
    added = api.TOPIC(name=given.topic, partitions=[0])
    asked = api.TRANSACTION(
        transactional_id=given.transactional_id,
        producer_id=PRODUCER,
        verify_only=True,
        topics=[added],
    )
    return api.REQUEST(transactions=[asked])


def beats(names: str = "", pattern: str = "") -> RowMaker:
    def row(given: Given, api: Any) -> Any:
        return api.REQUEST(
            group_id=given.fresh,
            member_id="member",
            member_epoch=0,
            rebalance_timeout_ms=10_000,
            subscribed_topic_names=[getattr(given, names)] if names else None,
            subscribed_topic_regex=getattr(given, pattern) if pattern else None,
            topic_partitions=[],
        )

    return row


def named(topics: str = "topics", **partition: Any) -> RowMaker:
    """A request with one partition of the topic."""

    def row(given: Given, api: Any) -> Any:
        entry = api.TOPIC(name=given.topic, partitions=[api.PARTITION(**partition)])
        return api.REQUEST(**{topics: [entry]})

    return row


def idempotent(_: Given, api: Any) -> Any:
    return api.REQUEST(
        transactional_id=None, transaction_timeout_ms=1_000, producer_id=-1, producer_epoch=-1
    )


def transactional(given: Given, api: Any) -> Any:
    return api.REQUEST(
        transactional_id=given.transactional_id,
        transaction_timeout_ms=1_000,
        producer_id=PRODUCER,
        producer_epoch=0,
    )


def in_transaction(**more: Any) -> RowMaker:
    def row(given: Given, api: Any) -> Any:
        return api.REQUEST(
            transactional_id=given.transactional_id, producer_id=PRODUCER, producer_epoch=0, **more
        )

    return row


QUORUM = describe_quorum.REQUEST(
    topics=[
        describe_quorum.TOPIC(
            topic_name="__cluster_metadata",
            partitions=[describe_quorum.PARTITION(partition_index=0)],
        )
    ]
)
READ, WRITE, DESCRIBE, DELETE = map(topic, (OP.READ, OP.WRITE, OP.DESCRIBE, OP.DELETE))

QUESTIONS: tuple[Question, ...] = (
    ask("Produce", 9, lambda g, _: produce_row(g.topic, batch(b"one")), WRITE),
    ask("Produce, by id", 13, produces_by_id, WRITE, names_nothing=False),
    ask("Produce, in a transaction", 9, produces_in_transaction, WRITE_BY_ID, WRITE),
    ask("Fetch", 12, fetches, READ),
    ask("Fetch, by id", 17, lambda g, api: fetches(g, api, by_id=True), READ, names_nothing=False),
    ask("ListOffsets", 7, named(partition_index=0, timestamp=-1), DESCRIBE),
    ask("Metadata", 12, lambda g, api: describes(api, g.topic), DESCRIBE),
    ask(
        "Metadata, by id",
        12,
        lambda g, api: api.REQUEST(
            topics=[api.TOPIC(name=None, topic_id=g.topic_id)],
            include_topic_authorized_operations=True,
        ),
        DESCRIBE,
        names_nothing=False,
    ),
    ask(
        "Metadata, of the cluster",
        10,
        lambda g, api: describes(api, g.topic, include_cluster_authorized_operations=True),
        DESCRIBE,
        also=(cluster(OP.DESCRIBE), cluster(OP.CREATE), topic(OP.ALTER_CONFIGS), DELETE),
    ),
    ask(
        "Metadata, of all topics", 12, lambda _, api: describes(api, None), DESCRIBE, hides="topic"
    ),
    ask(
        "Metadata, creating",
        12,
        lambda g, api: describes(api, g.fresh, create=True),
        topic(OP.DESCRIBE, "fresh"),
        (topic(OP.CREATE, "fresh"), cluster(OP.CREATE)),
    ),
    ask("OffsetCommit", 9, lambda g, _: commits(g, g.topic), group(OP.READ), READ),
    ask("OffsetCommit, by id", 10, commits_by_id, group(OP.READ), READ, names_nothing=False),
    ask("OffsetFetch", 9, wants_offsets, group(OP.DESCRIBE), DESCRIBE),
    ask(
        "OffsetFetch, by id",
        10,
        wants_offsets_by_id,
        group(OP.DESCRIBE),
        DESCRIBE,
        names_nothing=False,
    ),
    ask("OffsetFetch, of one group", 7, wants_offsets_of_one, group(OP.DESCRIBE), DESCRIBE),
    ask("OffsetFetch, as long ago", 1, wants_offsets_of_one, group(OP.DESCRIBE), DESCRIBE),
    ask(
        "OffsetFetch, of all topics",
        9,
        lambda g, api: api.REQUEST(groups=[api.GROUP(group_id=g.group, topics=None)]),
        group(OP.DESCRIBE),
        DESCRIBE,
        hides="topic",
    ),
    ask(
        "FindCoordinator, of a group",
        4,
        lambda g, api: api.REQUEST(key_type=0, coordinator_keys=[g.group]),
        group(OP.DESCRIBE),
    ),
    ask(
        "FindCoordinator, of one group",
        3,
        lambda g, api: api.REQUEST(key_type=0, key=g.group),
        group(OP.DESCRIBE),
    ),
    ask(
        "FindCoordinator, of a transactional id",
        4,
        lambda g, api: api.REQUEST(key_type=1, coordinator_keys=[g.transactional_id]),
        DESCRIBE_BY_ID,
    ),
    ask("JoinGroup", 9, joins, group(OP.READ, "fresh")),
    ask(
        "Heartbeat",
        4,
        lambda g, api: api.REQUEST(group_id=g.fresh, generation_id=1, member_id="nobody"),
        group(OP.READ, "fresh"),
    ),
    ask(
        "LeaveGroup",
        5,
        lambda g, api: api.REQUEST(group_id=g.fresh, members=[api.MEMBER(member_id="nobody")]),
        group(OP.READ, "fresh"),
    ),
    ask("SyncGroup", 5, syncs, group(OP.READ, "fresh")),
    ask(
        "DescribeGroups",
        5,
        lambda g, api: api.REQUEST(groups=[g.group], include_authorized_operations=True),
        group(OP.DESCRIBE),
        also=(group(OP.DELETE), group(OP.ALTER_CONFIGS)),
    ),
    ask(
        "ListGroups",
        5,
        lambda _, api: api.REQUEST(states_filter=["Empty"], types_filter=["classic"]),
        (group(OP.DESCRIBE), cluster(OP.DESCRIBE)),
        hides="group",
    ),
    ask(
        "CreateTopics",
        7,
        makes,
        (topic(OP.CREATE, "fresh"), cluster(OP.CREATE)),
        also=(topic(OP.DESCRIBE_CONFIGS, "fresh"),),
    ),
    ask(
        "DeleteTopics",
        6,
        lambda g, api: api.REQUEST(topics=[api.TOPIC(name=g.doomed)], timeout_ms=10_000),
        (topic(OP.DESCRIBE, "doomed"), cluster(OP.DELETE)),
        (topic(OP.DELETE, "doomed"), cluster(OP.DELETE)),
    ),
    ask(
        "DeleteTopics, by id",
        6,
        lambda g, api: api.REQUEST(
            topics=[api.TOPIC(name=None, topic_id=g.doomed_id)], timeout_ms=10_000
        ),
        (topic(OP.DELETE, "doomed"), cluster(OP.DELETE)),
        names_nothing=False,
    ),
    ask("DeleteRecords", 2, named(partition_index=0, offset=0), DELETE),
    ask(
        "InitProducerId",
        4,
        idempotent,
        (cluster(OP.IDEMPOTENT_WRITE), WRITE._replace(any_will_do=True)),
    ),
    ask("InitProducerId, of a transactional id", 4, transactional, WRITE_BY_ID),
    ask(
        "OffsetForLeaderEpoch",
        4,
        lambda g, api: api.REQUEST(
            replica_id=-1,
            topics=[
                api.TOPIC(
                    topic=g.topic,
                    partitions=[
                        api.PARTITION(partition=0, current_leader_epoch=-1, leader_epoch=0)
                    ],
                )
            ],
        ),
        (DESCRIBE, cluster(OP.CLUSTER_ACTION)),
    ),
    ask("AddPartitionsToTxn", 3, lambda g, _: adds(g, PRODUCER), WRITE_BY_ID, WRITE),
    ask("AddPartitionsToTxn, among brokers", 5, verifies, cluster(OP.CLUSTER_ACTION)),
    ask("AddOffsetsToTxn", 3, in_transaction(group_id="readers"), WRITE_BY_ID, group(OP.READ)),
    ask("EndTxn", 3, in_transaction(committed=True), WRITE_BY_ID),
    ask("WriteTxnMarkers", 1, marks, (cluster(OP.ALTER), cluster(OP.CLUSTER_ACTION))),
    ask("TxnOffsetCommit", 3, commits_in_transaction, WRITE_BY_ID, group(OP.READ), READ),
    ask(
        "DescribeAcls",
        3,
        lambda g, api: api.REQUEST(
            resource_type_filter=TOPIC,
            resource_name_filter=g.fresh,
            pattern_type_filter=PatternType.LITERAL,
            principal_filter=None,
            host_filter=None,
            operation=OP.ANY,
            permission_type=Permission.ANY,
        ),
        cluster(OP.DESCRIBE),
    ),
    ask(
        "CreateAcls",
        3,
        lambda g, api: api.REQUEST(
            creations=[
                api.CREATION(
                    resource_type=TOPIC,
                    resource_name=g.fresh,
                    resource_pattern_type=PatternType.LITERAL,
                    principal="User:nobody",
                    host="*",
                    operation=OP.READ,
                    permission_type=Permission.ALLOW,
                )
            ]
        ),
        cluster(OP.ALTER),
    ),
    ask(
        "DeleteAcls",
        3,
        lambda g, api: api.REQUEST(
            filters=[
                api.FILTER(
                    resource_type_filter=TOPIC,
                    resource_name_filter=g.fresh,
                    pattern_type_filter=PatternType.LITERAL,
                    principal_filter=None,
                    host_filter=None,
                    operation=OP.ANY,
                    permission_type=Permission.ANY,
                )
            ]
        ),
        cluster(OP.ALTER),
    ),
    ask(
        "DescribeClientQuotas",
        1,
        lambda g, api: api.REQUEST(
            components=[api.COMPONENT(entity_type="user", match_type=0, match=g.fresh)]
        ),
        cluster(OP.DESCRIBE_CONFIGS),
    ),
    ask(
        "AlterClientQuotas",
        1,
        lambda g, api: api.REQUEST(
            entries=[
                api.ENTRY(
                    entity=[api.ENTITY(entity_type="user", entity_name=g.fresh)],
                    ops=[api.OP(key="producer_byte_rate", value=1_000.0)],
                )
            ],
            validate_only=True,
        ),
        cluster(OP.ALTER_CONFIGS),
    ),
    ask(
        "DescribeUserScramCredentials",
        0,
        lambda g, api: api.REQUEST(users=[api.USER(name=g.fresh)]),
        cluster(OP.DESCRIBE),
    ),
    ask(
        "AlterUserScramCredentials",
        0,
        lambda g, api: api.REQUEST(deletions=[api.DELETION(name=g.fresh, mechanism=1)]),
        cluster(OP.ALTER),
    ),
    ask(
        "DescribeConfigs, of a topic",
        4,
        wants_configs(ON_TOPIC, "topic"),
        topic(OP.DESCRIBE_CONFIGS),
    ),
    ask(
        "DescribeConfigs, of a group",
        4,
        wants_configs(ON_GROUP, "group"),
        group(OP.DESCRIBE_CONFIGS),
    ),
    ask(
        "DescribeConfigs, of a node", 4, wants_configs(ON_BROKER, ""), cluster(OP.DESCRIBE_CONFIGS)
    ),
    ask(
        "DescribeConfigs, of client metrics",
        4,
        wants_configs(ON_CLIENT_METRICS, "fresh"),
        cluster(OP.DESCRIBE_CONFIGS),
    ),
    ask(
        "AlterConfigs, of a topic",
        2,
        replaces_configs(ON_TOPIC, "topic", "retention.ms"),
        topic(OP.ALTER_CONFIGS),
    ),
    ask(
        "AlterConfigs, of a group", 2, replaces_configs(ON_GROUP, "group"), group(OP.ALTER_CONFIGS)
    ),
    ask("AlterConfigs, of a node", 2, replaces_configs(ON_BROKER), cluster(OP.ALTER_CONFIGS)),
    ask(
        "IncrementalAlterConfigs, of a topic",
        1,
        sets_configs(ON_TOPIC, "topic", "retention.ms"),
        topic(OP.ALTER_CONFIGS),
    ),
    ask(
        "IncrementalAlterConfigs, of a group",
        1,
        sets_configs(ON_GROUP, "group", "consumer.session.timeout.ms"),
        group(OP.ALTER_CONFIGS),
    ),
    ask(
        "IncrementalAlterConfigs, of a node",
        1,
        sets_configs(ON_BROKER, "", "background.threads"),
        cluster(OP.ALTER_CONFIGS),
    ),
    ask(
        "AlterReplicaLogDirs",
        2,
        lambda g, api: api.REQUEST(
            dirs=[api.DIR(path="/no/such/folder", topics=[api.TOPIC(name=g.topic, partitions=[0])])]
        ),
        cluster(OP.ALTER),
    ),
    ask(
        "DescribeLogDirs",
        4,
        lambda g, api: api.REQUEST(topics=[api.TOPIC(topic=g.topic, partitions=[0])]),
        cluster(OP.DESCRIBE),
    ),
    ask(
        "CreatePartitions",
        3,
        lambda g, api: api.REQUEST(
            topics=[api.TOPIC(name=g.topic, count=2)], timeout_ms=10_000, validate_only=True
        ),
        topic(OP.ALTER),
    ),
    ask(
        "DeleteGroups",
        2,
        lambda g, api: api.REQUEST(groups_names=[g.fresh]),
        group(OP.DELETE, "fresh"),
    ),
    ask(
        "ElectLeaders",
        2,
        lambda g, api: api.REQUEST(
            topic_partitions=[api.TOPIC(topic=g.topic, partitions=[0])], timeout_ms=10_000
        ),
        cluster(OP.ALTER),
    ),
    ask(
        "AlterPartitionReassignments", 0, named(partition_index=0, replicas=[0]), cluster(OP.ALTER)
    ),
    ask("ListPartitionReassignments", 0, lambda _, api: api.REQUEST(), cluster(OP.DESCRIBE)),
    ask(
        "OffsetDelete",
        0,
        lambda g, api: api.REQUEST(
            group_id=g.group,
            topics=[api.TOPIC(name=g.topic, partitions=[api.PARTITION(partition_index=5)])],
        ),
        group(OP.DELETE),
        READ,
    ),
    ask("DescribeQuorum", 2, lambda *_: QUORUM, cluster(OP.DESCRIBE)),
    ask("UpdateFeatures", 2, lambda _, api: api.REQUEST(timeout_ms=10_000), cluster(OP.ALTER)),
    ask(
        "DescribeCluster",
        1,
        lambda _, api: api.REQUEST(include_cluster_authorized_operations=True),
        also=(cluster(OP.DESCRIBE), cluster(OP.ALTER), cluster(OP.CREATE)),
    ),
    ask(
        "DescribeProducers",
        0,
        lambda g, api: api.REQUEST(topics=[api.TOPIC(name=g.topic, partition_indexes=[0])]),
        READ,
    ),
    ask(
        "DescribeTransactions",
        0,
        lambda g, api: api.REQUEST(transactional_ids=[g.transactional_id]),
        DESCRIBE_BY_ID,
    ),
    ask(
        "DescribeTransactions, its topics",
        0,
        lambda g, api: api.REQUEST(transactional_ids=[g.transactional_id]),
        DESCRIBE_BY_ID,
        DESCRIBE,
        hides="topic",
    ),
    ask(
        "ListTransactions",
        1,
        lambda _, api: api.REQUEST(duration_filter=-1),
        DESCRIBE_BY_ID,
        hides="transactional_id",
    ),
    ask("ConsumerGroupHeartbeat", 1, beats(names="topic"), group(OP.READ, "fresh"), DESCRIBE),
    ask("ConsumerGroupHeartbeat, by a pattern", 1, beats(pattern="topic"), group(OP.READ, "fresh")),
    ask(
        "ConsumerGroupDescribe",
        1,
        lambda g, api: api.REQUEST(group_ids=[g.consumers], include_authorized_operations=True),
        group(OP.DESCRIBE, "consumers"),
        DESCRIBE,
    ),
    ask(
        "ListConfigResources",
        1,
        lambda _, api: api.REQUEST(resource_types=[ON_BROKER]),
        cluster(OP.DESCRIBE_CONFIGS),
    ),
    ask(
        "DescribeTopicPartitions",
        0,
        lambda g, api: api.REQUEST(topics=[api.TOPIC(name=g.topic)]),
        DESCRIBE,
    ),
    ask(
        "DescribeTopicPartitions, of all topics",
        0,
        lambda _, api: api.REQUEST(topics=[]),
        DESCRIBE,
        hides="topic",
    ),
)
FREE = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}
"""They need nothing: a client sends them before it has said who it is."""
