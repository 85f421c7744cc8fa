"""What a client may do: the ways around a handler, requests for several topics, and patterns."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults.inside import ADDRESS, SIZE
from server.talk import batch, fetch_row, produce_row
from support.permissions import QUESTIONS, Given, commits
from unit.handlers.matrix import ALICE, DOOMED, NOTHING, Site, with_ids
from unit.handlers.test_long_requests import PatientWork

from samsa.client_requests import ClientRequests
from samsa.security.access import Limited, Unlimited
from samsa.security.acls import Acl
from samsa.security.authorizer import Authorizer
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.frame import read_request, request_frame
from samsa.wire.messages import (
    add_partitions_to_txn,
    consumer_group_heartbeat,
    create_topics,
    init_producer_id,
    list_offsets,
    metadata,
)

MANY = 200
OPEN, SECRET = "books", "secrets"
DENIED, GRANTED = ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.NONE
WHERE_ACLS_ARE_KEPT = {29, 30, 31, 48, 49, 50, 51}
"""APIs of admins: they ask for every client."""


def allowed(operation: Operation, kind: ResourceType, name: str) -> Acl:
    return Acl(kind, PatternType.LITERAL, name, str(ALICE), "*", operation, Permission.ALLOW)


def on_topic(operation: Operation, name: str = OPEN) -> Acl:
    return allowed(operation, ResourceType.TOPIC, name)


def on_group(operation: Operation, name: str) -> Acl:
    return allowed(operation, ResourceType.GROUP, name)


def alice(*acls: Acl) -> Limited:
    authorizer = Authorizer(acls)
    return Limited(ALICE, "127.0.0.1", lambda: authorizer)


class Changing:
    """Access whose ACLs are changed meanwhile."""

    def __init__(self) -> None:
        self.authorizer = Authorizer([])
        self.access = Limited(ALICE, "127.0.0.1", lambda: self.authorizer)

    def allow(self, *acls: Acl) -> None:
        self.authorizer = Authorizer(acls)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Site]:
    with asyncio.Runner() as loop:
        found = Site(tmp_path, loop)
        yield found
        found.close()


@pytest.fixture
def site(empty: Site) -> Site:
    names = OPEN, SECRET
    rows = [create_topics.TOPIC(name=n, num_partitions=1, replication_factor=1) for n in names]
    empty.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=rows))
    return empty


# Several topics in one request


def both(row: Any) -> Any:
    """The row of a request for one topic, with the other one too."""
    topics = row.topic_data if hasattr(row, "topic_data") else row.topics
    (first,) = topics
    name = "topic" if hasattr(first, "topic") else "name"
    values = {each: getattr(first, each) for each in first.field_names}
    topics.append(type(first)(**{**values, name: SECRET}))
    return row


def codes_by_topic(topics: list[Any], partitions: str = "partitions") -> dict[str, int]:
    return {
        getattr(one, "name", None) or one.topic: getattr(one, partitions)[0].error_code
        for one in topics
    }


def test_a_produce_is_stored_where_the_client_may_write(site: Site):
    row = both(produce_row(OPEN, batch(b"one")))
    answer = site.ask(ApiKey.PRODUCE, 9, row, alice(on_topic(Operation.WRITE)))
    found = codes_by_topic(answer.responses, "partition_responses")
    assert found == {OPEN: GRANTED, SECRET: DENIED}
    assert end_of(site, OPEN) == 1
    assert end_of(site, SECRET) == 0


def end_of(site: Site, topic: str) -> int:
    entry = list_offsets.PARTITION(partition_index=0, timestamp=-1)
    row = list_offsets.REQUEST(topics=[list_offsets.TOPIC(name=topic, partitions=[entry])])
    found: int = site.ask(ApiKey.LIST_OFFSETS, 7, row).topics[0].partitions[0].offset
    return found


def test_a_fetch_reads_where_the_client_may_read(site: Site):
    for topic in (OPEN, SECRET):
        site.ask(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"one")))
    row = both(fetch_row(OPEN, 0))
    answer = site.ask(ApiKey.FETCH, 12, row, alice(on_topic(Operation.READ)))
    assert codes_by_topic(answer.responses) == {OPEN: GRANTED, SECRET: DENIED}
    read = {one.topic: bool(one.partitions[0].records) for one in answer.responses}
    assert read == {OPEN: True, SECRET: False}


def test_offsets_are_committed_for_topics_that_the_client_may_read(site: Site):
    row = both(commits(NOTHING, OPEN))
    access = alice(on_topic(Operation.READ), on_group(Operation.READ, NOTHING.group))
    answer = site.ask(ApiKey.OFFSET_COMMIT, 9, row, access)
    assert codes_by_topic(answer.topics) == {OPEN: GRANTED, SECRET: DENIED}


def test_metadata_describes_what_the_client_may_describe(site: Site):
    row = metadata.REQUEST(topics=[metadata.TOPIC(name=name) for name in (OPEN, SECRET)])
    answer = site.ask(ApiKey.METADATA, 9, row, alice(on_topic(Operation.DESCRIBE)))
    found = {topic.name: (topic.error_code, len(topic.partitions)) for topic in answer.topics}
    assert found == {OPEN: (GRANTED, 1), SECRET: (DENIED, 0)}


# The shorter way for produces like an earlier one


def frame_of(row: Any) -> memoryview:
    data = request_frame(APIS[ApiKey.PRODUCE], 9, 1, "alice", row)
    return memoryview(bytearray(data))[SIZE:]


async def produced(requests: ClientRequests, row: Any) -> int:
    frame = frame_of(row)
    request = read_request(frame)
    later: Any = await requests.answer(request)
    requests.learn(request, later)
    answer = await later.ended()
    code: int = answer.responses[0].partition_responses[0].error_code
    return code


async def is_taken(requests: ClientRequests, row: Any) -> bool:
    begun = requests.begin_alike(frame_of(row))
    if begun is not None:
        await begun[1].ended()
    return begun is not None


async def play(site: Site) -> list[object]:
    rights = Changing()
    requests = ClientRequests(site.broker, ADDRESS, "/127.0.0.1", rights.access)
    row = produce_row(OPEN, batch(b"one"))
    found: list[object] = [await produced(requests, row)]
    rights.allow(on_topic(Operation.WRITE))
    found += [await produced(requests, row), await is_taken(requests, row)]
    rights.allow()
    found += [await is_taken(requests, row), await produced(requests, row)]
    return found


def test_a_produce_like_an_earlier_one_is_refused_once_the_right_is_gone(site: Site):
    assert site.run(play(site)) == [DENIED, GRANTED, True, False, DENIED]


async def play_named(site: Site) -> list[object]:
    """With a transactional id, which plain batches need not."""
    rights = Changing()
    requests = ClientRequests(site.broker, ADDRESS, "/127.0.0.1", rights.access)
    row = produce_row(OPEN, batch(b"one"))
    row.transactional_id = "writers"
    named = allowed(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "writers")
    rights.allow(on_topic(Operation.WRITE), named)
    found: list[object] = [await produced(requests, row), await is_taken(requests, row)]
    rights.allow(on_topic(Operation.WRITE))
    found.append(await is_taken(requests, row))
    return found


def test_the_shorter_way_asks_for_the_transactional_id_too(site: Site):
    assert site.run(play_named(site)) == [GRANTED, True, False]


# Transactions


def test_a_batch_without_rights_adds_its_partition_to_no_transaction(site: Site):
    """Only partitions that the client may write to are added by a produce."""
    rights = [on_topic(Operation.WRITE)]
    rights.append(allowed(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "writers"))
    init = init_producer_id.REQUEST(
        transactional_id="writers",
        transaction_timeout_ms=10_000,
        producer_id=-1,
        producer_epoch=-1,
    )
    own = site.ask(ApiKey.INIT_PRODUCER_ID, 4, init).producer_id
    data = batch(b"one", producer_id=own, producer_epoch=0, base_sequence=0, attributes=0x10)
    row = both(produce_row(OPEN, data))
    row.transactional_id = "writers"
    answer = site.ask(ApiKey.PRODUCE, 12, row, alice(*rights))
    found = codes_by_topic(answer.responses, "partition_responses")
    assert found == {OPEN: GRANTED, SECRET: DENIED}
    transaction = site.run(site.broker.transactions.look("writers"))
    assert transaction is not None
    assert set(transaction.partitions) == {(site.topic_id(OPEN), 0)}


def test_nobody_adds_an_internal_topic_to_a_transaction(site: Site):
    row = add_partitions_to_txn.REQUEST(
        v3_and_below_transactional_id="writers",
        v3_and_below_topics=[
            add_partitions_to_txn.TOPIC(name="__consumer_offsets", partitions=[0])
        ],
    )
    answer = site.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 3, row)
    (result,) = answer.results_by_topic_v3_and_below[0].results_by_partition
    assert result.partition_error_code == DENIED


# Patterns


class Member:
    def __init__(self, site: Site, name: str) -> None:
        self.rights = Changing()
        self._site = site
        self._name = name
        self._epoch = 0
        self.topics: set[str] = set()
        self._names = {site.topic_id(name): name for name in (OPEN, SECRET)}

    def allow(self, *topics: str) -> None:
        rights = [on_topic(Operation.DESCRIBE, name) for name in topics]
        self.rights.allow(on_group(Operation.READ, "g"), *rights)

    def beat(self, pattern: str | None = None) -> set[str]:
        """The topics that it has partitions of."""
        row = consumer_group_heartbeat.REQUEST(
            group_id="g",
            member_id=self._name,
            member_epoch=self._epoch,
            rebalance_timeout_ms=10_000,
            subscribed_topic_regex=pattern,
            topic_partitions=self._owned(),
        )
        answer = self._site.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, row, self.rights.access)
        assert not answer.error_code, answer
        self._epoch = answer.member_epoch
        if answer.assignment is not None:
            rows = answer.assignment.topic_partitions
            self.topics = {self._names[row.topic_id] for row in rows}
        return self.topics

    def _owned(self) -> list[Any]:
        table = consumer_group_heartbeat.TOPIC_PARTITIONS
        ids = {name: topic_id for topic_id, name in self._names.items()}
        return [table(topic_id=ids[name], partitions=[0]) for name in self.topics]


def test_a_pattern_matches_what_its_member_may_describe(site: Site):
    member = Member(site, "one")
    member.allow(OPEN)
    assert member.beat(".*") == {OPEN}
    member.allow(OPEN, SECRET)
    assert member.beat() == {OPEN, SECRET}


def test_what_a_pattern_matched_stays_until_a_member_subscribes_again(site: Site):
    member = Member(site, "one")
    member.allow(OPEN, SECRET)
    assert member.beat(".*") == {OPEN, SECRET}
    member.allow(OPEN)
    assert member.beat() == {OPEN, SECRET}
    member.beat(".*")
    assert member.beat() == {OPEN}


def test_a_member_with_fewer_rights_takes_nothing_from_the_others(site: Site):
    wide, narrow = Member(site, "wide"), Member(site, "narrow")
    wide.allow(OPEN, SECRET)
    narrow.allow(OPEN)
    wide.beat("(books|secrets)")
    narrow.beat("books")
    for _ in range(4):
        wide.beat()
        narrow.beat()
    assert wide.topics | narrow.topics == {OPEN, SECRET}
    assert narrow.topics <= {OPEN}


# Long requests


def test_a_subscription_to_many_topics_lets_others_run_while_it_is_checked(site: Site):
    names = [f"topic-{number}" for number in range(MANY)]
    rights = [on_topic(Operation.DESCRIBE, name) for name in names]
    work = site.broker.work = PatientWork()
    row = consumer_group_heartbeat.REQUEST(
        group_id="g",
        member_id="one",
        member_epoch=0,
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=[*names, SECRET],
        topic_partitions=[],
    )
    access = alice(on_group(Operation.READ, "g"), *rights)
    assert site.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, row, access).error_code == DENIED
    assert work.turns >= MANY


# Without ACLs


class Uncurious(Unlimited):
    """Nothing may be asked of it but for the operations that an answer lists."""

    def may(self, *_: object) -> bool:
        raise AssertionError("it was asked")

    may_see = may_on_any = may


def test_without_acls_nothing_is_asked(empty: Site):
    given = empty.set_up(["doomed", *DOOMED])
    for number, question in enumerate(QUESTIONS):
        if question.key in WHERE_ACLS_ARE_KEPT:
            continue
        names = Given(f"fresh-{number}", DOOMED[number % len(DOOMED)])
        row = question.row(with_ids(names, given.topic_id, empty))
        empty.ask(question.key, question.version, row, Uncurious())
