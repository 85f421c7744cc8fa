"""The listeners and the security that the options of `samsa up` ask for, and what they refuse."""

import argparse
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samsa.runtime.tls_context import ClientAuth, TlsContext
from samsa_broker.cli import up_http, up_secure, up_security
from samsa_broker.cli.main import main, parser
from samsa_broker.cli.up_security import Mistake
from samsa_broker.server import app
from samsa_broker.server.listeners import Kind
from samsa_broker.server.security_settings import _token_rules

TLS = ("--tls-cert", "c.pem", "--tls-key", "k.pem")
SASL_TLS = ("--listen", "sasl+tls://127.0.0.1:9093", *TLS)


def given(*words: str) -> argparse.Namespace:
    return parser("up").parse_args(["up", *words])


def listeners(*words: str) -> list[str]:
    return [str(each) for each in up_security.listeners(given(*words))]


def secured(*words: str) -> up_security.SecuritySettings | None:
    options = given(*words)
    return up_security.security(options, up_security.listeners(options))


def test_without_options_there_is_one_plain_listener_and_no_security():
    assert listeners() == ["plaintext://127.0.0.1:9092"]
    assert secured() is None
    options = given()
    assert up_security.tls_files(options, up_security.listeners(options)) is None


def test_host_and_port_are_the_short_form_of_a_plain_listener():
    assert listeners("--host", "::1", "--port", "1") == ["plaintext://[::1]:1"]


def test_each_listener_has_its_own_advertised_address():
    found = up_security.listeners(
        given(
            *("--listen", "plaintext://127.0.0.1:1", "--listen", "tls://[::]:2"),
            *("--advertise", "tls://kafka.example:9093"),
        )
    )
    assert [(each.kind, each.advertise) for each in found] == [
        (Kind.PLAINTEXT, None),
        (Kind.TLS, ("kafka.example", 9093)),
    ]


def test_an_advertised_address_without_a_kind_is_that_of_the_only_listener():
    (only,) = up_security.listeners(given("--advertise", "kafka.example:1"))
    assert only.advertise == ("kafka.example", 1)


@pytest.mark.parametrize(
    "words",
    [
        ("--listen", "tls://127.0.0.1:1", "--port", "5", *TLS),
        ("--listen", "tls://127.0.0.1:1", "--listen", "tls://127.0.0.1:2", *TLS),
        ("--advertise", "a:1", "--advertise", "b:1"),
        ("--advertise", "tls://a:1"),
        ("--listen", "tls://a:1", "--listen", "plaintext://b:1", "--advertise", "c:1", *TLS),
        ("--listen", "tls://127.0.0.1:1"),
        ("--listen", "tls://127.0.0.1:1", "--tls-cert", "c.pem"),
        TLS,
        ("--listen", "tls://127.0.0.1:1", *TLS, "--tls-client-auth", "wanted"),
        ("--super-user", "User:a"),
        ("--allow-everyone-if-no-acl",),
        (*SASL_TLS, "--sasl-mechanisms", "OAUTHBEARER"),
        (*SASL_TLS, "--oauth-jwks", "keys.json"),
        ("--acls", "--ssl-principal-mapping", "RULE:("),
    ],
    ids=" ".join,
)
def test_options_that_do_not_go_together_are_refused(words: tuple[str, ...]):
    options = given(*words)

    def ask_for_all() -> None:
        listening = up_security.listeners(options)
        up_security.tls_files(options, listening)
        up_security.security(options, listening)

    with pytest.raises(Mistake):
        ask_for_all()


@pytest.mark.parametrize(
    "words",
    [
        ("--listen", "127.0.0.1:1"),
        ("--listen", "ssl://127.0.0.1:1"),
        ("--listen", "tls://127.0.0.1"),
        ("--sasl-mechanisms", "GSSAPI"),
        ("--sasl-mechanisms", "AWS_MSK_IAM"),
        ("--super-user", "admin"),
        ("--tls-client-auth", "perhaps"),
    ],
    ids=" ".join,
)
def test_words_that_mean_nothing_are_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        given(*words)
    assert words[0] in capsys.readouterr().err


