"""samsa users, acls and quotas against a broker that `samsa up --secure` made."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.broker import Broker, samsa_up
from support.waiting import eventually

from samsa_broker.cli.main import main

Run = Callable[..., tuple[int, str]]
ALICE = ("--principal", "User:alice")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secure")


@pytest.fixture(scope="module")
def secured(folder: Path) -> Iterator[Broker]:
    with samsa_up(folder, "--secure") as broker:
        yield broker


def settings(folder: Path, user: str, password: str) -> Path:
    file = folder / f"{user}.properties"
    file.write_text(
        f"security.protocol=sasl_ssl\nssl.ca.location={folder}/data/security/ca.pem\n"
        f"sasl.mechanism=SCRAM-SHA-512\nsasl.username={user}\nsasl.password={password}\n"
    )
    return file


@pytest.fixture
def run(
    folder: Path, secured: Broker, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:  # fmt: skip
    password = (folder / "data/security/admin.password").read_text().strip()
    passwords = {"admin": password, "alice": "s3cret"}

    def run(*words: str, user: str | None = "admin", given: str = "") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(given))
        where = ["--bootstrap", secured.bootstrap]
        if user is not None:
            where += ["--command-config", str(settings(folder, user, passwords[user]))]
        capsys.readouterr()
        status = main([*words, *where])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def test_who_does_not_log_in_or_has_a_wrong_password_is_refused(run: Run, folder: Path):
    status, words = run("topics", "list", user=None)
    assert status == 1
    assert "--command-config" in words
    status, words = run("topics", "list", user="alice")
    assert status == 1
    assert "login of 'alice'" in words


def test_who_types_no_password_is_told_how_to_give_one(run: Run):
    status, words = run("users", "add", "alice", given="s3cret\n")
    assert status == 1
    assert "--password-stdin" in words


def test_a_user_is_added_and_may_do_what_acls_allow_at_once(run: Run):
    assert run("users", "add", "alice", "--password-stdin", given="s3cret\n")[0] == 0
    assert "alice\tSCRAM-SHA-512\titerations=4096\n" in run("users", "list")[1]
    status, words = run("topics", "create", "orders", user="alice")
    assert status == 1
    assert "uthoriz" in words
    done = run("acls", "add", *ALICE, "--operation", "create", "--topic", "ord", "--prefixed")
    assert done == (0, "added ALLOW User:alice from *: CREATE on TOPIC PREFIXED ord\n")
    assert run("topics", "create", "orders", user="alice")[0] == 0
    assert run("topics", "create", "parcels", user="alice")[0] == 1
    status, words = run("acls", "check", *ALICE, "--operation", "create", "--topic", "orders")
    assert (status, words) == (
        0,
        "allowed: ALLOW User:alice from *: CREATE on TOPIC PREFIXED ord\n",
    )
    assert run("acls", "delete", *ALICE) == (0, "deleted 1 ACL(s)\n")
    assert run("topics", "create", "ordinary", user="alice")[0] == 1


def test_who_is_no_admin_administers_nothing(run: Run):
    run("users", "add", "alice", "--password-stdin", given="s3cret\n")
    for words in (
        ("users", "list"),
        ("users", "delete", "admin"),
        ("acls", "list"),
        ("acls", "add", *ALICE, "--operation", "all", "--cluster"),
        ("acls", "delete", "--all"),
        ("quotas", "list"),
        ("quotas", "set", "--user", "alice", "producer_byte_rate=none"),
    ):
        status, said = run(*words, user="alice")
        assert status == 1, words
        assert "luster authorization failed" in said, words


def test_a_user_whom_another_process_added_on_the_ledger_may_log_in(run: Run, folder: Path):
    ledger = f"sqlite://{folder}/data/ledger.db"
    file = folder / "password"
    file.write_text("s3cret")
    run("users", "delete", "alice")
    assert run("topics", "list", user="alice")[0] == 1
    assert main(["users", "add", "alice", "--password-file", str(file), "--ledger", ledger]) == 0
    assert eventually(lambda: run("topics", "list", user="alice")[0] == 0)


def test_no_secret_is_in_the_log(run: Run, folder: Path):
    run("users", "add", "alice", "--password-stdin", given="s3cret\n")
    logged = (folder / "stderr").read_text()
    assert "alice" in logged
    assert "s3cret" not in logged
    assert (folder / "data/security/admin.password").read_text().strip() not in logged
