"""Clusters of tests: each for itself, and nothing is left of them."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from server.peer import Peer
from server.quotas import set_quotas
from server.talk import batch, fetch_row, produce_row, write
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import metadata
from samsa_broker.server.listener import ServerLimits
from samsa_broker.testing import Record, SamsaBroker, SamsaError, a_broker
from samsa_broker.testing import server as testing_server
from samsa_broker.testing.hosts import Host, open_host

ORPHAN = """
import sys, time
from samsa_broker.testing.broker import SamsaBroker
from samsa_broker.testing.hosts import open_host
host = open_host("process")
broker = SamsaBroker(host)
print(host._process.pid, broker.port, flush=True)
time.sleep(60)
"""


def written(broker: SamsaBroker, topic: str, *values: bytes) -> list[bytes]:
    """By a client, and read back by one."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(10) == 0
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": "readers",
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    found = [consumer.poll(10).value() for _ in values]
    consumer.commit(asynchronous=False)
    consumer.close()
    return found


def test_a_cluster_has_nothing_of_another_one_with_the_same_names(host: Host):
    first, second = SamsaBroker(host), SamsaBroker(host)
    assert written(first, "orders", b"one", b"two") == [b"one", b"two"]
    assert (second.topics(), second.groups()) == ({}, {})
    assert second.group_offsets("readers") == {}
    assert [record.offset for record in second.produce("orders", "three")] == [0]
    assert written(second, "orders", b"four") == [b"three"]
    assert [record.value for record in first.records("orders")] == [b"one", b"two"]
    assert first.group_offsets("readers") == {("orders", 0): 2}
    first.close()
    second.close()


def test_clusters_have_ids_of_their_own(host: Host):
    brokers = [SamsaBroker(host) for _ in range(2)]
    seen = set()
    for broker in brokers:
        with Peer((broker.host, broker.port)) as peer:
            seen.add(peer.ask(ApiKey.METADATA, 9, metadata.REQUEST(topics=[])).cluster_id)
        broker.close()
    assert len(seen) == 2


def test_what_the_fixture_writes_a_client_reads_and_the_other_way_round(broker: SamsaBroker):
    assert broker.create_topic("orders", partitions=3, cleanup_policy="compact") == "orders"
    stored = broker.produce(
        "orders", "first", b"\xff", None, key="k", partition=2, headers={"a": "b"}, timestamp=1
    )
    headers = (("a", b"b"),)
    assert stored == [
        Record("orders", 2, 0, 1, b"k", b"first", headers),
        Record("orders", 2, 1, 1, b"k", b"\xff", headers),
        Record("orders", 2, 2, 1, b"k", None, headers),
    ]
    assert broker.records("orders") == broker.records("orders", partition=2) == stored
    assert broker.records("orders", partition=0) == []
    assert broker.topics() == {"orders": 3}
    broker.delete_topic("orders")
    assert broker.topics() == {}


def test_records_wait_until_there_are_enough(broker: SamsaBroker):
    later = threading.Timer(0.05, broker.produce, ("orders", "one"))
    later.start()
    assert [record.value for record in broker.records("orders", at_least=1)] == [b"one"]
    later.join()
    with pytest.raises(SamsaError, match="orders has 1 of 2 records"):
        broker.records("orders", at_least=2, timeout=0.05)


def test_a_long_topic_is_read_to_its_end(broker: SamsaBroker):
    values = [bytes([number]) * 100_000 for number in range(120)]
    for value in values:
        broker.produce("orders", value)
    assert [record.value for record in broker.records("orders")] == values