def test_a_listener_with_sasl_offers_scram_unless_told_otherwise():
    settings = secured(*SASL_TLS)
    assert settings is not None
    assert settings.mechanisms == ("SCRAM-SHA-256", "SCRAM-SHA-512")
    assert not settings.rules.has_acls


def test_acls_alone_are_security_too():
    settings = secured("--acls", "--super-user", "User:admin")
    assert settings is not None
    assert settings.mechanisms == ("SCRAM-SHA-256", "SCRAM-SHA-512")  # of logins by HTTP
    assert settings.rules.super_users == {"User:admin"}


@pytest.mark.parametrize(
    ("more", "auth"),
    [
        ((), ClientAuth.NONE),
        (("--tls-client-ca", "ca.pem"), ClientAuth.REQUIRED),
        (("--tls-client-ca", "ca.pem", "--tls-client-auth", "wanted"), ClientAuth.WANTED),
    ],
)
def test_whose_certificates_are_asked_for(more: tuple[str, ...], auth: ClientAuth):
    options = given("--listen", "tls://127.0.0.1:1", *TLS, *more)
    files = up_security.tls_files(options, up_security.listeners(options))
    assert files is not None
    assert files.client_auth is auth


@pytest.mark.parametrize(
    ("words", "is_warned"),
    [
        (("--host", "0.0.0.0"), True),
        (("--listen", "tls://0.0.0.0:1", *TLS), True),
        (("--listen", "sasl+plaintext://0.0.0.0:1"), True),
        (("--listen", "sasl+tls://0.0.0.0:1", *TLS), False),
        (("--listen", "tls://0.0.0.0:1", *TLS, "--tls-client-ca", "ca.pem"), False),
        (("--host", "0.0.0.0", "--acls"), False),
        (("--host", "127.0.0.1"), False),
        (("--host", "localhost"), False),
    ],
)
def test_a_listener_that_others_reach_and_that_asks_nobody_is_warned_of(
    words: tuple[str, ...], is_warned: bool
):
    options = given(*words)
    warned = up_security.warnings(options, up_security.listeners(options), (), is_secured=False)
    assert len(warned) == is_warned


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        ((), []),
        (("--http", "0.0.0.0:8080"), ["asks no client who it is"]),
        (("--http", "https://0.0.0.0:8080", *TLS), ["asks no client who it is"]),
        (("--acls",), []),
        (("--acls", "--http", "0.0.0.0:8080"), ["unencrypted"]),
        (("--acls", "--http", "[::1]:8080"), []),
        (("--acls", "--http", "https://0.0.0.0:8080", *TLS), []),
        (("--acls", "--metrics", "0.0.0.0:9100"), ["unencrypted"]),
        (("--acls", "--metrics", "https://0.0.0.0:9100", *TLS), []),
        (("--acls", "--host", "0.0.0.0", "--metrics-port", "9100"), ["unencrypted"]),
    ],
)
def test_http_that_others_reach_without_tls_or_login_is_warned_of(
    words: tuple[str, ...], warned: list[str]
):
    options = given(*words)
    listening = up_security.listeners(options)
    by_http = [each for each in up_http.addresses(options) if each is not None]
    is_secured = up_security.security(options, listening) is not None
    said = up_security.warnings(options, listening, by_http, is_secured=is_secured)
    assert len(said) == len(warned)
    assert all(word in text for word, text in zip(warned, said, strict=True))


def test_https_needs_a_certificate_and_a_certificate_needs_tls():
    options = given("--http", "https://127.0.0.1:0")
    by_http = [each for each in up_http.addresses(options) if each is not None]
    with pytest.raises(Mistake, match="needs --tls-cert"):
        up_security.tls_files(options, up_security.listeners(options), by_http)
    options = given("--http", "https://127.0.0.1:0", *TLS)
    assert up_security.tls_files(options, up_security.listeners(options), by_http) is not None


