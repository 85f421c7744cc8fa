"""Faults on demand, as real clients and a raw connection meet them."""

import time
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from server.peer import Peer
from server.talk import append, batch, create, describe, fetch_row, produce_row, read, write

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat, join_group, metadata, sync_group
from samsa_broker.testing import SamsaBroker, SamsaError

LONG_S = 0.3


@pytest.fixture
def peer(broker: SamsaBroker):
    with Peer((broker.host, broker.port)) as peer:
        create(peer, "orders")
        yield peer


def a_producer(broker: SamsaBroker, **more: Any) -> Producer:
    dotted = {name.replace("_", "."): value for name, value in more.items()}
    usual = {"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0, "retry.backoff.ms": 10}
    return Producer({**usual, **dotted})


def stored(broker: SamsaBroker) -> list[bytes | None]:
    return [record.value for record in broker.records("orders")]


def test_a_refused_produce_stores_nothing_and_the_next_one_is_stored(
    broker: SamsaBroker, peer: Peer
):
    write(peer, "orders", b"before")  # from now on such produces take the shorter way
    fault = broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)
    for _ in range(2):
        answer = append(peer, "orders", batch(b"no"))
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert answer.base_offset == -1
    assert write(peer, "orders", b"yes") == 1
    assert stored(broker) == [b"before", b"yes"]
    assert fault.hits == 2


def test_a_client_repeats_what_was_refused(broker: SamsaBroker):
    broker.create_topic("orders")
    fault = broker.faults.fail("Produce", ErrorCode.NOT_LEADER_OR_FOLLOWER, times=3)
    producer = a_producer(broker)
    producer.produce("orders", b"one")
    assert producer.flush(10) == 0
    assert fault.hits == 3
    assert stored(broker) == [b"one"]


def test_a_refused_produce_without_acknowledgement_is_not_answered(broker: SamsaBroker, peer: Peer):
    broker.faults.fail("Produce", "KAFKA_STORAGE_ERROR", times=1)
    peer.say(peer.frame(ApiKey.PRODUCE, 9, produce_row("orders", batch(b"no"), acks=0)))
    peer._asked.pop()
    assert describe(peer, "orders") is not None
    assert stored(broker) == []


def test_refusals_keep_their_order_among_produces_that_are_under_way(
    broker: SamsaBroker, peer: Peer
):
    broker.faults.fail("Produce", "KAFKA_STORAGE_ERROR", times=1, client_id="unlucky")
    rows = [produce_row("orders", batch(b"%d" % number)) for number in range(3)]
    frames = [peer.frame(ApiKey.PRODUCE, 9, rows[0])]
    peer.client_id = "unlucky"
    frames.append(peer.frame(ApiKey.PRODUCE, 9, rows[1]))
    peer.client_id = "peer"
    frames.append(peer.frame(ApiKey.PRODUCE, 9, rows[2]))
    peer.say(b"".join(frames))
    codes = [peer.answer().responses[0].partition_responses[0].error_code for _ in range(3)]
    assert codes == [ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE]
    assert stored(broker) == [b"0", b"2"]


def test_a_fault_ends_when_it_is_cleared(broker: SamsaBroker, peer: Peer):
    fault = broker.faults.fail("fetch", 56)
    assert read(peer, "orders", 0).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    fault.clear()
    assert read(peer, "orders", 0).error_code == ErrorCode.NONE
    assert fault.hits == 1
    broker.faults.fail("Fetch", "KAFKA_STORAGE_ERROR")
    broker.faults.delay("Fetch", 60)
    broker.faults.clear()
    assert read(peer, "orders", 0).error_code == ErrorCode.NONE


def test_a_request_that_waits_goes_on_when_its_fault_is_cleared(broker: SamsaBroker, peer: Peer):
    fault = broker.faults.delay("Fetch", 3600)
    peer.send(ApiKey.FETCH, 12, _fetch())
    fault.wait()
    broker.faults.clear()
    assert peer.answer().responses[0].partitions[0].error_code == ErrorCode.NONE


def test_a_fault_of_one_client_leaves_the_others_alone(broker: SamsaBroker, peer: Peer):
    broker.faults.fail("Fetch", "KAFKA_STORAGE_ERROR", client_id="unlucky")
    assert read(peer, "orders", 0).error_code == ErrorCode.NONE
    peer.client_id = "unlucky"
    assert read(peer, "orders", 0).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_delay_holds_one_connection_and_no_other(broker: SamsaBroker, peer: Peer):
    broker.faults.delay("Fetch", LONG_S, times=1)
    with Peer((broker.host, broker.port)) as other:
        began = time.perf_counter()
        peer.send(ApiKey.METADATA, 9, _metadata())
        peer.answer()
        peer.send(ApiKey.FETCH, 12, _fetch())
        write(other, "orders", b"meanwhile")
        between = time.perf_counter() - began
        answer = peer.answer()
        assert time.perf_counter() - began >= LONG_S > between
    assert answer.responses[0].partitions[0].high_watermark == 1


def test_a_late_answer_comes_after_the_record_is_stored(broker: SamsaBroker, peer: Peer):
    fault = broker.faults.delay("Produce", 60, after=True)
    peer.send(ApiKey.PRODUCE, 9, produce_row("orders", batch(b"one")))
    assert [record.value for record in broker.records("orders", at_least=1)] == [b"one"]
    assert fault.hits == 1