def test_aborted_records_are_shown_only_on_request(broker: SamsaBroker):
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "billing"}
    producer = Producer(settings)
    producer.init_transactions(10)
    for value, end in ((b"no", producer.abort_transaction), (b"yes", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce("orders", value)
        producer.flush(10)
        end(10)
    assert [record.value for record in broker.records("orders")] == [b"yes"]
    uncommitted = broker.records("orders", committed=False)
    assert [record.value for record in uncommitted] == [b"no", b"yes"]


@pytest.mark.parametrize(
    ("mistake", "why"),
    [
        (lambda broker: broker.records("letters"), "there are: orders"),
        (lambda broker: broker.create_topic("orders"), "TOPIC_ALREADY_EXISTS"),
        (lambda broker: broker.create_topic("x", retention="soon"), "INVALID_CONFIG"),
        (lambda broker: broker.delete_topic("letters"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (lambda broker: broker.produce("orders", "x", partition=7), "UNKNOWN_TOPIC_OR_PARTITION"),
        (lambda broker: broker.start(), "stop"),
        (lambda broker: broker.wait_for_group("g", timeout=0), "not there, not Stable"),
    ],
    ids=["unknown", "twice", "config", "delete", "partition", "start", "group"],
)
def test_a_mistake_in_a_test_is_explained(broker: SamsaBroker, mistake, why: str):
    broker.create_topic("orders")
    with pytest.raises(SamsaError, match=why):
        mistake(broker)


def test_a_stopped_broker_refuses_clients_and_starts_again_with_all_it_had(broker: SamsaBroker):
    written(broker, "orders", b"one")
    port = broker.port
    broker.stop()
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    assert [record.value for record in broker.records("orders")] == [b"one"]
    broker.start()
    assert broker.port == port
    assert written(broker, "orders", b"two") == [b"two"]
    assert [record.offset for record in broker.records("orders")] == [0, 1]


def test_a_producer_waits_through_a_restart(broker: SamsaBroker):
    broker.create_topic("orders")
    settings = {"bootstrap.servers": broker.bootstrap_servers, "reconnect.backoff.ms": 10}
    producer = Producer(settings)
    producer.produce("orders", b"before")
    assert producer.flush(10) == 0
    broker.stop()
    producer.produce("orders", b"after")
    assert producer.flush(0.1) == 1
    broker.start()
    assert producer.flush(10) == 0
    assert [record.value for record in broker.records("orders")] == [b"before", b"after"]


def test_a_closed_broker_says_that_it_is_closed(host: Host):
    broker = SamsaBroker(host)
    broker.close()
    broker.close()
    with pytest.raises(SamsaError, match="closed"):
        broker.topics()


def open_files() -> int:
    """How many this process has open."""
    return len(os.listdir("/proc/self/fd"))


def test_closing_leaves_no_thread_and_no_descriptor_though_clients_stay_open():
    with a_broker() as warm:  # what is imported and cached stays
        written(warm, "orders", b"one")
    threads, files = set(threading.enumerate()), open_files()
    host = open_host("thread")
    peers = []
    for _ in range(20):
        broker = SamsaBroker(host)
        broker.produce("orders", *["x" * 1000] * 50, key="k")
        peers += [Peer((broker.host, broker.port)) for _ in range(3)]
        write(peers[-1], "letters", b"one")
        broker.records("orders")
        broker.close()
        assert all(peer.is_closed() for peer in peers[-3:])
    host.close()
    for peer in peers:
        peer.close()
    assert set(threading.enumerate()) - threads == set()
    assert open_files() <= files


@pytest.mark.waits
def test_a_topic_is_compacted_and_the_thread_that_did_it_ends_with_its_broker():
    threads = set(threading.enumerate())
    with a_broker() as broker:
        broker.create_topic("orders", cleanup_policy="compact", max_compaction_lag_ms=1)
        for number in range(20):
            broker.produce("orders", str(number), key="k")
        assert eventually(lambda: len(broker.records("orders")) == 1, 30)
        assert [record.value for record in broker.records("orders")] == [b"19"]
        names = {thread.name.rpartition("_")[0] for thread in threading.enumerate()}
        assert "slices" in names
    assert set(threading.enumerate()) - threads == set()


@pytest.mark.waits
def test_records_past_their_retention_go(broker: SamsaBroker):
    broker.create_topic("orders", retention_ms=1)
    broker.produce("orders", "one", timestamp=1)
    assert eventually(lambda: broker.records("orders") == [], 30)
    assert [record.offset for record in broker.produce("orders", "two")] == [1]


def test_a_quota_that_a_client_sets_is_in_force_at_once(broker: SamsaBroker):
    broker.create_topic("orders")
    with Peer((broker.host, broker.port)) as peer:
        set_quotas(peer, {"client-id": "peer"}, producer_byte_rate=100.0)
        row = produce_row("orders", batch(bytes(10_000)))
        assert peer.ask(ApiKey.PRODUCE, 9, row).throttle_time_ms > 0


def test_a_client_that_does_not_read_its_answer_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
):
    """The answer is larger than both sockets' buffers; the broker may wait for ever for it."""
    monkeypatch.setattr(testing_server, "LIMITS", ServerLimits(shutdown_grace_s=3600))
    with ExitStack() as later, a_broker() as broker:
        for _ in range(16):
            broker.produce("orders", bytes(900_000))
        peer = later.enter_context(Peer((broker.host, broker.port), 4096))
        peer.send(ApiKey.FETCH, 12, fetch_row("orders", 0))
        assert peer.read(4)


def test_a_stopped_broker_can_be_closed(host: Host):
    broker = SamsaBroker(host)
    broker.stop()
    broker.close()
    with socket.socket() as other:
        other.bind(("127.0.0.1", broker.port))


def test_a_process_beside_the_tests_ends_when_they_are_killed(tmp_path: Path):
    tests = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    assert tests.stdout is not None
    pid, port = map(int, tests.stdout.readline().split())
    with Peer(("127.0.0.1", port)) as peer:
        write(peer, "orders", b"one")
    tests.send_signal(signal.SIGKILL)
    tests.wait()
    tests.stdout.close()
    assert eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_a_process_that_has_gone_is_named_with_its_exit_status():
    host = open_host("process")
    broker = SamsaBroker(host)
    os.kill(host._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    with pytest.raises(SamsaError, match="exit status -9"):
        broker.topics()
    host.close()


def test_a_module_of_the_tests_with_a_name_of_pythons_own_does_not_disturb_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "secrets.py").write_text("raise RuntimeError('not that one')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    with a_broker("process") as broker:
        assert broker.topics() == {}


def test_an_interrupted_call_does_not_shift_the_answers_to_later_ones(
    monkeypatch: pytest.MonkeyPatch,
):
    """As Ctrl-C while a test waits for the process beside it."""
    host = open_host("process")
    broker = SamsaBroker(host)
    broker.create_topic("orders", partitions=3)
    with monkeypatch.context() as patch:
        patch.setattr(host._pipe, "recv", interrupted)  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            broker.groups()
    assert broker.topics() == {"orders": 3}
    host.close()


def interrupted() -> None:
    raise KeyboardInterrupt


def test_a_fork_is_told_that_it_has_no_broker_in_a_thread():
    with a_broker() as broker:
        child = os.fork()
        if child == 0:
            try:
                broker.topics()
            except SamsaError as error:
                os._exit(0 if "samsa_mode = process" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0


def test_a_test_that_forks_has_a_broker_beside_it():
    with a_broker("process") as broker:
        child = os.fork()
        if child == 0:
            os._exit(0 if written(broker, "orders", b"one") == [b"one"] else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert [record.value for record in broker.records("orders")] == [b"one"]


def test_an_unknown_mode_is_refused_with_the_ones_there_are():
    with pytest.raises(SamsaError, match="thread, process"):
        open_host("docker")
