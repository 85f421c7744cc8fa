"""The console of a broker that knows its clients: a browser logs in, and sees what it may."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from browser.conftest import OpenPage
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from playwright.async_api import Page, expect
from server.process import Samsa, a_samsa
from support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")
SECONDS = 20
URL = re.compile(r"https://127\.0\.0\.1:\d+")


class Secure(NamedTuple):
    url: str
    admin_password: str

    async def log_in(self, open_page: OpenPage, user: str, password: str) -> Page:
        """As with a certificate that the browser was told to trust."""
        login = {"username": user, "password": password}
        return await open_page(http_credentials=login, ignore_https_errors=True)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """Alice may describe `orders`, and nothing else."""
    folder = tmp_path_factory.mktemp("secure-console")
    with a_samsa(folder, "--secure", "--http", "https://127.0.0.1:0") as samsa:
        found = URL.search((folder / "stdout").read_text())
        assert found, samsa.said()
        password = (folder / "data/security/admin.password").read_text().strip()
        prepare(samsa, password)
        yield Secure(found[0], password)


def prepare(samsa: Samsa, password: str) -> None:
    login = {
        "bootstrap.servers": samsa.broker.bootstrap,
        "security.protocol": "sasl_ssl",
        "ssl.ca.location": str(samsa.data / "security" / "ca.pem"),
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "admin",
        "sasl.password": password,
    }
    admin = AdminClient(login)
    credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    alice = UserScramCredentialUpsertion("alice", credential, b"s3cret")
    binding = AclBinding(
        ResourceType.TOPIC, "orders", ResourcePatternType.LITERAL, "User:alice", "*",
        AclOperation.DESCRIBE, AclPermissionType.ALLOW,
    )  # fmt: skip
    asked = [
        *admin.create_topics([NewTopic("orders", 1), NewTopic("secrets", 1)]).values(),
        *admin.alter_user_scram_credentials([alice]).values(),
        *admin.create_acls([binding]).values(),
    ]
    for each in asked:
        each.result(SECONDS)
    producer = Producer(login)
    producer.produce("orders", b"not for alice")
    assert producer.flush(SECONDS) == 0
    assert eventually(lambda: "alice" in admin.describe_user_scram_credentials().result(SECONDS))


async def test_an_administrator_sees_users_and_acls(secure: Secure, open_page: OpenPage):
    page = await secure.log_in(open_page, "admin", secure.admin_password)
    await page.goto(f"{secure.url}/console/#/security")
    users = page.get_by_role("region", name="Users")
    await expect(users.get_by_role("row", name="alice")).to_contain_text("SCRAM-SHA-512")
    acl = page.get_by_role("region", name="ACLs").get_by_role("row", name="User:alice")
    await expect(acl).to_contain_text(re.compile("allow.*describe.*topic.*orders", re.I))
    await page.get_by_label("Search in ACLs").fill("payments")
    await expect(page.get_by_text("There are no ACLs like this.")).to_be_visible()


async def test_a_user_sees_what_its_acls_allow_and_is_told_what_not(
    secure: Secure, open_page: OpenPage
):
    page = await secure.log_in(open_page, "alice", "s3cret")
    await page.goto(f"{secure.url}/console/#/topics")
    await expect(page.get_by_role("link", name="orders")).to_be_visible()
    await expect(page.get_by_role("link", name="secrets")).to_have_count(0)
    await page.goto(f"{secure.url}/console/#/security")
    await expect(page.get_by_role("main").locator(".note:visible")).to_have_count(3)
    await page.goto(f"{secure.url}/console/#/topics/orders/records")
    await expect(page.get_by_role("alert").first).to_contain_text("authori")
    await expect(page.get_by_text("not for alice")).to_have_count(0)


async def test_a_wrong_password_opens_nothing(secure: Secure, open_page: OpenPage):
    page = await secure.log_in(open_page, "alice", "guess")
    answer = await page.goto(f"{secure.url}/console/")
    assert answer is not None
    assert answer.status == 401
