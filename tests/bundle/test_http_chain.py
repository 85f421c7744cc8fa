"""The HTTP API behind the local API Gateway, beside Kafka clients that come through the shim."""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from support.broker import SAMSA
from support.servers.processes import running
from support.waiting import eventually

from samsa_websocket.shim import dial

SECONDS = 60


class Both(NamedTuple):
    bootstrap: str
    http: str

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.http}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)


@pytest.fixture
def both(environment: dict[str, str], tmp_path: Path) -> Iterator[Both]:
    log = tmp_path / "local-api.log"
    command = [str(SAMSA), "local-api", "--port", "0", "--log-level", "warning"]
    command += ["--ledger", environment["SAMSA_LEDGER"], "--objects", environment["SAMSA_OBJECTS"]]

    def listening() -> str | None:
        found = re.search(r"listening on (\S+)", log.read_text())
        return found[1] if found else None

    with running(command, log, listening) as url, dial(url, sign=False) as bootstrap:
        yield Both(bootstrap, url.replace("ws://", "http://").rpartition("/")[0])


def test_a_record_by_http_wakes_a_consumer_that_is_parked_and_one_by_tcp_is_read_by_http(
    both: Both,
):
    both.ask("POST", "/topics", {"name": "letters", "partitions": 1})
    reader = Consumer(
        {
            "bootstrap.servers": both.bootstrap,
            "group.id": "nobody",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    reader.assign([TopicPartition("letters", 0, 0)])
    assert reader.poll(3) is None  # by now its fetch is parked, and good for two minutes
    written = both.ask("POST", "/topics/letters/records", {"records": [{"value": "by http"}]})
    message = eventually(lambda: reader.poll(1), SECONDS)
    assert (message.value(), message.offset()) == (b"by http", written["records"][0]["offset"])
    reader.close()

    producer = Producer({"bootstrap.servers": both.bootstrap})
    producer.produce("letters", b"\x00\xff", "by tcp")
    assert producer.flush(SECONDS) == 0
    found = both.ask("GET", "/topics/letters/partitions/0/records?offset=1")
    assert [(each["key"], each["value"]) for each in found["records"]] == [
        ({"text": "by tcp"}, {"base64": "AP8="})
    ]
    assert (found["start"], found["end"]) == (0, 2)
