"""The HTTP API with the rights of a principal: what a Kafka client could not do, it cannot."""

from typing import NamedTuple

import pytest
from unit.http_api.given import Api, Site

from samsa.http_api.sessions import Session
from samsa.security.access import Limited
from samsa.security.acls import Acl
from samsa.security.authorizer import Authorizer
from samsa.security.kinds import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from samsa.security.principals import Principal

PRINCIPAL = Principal("User", "http")
TOPIC = ResourceType.TOPIC


class Always(NamedTuple):
    """All clients are this one."""

    limited: Session

    async def session(self, _: object) -> Session:
        return self.limited


def limit(site: Site, *rights: tuple[Operation, ResourceType, str]) -> None:
    acls = [
        Acl(kind, PatternType.LITERAL, name, str(PRINCIPAL), "*", operation, Permission.ALLOW)
        for operation, kind, name in rights
    ]
    authorizer = Authorizer(acls)
    session = Session(Limited(PRINCIPAL, "127.0.0.1", lambda: authorizer))
    site.app.state.login = Always(session)


async def test_only_topics_that_it_may_describe_are_listed(api: Api, site: Site):
    await api.topic("orders")
    await api.topic("secrets")
    limit(site, (Operation.DESCRIBE, TOPIC, "orders"))
    listed = await api.get("/topics")
    assert [topic["name"] for topic in listed["topics"]] == ["orders"]


@pytest.mark.parametrize("name", ["secrets", "no-such"])
async def test_a_hidden_topic_is_forbidden_whether_or_not_it_exists(
    api: Api, site: Site, name: str
):
    await api.topic("secrets")
    limit(site, (Operation.DESCRIBE, TOPIC, "orders"))
    for path in ("", "/partitions", "/partitions/0", "/partitions/0/records", "/configs"):
        await api.get(f"/topics/{name}{path}", 403)


async def test_records_are_read_and_written_by_right(api: Api, site: Site):
    await api.topic()
    await api.write("one")
    limit(site, (Operation.DESCRIBE, TOPIC, "orders"))
    await api.get("/topics/orders/partitions/0/records", 403)
    record = {"records": [{"value": "two"}]}
    await api.post("/topics/orders/records", record, 403)
    limit(site, (Operation.READ, TOPIC, "orders"), (Operation.WRITE, TOPIC, "orders"))
    await api.post("/topics/orders/records", record, 201)
    read = await api.get("/topics/orders/partitions/0/records")
    assert [one["value"]["text"] for one in read["records"]] == ["one", "two"]


async def test_a_topic_is_made_by_right(api: Api, site: Site):
    limit(site, (Operation.DESCRIBE, TOPIC, "new"), (Operation.WRITE, TOPIC, "new"))
    record = {"records": [{"value": "one"}]}
    await api.post("/topics/new/records", record, 403)
    limit(
        site,
        (Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME),
        (Operation.WRITE, TOPIC, "new"),
    )
    await api.post("/topics/new/records", record, 201)


async def test_groups_are_shown_by_right(api: Api, site: Site):
    await api.topic()
    limit(site, (Operation.READ, TOPIC, "orders"))
    await api.get("/groups/readers", 403)
    assert (await api.get("/groups"))["groups"] == []
