"""A store that is gone for some seconds, while the other is well and clients are at work."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

from faults import promises
from faults.clients import LARGE_BYTES, PARTITIONS, at_work
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
QUIET = PARTITIONS
"""A partition that the clients do not write to."""
SMALL, LARGE = b"probe", b"probe".ljust(LARGE_BYTES)
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
            assert len(answer.topics[0].partitions) == PARTITIONS + 1


def produce(peer: Peer, partition: int, value: bytes, timeout_s: float = TIMEOUT_S) -> Any:
    timeout_ms = int(timeout_s * 1000)
    return append(peer, TOPIC, batch(value), partition=partition, timeout_ms=timeout_ms)


def a_produce_that_needs_the_store_fails_in_time(cluster: Cluster, store: str) -> None:
    with cluster.peer() as peer:
        small = within(TIMEOUT_S + SLACK_S, lambda: produce(peer, QUIET, SMALL))
        large = within(TIMEOUT_S + SLACK_S, lambda: produce(peer, QUIET, LARGE))
    assert large.error_code in RETRIABLE
    if store == "s3":  # a small append is kept in the ledger
        assert small.error_code == ErrorCode.NONE, small
    else:
        assert small.error_code in RETRIABLE


def all_is_well_again(cluster: Cluster) -> None:
    for number in range(len(cluster.brokers)):
        with cluster.peer(number) as peer:
            for partition, value in product(range(PARTITIONS + 1), (SMALL, LARGE)):
                answer = within(RECOVERY_S, partial(produce, peer, partition, value, RECOVERY_S))
                assert answer.error_code == ErrorCode.NONE, answer


def a_list_of_all_topics_lacks_none(cluster: Cluster) -> None:
    """Rather than a list that lacks one, a client gets no answer."""
    with cluster.peer() as peer, suppress(EOFError):
        assert TOPIC in [topic.name for topic in describe(peer).topics]


def test_outages_of_one_store_after_the_other_are_survived(cluster: Cluster):
    with cluster.peer() as peer:
        create(peer, TOPIC, PARTITIONS + 1)
    with at_work(cluster, TOPIC) as clients:
        all_is_well_again(cluster)
        for store, fault in OUTAGES:
            with cluster.outage(store, fault):
                metadata_is_answered(cluster)
                a_produce_that_needs_the_store_fails_in_time(cluster, store)
                if fault is not Fault.SILENCE:
                    a_list_of_all_topics_lacks_none(cluster)
            all_is_well_again(cluster)
    promises.hold(cluster, TOPIC, clients)
