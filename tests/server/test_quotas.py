"""Clients over their quotas are told for how long, and muted; all others are as fast as ever."""

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server.message_sets import message_set
from server.neighbour import Neighbour
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.quotas import ask_for_quotas, is_silent, set_quotas
from server.talk import batch, create, end_of, fetch_row, produce_row, versions, write
from support.waiting import eventually

from samsa.records.compression import Codec
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import api_versions, create_topics

numbers = itertools.count()
LONG = 1.0
"""A quota, in bytes a second, that mutes a client for minutes."""
KB = 1000


@pytest.fixture(scope="module")
def samsa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    with a_samsa(tmp_path_factory.mktemp("quotas"), "--metrics-port", "0") as running:
        yield running


@pytest.fixture
def admin(samsa: Samsa) -> Iterator[Peer]:
    with samsa.peer() as peer:
        peer.client_id = "admin"
        yield peer


Client = Callable[..., Peer]


@pytest.fixture
def client(samsa: Samsa, admin: Peer) -> Iterator[Client]:
    """A client with an id of its own, which has these quotas."""
    made: list[Peer] = []

    def make(**limits: float) -> Peer:
        peer = samsa.peer()
        made.append(peer)
        peer.client_id = f"client-{next(numbers)}"
        if limits:
            set_quotas(admin, {"client-id": peer.client_id}, **limits)
        return peer

    yield make
    for peer in made:
        peer.close()


def produce(peer: Peer, topic: str, size: int, acks: int = -1, version: int = 9) -> Any:
    peer.send(ApiKey.PRODUCE, version, produce_row(topic, batch(b"x" * size), acks=acks))
    return peer.answer() if acks else peer._asked.pop()


def fetch(peer: Peer, topic: str, **more: Any) -> Any:
    return peer.ask(ApiKey.FETCH, 12, fetch_row(topic, 0, **more))


def muted(samsa: Samsa) -> float:
    return samsa.metrics()["samsa_muted_connections"]


def test_a_producer_over_its_quota_is_told_for_how_long_and_muted(client: Client, topic: str):
    peer = client(producer_byte_rate=10 * KB)
    assert produce(peer, topic, 90 * KB).throttle_time_ms == 0
    told = produce(peer, topic, 20 * KB)
    assert told.responses[0].partition_responses[0].error_code == 0
    assert 500 <= told.throttle_time_ms < 2000
    begun = time.monotonic()
    assert versions(peer)
    assert time.monotonic() - begun >= told.throttle_time_ms / 1000 - 0.2


@pytest.mark.parametrize("version", [0, 2, 5, 7])
def test_an_older_producer_is_answered_at_once_and_muted_too(
    client: Client, topic: str, samsa: Samsa, version: int
):
    peer = client(producer_byte_rate=LONG)
    if version < 3:
        data = message_set(1 if version == 2 else 0, [(None, b"x" * 1000)], Codec.NONE)
    else:
        data = batch(b"x" * 1000)
    told = peer.ask(ApiKey.PRODUCE, version, produce_row(topic, data))
    assert told.responses[0].partition_responses[0].error_code == 0
    assert told.throttle_time_ms == 0 if version == 0 else told.throttle_time_ms > 60_000
    peer.send(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())
    assert is_silent(peer)


def test_what_a_client_pipelines_waits_however_much_it_sends(
    client: Client, topic: str, samsa: Samsa, admin: Peer
):
    peer, count = client(producer_byte_rate=LONG), 20
    for _ in range(count):
        peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * KB)))
    assert peer.answer().throttle_time_ms > 60_000
    assert is_silent(peer)
    assert end_of(admin, topic) == 1
    set_quotas(admin, {"client-id": peer.client_id}, producer_byte_rate=None)
    for _ in range(count - 1):
        assert peer.answer().throttle_time_ms == 0
    assert end_of(admin, topic) == count


def test_a_client_that_has_learned_the_shorter_way_is_muted_like_any_other(
    client: Client, topic: str, admin: Peer
):
    peer = client()
    for _ in range(3):
        assert produce(peer, topic, KB).throttle_time_ms == 0
    set_quotas(admin, {"client-id": peer.client_id}, producer_byte_rate=LONG)
    assert produce(peer, topic, KB).throttle_time_ms > 60_000
    peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x")))
    assert is_silent(peer)
    assert end_of(admin, topic) == 4


def test_produces_without_acknowledgement_are_held_back_and_none_is_lost(
    client: Client, topic: str, admin: Peer, samsa: Samsa
):
    peer = client(producer_byte_rate=LONG)
    for _ in range(10):
        produce(peer, topic, KB, acks=0)
    assert eventually(lambda: end_of(admin, topic) == 1)
    peer.close()  # and the broker still has what it sent
    time.sleep(2.5)
    assert end_of(admin, topic) == 1
    set_quotas(admin, {"client-id": peer.client_id}, producer_byte_rate=None)
    assert eventually(lambda: end_of(admin, topic) == 10)


