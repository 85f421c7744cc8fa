"""`samsa local-api` without stores: real clients, the functions in processes that freeze and are
killed, and nothing that was acknowledged is lost."""

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.broker import SAMSA
from support.chain import EMBEDDED, Chain, a_chain, local_api, shim
from support.tools import require
from support.waiting import eventually

SECONDS = 60
LARGEST_UPLOAD = 4 * 1024 * 1024
WORKER = b"samsa_websocket.local_gateway.worker"


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    with a_chain(tmp_path_factory.mktemp("embedded"), EMBEDDED) as running:
        yield running


@pytest.fixture
def topic(chain: Chain) -> str:
    return a_topic(chain.bootstrap)


def a_topic(bootstrap: str) -> str:
    name = f"letters-{uuid4()}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics([NewTopic(name, 1)], request_timeout=SECONDS).values():
        made.result(SECONDS)
    return name


class Writer:
    """An idempotent producer that waits for each acknowledgement."""

    def __init__(self, bootstrap: str, topic: str, **settings: Any) -> None:
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, **settings}
        )
        self._topic = topic

    def write(self, *values: bytes) -> list[int]:
        """The offsets."""
        offsets: list[int] = []

        def delivered(error: Any, message: Any) -> None:
            assert error is None, error
            offsets.append(message.offset())

        for value in values:
            self._producer.produce(self._topic, value, partition=0, on_delivery=delivered)
        assert self._producer.flush(SECONDS) == 0
        return offsets


def acknowledged(bootstrap: str, topic: str, values: list[bytes], **settings: Any) -> list[int]:
    return Writer(bootstrap, topic, **settings).write(*values)


def all_of(bootstrap: str, topic: str) -> list[bytes]:
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": str(uuid4()),
            "fetch.max.bytes": 60_000_000,
            "fetch.message.max.bytes": 20_000_000,
        }
    )
    where = TopicPartition(topic, 0, 0)
    _, end = reader.get_watermark_offsets(where, SECONDS)
    reader.assign([where])
    found: list[bytes] = []
    while len(found) < end:
        message = reader.poll(SECONDS)
        assert message is not None
        assert not message.error()
        found.append(message.value())
    reader.close()
    return found


