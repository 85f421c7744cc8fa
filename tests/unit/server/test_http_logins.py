"""Logins by HTTP: who it is, and what a refusal costs and shows."""

import asyncio
import logging
import threading
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from support.tokens import AUDIENCE, ISSUER, Issuer
from unit.server.sasl_client import PASSWORD, Users, made_up

from samsa.http_api.sessions import TooManyLogins, Unauthorized
from samsa.runtime.audit import Audit
from samsa.security.oauthbearer import TokenRules
from samsa.security.sasl import Sasl
from samsa.security.scram import ScramCredential, ScramMechanism
from samsa_broker.server import http_logins
from samsa_broker.server.http_logins import HttpLogin, HttpLogins
from samsa_broker.server.login_checks import MOST_OF_ONE_ADDRESS, MOST_WAITING
from samsa_broker.server.security import Security
from samsa_broker.server.token_keys import TokenKeys

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
BOTH = (*SCRAM, "OAUTHBEARER")


def now_ms() -> int:
    return int(time.time() * 1000)


def basic(user: str = "alice", password: str = PASSWORD) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


class Door:
    def __init__(
        self, mechanisms: tuple[str, ...] = SCRAM, rules: TokenRules | None = None, **more: Any
    ) -> None:
        self.users = Users()
        sasl = Sasl(mechanisms, self.users.credential, made_up, rules)
        self.security = Security(self.users, Audit(), now_ms, sasl)
        self.login = HttpLogin(
            HttpLogins(self.security), "https", is_required=more.get("is_required", True)
        )

    async def __call__(self, *headers: str, host: str = "192.0.2.1") -> Any:
        """Who it is."""
        given = [(b"authorization", header.encode("latin-1")) for header in headers]
        session = await self.login.session({"headers": given, "client": (host, 4711)})
        assert session.client_host == f"/{host}"
        return session.access.principal

    async def refused(self, *headers: str) -> Unauthorized:
        with pytest.raises(Unauthorized) as refusal:
            await self(*headers)
        return refusal.value


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_logins, "REFUSAL_DELAY_S", 0.01)


@pytest.fixture
def tokens(tmp_path: Path) -> tuple[Issuer, TokenRules]:
    issuer = Issuer()
    (tmp_path / "jwks.json").write_bytes(issuer.jwks)
    keys = TokenKeys(str(tmp_path / "jwks.json"))
    return issuer, TokenRules(keys.verify, ISSUER, frozenset({AUDIENCE}))


async def test_a_user_comes_in_by_basic():
    assert str(await Door()(basic())) == "User:alice"


async def test_a_wrong_password_an_unknown_user_and_no_password_look_alike():
    door = Door()
    told = {
        str(await door.refused(header))
        for header in (basic(password="wrong"), basic("mallory"), basic(password=""), basic(""))
    }
    assert told == {"Authentication failed"}
    assert door.security.audit.refused_logins == 4


async def test_without_credentials_the_ways_to_log_in_are_told_and_nothing_is_counted():
    door = Door(BOTH, TokenRules(lambda *_: False))
    refusal = await door.refused()
    assert [each.split()[0] for each in refusal.challenges] == ["Basic", "Bearer"]
    assert door.security.audit.refused_logins == 0


async def test_where_none_is_needed_there_is_a_name_for_those_who_give_none():
    door = Door(is_required=False)
    assert str(await door()) == "User:http-api"
    assert str(await door(basic())) == "User:alice"
    await door.refused(basic(password="wrong"))


@pytest.mark.parametrize(
    "headers",
    [
        ("Digest a", ),
        ("Basic \xff", ),
        (basic(), basic()),
        (basic("alice\0alice"), ),
        (basic(), "Bearer a.b.c"),
    ],
)  # fmt: skip
async def test_other_headers_and_several_are_refused(headers: tuple[str, ...]):
    await Door().refused(*headers)


async def test_only_the_mechanisms_of_the_broker_are_offered(tokens: tuple[Issuer, TokenRules]):
    issuer, rules = tokens
    only_tokens = Door(("OAUTHBEARER",), rules)
    refusal = await only_tokens.refused(basic())
    assert [each.split()[0] for each in refusal.challenges] == ["Bearer"]
    assert str(await only_tokens(f"Bearer {issuer.token()}")) == "User:alice"
    refusal = await Door().refused(f"Bearer {issuer.token()}")
    assert [each.split()[0] for each in refusal.challenges] == ["Basic"]