@pytest.mark.parametrize(
    "words",
    [
        ("--http", "ftp://127.0.0.1:1"),
        ("--http", "https://127.0.0.1"),
        ("--http", "https://127.0.0.1:1/topics"),
        ("--metrics", "9100"),
        ("--metrics", "127.0.0.1:1", "--metrics-port", "1"),
    ],
    ids=" ".join,
)
def test_addresses_of_http_that_mean_nothing_are_refused(words: tuple[str, ...]):
    with pytest.raises(SystemExit):
        given(*words)


# --secure


def prepared(folder: Path, *words: str) -> argparse.Namespace:
    options = given("--secure", *words)
    first = up_secure.prepare(options, folder)
    assert first is not None
    assert first.name == "admin"
    assert first.password not in repr(first)
    return options


def test_secure_makes_a_closed_broker_of_files_that_only_the_owner_reads(tmp_path: Path):
    options = prepared(tmp_path)
    listening = up_security.listeners(options)
    assert [str(each) for each in listening] == ["sasl+tls://127.0.0.1:9092"]
    files = up_security.tls_files(options, listening)
    assert files is not None
    assert TlsContext(files).current
    settings = up_security.security(options, listening)
    assert settings is not None
    assert settings.rules.has_acls
    assert settings.rules.super_users == {"User:admin"}
    made = list((tmp_path / "security").iterdir())
    assert len(made) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}


@pytest.fixture
def _open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_open_umask")
def test_secure_closes_the_data_of_an_open_broker_to_other_users(tmp_path: Path):
    data = tmp_path / "data"
    (data / "objects").mkdir(parents=True)
    (data / "ledger.db-notes").touch()
    prepared(data)
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


@pytest.mark.usefixtures("_open_umask")
def test_secure_refuses_an_open_folder_that_others_use_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = tmp_path / "data"
    data.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: -1)
        with pytest.raises(OSError, match="belongs to another"):
            prepared(data)
    (data / "letters.txt").touch()
    with pytest.raises(OSError, match=r"other files in it.*--data"):
        prepared(data)
    assert stat.S_IMODE(data.stat().st_mode) == 0o755


@pytest.mark.usefixtures("_open_umask")
def test_all_that_a_secured_broker_makes_is_for_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def make_a_file(*_: Any) -> None:
        (tmp_path / "data" / "ledger.db").touch()

    monkeypatch.setattr(app, "run", make_a_file)
    assert main(["up", "--secure", "--data", str(tmp_path / "data"), "--port", "0"]) == 0
    made = [tmp_path / "data", *(tmp_path / "data").iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in made} == {0}
    assert os.umask(0o022) == 0o022


def test_secure_keeps_what_it_has_made(tmp_path: Path):
    prepared(tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "security").iterdir()}
    prepared(tmp_path)
    assert {path: path.read_bytes() for path in (tmp_path / "security").iterdir()} == before


def test_secure_and_listeners_of_ones_own_are_refused(tmp_path: Path):
    with pytest.raises(Mistake):
        up_secure.prepare(given("--secure", *SASL_TLS), tmp_path)


def test_the_password_is_printed_on_a_terminal_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options = prepared(tmp_path)
    password = (tmp_path / "security" / "admin.password").read_text()
    monkeypatch.setattr(up_secure, "is_terminal", lambda: False)
    kept = "\n".join(up_secure.lines(options, tmp_path, "127.0.0.1:9092"))
    assert password not in kept
    assert str(tmp_path / "security" / "admin.password") in kept
    monkeypatch.setattr(up_secure, "is_terminal", lambda: True)
    shown = "\n".join(up_secure.lines(options, tmp_path, "127.0.0.1:9092"))
    assert shown.count(password) == 3
    assert shown.count("127.0.0.1:9092") == 3


def test_what_tokens_must_say_is_what_is_checked():
    oauth = ("--oauth-jwks", "k", "--oauth-issuer", "i", "--oauth-audience", "a")
    named = ("--oauth-scope", "kafka", "--oauth-scope-claim", "scp", "--oauth-principal-claim", "p")
    found = secured(*SASL_TLS, "--sasl-mechanisms", "OAUTHBEARER", *oauth, *named)
    assert found is not None
    rules = _token_rules(found.oauth)
    assert (rules.scopes, rules.scope_claim, rules.principal_claim) == ({"kafka"}, "scp", "p")
