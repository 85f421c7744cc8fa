"""samsa users, acls and quotas, on a ledger without a broker."""

import asyncio
import io
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.inside import TurnedClock

from samsa.access.view import SecurityView
from samsa.local.sqlite_groups import SqliteGroups
from samsa.security.scram import ScramMechanism
from samsa_broker.cli.main import main

Run = Callable[..., tuple[int, str]]
SHA_512 = "SCRAM-SHA-512"
WRONG = [f"consumer_byte_rate={value}" for value in ("-1", "0", "nan", "inf", "lots", "")]
ALICE = ("--principal", "User:alice")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def run(path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str]:
        status = main([*words, "--ledger", f"sqlite://{path}"])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_the_first_user_is_added_to_a_ledger_that_does_not_exist_yet(run: Run, typed):
    typed("s3cret\nmore\n")
    assert run("users", "add", "alice", "--password-stdin") == (0, f"added alice ({SHA_512})\n")
    assert run("users", "list") == (0, f"alice\t{SHA_512}\titerations=4096\n")


def test_the_password_is_salted_and_not_kept(run: Run, path: Path, tmp_path: Path):
    (tmp_path / "password").write_text("s3cret\n")
    run("users", "add", "alice", "--password-file", str(tmp_path / "password"))
    view = SecurityView(SqliteGroups(str(path)), TurnedClock(), lambda: "word")
    asyncio.run(view.current())
    credential = view.credential(ScramMechanism.SCRAM_SHA_512, "alice")
    assert credential is not None
    assert credential.fits("s3cret")
    stored = b"".join(one.read_bytes() for one in path.parent.glob("ledger.db*"))
    assert b"SCRAM-SHA-512" in stored
    assert b"s3cret" not in stored


def test_the_first_user_brings_the_secret_of_made_up_salts(run: Run, typed, path: Path):
    typed("s3cret\n")
    run("users", "add", "alice", "--password-stdin")
    contents = asyncio.run(SecurityView(SqliteGroups(str(path)), TurnedClock(), str).current())
    assert len(contents.stand_in_secret or b"") == 32


def test_a_ledger_that_is_made_for_users_is_for_its_owner_only(run: Run, typed, path: Path):
    before = os.umask(0o022)
    try:
        typed("s3cret\n")
        run("users", "add", "alice", "--password-stdin")
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    made = list(path.parent.iterdir())
    assert path in made
    assert {stat.S_IMODE(each.stat().st_mode) & 0o077 for each in made} == {0}


def test_a_password_is_asked_for_twice(run: Run, monkeypatch: pytest.MonkeyPatch):
    said = iter(["one", "two"])
    monkeypatch.setattr("getpass.getpass", lambda _: next(said))
    status, words = run("users", "add", "alice")
    assert (status, words) == (1, "samsa: the two are not the same\n")


@pytest.mark.parametrize("text", ["", "\n", "\nsecond"])
def test_an_empty_password_is_refused(run: Run, typed, text: str):
    typed(text)
    status, words = run("users", "add", "alice", "--password-stdin")
    assert (status, words) == (1, "samsa: the password is empty\n")


def test_a_user_is_deleted_with_all_mechanisms_or_with_one(run: Run, typed):
    for mechanism in ("SCRAM-SHA-256", SHA_512):
        typed("s3cret")
        run("users", "add", "alice", "--password-stdin", "--mechanism", mechanism)
    assert run("users", "delete", "alice", "--mechanism", SHA_512)[0] == 0
    assert run("users", "list") == (0, "alice\tSCRAM-SHA-256\titerations=4096\n")
    assert run("users", "delete", "alice") == (0, "deleted alice (SCRAM-SHA-256)\n")
    assert run("users", "delete", "alice") == (1, "samsa: there is no user 'alice'\n")


def test_iterations_out_of_bounds_are_refused_before_a_password_is_asked_for(run: Run):
    status, words = run("users", "add", "alice", "--iterations", "5000000")
    assert (status, words) == (1, "samsa: --iterations is from 4096 to 16384\n")


