"""The HTTP API that asks who its clients are: each request has the rights of its own sender."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from support.tls import Certificates
from unit.http_api.given import Api, Site

from samsa.access.contents import ChangePlan
from samsa.access.entries import credential_entry
from samsa.access.rules import SecurityRules
from samsa.http_api.iam_login import IamLogin
from samsa.http_api.lazy_listener import LazyListener
from samsa.http_api.sessions import EVERYONE
from samsa.ports import Unavailable
from samsa.runtime.audit import Audit
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_acls
from samsa_broker.server.http_entry import HttpAddress, HttpEntry
from samsa_broker.server.security_settings import (
    FirstUser,
    SecuritySettings,
    make_user,
    secured,
)

KAFKA = ("127.0.0.1", 9092)
ADMIN = ("admin", "an admin's password")
READER = ("reader", "a reader's password")
HOURS_MS = 3 * 3600 * 1000
SETTINGS = SecuritySettings(
    rules=SecurityRules(has_acls=True, super_users=frozenset({"User:admin"}))
)


class Front:
    """The API of a secured broker at a port of this machine."""

    def __init__(self, site: Site, certificates: Certificates, address: HttpAddress) -> None:
        assert site.broker.groups is not None
        self.security = secured(site.broker, SETTINGS)
        self.entry = HttpEntry(self.security, certificates.files())
        self.listener = LazyListener(address.host, address.port)
        self.listen_tls = None
        if address.has_tls:
            self.entry.prepare_tls()
            self.listen_tls = self.entry.listen_tls
        login = self.entry.login(address, address.scheme)
        assert login is not None
        self.listener.open(site.broker, KAFKA, login, self.listen_tls)
        self.certificates = certificates
        self.site = site

    async def add(self, *users: tuple[str, str]) -> None:
        assert self.site.broker.access is not None
        for name, password in users:
            await make_user(self.site.broker.access, FirstUser(name, password))

    def client(self, user: tuple[str, str] | None = None) -> httpx.AsyncClient:
        verify: Any = self.certificates.client_context() if self.listen_tls else False
        return httpx.AsyncClient(base_url=self.listener.url or "", auth=user, verify=verify)

    async def close(self) -> None:
        await self.listener.close()
        await self.entry.close()
        self.security.close()


async def allow(site: Site, user: str, operation: Operation, topic: str) -> None:
    row = create_acls.REQUEST(
        creations=[
            create_acls.CREATION(
                resource_type=ResourceType.TOPIC,
                resource_name=topic,
                resource_pattern_type=PatternType.LITERAL,
                principal=f"User:{user}",
                host="*",
                operation=operation,
                permission_type=Permission.ALLOW,
            )
        ]
    )
    answer = await site.kafka.ask(ApiKey.CREATE_ACLS, row)
    assert answer.results[0].error_code == 0, answer


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=["http", "https"])
async def front(
    request: pytest.FixtureRequest, site: Site, certificates: Certificates
) -> AsyncIterator[Front]:
    address = HttpAddress("127.0.0.1", 0, request.param == "https")
    front = Front(site, certificates, address)
    await front.add(ADMIN, READER)
    yield front
    await front.close()


async def test_each_request_has_the_rights_of_who_sent_it(front: Front):
    async with front.client(ADMIN) as admin, front.client(READER) as reader:
        for name in ("orders", "secrets"):
            made = await admin.post("/topics", json={"name": name})
            assert made.status_code == 201, made.text
        await allow(front.site, "reader", Operation.READ, "orders")
        both = await asyncio.gather(*(who.get("/topics") for who in (admin, reader) * 20))
        names = [{each["name"] for each in answer.json()["topics"]} for answer in both]
        assert names == [{"orders", "secrets"}, {"orders"}] * 20
        assert (await reader.get("/topics/secrets/partitions")).status_code == 403
        record = {"records": [{"value": "x"}]}
        refused = await reader.post("/topics/orders/records", json=record)
        assert refused.status_code == 403
        assert refused.json()["kafka_error"] == "TOPIC_AUTHORIZATION_FAILED"
        assert (await admin.post("/topics/orders/records", json=record)).status_code == 201


@pytest.mark.parametrize("path", ["/topics", "/health", "/cluster", "/docs", "/openapi.json", "/x"])
async def test_wrong_credentials_are_refused_everywhere(front: Front, path: str):
    async with front.client(("admin", "wrong")) as mallory:
        refused = await mallory.get(path)
    assert refused.status_code == 401
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["www-authenticate"] == 'Basic realm="Samsa", charset="UTF-8"'
    assert refused.headers["connection"] == "close"
    problem = refused.json()
    assert (problem["status"], problem["type"]) == (401, "urn:samsa:problem:not-logged-in")
    assert "wrong" not in refused.text


async def test_no_credentials_are_enough_by_http_at_loopback_only(front: Front):
    async with front.client() as nobody, front.client(ADMIN) as admin:
        await admin.post("/topics", json={"name": "orders"})
        answer = await nobody.get("/topics")
        if front.listen_tls:
            assert answer.status_code == 401
            return
        assert answer.json() == {"topics": []}
        await allow(front.site, "http-api", Operation.DESCRIBE, "orders")
        listed = (await nobody.get("/topics")).json()["topics"]
        assert [each["name"] for each in listed] == ["orders"]


async def test_pages_of_other_sites_are_refused_before_the_login(front: Front):
    async with front.client(ADMIN) as admin:
        headers = {"origin": "https://evil.example"}
        assert (await admin.get("/topics", headers=headers)).status_code == 403
        assert (await admin.get("/topics", headers={"host": "evil.example"})).status_code == 421
        own = {"origin": front.listener.url or ""}
        assert (await admin.get("/topics", headers=own)).status_code == 200


async def test_a_client_does_not_choose_the_address_that_acls_and_the_audit_see(
    front: Front, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", "samsa.audit")
    async with front.client(ADMIN) as admin:
        forwarded = {"x-forwarded-for": "203.0.113.9", "forwarded": "for=203.0.113.9"}
        made = await admin.post("/topics", json={"name": "orders"}, headers=forwarded)
        assert made.status_code == 201
    lines = [
        (each.getMessage(), each.fields)  # type: ignore[attr-defined]
        for each in caplog.records
        if each.name == "samsa.audit"
    ]
    change = next(fields for name, fields in lines if name == "change")
    assert change["address"].startswith("127.0.0.1:")
    assert change["principal"] == "User:admin"
    assert (change["action"], change["resource"]) == ("CreateTopics", "orders")
    assert any(name == "login" and fields["listener"].startswith("http") for name, fields in lines)


async def test_a_password_that_was_taken_away_no_longer_opens(front: Front):
    async with front.client(READER) as reader:
        assert (await reader.get("/topics")).status_code == 200
        access = front.site.broker.access
        assert access is not None

        async def plan(contents: Any) -> ChangePlan[None]:
            gone = [
                credential_entry(key.user, value)
                for key, value in contents.credentials.items()
                if key.user == "reader"
            ]
            return ChangePlan(None, (), gone)

        await access.change(plan)
        assert (await reader.get("/topics")).status_code == 401


async def test_a_head_of_many_bytes_is_refused(front: Front):
    async with front.client(ADMIN) as admin, front.client() as client:
        with suppress(httpx.TransportError):
            huge = {"authorization": "Basic " + "A" * 1_000_000}
            assert (await client.get("/topics", headers=huge)).status_code == 400
        assert (await admin.get("/topics")).status_code == 200


async def test_a_thousand_guesses_hold_up_no_client_that_has_logged_in(front: Front):
    async with front.client(ADMIN) as admin:
        assert (await admin.get("/topics")).status_code == 200

        async def guess(number: int) -> int:
            async with front.client(("admin", f"guess {number}")) as client:
                try:
                    return (await client.get("/topics", timeout=60)).status_code
                except httpx.TransportError:
                    return 0  # there were too many connections

        guesses = [asyncio.create_task(guess(number)) for number in range(300)]
        loop = asyncio.get_running_loop()
        slowest = 0.0
        while not all(each.done() for each in guesses):
            begun = loop.time()
            assert (await admin.get("/topics", timeout=60)).status_code == 200
            slowest = max(slowest, loop.time() - begun)
            await asyncio.sleep(0.01)
        assert {each.result() for each in guesses} <= {401, 503, 0}
    assert 0 < front.security.audit.refused_logins <= 300


# Behind API Gateway


def signed(arn: Any) -> dict[str, Any]:
    context: dict[str, Any] = {"http": {"sourceIp": "203.0.113.9"}}
    if arn is not None:
        context["authorizer"] = {"iam": {"userArn": arn}}
    return {"requestContext": context}


@pytest.fixture
async def by_iam(site: Site) -> AsyncIterator[Any]:
    """Asks as whoever has signed the event; returns the status."""
    security = secured(site.broker, SETTINGS)
    site.app.state.login = IamLogin(site.broker, Audit())

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await site.app({**scope, "aws.event": by.event}, receive, send)

    class By:
        event: Any = None

        async def __call__(self, event: Any, topic: str = "orders") -> int:
            self.event = event
            inner = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=inner, base_url="http://127.0.0.1") as client:
                return (await client.get(f"/topics/{topic}/partitions")).status_code

    by = By()
    yield by
    security.close()


ROLE = "arn:aws:iam::123456789012:role/Reader"
SESSION = "arn:aws:sts::123456789012:assumed-role/Reader/tuesday"


async def test_a_session_of_a_role_has_the_rights_of_the_role(api: Api, site: Site, by_iam: Any):
    login, site.app.state.login = site.app.state.login, EVERYONE
    await api.topic("orders")
    site.app.state.login = login
    assert await by_iam(signed(SESSION)) == 403
    await allow(site, ROLE, Operation.DESCRIBE, "orders")
    assert await by_iam(signed(SESSION)) == 200
    assert await by_iam(signed(SESSION.replace("Reader", "Other"))) == 403
    assert await by_iam(signed(SESSION.replace("123456789012", "210987654321"))) == 403


UNSIGNED: list[Any] = [
    None,
    {},
    {"requestContext": None},
    signed(None),
    signed(""),
    signed("ANONYMOUS"),
    signed(7),
    {"requestContext": {"authorizer": {"iam": {"userArn": ROLE}}}},
]


@pytest.mark.parametrize("event", UNSIGNED, ids=str)
async def test_an_event_that_iam_has_not_authorised_is_refused(by_iam: Any, event: Any):
    assert await by_iam(event) == 401


async def test_a_function_that_was_frozen_for_hours_does_not_go_by_its_old_acls(
    api: Api, site: Site, by_iam: Any, monkeypatch: pytest.MonkeyPatch
):
    login, site.app.state.login = site.app.state.login, EVERYONE
    await api.topic("orders")
    site.app.state.login = login
    await allow(site, ROLE, Operation.DESCRIBE, "orders")
    assert await by_iam(signed(SESSION)) == 200
    assert site.broker.groups is not None

    async def fails() -> int:
        raise Unavailable("no answer")

    monkeypatch.setattr(site.broker.groups, "security_version", fails)
    site.clock.now += 5_000
    assert await by_iam(signed(SESSION)) == 200
    site.clock.now += HOURS_MS
    assert await by_iam(signed(SESSION)) == 503