def test_kcat_writes_and_reads(chain: Chain, topic: str):
    kcat = [require("kcat", "it is one of the clients under test"), "-b", chain.bootstrap]
    kcat += ["-t", topic]
    lines = [f"line {number}" for number in range(1_000)]
    subprocess.run([*kcat, "-P"], input="\n".join(lines), text=True, check=True, timeout=SECONDS)
    read = subprocess.run(
        [*kcat, "-C", "-e", "-q", "-o", "beginning"],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    assert read.stdout.splitlines() == lines


def test_a_megabyte_goes_up_and_twenty_come_down_by_presigned_urls(chain: Chain, topic: str):
    before = chain.stats()
    values = [os.urandom(1_000_000) for _ in range(20)]
    acknowledged(chain.bootstrap, topic, values, **{"message.max.bytes": 2_000_000})
    assert all_of(chain.bootstrap, topic) == values
    after = chain.stats()
    assert after["bytes_in"] + after["bytes_out"] - before["bytes_in"] - before["bytes_out"] < 1e6
    for calls in ("puts", "gets"):
        assert after["stores"][calls] - before["stores"][calls] >= 20_000_000 // LARGEST_UPLOAD


def test_a_transaction_is_seen_whole_or_not_at_all(chain: Chain, topic: str):
    producer = Producer({"bootstrap.servers": chain.bootstrap, "transactional.id": topic})
    producer.init_transactions(SECONDS)
    for value, ends in ((b"aborted", producer.abort_transaction), (b"kept", None)):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        assert producer.flush(SECONDS) == 0
        (ends or producer.commit_transaction)(SECONDS)
    reader = Consumer({"bootstrap.servers": chain.bootstrap, "group.id": topic})
    reader.assign([TopicPartition(topic, 0, 0)])
    first = reader.poll(SECONDS)
    assert first is not None
    assert first.value() == b"kept"
    reader.close()


def test_what_is_acknowledged_stays_if_every_function_is_killed_right_after(
    chain: Chain, topic: str
):
    writer, written = Writer(chain.bootstrap, topic), []
    for number in range(6):
        value = b"%d" % number
        assert writer.write(value) == [number]
        chain.chaos(kill_all=True)
        written.append(value)
    assert all_of(chain.bootstrap, topic) == written


def test_what_is_acknowledged_stays_if_functions_are_killed_at_work(chain: Chain, topic: str):
    """An idempotent producer's record is there once, however often it was sent."""
    writer, values = Writer(chain.bootstrap, topic), [b"%d" % number for number in range(40)]
    before = chain.stats()["started"]["gateway"]
    chain.chaos(kill=0.2, kill_within_s=0.02)
    try:
        for value in values:
            writer.write(value)
    finally:
        chain.chaos(kill=0.0)
    assert chain.stats()["started"]["gateway"] > before, "none was killed"
    assert all_of(chain.bootstrap, topic) == values


def test_many_functions_append_to_one_partition_beside_frozen_ones(chain: Chain, topic: str):
    writers, each = 4, 25

    def write(writer: int) -> list[int]:
        own = Writer(chain.bootstrap, topic, **{"linger.ms": 0})
        return [own.write(b"%d %d" % (writer, number))[0] for number in range(each)]

    with ThreadPoolExecutor(writers) as threads:
        offsets = [offset for some in threads.map(write, range(writers)) for offset in some]
    assert sorted(offsets) == list(range(writers * each))
    found = all_of(chain.bootstrap, topic)
    for writer in range(writers):
        own = [value for value in found if value.startswith(b"%d " % writer)]
        assert own == [b"%d %d" % (writer, number) for number in range(each)]
    assert len(functions()) > 1, "one function did it all"


def test_functions_push_and_store_where_clients_have_to_sign(tmp_path: Path):
    """Their keys are the gateway's own, beside those of clients."""
    with (
        local_api(tmp_path, EMBEDDED, "--sign") as url,
        shim(tmp_path, url, "--region", "us-east-1") as bootstrap,
    ):
        topic, large = a_topic(bootstrap), os.urandom(500_000)
        reader = Consumer({"bootstrap.servers": bootstrap, "group.id": topic})
        reader.assign([TopicPartition(topic, 0, 0)])
        assert reader.poll(2) is None
        acknowledged(bootstrap, topic, [b"push", large])
        values = [reader.poll(SECONDS).value() for _ in range(2)]
        reader.close()
        root = url.replace("ws://", "http://").rpartition("/")[0]
        assert Chain(bootstrap, root=root).stats()["pushed"] > 0
    assert values == [b"push", large]


def test_the_http_api_shares_the_stores_and_the_port(chain: Chain, topic: str):
    acknowledged(chain.bootstrap, topic, [b"by Kafka"])
    with urllib.request.urlopen(f"{chain.root}/topics", timeout=SECONDS) as answer:
        assert topic in {each["name"] for each in json.load(answer)["topics"]}
    # Without a target it is no request to the table.
    headers = {"content-type": "application/json"}
    other = urllib.request.Request(f"{chain.root}/", b"{}", headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(other, timeout=SECONDS)
    assert refused.value.code in (404, 405)


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux has /proc")
def test_a_frozen_function_holds_no_file_of_the_stores(chain: Chain, topic: str):
    acknowledged(chain.bootstrap, topic, [b"one"])
    frozen = eventually(lambda: [pid for pid in functions() if state_of(pid) == "T"])
    assert frozen
    for pid in frozen:
        opened = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()]
        assert not [name for name in opened if name.startswith("/") and "/data/" in name]


def functions() -> list[int]:
    """The processes of functions that children of this test have started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command, status = (entry / "cmdline").read_bytes(), (entry / "status").read_text()
            except OSError:
                continue
            parent = int(re.search(r"PPid:\s+(\d+)", status)[1])  # type: ignore[index]
            if WORKER in command and parent_of(parent) == os.getpid():
                found.append(int(entry.name))
    return found


def parent_of(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return int(re.search(r"PPid:\s+(\d+)", status)[1])  # type: ignore[index]


def state_of(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    return re.search(r"State:\s+(\w)", status)[1]  # type: ignore[index]


@contextmanager
def a_gateway(folder: Path, name: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    out = folder / f"{name}.out"
    command = [str(SAMSA), "local-api", "--port", "0", "--data", str(folder / "data")]
    with out.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process, eventually(lambda: re.search(r"ws://\S+", out.read_text()), 30)[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def test_what_is_acknowledged_stays_if_the_gateway_is_killed(tmp_path: Path):
    values = [b"small", os.urandom(500_000)]
    with a_gateway(tmp_path, "first") as (process, url), shim(tmp_path, url) as bootstrap:
        topic = a_topic(bootstrap)
        assert acknowledged(bootstrap, topic, values) == [0, 1]
        process.kill()
        process.wait()
    with (
        a_gateway(tmp_path, "second") as (_, url),
        shim(tmp_path, url, name="again") as bootstrap,
    ):
        assert all_of(bootstrap, topic) == values
        assert acknowledged(bootstrap, topic, [b"more"]) == [2]


def test_a_full_disk_refuses_what_comes_and_goes_on_when_there_is_room(tmp_path: Path):
    data = tmp_path / "data"
    with (
        a_small_disk(data),
        a_gateway(tmp_path, "full") as (_, url),
        shim(tmp_path, url) as bootstrap,
    ):
        topic = a_topic(bootstrap)
        acknowledged(bootstrap, topic, [b"before"])
        fill(data / "filler")
        for value in (os.urandom(3_000), os.urandom(300_000)):
            with pytest.raises((AssertionError, KafkaException)):
                acknowledged(bootstrap, topic, [value], **{"message.timeout.ms": 2_000})
        (data / "filler").unlink()
        assert acknowledged(bootstrap, topic, [b"after", os.urandom(300_000)])[-1] >= 2
        found = all_of(bootstrap, topic)
        assert (found[0], found[-2], len(found[-1])) == (b"before", b"after", 300_000)
    said = (tmp_path / "full.out").read_text()
    assert "No space left on device" in said or "disk is full" in said
    assert "Traceback" not in said


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(4096))


@contextmanager
def a_small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small disk can only be mounted by root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