def test_acls_are_added_listed_and_deleted(run: Run):
    run("acls", "add", *ALICE, "--operation", "read", "--operation", "write", "--topic", "orders")
    run("acls", "add", *ALICE, "--operation", "all", "--group", "billing-", "--prefixed", "--deny")
    lines = [
        "ALLOW User:alice from *: READ on TOPIC LITERAL orders",
        "ALLOW User:alice from *: WRITE on TOPIC LITERAL orders",
        "DENY User:alice from *: ALL on GROUP PREFIXED billing-",
    ]
    assert run("acls", "list") == (0, "".join(f"{line}\n" for line in lines))
    assert run("acls", "list", "--group", "billing-", "--prefixed") == (0, f"{lines[2]}\n")
    assert run("acls", "list", "--group", "billing-") == (0, "")
    assert run("acls", "delete", "--topic", "orders") == (0, "deleted 2 ACL(s)\n")
    assert run("acls", "list", "--principal", "User:bob") == (0, "")
    assert run("acls", "delete") == (1, "samsa: name which, or --all\n")
    assert run("acls", "delete", "--all") == (0, "deleted 1 ACL(s)\n")


def test_a_check_names_the_acl_that_decides(run: Run):
    run("acls", "add", *ALICE, "--operation", "write", "--topic", "ord", "--prefixed")
    run("acls", "add", "--principal", "User:*", "--operation", "all", "--topic", "*",
        "--host", "10.0.0.9", "--deny")  # fmt: skip
    asked = ("acls", "check", *ALICE, "--topic", "orders", "--operation")
    assert run(*asked, "describe") == (
        0,
        "allowed: ALLOW User:alice from *: WRITE on TOPIC PREFIXED ord\n",
    )
    assert run(*asked, "describe", "--host", "10.0.0.9") == (
        2,
        "denied: DENY User:* from 10.0.0.9: ALL on TOPIC LITERAL *\n",
    )
    assert run(*asked, "read") == (2, "denied: no ACL allows it\n")
    assert run(*asked, "read", "--super-user", "User:alice") == (0, "allowed: a super user\n")
    status, _ = run(
        "acls", "check", *ALICE, "--group", "g", "--operation", "read",
        "--allow-everyone-if-no-acl",
    )  # fmt: skip
    assert status == 0


def test_a_wrong_acl_is_refused_with_the_brokers_words(run: Run):
    status, words = run("acls", "add", *ALICE, "--operation", "read", "--topic", "")
    assert status == 1
    assert "Invalid empty resource name" in words
    status, words = run("acls", "check", "--principal", "alice", "--operation", "read", "--cluster")
    assert status == 1
    assert "such as User:alice" in words


def test_quotas_are_set_listed_and_removed(run: Run):
    run("quotas", "set", "--user", "alice", "producer_byte_rate=1048576", "request_percentage=12.5")
    run("quotas", "set", "--user-default", "--client-id", "app", "consumer_byte_rate=7")
    run("quotas", "set", "--ip", "10.0.0.7", "connection_creation_rate=5")
    assert sorted(run("quotas", "list")[1].splitlines()) == [
        "client-id=app, user=<default>\tconsumer_byte_rate=7",
        "ip=10.0.0.7\tconnection_creation_rate=5",
        "user=alice\tproducer_byte_rate=1048576",
        "user=alice\trequest_percentage=12.5",
    ]
    assert run("quotas", "list", "--user-default")[1].startswith("client-id=app, user=<default>")
    run("quotas", "set", "--user", "alice", "producer_byte_rate=none", "request_percentage=none")
    assert run("quotas", "list", "--user", "alice") == (0, "")
    assert run("quotas", "set", "producer_byte_rate=1")[0] == 1
    status, words = run("quotas", "set", "--ip", "10.0.0.7", "producer_byte_rate=1")
    assert (status, words) == (
        1,
        "samsa: ip=10.0.0.7: Invalid configuration key producer_byte_rate\n",
    )


@pytest.mark.parametrize("limit", ["consumer_byte_rate", "x=1", *WRONG])
def test_a_limit_that_is_none_is_refused_at_once(run: Run, limit: str):
    with pytest.raises(SystemExit):
        run("quotas", "set", "--user", "alice", limit)
