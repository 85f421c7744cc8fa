"""What is kept of a login by HTTP, and when it ends."""

import pytest

from samsa.security.principals import Principal
from samsa.security.scram import ScramCredential, ScramMechanism
from samsa_broker.server import verified_logins
from samsa_broker.server.verified_logins import GOOD_FOR_S, VerifiedLogins

ALICE = Principal("User", "alice")
HEADER = "Basic YWxpY2U6c2VjcmV0"


def credential(password: str = "secret") -> ScramCredential:
    salt = b"salt" * 4
    return ScramCredential.from_password(password, salt, 4096, ScramMechanism.SCRAM_SHA_512)


class Given:
    now_ms = 1_700_000_000_000
    now_s = 100.0

    def __init__(self) -> None:
        self.logins = VerifiedLogins(lambda: self.now_ms, lambda: self.now_s)


def test_a_login_is_good_for_its_own_header_only():
    logins = Given().logins
    current = credential()
    logins.keep(HEADER, ALICE, current)
    assert logins.find(HEADER, current) == ALICE
    assert logins.find(HEADER + "=", current) is None
    assert logins.find(HEADER[:-1], current) is None


def test_a_password_that_was_changed_or_taken_away_ends_its_logins():
    given = Given()
    given.logins.keep(HEADER, ALICE, credential())
    assert given.logins.find(HEADER, credential("other")) is None
    assert given.logins.find(HEADER, credential()) is None  # it does not come back by itself
    given.logins.keep(HEADER, ALICE, credential())
    assert given.logins.find(HEADER, None) is None


def test_a_token_ends_when_it_says():
    given = Given()
    given.logins.keep("Bearer t", ALICE, expires_ms=given.now_ms + 1_000)
    given.now_ms += 999
    assert given.logins.find("Bearer t") == ALICE
    given.now_ms += 1
    assert given.logins.find("Bearer t") is None


def test_after_a_while_it_is_verified_again():
    given = Given()
    given.logins.keep("Bearer t", ALICE, expires_ms=given.now_ms + 10**9)
    given.now_s += GOOD_FOR_S - 0.1
    assert given.logins.find("Bearer t") == ALICE
    given.now_s += 0.1
    assert given.logins.find("Bearer t") is None


def test_it_keeps_so_many_and_none_of_their_credentials(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(verified_logins, "MOST", 3)
    logins = Given().logins
    for number in range(5):
        logins.keep(f"Bearer secret-{number}", ALICE)
    assert [logins.find(f"Bearer secret-{n}") for n in range(5)] == [None, None, *[ALICE] * 3]
    assert "secret" not in repr(vars(logins))
    assert logins._key != VerifiedLogins(lambda: 0)._key
