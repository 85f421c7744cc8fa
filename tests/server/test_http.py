"""`samsa up` by TCP and by HTTP: one broker, two ways in."""

import json
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from server.process import Samsa, a_samsa
from server.test_cli import run

URL = re.compile(r"http +(http://127\.0\.0\.1:\d+)")
SECONDS = 60


class Http:
    def __init__(self, samsa: Samsa) -> None:
        found = URL.search((samsa.folder / "stdout").read_text())
        assert found, samsa.said()
        self.url = found[1]

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            text = answer.read()
        return json.loads(text) if text else None


@pytest.fixture(scope="module")
def http_samsa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    with a_samsa(tmp_path_factory.mktemp("http"), "--http", "127.0.0.1:0") as samsa:
        yield samsa


@pytest.fixture
def http(http_samsa: Samsa) -> Http:
    return Http(http_samsa)


@pytest.fixture
def topic(http: Http) -> str:
    name = f"orders-{uuid4()}"
    http("POST", "/topics", {"name": name, "partitions": 4})
    return name


def consumer(samsa: Samsa, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": samsa.broker.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "client.id": "a-real-one",
        }
    )


def polled(reader: Consumer) -> Any:
    message = reader.poll(SECONDS)
    assert message is not None, "nothing came"
    assert not message.error(), message.error()
    return message


def test_what_http_writes_a_client_reads(http: Http, http_samsa: Samsa, topic: str):
    record = {
        "key": "customer-7",
        "value": {"json": {"total": 12}},
        "headers": [{"name": "trace", "value": {"base64": "AP8="}}],
        "timestamp": 1_700_000_000_123,
    }
    [written] = http("POST", f"/topics/{topic}/records", {"records": [record]})["records"]
    reader = consumer(http_samsa, "readers")
    reader.assign([TopicPartition(topic, written["partition"], 0)])
    message = polled(reader)
    assert (message.key(), message.value()) == (b"customer-7", b'{"total":12}')
    assert message.headers() == [("trace", b"\x00\xff")]
    assert message.timestamp()[1] == 1_700_000_000_123
    assert message.offset() == written["offset"]
    reader.close()


def test_keys_go_where_other_producers_send_them(http: Http, http_samsa: Samsa, topic: str):
    keys = [f"key-{n}" for n in range(40)]
    records = [{"key": key, "value": "by http"} for key in keys]
    written = http("POST", f"/topics/{topic}/records", {"records": records})["records"]
    chosen: dict[str, int] = {}
    settings = {"bootstrap.servers": http_samsa.broker.bootstrap, "partitioner": "murmur2"}
    producer = Producer(settings)

    def delivered(_: Any, message: Any) -> None:
        chosen[message.key().decode()] = message.partition()

    for key in keys:
        producer.produce(topic, b"by tcp", key, on_delivery=delivered)
    assert producer.flush(SECONDS) == 0
    assert [each["partition"] for each in written] == [chosen[key] for key in keys]
    assert len(set(chosen.values())) == 4


def test_what_a_client_writes_http_reads_and_a_groups_lag_is_seen(
    http: Http, http_samsa: Samsa, topic: str
):
    group = f"billing-{uuid4()}"
    producer = Producer({"bootstrap.servers": http_samsa.broker.bootstrap, "linger.ms": 200})
    for number in range(5):
        producer.produce(topic, f"value {number}", partition=2, headers={"n": str(number)})
    assert producer.flush(SECONDS) == 0
    found = http("GET", f"/topics/{topic}/partitions/2/records?offset=3")
    assert [each["value"]["text"] for each in found["records"]] == ["value 3", "value 4"]
    assert found["records"][0]["headers"] == [{"name": "n", "value": {"text": "3"}}]

    reader = consumer(http_samsa, group)
    reader.subscribe([topic])
    for _ in range(3):
        reader.commit(polled(reader), asynchronous=False)
    told = http("GET", f"/groups/{group}")
    assert (told["state"], told["lag"]) == ("Stable", 2)
    assert [each["client_id"] for each in told["members"]] == ["a-real-one"]
    [assigned] = told["members"][0]["assignment"]
    assert (assigned["topic"], assigned["partitions"]) == (topic, [0, 1, 2, 3])
    [behind] = [each for each in told["positions"] if each["committed"] is not None]
    assert (behind["partition"], behind["committed"], behind["end"]) == (2, 3, 5)
    assert group in {each["group"] for each in http("GET", "/groups")["groups"]}

    with pytest.raises(urllib.error.HTTPError, match="409"):
        http("POST", f"/groups/{group}/offsets", {"to": "earliest"})
    reader.close()
    http("POST", f"/groups/{group}/offsets", {"to": {"offset": 1}})
    again = consumer(http_samsa, group)
    again.subscribe([topic])
    assert polled(again).value() == b"value 1"
    again.close()


def maps(samsa: Samsa) -> str:
    return Path(f"/proc/{samsa.pid}/maps").read_text()


def test_nothing_is_imported_for_http_before_somebody_asks(tmp_path: Path):
    with a_samsa(tmp_path, "--http", "127.0.0.1:0") as samsa:
        assert run("topics", "create", "x", "--bootstrap", samsa.broker.bootstrap).returncode == 0
        assert "pydantic_core" not in maps(samsa)
        Http(samsa)("GET", "/health")
        assert "pydantic_core" in maps(samsa)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_both_ends_close_at_once_whoever_is_still_there(tmp_path: Path, number: signal.Signals):
    with a_samsa(tmp_path, "--http", "127.0.0.1:0") as samsa:
        http = Http(samsa)
        http("POST", "/topics", {"name": "quiet", "partitions": 1})
        host, port = http.url.removeprefix("http://").split(":")
        path = "/topics/quiet/partitions/0/records?wait_ms=20000"
        with socket.create_connection((host, int(port)), SECONDS) as waiting:
            waiting.sendall(f"GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
            http("GET", "/health")  # which was asked later, and so the other is being served
            samsa.process.send_signal(number)
            assert samsa.process.wait(SECONDS) == 0
        assert "Traceback" not in samsa.said()
        assert "stopped" in samsa.logged()[-1]


def test_a_port_that_was_asked_for_and_is_taken_is_an_error_in_one_line(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ("--port", "0", "--data", str(tmp_path), "--http", f"127.0.0.1:{port}")
        ended: subprocess.CompletedProcess[str] = run("up", *arguments)
    assert ended.returncode == 1
    assert f"HTTP port {port} on 127.0.0.1 is taken; --http 127.0.0.1:0 picks" in ended.stderr