def test_a_producer_whose_answer_is_lost_stores_its_record_once(broker: SamsaBroker):
    """With idempotence; the same without it stores it twice."""
    broker.create_topic("orders")
    for is_idempotent, copies in ((True, 1), (False, 2)):
        fault = broker.faults.disconnect("Produce", times=1, after=True)
        producer = a_producer(broker, enable_idempotence=is_idempotent)
        producer.produce("orders", b"%d" % copies)
        assert producer.flush(10) == 0
        assert fault.hits == 1
        assert stored(broker).count(b"%d" % copies) == copies


def test_a_disconnect_stores_nothing(broker: SamsaBroker, peer: Peer):
    broker.faults.disconnect("Produce", times=1)
    peer.send(ApiKey.PRODUCE, 9, produce_row("orders", batch(b"no")))
    assert peer.is_closed()
    assert stored(broker) == []


def test_faults_do_not_meet_the_fixture_itself(broker: SamsaBroker):
    for api in ("Produce", "Fetch", "Metadata", "CreateTopics"):
        broker.faults.fail(api, "UNKNOWN_SERVER_ERROR")
    broker.produce("orders", "one")
    assert stored(broker) == [b"one"]


def test_an_unknown_api_or_error_is_refused_with_the_names_there_are(broker: SamsaBroker):
    with pytest.raises(SamsaError, match=r"no API 'Prodce'; there are: .*Produce"):
        broker.faults.delay("Prodce", 1)
    with pytest.raises(SamsaError, match=r"no error 'NOPE'; there are: .*NOT_LEADER_OR_FOLLOWER"):
        broker.faults.fail("Produce", "NOPE")
    assert broker.faults.fail("offset_commit", 27).hits == 0


def test_waiting_for_a_fault_that_nothing_meets_ends_with_what_was_seen(broker: SamsaBroker):
    fault = broker.faults.fail("Fetch", "KAFKA_STORAGE_ERROR")
    with pytest.raises(SamsaError, match=r"Fetch fails with KAFKA_STORAGE_ERROR> met 0 of 1"):
        fault.wait(timeout=0.05)


def test_a_fenced_producer_cannot_commit_what_it_has_open(broker: SamsaBroker):
    producer = a_producer(broker, transactional_id="billing")
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce("orders", b"lost")
    assert producer.flush(10) == 0
    broker.faults.fence("billing")
    with pytest.raises(KafkaException) as raised:
        producer.commit_transaction(10)
    assert raised.value.args[0].fatal()
    assert stored(broker) == []
    with pytest.raises(SamsaError, match=r"'bills'.* There are: billing"):
        broker.faults.fence("bills")


def a_member(broker: SamsaBroker, **more: Any) -> tuple[Consumer, list[str]]:
    """A consumer, and what it was told of its partitions."""
    told: list[str] = []
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": "billing",
        "auto.offset.reset": "earliest",
        **more,
    }
    consumer = Consumer(settings)
    consumer.subscribe(
        ["orders"],
        on_assign=lambda *_: told.append("assigned"),
        on_revoke=lambda *_: told.append("revoked"),
        on_lost=lambda *_: told.append("lost"),
    )
    return consumer, told


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"heartbeat.interval.ms": 100, "session.timeout.ms": 6000},
            ["assigned", "revoked", "assigned"],
        ),
        ({"group.protocol": "consumer"}, ["assigned", "lost", "assigned"]),
    ],
    ids=["classic", "consumer"],
)
@pytest.mark.waits
def test_members_of_a_group_that_is_rebalanced_give_up_their_partitions_and_get_them_back(
    broker: SamsaBroker, settings: dict[str, Any], expected: list[str]
):
    broker.produce("orders", "one")
    consumer, told = a_member(broker, **settings)
    assert consumer.poll(15).value() == b"one"
    broker.wait_for_group("billing")
    broker.faults.rebalance("billing")
    deadline = time.perf_counter() + 20
    while len(told) < 3 and time.perf_counter() < deadline:
        consumer.poll(0.05)
    assert told == expected
    broker.wait_for_group("billing")
    consumer.close()


def test_a_rebalance_leaves_the_group_with_its_members_and_a_new_generation(
    broker: SamsaBroker, peer: Peer
):
    joined = _join(peer, "")
    member_id, generation = joined.member_id, joined.generation_id
    assigned = [sync_group.ASSIGNMENT(member_id=member_id, assignment=b"all")]
    row = sync_group.REQUEST(
        group_id="billing",
        generation_id=generation,
        member_id=member_id,
        assignments=assigned,
    )
    assert peer.ask(ApiKey.SYNC_GROUP, 3, row).error_code == ErrorCode.NONE
    broker.faults.rebalance("billing")
    beat = heartbeat.REQUEST(group_id="billing", generation_id=generation, member_id=member_id)
    code = peer.ask(ApiKey.HEARTBEAT, 3, beat).error_code
    assert code == ErrorCode.REBALANCE_IN_PROGRESS
    again = _join(peer, member_id)
    assert again.generation_id > generation
    assert [each.member_id for each in again.members] == [member_id]


def test_a_group_without_members_cannot_be_rebalanced(broker: SamsaBroker):
    with pytest.raises(SamsaError, match=r"group 'billing' has no members.* There are: none"):
        broker.faults.rebalance("billing")


def _join(peer: Peer, member_id: str) -> Any:
    row = join_group.REQUEST(
        group_id="billing",
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
    )
    return peer.ask(ApiKey.JOIN_GROUP, 3, row)


def _metadata() -> Any:
    return metadata.REQUEST(topics=[])


def _fetch() -> Any:
    return fetch_row("orders", 0)