def test_a_consumer_over_its_quota_gets_no_data_until_its_time_is_up(
    client: Client, topic: str, admin: Peer
):
    for _ in range(12):
        write(admin, topic, b"x" * 10 * KB)
    peer = client(consumer_byte_rate=10 * KB)
    first = fetch(peer, topic)
    assert first.throttle_time_ms == 0
    size = len(first.responses[0].partitions[0].records)
    assert 0 < size <= 100 * KB, "more than the quota of ten seconds in one answer"
    second = fetch(peer, topic)
    assert (second.responses, second.error_code, second.session_id) == ([], 0, 0)
    assert second.throttle_time_ms > 5000
    peer.send(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())
    assert is_silent(peer)


def test_a_batch_larger_than_a_whole_window_is_read_in_the_end(
    client: Client, topic: str, admin: Peer
):
    write(admin, topic, b"x" * 10 * KB)
    peer = client(consumer_byte_rate=1)
    assert fetch(peer, topic).responses[0].partitions[0].records
    assert fetch(peer, topic).responses == []


def test_request_time_is_limited_for_every_api_and_for_a_second_at_most(
    client: Client, topic: str, admin: Peer
):
    peer = client(request_percentage=1e-6)
    told = peer.ask(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())
    assert told.api_keys
    assert 1 <= told.throttle_time_ms <= 1000
    write(admin, topic, b"x")
    refused = fetch(peer, topic)
    assert refused.responses == []
    assert 1 <= refused.throttle_time_ms <= 1000
    assert produce(peer, topic, 1).throttle_time_ms in range(1, 1001)
    assert end_of(admin, topic) == 2


def test_the_most_specific_quota_counts(samsa: Samsa, admin: Peer, topic: str):
    with samsa.peer() as peer:
        peer.client_id = f"client-{next(numbers)}"
        entities: list[dict[str, str | None]] = [
            {"client-id": peer.client_id},
            {"user": "ANONYMOUS", "client-id": peer.client_id},
        ]
        set_quotas(admin, entities[0], producer_byte_rate=LONG)
        set_quotas(admin, entities[1], producer_byte_rate=1e9)
        assert produce(peer, topic, 100 * KB).throttle_time_ms == 0
        set_quotas(admin, entities[1], producer_byte_rate=None)
        assert produce(peer, topic, KB).throttle_time_ms > 0
        set_quotas(admin, entities[0], producer_byte_rate=None)


@pytest.mark.parametrize("limit", [0.0, -1.0, 1e19, float("nan"), float("inf")])
def test_a_quota_that_is_none_is_refused_and_throttles_nobody(admin: Peer, limit: float):
    code, _ = ask_for_quotas(admin, {"client-id": "nobody"}, producer_byte_rate=limit)
    assert code == ErrorCode.INVALID_REQUEST


def test_a_huge_quota_throttles_nobody(client: Client, topic: str):
    limits = dict.fromkeys(("producer_byte_rate", "consumer_byte_rate"), 2.0**62)
    peer = client(**limits, request_percentage=1e300, controller_mutation_rate=1e300)
    for _ in range(3):
        assert produce(peer, topic, 100 * KB).throttle_time_ms == 0
        assert fetch(peer, topic).throttle_time_ms == 0


def test_mutations_over_the_quota_are_refused_or_slow_down_older_clients(client: Client):
    peer = client(controller_mutation_rate=1)
    name = f"mutated-{next(numbers)}"
    assert try_create(peer, 7, f"{name}-a", 60) == (0, 0)
    code, throttle_ms = try_create(peer, 7, f"{name}-b", 1)
    assert code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert 40_000 < throttle_ms <= 49_000
    older = client(controller_mutation_rate=1)
    assert try_create(older, 5, f"{name}-c", 10) == (0, 0)
    code, throttle_ms = try_create(older, 5, f"{name}-d", 10)
    assert code == 0
    assert 5_000 < throttle_ms <= 9_000
    older.send(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())
    assert is_silent(older)


def try_create(peer: Peer, version: int, name: str, partitions: int) -> tuple[int, int]:
    asked = create_topics.TOPIC(name=name, num_partitions=partitions, replication_factor=1)
    row = create_topics.REQUEST(topics=[asked], timeout_ms=10_000)
    told = peer.ask(ApiKey.CREATE_TOPICS, version, row)
    return told.topics[0].error_code, told.throttle_time_ms


def test_an_address_that_connects_too_fast_is_closed_without_an_answer(samsa: Samsa, admin: Peer):
    set_quotas(admin, {"ip": "127.0.0.9"}, connection_creation_rate=1)
    welcome, closed = 0, 0
    for _ in range(40):
        with Peer(samsa.address, host="127.0.0.9") as peer:
            try:
                welcome += bool(versions(peer))
            except (EOFError, ConnectionError):
                closed += 1
        if closed == 2:
            break
    assert closed == 2
    assert welcome >= 10
    with Peer(samsa.address, host="127.0.0.10") as other:
        assert versions(other)
    key = 'samsa_throttled_total{quota="connection_creation_rate"}'
    assert samsa.metrics()[key] == closed
    set_quotas(admin, {"ip": "127.0.0.9"}, connection_creation_rate=None)
    with Peer(samsa.address, host="127.0.0.9") as peer:
        assert versions(peer)