async def test_a_password_is_hashed_once_and_again_when_it_was_changed(
    monkeypatch: pytest.MonkeyPatch,
):
    door = Door()
    hashed = []
    fits = ScramCredential.fits

    def counted(credential: ScramCredential, password: str) -> bool:
        hashed.append(password)
        return fits(credential, password)

    monkeypatch.setattr(ScramCredential, "fits", counted)
    for _ in range(5):
        await door(basic())
    assert len(hashed) == 1
    assert door.security.audit.logins == 1
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        door.users.credentials["alice", mechanism] = ScramCredential.from_password(
            "new", b"salt" * 4, 4096, mechanism
        )
    await door.refused(basic())
    assert len(hashed) == 2
    assert str(await door(basic(password="new"))) == "User:alice"
    door.users.credentials.clear()
    await door.refused(basic(password="new"))


async def test_a_password_that_is_changed_while_it_is_checked_is_refused_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
):
    door = Door()
    begun, goes_on = threading.Event(), threading.Event()
    fits = ScramCredential.fits

    def slow(credential: ScramCredential, password: str) -> bool:
        begun.set()
        assert goes_on.wait(10)
        return fits(credential, password)

    monkeypatch.setattr(ScramCredential, "fits", slow)
    before = asyncio.create_task(door(basic()))
    await asyncio.to_thread(begun.wait, 10)
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        door.users.credentials["alice", mechanism] = ScramCredential.from_password(
            "new", b"salt" * 4, 4096, mechanism
        )
    after = asyncio.create_task(door(basic()))
    await asyncio.sleep(0.05)
    goes_on.set()
    await asyncio.wait([before, after])
    assert str(await before) == "User:alice"
    assert isinstance(after.exception(), Unauthorized)
    await door.refused(basic())


async def test_guesses_have_a_limit_beside_which_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(http_logins, "REFUSAL_DELAY_S", 5)
    door = Door()
    await door(basic("bob"))
    guesses = [asyncio.create_task(door(basic(password=f"{n}"))) for n in range(200)]
    results = await asyncio.wait(guesses, return_when=asyncio.FIRST_EXCEPTION)
    assert all(isinstance(each.exception(), TooManyLogins) for each in results[0])
    await asyncio.sleep(0.5)
    waiting = [each for each in guesses if not each.done()]
    assert len(waiting) == MOST_OF_ONE_ADDRESS
    assert str(await door(basic("bob"))) == "User:bob"  # was verified before
    assert str(await door(basic("alice"), host="192.0.2.2")) == "User:alice"
    for each in waiting:
        each.cancel()
    await asyncio.wait(waiting)
    assert door.login._logins._checks._waiting == 0


async def test_requests_that_come_at_once_with_the_same_credentials_wait_for_one_check():
    door = Door()
    requests = await asyncio.gather(
        *(door(basic()) for _ in range(2 * MOST_WAITING)), return_exceptions=True
    )
    served = [each for each in requests if not isinstance(each, TooManyLogins)]
    assert [str(each) for each in served] == ["User:alice"] * MOST_WAITING
    assert door.security.audit.logins == 1
    assert len(door.login._logins._checks) == 0
    assert str(await door(basic())) == "User:alice"


async def test_credentials_are_in_no_log(
    caplog: pytest.LogCaptureFixture, tokens: tuple[Issuer, TokenRules]
):
    issuer, rules = tokens
    caplog.set_level(logging.DEBUG)
    door = Door(BOTH, rules)
    bad = issuer.token(sub="mallory", aud="another")
    headers = [basic(), basic(password="hunter2"), f"Bearer {bad}", f"Bearer {issuer.token()}"]
    for header in headers:
        with_refusal = door(header)
        await asyncio.gather(with_refusal, return_exceptions=True)
    said = "".join(f"{each.getMessage()}{vars(each)}" for each in caplog.records)
    assert "login refused" in said
    assert "192.0.2.1:4711" in said
    for secret in (PASSWORD, "hunter2", bad, bad.rpartition(".")[2], *headers):
        assert secret not in said


# Tokens


async def test_a_token_names_its_user(tokens: tuple[Issuer, TokenRules]):
    issuer, rules = tokens
    assert str(await Door(BOTH, rules)(f"Bearer {issuer.token()}")) == "User:alice"


@pytest.mark.parametrize(
    "changed",
    [{"aud": "another"}, {"iss": "another"}, {"exp": 1_000_000_000}, {"sub": ""}],
    ids=str,
)
async def test_a_token_for_others_or_of_the_past_is_refused(
    changed: dict[str, Any], tokens: tuple[Issuer, TokenRules]
):
    issuer, rules = tokens
    await Door(BOTH, rules).refused(f"Bearer {issuer.token(**changed)}")


async def test_tokens_that_nobody_has_signed_are_refused(tokens: tuple[Issuer, TokenRules]):
    issuer, rules = tokens
    door = Door(BOTH, rules)
    header, payload, signature = issuer.token().split(".")
    none = b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for token in (
        f"{none}.{payload}.",
        f"{none}.{payload}.{signature}",
        f"{header}.{payload}.",
        f"{header}.{payload}.{signature[:-4]}AAAA",
        "a" * 60_000,
        "..",
    ):
        await door.refused(f"Bearer {token}")
