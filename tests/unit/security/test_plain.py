"""PLAIN: right and wrong passwords, and bytes that are neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import PATIENT, made_up

from samsa.security.plain import PlainExchange
from samsa.security.principals import Principal
from samsa.security.sasl import Authenticated, LoginRefused
from samsa.security.scram import ScramCredential, ScramMechanism
from samsa.security.stand_ins import shapes_of, stand_in

USERS = {
    "alice": ScramCredential.from_password("pencil", b"salt", 4096, ScramMechanism.SCRAM_SHA_512),
    "Žofie": ScramCredential.from_password("heslo ž", b"s", 4096, ScramMechanism.SCRAM_SHA_256),
}


def login(token: bytes, stand_in_of=made_up):
    def credential_of(user, mechanism):
        found = USERS.get(user)
        return found if found is not None and found.mechanism is mechanism else None

    return PlainExchange(credential_of, stand_in_of).step(token)


@pytest.mark.parametrize(
    ("token", "user"),
    [
        (b"\0alice\0pencil", "alice"),
        (b"alice\0alice\0pencil", "alice"),
        ("\0Žofie\0heslo ž".encode(), "Žofie"),
    ],
)
def test_the_right_password_logs_in(token, user):
    assert login(token) == Authenticated(Principal("User", user))


WRONG = "Authentication failed: Invalid username or password"


@pytest.mark.parametrize(
    ("token", "told"),
    [
        (b"\0alice\0pencils", WRONG),
        (b"\0mallory\0pencil", WRONG),
        (b"\0alice\0\xff", WRONG),
        (b"\0\0pencil", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"alice\0pencil", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0alice\0pencil\0", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0" * 1000, "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (
            b"root\0alice\0pencil",
            "Authentication failed: Client requested an authorization id that is different "
            "from username",
        ),
    ],
)
def test_what_is_refused_says_what_kafka_says(token, told):
    result = login(token)
    assert isinstance(result, LoginRefused)
    assert result.message("PLAIN") == told
    assert "pencil" not in result.why


def test_a_huge_token_is_refused_before_its_password_is_salted(monkeypatch):
    monkeypatch.setattr(ScramCredential, "fits", lambda *_: pytest.fail("it was salted"))
    assert isinstance(login(b"\0alice\0" + b"x" * 100_000), LoginRefused)


def test_a_user_that_does_not_exist_is_salted_for_too(monkeypatch):
    salted = []
    fits = ScramCredential.fits

    def counted(credential, password):
        salted.append(credential.iterations)
        return fits(credential, password)

    monkeypatch.setattr(ScramCredential, "fits", counted)
    login(b"\0alice\0wrong")
    login(b"\0mallory\0wrong")
    assert salted == [4096, 4096]


def test_a_user_that_does_not_exist_takes_the_iterations_of_one_that_does(monkeypatch):
    held = ScramCredential.from_password("pencil", b"salt", 8192, ScramMechanism.SCRAM_SHA_256)
    shapes = shapes_of([("alice", held)])
    checked = []
    monkeypatch.setattr(ScramCredential, "fits", lambda self, _: checked.append(self))
    login(b"\0mallory\0wrong", lambda user, name: stand_in(user, name, shapes, b"secret"))
    assert [(each.iterations, each.mechanism) for each in checked] == [(8192, held.mechanism)]


def test_a_user_that_does_not_exist_is_refused_even_if_a_password_fits(monkeypatch):
    monkeypatch.setattr(ScramCredential, "fits", lambda *_: True)
    assert isinstance(login(b"\0mallory\0pencil"), LoginRefused)


def test_one_exchange_tries_one_password():
    exchange = PlainExchange(lambda user, mechanism: USERS.get(user), made_up)
    assert isinstance(exchange.step(b"\0alice\0wrong"), LoginRefused)
    assert isinstance(exchange.step(b"\0alice\0pencil"), LoginRefused)


@PATIENT
@given(st.binary(max_size=60))
def test_no_bytes_raise(token):
    assert isinstance(PlainExchange(lambda *_: None, made_up).step(token), LoginRefused)
