"""The examples on the pages: run as they are written, but for addresses and folders."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from server.process import a_samsa
from support.broker import Broker, samsa_up
from support.servers.processes import running
from support.tools import require
from unit.docs.pages import ROOT, code, shell_lines

README = ROOT / "README.md"
STARTED = ROOT / "docs" / "getting-started.md"
HTTP = ROOT / "docs" / "http-api.md"
NEEDS_BROKER = re.compile(r"\bsamsa (?:produce|consume|topics|groups) [^|]*")
PORTS = {"samsa local-api": "3001", "samsa shim": "9093"}
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
SECONDS = 60


class Home(NamedTuple):
    """A running broker, and the folder where the reader of a page is."""

    broker: Broker
    http: str
    folder: Path

    def adapted(self, text: str) -> str:
        text = text.replace("127.0.0.1:9092", self.broker.bootstrap)
        text = text.replace("localhost:8080", self.http).replace("curl -s", "curl -sS --fail")
        bootstrap = f" --bootstrap {self.broker.bootstrap} "
        return NEEDS_BROKER.sub(lambda command: command[0].rstrip() + bootstrap, text)

    def shell(self, command: str) -> str:
        return said_by(["bash", "-euo", "pipefail", "-c", self.adapted(command)], self.folder)


def said_by(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("home")
    (folder / "samsa-data").symlink_to("data")
    (folder / "README.md").symlink_to(README)
    options = ("--http", "127.0.0.1:0", "--group-initial-rebalance-delay-ms", "0")
    with samsa_up(folder, *options) as broker:
        http = re.search(r"http://([\d.:]+)/docs", (folder / "stdout").read_text())
        assert http is not None
        yield Home(broker, http[1], folder)


@pytest.fixture(scope="module")
def told_by_python(home: Home) -> str:
    """What the example in Python prints. Later examples go on with its topic and its group."""
    (example,) = code(STARTED, "python")
    return said_by([sys.executable, "-c", home.adapted(example)], home.folder)


def blocks_with(page: Path, word: str) -> list[str]:
    found = [block for block in code(page) if word in block]
    assert found, f"{page.name} has no example with {word}"
    return found


def test_the_example_in_python_prints_what_it_wrote(told_by_python: str):
    assert told_by_python == "b'hello'\n"


def test_the_readme_has_the_same_examples_as_the_page_it_leads_to():
    assert code(README, "python") == code(STARTED, "python")
    assert blocks_with(README, "kcat") == blocks_with(STARTED, "kcat")


def test_kcat_writes_and_reads_and_lists(home: Home):
    require("kcat", "an example of the README uses it")
    (example,) = blocks_with(README, "kcat")
    wrote, read, listed = [home.shell(line) for line in shell_lines(example)]
    assert wrote == ""
    assert read.split() == ["998", "999", "1000"]
    assert 'topic "numbers" with 1 partitions' in listed


def test_samsas_own_commands_do_what_the_page_says(home: Home, told_by_python: str):
    (example,) = blocks_with(STARTED, "samsa produce")
    said = {line: home.shell(line) for line in shell_lines(example)}
    assert said["samsa consume greetings --until-end --json"].count("hello") == 2
    described = said["samsa topics describe orders"]
    assert described.count("  partition ") == 12
    assert "retention.ms=3600000" in described
    assert "greetings" in said["samsa groups describe readers"]


@pytest.mark.parametrize("page", [STARTED, HTTP], ids=lambda page: page.stem)
def test_every_request_by_curl_is_answered(page: Path, home: Home, told_by_python: str):
    require("curl", "the examples of the HTTP API use it")
    not_here = ("amazonaws", "--cacert")
    local = [
        block for block in blocks_with(page, "curl") if not any(word in block for word in not_here)
    ]
    for line in shell_lines("\n".join(local)):
        if "/topics --json" in line:
            home.shell(line.replace('"orders"', '"http-orders"'))
        else:
            home.shell(line.replace("/topics/orders/", "/topics/http-orders/"))


def test_a_request_by_curl_with_a_login_is_answered(tmp_path: Path):
    require("curl", "the examples of the HTTP API use it")
    (block,) = blocks_with(HTTP, "--cacert")
    (example,) = [line for line in shell_lines(block) if "-u alice" in line]
    with a_samsa(tmp_path, "--secure", "--http", "https://127.0.0.1:0") as samsa:
        http = re.search(r"https://([\d.:]+)/docs", (tmp_path / "stdout").read_text())
        assert http is not None
        secrets = samsa.data / "security"
        command = example.replace("kafka.example.com:8443", http[1])
        command = command.replace(
            "-u alice", f"-u admin:{(secrets / 'admin.password').read_text()}"
        )
        listed = said_by(["bash", "-c", f"{command} -sS --fail"], secrets)
    assert json.loads(listed)["topics"] == []


def test_the_serverless_demo_answers_a_kafka_client(tmp_path: Path):
    (demo,) = blocks_with(README, "samsa local-api")
    ports = {program: str(free_port()) for program in PORTS}
    for program, port in PORTS.items():
        demo = re.sub(rf"(?<=[: ]){port}\b", ports[program], demo)
    demo = demo.replace("samsa local-api", f"samsa local-api --port {ports['samsa local-api']}")
    with ExitStack() as servers:
        for line in shell_lines(demo):
            (port,) = [port for program, port in ports.items() if program in line]
            servers.enter_context(a_server(line, int(port), tmp_path))
        assert echoed(f"127.0.0.1:{ports['samsa shim']}") == b"hello"


@contextmanager
def a_server(line: str, port: int, folder: Path) -> Iterator[None]:
    def ready() -> bool | None:
        with closing(socket.socket()) as client:
            return client.connect_ex(("127.0.0.1", port)) == 0 or None

    command = f"cd {folder} && exec {line}"
    with running(["bash", "-c", command], folder / f"{port}.log", ready, PATH=PATH):
        yield


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def echoed(bootstrap: str) -> bytes | None:
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce("demo", b"hello")
    assert producer.flush(SECONDS) == 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "demo"})
    consumer.assign([TopicPartition("demo", 0, 0)])
    with closing(consumer):
        message = consumer.poll(SECONDS)
    return message.value() if message else None
