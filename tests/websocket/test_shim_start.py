"""`samsa shim` from the shell: what it prints, what it refuses, how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
from server.peer import Peer
from server.talk import create, describe, everything, values, write
from support.broker import SAMSA
from support.fake_gateway import FakeGateway
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import api_versions
from samsa_broker.cli.main import parser

ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)(?:, |$)", re.MULTILINE)
NO_KEYS = {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}


def refused(*arguments: object, **environment: str) -> str:
    """What a command that must fail says last."""
    set_to = {**os.environ, "AWS_EC2_METADATA_DISABLED": "true", **environment}
    ended = subprocess.run(
        [str(SAMSA), "shim", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        check=False,
        env={name: value for name, value in set_to.items() if value},
    )
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 1, ended.stderr
    return ended.stderr.strip().splitlines()[-1]


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A shim process and the ports that it printed."""
    out, err = folder / "stdout", folder / "stderr"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [str(SAMSA), "shim", *arguments], stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL
        )
    try:
        eventually(lambda: "Ctrl-C" in out.read_text() or process.poll() is not None, 20)
        assert process.poll() is None, err.read_text()
        first = out.read_text().splitlines()[0].rpartition(" at ")[2]
        yield process, [int(port) for port in ADDRESS.findall(first)]
    finally:
        process.kill()
        process.wait()


def test_a_url_that_is_none_is_shown_what_one_looks_like():
    for url in ("https://abc.execute-api.eu-central-1.amazonaws.com/prod", "localhost", "ws://"):
        said = refused("--url", url, "--no-sign")
        assert repr(url) in said
        assert "wss://" in said


def test_a_host_that_does_not_exist_is_named():
    said = refused(
        "--url", "ws://no-such-host.invalid/prod", "--no-sign", "--listen", "127.0.0.1:0"
    )
    assert "no-such-host.invalid" in said
    assert "no such host" in said


def test_a_port_that_is_taken_is_named_with_a_way_out(gateway: FakeGateway):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("--url", gateway.url, "--no-sign", "--listen", f"127.0.0.1:{port}")
    assert str(port) in said
    assert "taken" in said
    assert "--listen HOST:0" in said


def test_a_cluster_that_wants_a_signature_says_so(gateway: FakeGateway):
    gateway.refuses = HTTPStatus.FORBIDDEN
    said = refused("--url", gateway.url, "--no-sign", "--listen", "127.0.0.1:0")
    assert "403" in said
    assert "--no-sign" in said


def test_credentials_that_may_not_connect_are_told_so(gateway: FakeGateway):
    gateway.refuses = HTTPStatus.FORBIDDEN
    keys = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu"}
    where = ("--listen", "127.0.0.1:0", "--region", "eu-central-1")
    said = refused("--url", gateway.url, *where, **keys)
    assert "403" in said
    assert "credentials" in said


def test_missing_credentials_are_named_with_a_way_out(gateway: FakeGateway):
    where = ("--url", gateway.url, "--listen", "127.0.0.1:0", "--region", "eu-central-1")
    without = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": ""}
    said = refused(*where, **NO_KEYS, **without)
    assert "no AWS credentials" in said
    assert "--no-sign" in said


def test_a_profile_that_does_not_exist_is_named(gateway: FakeGateway):
    where = ("--url", gateway.url, "--listen", "127.0.0.1:0", "--profile", "nobody")
    assert "nobody" in refused(*where, **NO_KEYS)


def test_a_wrong_stage_is_refused(gateway: FakeGateway):
    gateway.refuses = HTTPStatus.NOT_FOUND
    assert "404" in refused("--url", gateway.url, "--no-sign", "--listen", "127.0.0.1:0")


def test_several_listeners_each_send_their_clients_back_to_themselves(tmp_path, gateway):
    listen = ("--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0")
    with running(tmp_path, "--url", gateway.url, "--no-sign", *listen) as (_, ports):
        assert len(ports) == 2
        for port in ports:
            with Peer(("127.0.0.1", port)) as peer:
                assert [broker.port for broker in describe(peer).brokers] == [port]


def test_the_address_that_is_advertised_is_where_clients_are_sent(tmp_path, gateway):
    more = ("--listen", "127.0.0.1:0", "--advertise", "kafka.example.com:19092")
    with (
        running(tmp_path, "--url", gateway.url, "--no-sign", *more) as (_, (port,)),
        Peer(("127.0.0.1", port)) as peer,
    ):
        (broker,) = describe(peer).brokers
        assert (broker.host, broker.port) == ("kafka.example.com", 19092)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_while_clients_are_connected(tmp_path, gateway, number):
    with (
        running(tmp_path, "--url", gateway.url, "--no-sign", "--listen", "127.0.0.1:0") as (
            process,
            (port,),
        ),
        Peer(("127.0.0.1", port)) as peer,
    ):
        create(peer, "letters")
        process.send_signal(number)
        assert process.wait(10) == 0
        assert peer.is_closed()
    assert "Traceback" not in (tmp_path / "stderr").read_text()
    assert eventually(lambda: not gateway.open)


def test_it_starts_while_the_cluster_is_away_and_logs_in_json(tmp_path, gateway):
    gateway.go_away()
    more = ("--listen", "127.0.0.1:0", "--log-format", "json")
    with (
        running(tmp_path, "--url", gateway.url, "--no-sign", *more) as (_, (port,)),
        Peer(("127.0.0.1", port)) as peer,
    ):
        gateway.come_back()
        create(peer, "letters")
        write(peer, "letters", b"hello")
        assert values(everything(peer, "letters")) == [b"hello"]
    lines = [json.loads(line) for line in (tmp_path / "stderr").read_text().splitlines()]
    assert [line["event"] for line in lines[:2]] == ["listening", "cluster away"]
    assert "refused" in lines[1]["why"].lower()


def test_without_the_check_it_starts_where_it_would_be_refused(tmp_path, gateway):
    gateway.refuses = HTTPStatus.FORBIDDEN
    more = ("--listen", "127.0.0.1:0", "--no-check")
    with (
        running(tmp_path, "--url", gateway.url, "--no-sign", *more) as (_, (port,)),
        Peer(("127.0.0.1", port)) as peer,
    ):
        assert not gateway.targets
        peer.send(ApiKey.API_VERSIONS, 0, api_versions.REQUEST())
        assert peer.is_closed()
    assert "it wants a signature" in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize(
    ("status", "word"),
    [(HTTPStatus.BAD_GATEWAY, "its log says why"), (HTTPStatus.TOO_MANY_REQUESTS, "too many")],
)
def test_a_cluster_that_fails_is_said_to_at_start_and_tried_again(tmp_path, gateway, status, word):
    gateway.refuses = status
    more = ("--listen", "127.0.0.1:0", "--log-format", "json")
    with running(tmp_path, "--url", gateway.url, "--no-sign", *more) as (_, (port,)):
        lines = [json.loads(line) for line in (tmp_path / "stderr").read_text().splitlines()]
        assert [line["event"] for line in lines] == ["listening", "cluster away"]
        assert word in lines[1]["why"]
        gateway.refuses = None
        with Peer(("127.0.0.1", port)) as peer:
            create(peer, "letters")


def test_help_says_how_to_begin(capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["shim", "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for word in ("--url", "--listen", "--profile", "--no-sign", "execute-api:Invoke", "dial"):
        assert word in said
