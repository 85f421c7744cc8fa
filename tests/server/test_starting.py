"""`samsa up` from the shell: what it prints, what it refuses, and how it says so."""

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from server.process import a_samsa
from server.talk import append, batch, create, describe, versions, write
from support.broker import SAMSA

from samsa.wire.errors import ErrorCode
from samsa_broker.cli.main import parser


def refused(*arguments: object) -> tuple[int, str]:
    """The status and the last line of explanation of a command that must fail."""
    ended = subprocess.run(
        [str(SAMSA), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    return ended.returncode, ended.stderr.strip().splitlines()[-1]


def test_port_0_picks_a_free_one_and_prints_it(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as running, running.peer() as peer:
        host, port = running.address
        printed = (tmp_path / "stdout").read_text()
        assert re.search(rf"listening on {host}:{port}$", printed, re.MULTILINE)
        assert f"samsa produce greetings --bootstrap {host}:{port}" in printed
        assert f"samsa consume greetings --bootstrap {host}:{port}" in printed
        assert len(versions(peer)) >= 10


def test_a_port_that_is_taken_is_named_with_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, said = refused("up", "--data", tmp_path / "data", "--port", port)
    assert status == 1
    assert str(port) in said
    assert "taken" in said
    assert "--port 0" in said


def test_a_metrics_port_that_is_taken_is_the_one_that_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ("--data", tmp_path / "data", "--port", 0, "--metrics-port", port)
        status, said = refused("up", *options)
    assert status == 1
    assert f"port {port} " in said
    assert "taken" in said


WRONG = {
    "an option that does not exist": ("--no-such-option",),
    "a port that is none": ("--port", "lots"),
    "a port too high": ("--port", "65536"),
    "no partitions": ("--default-partitions", "0"),
    "partitions by word": ("--default-partitions", "many"),
    "an address without a port": ("--advertise", "example.org"),
    "no connections": ("--max-connections", "0"),
    "an unknown log level": ("--log-level", "loud"),
    "an idle timeout of nothing": ("--idle-timeout", "0"),
    "an idle timeout below nothing": ("--idle-timeout", "-1"),
    "an idle timeout that is no number": ("--idle-timeout", "nan"),
    "an upkeep interval of nothing": ("--upkeep-interval", "0"),
    "an upkeep interval below nothing": ("--upkeep-interval", "-0.5"),
    "a stray word": ("now",),
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG.keys())
def test_wrong_options_end_with_status_2_and_usage(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["up", *options])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: samsa")
    assert "error:" in said


BAD_URLS = {
    "an unknown kind of ledger": (("--ledger", "mysql://host/db"), "sqlite:///"),
    "a ledger that is no URL": (("--ledger", "ledger.db"), "sqlite:///"),
    "a relative ledger": (("--ledger", "sqlite://ledger.db"), "sqlite:///"),
    "a ledger with a strange option": (("--ledger", "sqlite:///x/y.db?mode=fast"), "'mode'"),
    "DynamoDB without a table": (("--ledger", "dynamodb://"), "dynamodb://samsa"),
    "an unknown kind of objects": (("--objects", "ftp://host/x"), "file:///"),
    "relative objects": (("--objects", "file://objects"), "file:///"),
    "S3 without a bucket": (("--objects", "s3://"), "s3://bucket"),
    "S3 with a strange option": (("--objects", "s3://bucket?colour=blue"), "'colour'"),
}


@pytest.mark.parametrize(("options", "hint"), BAD_URLS.values(), ids=BAD_URLS.keys())
def test_a_bad_url_is_explained(options: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    status, said = refused("up", "--port", 0, "--data", tmp_path / "data", *options)
    assert status == 1
    assert said.startswith("samsa: ")
    assert hint in said


NOWHERE = "endpoint=http://127.0.0.1:1"
MISSING = {
    "DynamoDB": (("--ledger", f"dynamodb://samsa?{NOWHERE}"), "no DynamoDB answers at http://127"),
    "S3": (("--objects", f"s3://samsa?{NOWHERE}"), "no S3 answers at http://127.0.0.1:1"),
    "a scheme": (("--objects", "s3://samsa?endpoint=127.0.0.1:1"), "'127.0.0.1:1' is no URL"),
}


@pytest.mark.parametrize(("options", "hint"), MISSING.values(), ids=MISSING.keys())
def test_a_store_that_is_missing_is_said_at_start_in_one_line(
    options: tuple[str, ...], hint: str, tmp_path: Path
) -> None:
    status, said = refused("up", "--port", 0, "--data", tmp_path / "data", *options)
    assert status == 1
    assert hint in said


def test_a_bucket_that_is_missing_is_said_before_a_client_needs_it(
    tmp_path: Path, versity: str
) -> None:
    objects = f"s3://nobodys?endpoint={versity}"
    status, said = refused("up", "--port", 0, "--data", tmp_path / "data", "--objects", objects)
    assert (status, "there is no bucket 'nobodys'" in said) == (1, True)


def test_a_data_folder_that_is_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    status, said = refused("up", "--port", 0, "--data", tmp_path / "data")
    assert (status, str(tmp_path / "data") in said) == (1, True)


def test_a_ledger_that_is_no_database_is_explained(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ledger.db").write_bytes(b"not a database at all" * 100)
    status, said = refused("up", "--port", 0, "--data", tmp_path / "data")
    assert status == 1
    assert "not a database" in said


def test_a_host_that_is_not_ours_is_explained(tmp_path: Path) -> None:
    status, said = refused("up", "--host", "192.0.2.1", "--port", 0, "--data", tmp_path / "data")
    assert (status, said.startswith("samsa: ")) == (1, True)


def test_stores_can_be_named_by_urls(tmp_path: Path) -> None:
    ledger, objects = tmp_path / "a" / "my.db", tmp_path / "b" / "things"
    options = ("--ledger", f"sqlite://{ledger}", "--objects", f"file://{objects}")
    with a_samsa(tmp_path / "up", *options) as running, running.peer() as peer:
        write(peer, "t", b"x")
        assert ledger.exists()
        assert [path for path in objects.rglob("*") if path.is_file()]
    assert not (tmp_path / "up" / "data").exists()


def test_clients_are_told_the_address_that_they_used(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as running, running.peer() as peer:
        (broker,) = describe(peer).brokers
        assert (broker.host, broker.port) == running.address


def test_clients_are_told_the_address_that_is_advertised(tmp_path: Path) -> None:
    with (
        a_samsa(tmp_path, "--advertise", "kafka.example:19092") as running,
        running.peer() as peer,
    ):
        (broker,) = describe(peer).brokers
    assert (broker.host, broker.port) == ("kafka.example", 19092)


def test_topics_are_not_made_by_naming_them_where_that_is_off(tmp_path: Path) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with a_samsa(tmp_path, "--no-auto-create-topics") as running, running.peer() as peer:
        assert ErrorCode(append(peer, "t", batch(b"x")).error_code) is unknown
        assert ErrorCode(describe(peer, "t", create=True).topics[0].error_code) is unknown
        assert describe(peer).topics == []
        create(peer, "t")
        assert append(peer, "t", batch(b"x")).base_offset == 0


def test_a_topic_that_does_not_say_gets_the_default_number_of_partitions(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--default-partitions", "7") as running, running.peer() as peer:
        named = describe(peer, "named", create=True).topics[0]
        assert len(named.partitions) == 7
        assert create(peer, "asked", partitions=-1).num_partitions == 7
        assert create(peer, "said", partitions=2).num_partitions == 2


def test_json_logs_are_one_object_per_line(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--log-format", "json") as running, running.peer() as peer:
        peer.say(b"\xff\xff\xff\xff")
        assert peer.is_closed()
        lines = [json.loads(line) for line in running.logged()]
    assert [line["event"] for line in lines] == ["listening", "bad request"]
    assert lines[1]["level"] == "WARNING"


def test_the_last_line_says_what_requests_cost(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as running:
        with running.peer() as peer:
            create(peer, "t")
            for _ in range(4):
                write(peer, "t", b"x")
        assert running.stop() == 0
        last = running.logged()[-1]
    assert "produces=4" in last
    assert "puts_per_produce=1.0" in last


def test_the_data_of_a_broker_is_only_where_it_was_told(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as running, running.peer() as peer:
        write(peer, "t", b"x")
    assert sorted(os.listdir(tmp_path)) == ["data", "stderr", "stdout"]
    assert {"ledger.db", "objects"} <= set(os.listdir(tmp_path / "data"))