def test_a_client_that_leaves_while_it_is_muted_is_noticed(
    client: Client, topic: str, samsa: Samsa
):
    before = samsa.metrics()["samsa_connections"]
    for leave in (Peer.close, Peer.reset):
        peer = client(producer_byte_rate=LONG)
        assert produce(peer, topic, KB).throttle_time_ms > 60_000
        peer.say(b"\0\0")  # the beginning of a request that never comes
        count = muted(samsa)
        assert count >= 1
        leave(peer)
        assert eventually(lambda count=count: muted(samsa) < count)
    assert samsa.metrics()["samsa_connections"] <= before


def test_a_muted_connection_reads_nothing(client: Client, topic: str, samsa: Samsa):
    peer = client(producer_byte_rate=LONG)
    assert produce(peer, topic, KB).throttle_time_ms > 60_000
    before = samsa.metrics()["samsa_received_bytes_total"]
    free = samsa.metrics()["samsa_request_memory_free_bytes"]
    peer.socket.settimeout(1.0)
    with pytest.raises(TimeoutError):
        peer.say(b"\0\x80\0\0" + b"x" * 64_000_000)
    assert samsa.metrics()["samsa_received_bytes_total"] - before <= 64 * KB
    assert samsa.metrics()["samsa_request_memory_free_bytes"] == free


def test_made_up_client_ids_take_a_bounded_memory(samsa: Samsa, admin: Peer, client: Client):
    peer, count = client(), 10_400
    set_quotas(admin, {"client-id": None}, request_percentage=1e6)
    try:
        for first in range(0, count, 100):
            frames = []
            for number in range(first, first + 100):
                peer.client_id = f"made-up-{number}"
                frames.append(peer.frame(ApiKey.API_VERSIONS, 0, api_versions.REQUEST()))
            peer.say(b"".join(frames))
            for _ in frames:
                peer.answer()
        # The metric also counts what other clients of these tests have left: less than a hundred.
        assert 0 < samsa.metrics()["samsa_quota_rates"] < 10_100
    finally:
        set_quotas(admin, {"client-id": None}, request_percentage=None)


def test_a_well_behaved_client_beside_muted_ones_is_unharmed(tmp_path: Path):
    with a_samsa(tmp_path) as samsa, samsa.peer() as admin:
        create(admin, "slow")
        set_quotas(admin, {"client-id": "slow"}, producer_byte_rate=LONG)
        neighbour = Neighbour(samsa.address, "neighbour")
        neighbour.goes_on()
        slow = []
        for _ in range(50):
            peer = samsa.peer()
            peer.client_id = "slow"
            slow.append(peer)
            for _ in range(5):
                peer.send(ApiKey.PRODUCE, 9, produce_row("slow", batch(b"x" * 10 * KB)))
            assert peer.answer().throttle_time_ms > 60_000
            neighbour.goes_on()
        neighbour.stop()
        assert end_of(admin, "slow") == len(slow)
        begun = time.monotonic()
        assert samsa.stop() == 0
        assert time.monotonic() - begun < 15, "SIGTERM waits for clients that are muted"
        for peer in slow:
            peer.close()


def test_quotas_are_in_force_after_a_restart_and_what_was_measured_is_not(tmp_path: Path):
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t")
            set_quotas(peer, {"client-id": "peer"}, producer_byte_rate=KB)
            assert produce(peer, "t", 100 * KB).throttle_time_ms > 60_000
        assert samsa.stop() == 0
        samsa.again()
        with samsa.peer() as peer:
            assert produce(peer, "t", 5 * KB).throttle_time_ms == 0
            assert produce(peer, "t", 10 * KB).throttle_time_ms > 0


def test_processes_of_a_cluster_share_a_quota_and_learn_of_changes(tmp_path: Path):
    data = str(tmp_path / "one" / "data")
    with (
        a_samsa(tmp_path / "one") as one,
        a_samsa(tmp_path / "two", "--data", data) as two,
        one.peer() as admin,
        two.peer() as there,
    ):
        create(admin, "t")
        assert eventually(lambda: len(nodes(there)) == 2, seconds=15)
        set_quotas(admin, {"client-id": "half"}, producer_byte_rate=10 * KB)
        time.sleep(2)
        there.client_id = "half"
        assert produce(there, "t", 40 * KB).throttle_time_ms == 0
        told = produce(there, "t", 20 * KB)
        assert 1_000 < told.throttle_time_ms < 3_000, "its share is 5,000 bytes a second"
        with two.peer() as stuck:
            stuck.client_id = "half"
            assert produce(stuck, "t", 500 * KB).throttle_time_ms > 60_000
            stuck.send(ApiKey.API_VERSIONS, 3, api_versions.REQUEST())
            set_quotas(admin, {"client-id": "half"}, producer_byte_rate=None)
            assert not is_silent(stuck, 4.0), "a removed quota still mutes"


def nodes(peer: Peer) -> Any:
    from samsa.wire.messages import metadata

    return peer.ask(ApiKey.METADATA, 9, metadata.REQUEST(topics=[])).brokers
