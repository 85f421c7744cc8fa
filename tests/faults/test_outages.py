"""A store that is gone for some seconds, while the other is well and clients are at work."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from faults import promises
from faults.clients import PARTITIONS, at_work
from faults.cluster import Cluster
from faults.weather import Fault
from server.peer import Peer
from server.talk import append, batch, create, describe, versions

from samsa.wire.errors import ErrorCode

RETRIABLE = {
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.KAFKA_STORAGE_ERROR,
}
TIMEOUT_S = 3.0
SLACK_S = 2.0
RECOVERY_S = 20.0
TOPIC = "outage"
OUTAGES = [
    ("dynamodb", Fault.SILENCE),
    ("s3", Fault.SILENCE),
    ("dynamodb", Fault.RESET),
    ("s3", Fault.ERROR_503),
]


def within(seconds: float, ask: Callable[[], Any]) -> Any:
    began = time.monotonic()
    answer = ask()
    took = time.monotonic() - began
    assert took < seconds, f"{answer} took {took:.1f} s"
    return answer


def metadata_is_answered(cluster: Cluster) -> None:
    for number in range(len(cluster.brokers)):
        with cluster.peer(number) as peer:
            within(SLACK_S, lambda p=peer: versions(p))
            answer = within(TIMEOUT_S + SLACK_S, lambda p=peer: describe(p, TOPIC))
            assert len(answer.topics[0].partitions) == PARTITIONS


def produce(peer: Peer, partition: int, timeout_s: float = TIMEOUT_S) -> Any:
    timeout_ms = int(timeout_s * 1000)
    return append(peer, TOPIC, batch(b"probe"), partition=partition, timeout_ms=timeout_ms)


def a_produce_fails_in_time(cluster: Cluster) -> None:
    with cluster.peer() as peer:
        answer = within(TIMEOUT_S + SLACK_S, lambda: produce(peer, 0))
    assert answer.error_code in RETRIABLE


def all_is_well_again(cluster: Cluster) -> None:
    for number in range(len(cluster.brokers)):
        with cluster.peer(number) as peer:
            for partition in range(PARTITIONS):
                answer = within(RECOVERY_S, lambda p=peer, n=partition: produce(p, n, RECOVERY_S))
                assert answer.error_code == ErrorCode.NONE, answer


def a_list_of_all_topics_lacks_none(cluster: Cluster) -> None:
    """Rather than a list that lacks one, a client gets no answer."""
    with cluster.peer() as peer, suppress(EOFError):
        assert TOPIC in [topic.name for topic in describe(peer).topics]


def test_outages_of_one_store_after_the_other_are_survived(cluster: Cluster):
    with cluster.peer() as peer:
        create(peer, TOPIC, PARTITIONS)
    with at_work(cluster, TOPIC) as clients:
        all_is_well_again(cluster)
        for store, fault in OUTAGES:
            with cluster.outage(store, fault):
                metadata_is_answered(cluster)
                a_produce_fails_in_time(cluster)
                if fault is not Fault.SILENCE:
                    a_list_of_all_topics_lacks_none(cluster)
            all_is_well_again(cluster)
    promises.hold(cluster, TOPIC, clients)
