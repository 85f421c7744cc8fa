"""`samsa schemas` and `samsa consume --schema`, with a real broker."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from server.process import Samsa, a_samsa
from server.test_cli import run
from server.test_http import Http

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}


class Cli:
    def __init__(self, samsa: Samsa) -> None:
        self.samsa, self.http = samsa, Http(samsa)

    def __call__(self, *words: object, status: int = 0) -> str:
        done = run(*map(str, words), "--registry", self.http.url)
        assert done.returncode == status, done.stderr
        return done.stdout if status != 1 or done.stdout else done.stderr


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with a_samsa(tmp_path_factory.mktemp("cli"), "--http", "127.0.0.1:0") as samsa:
        yield Cli(samsa)


@pytest.fixture
def subject() -> str:
    return f"a/{uuid4()}"


def written(folder: Path, name: str, schema: Any) -> Path:
    path = folder / name
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return path


def test_a_schema_is_registered_listed_and_shown(cli: Cli, subject: str, tmp_path: Path):
    number = int(cli("schemas", "register", subject, written(tmp_path, "o.avsc", ORDER)))
    assert f"{subject}\t1\t{number}\tAVRO\n" in cli("schemas", "list")
    assert cli("schemas", "list", "--prefix", subject).count("\n") == 1
    assert json.loads(cli("schemas", "show", subject)) == ORDER
    assert json.loads(cli("schemas", "show", "--id", number)) == ORDER
    proto = 'syntax = "proto3";\nmessage M { }'
    cli("schemas", "register", f"{subject}.p", written(tmp_path, "m.proto", proto))
    assert cli("schemas", "show", f"{subject}.p") == f"{proto}\n"
    user = 'syntax = "proto3"; import "m.proto"; message N { M m = 1; }'
    path = written(tmp_path, "n.proto", user)
    reference = f"m.proto={subject}.p:1"
    cli("schemas", "register", f"{subject}.n", path, "--reference", reference)


def test_what_does_not_fit_is_said_and_the_exit_status_says_it(
    cli: Cli, subject: str, tmp_path: Path
):
    cli("schemas", "register", subject, written(tmp_path, "o.avsc", ORDER))
    other = written(tmp_path, "other.avsc", '"string"')
    assert "TYPE_MISMATCH" in cli("schemas", "check", subject, other, status=1)
    assert "incompatible" in cli("schemas", "register", subject, other, status=1)
    wider = written(tmp_path, "w.avsc", json.dumps(ORDER).replace('"int"', '"long"'))
    assert cli("schemas", "check", subject, wider) == "compatible\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("show", "nothing"), "Subject 'nothing' not found."),
        (("show",), "give a subject or --id N"),
        (("register", "a", "/nowhere/a.avsc"), "/nowhere/a.avsc: No such file or directory"),
        (("register", "a", "-"), "-: say its --type"),
        (("register", "a", "-", "--type", "AVRO", "--reference", "x"), "'x' is not NAME=SUBJECT"),
        (("register", "a", "-", "--type", "AVRO"), "Invalid schema: Empty schema"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(cli: Cli, words: tuple[str, ...], why: str):
    told = cli("schemas", *words, status=1)
    assert why in told
    assert told.count("\n") == 1


def test_a_registry_that_is_not_there_is_said():
    done = run("schemas", "list", "--registry", "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no schema registry answers at http://127.0.0.1:9" in done.stderr


def test_records_are_shown_by_their_schemas(cli: Cli, subject: str, tmp_path: Path):
    topic = subject.replace("/", "-")
    money = {"type": "record", "name": "Money", "fields": [{"name": "cents", "type": "int"}]}
    order = {"type": "record", "name": "O", "fields": [{"name": "total", "type": "Money"}]}
    cli("schemas", "register", f"{topic}-money", written(tmp_path, "m.avsc", money))
    path, reference = written(tmp_path, "o.avsc", order), f"Money={topic}-money:1"
    number = int(cli("schemas", "register", topic, path, "--reference", reference))
    producer = Producer({"bootstrap.servers": cli.samsa.broker.bootstrap})
    framed = struct.pack(">bI", 0, number) + b"\x0e"
    for value in (framed, b"plain", framed + b"more", None):
        producer.produce(topic, value, key=framed)
    assert producer.flush(30) == 0
    bootstrap = ("--bootstrap", cli.samsa.broker.bootstrap, "--until-end", "--schema")
    assert cli("consume", topic, *bootstrap).splitlines()[:2] == ['{"total":{"cents":7}}', "plain"]
    lines = [json.loads(line) for line in cli("consume", topic, *bootstrap, "--json").splitlines()]
    assert [each["key"] for each in lines] == [{"total": {"cents": 7}}] * 4
    assert [each["value"] for each in lines[:2]] == [{"total": {"cents": 7}}, "plain"]
    assert lines[2]["value"].endswith("more")
    assert lines[3]["value"] is None
