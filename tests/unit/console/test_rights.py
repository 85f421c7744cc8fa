"""The console with the rights of a principal: what it may not see is not shown."""

import json

import pytest
from unit.console.given import CONSOLE, ConsoleSite
from unit.http_api.given import Api
from unit.http_api.test_rights import limit

from samsa.http_api.sessions import Unauthorized
from samsa.security.kinds import CLUSTER_NAME, Operation, ResourceType

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
ORDERS = (Operation.DESCRIBE, TOPIC, "orders")


async def two(api: Api, site: ConsoleSite) -> None:
    """Topics and groups of which the sender may see the first."""
    for name in ("orders", "secrets"):
        await api.topic(name)
        await api.write("classified", topic=name)
    for name in ("readers", "spies"):
        await api.post(
            f"/groups/{name}/offsets",
            {"to": "earliest", "topics": [{"topic": "orders"}, {"topic": "secrets"}]},
        )
    await site.round()


async def test_no_answer_names_what_is_hidden(api: Api, site: ConsoleSite):
    await two(api, site)
    limit(site, ORDERS, (Operation.DESCRIBE, GROUP, "readers"))
    for path in (
        "overview", "topics", "topics?sort=size", "groups", "groups?sort=lag", "groups/readers",
        "history?metric=group_lag&group=readers", "transactions", "security",
    ):  # fmt: skip
        told = (await api.client.get(f"{CONSOLE}/{path}")).text
        assert json.loads(told).get("status", 200) == 200, told
        assert "secrets" not in told, path
        assert "spies" not in told, path


async def test_figures_of_the_process_are_for_those_who_may_describe_the_cluster(
    api: Api, site: ConsoleSite
):
    await two(api, site)
    limit(site, ORDERS)
    overview = await api.get(f"{CONSOLE}/overview")
    assert (overview["topics"], overview["groups"]) == (1, 0)
    assert overview["storage_bytes"] is overview["connections"] is None
    assert set(overview["rates"].values()) == {None}
    await api.get(f"{CONSOLE}/cost", 403)
    await api.get(f"{CONSOLE}/history", 403, metric="bytes_in")
    limit(site, (Operation.DESCRIBE, CLUSTER, CLUSTER_NAME))
    overview = await api.get(f"{CONSOLE}/overview")
    assert (overview["groups"], overview["connections"]) == (2, 0)
    await api.get(f"{CONSOLE}/cost")
    await api.get(f"{CONSOLE}/history", metric="bytes_in")


@pytest.mark.parametrize("name", ["secrets", "no-such"])
async def test_a_hidden_topic_is_forbidden_whether_or_not_it_exists(
    api: Api, site: ConsoleSite, name: str
):
    await two(api, site)
    limit(site, ORDERS)
    for path in ("log", "records", "tail"):
        await api.get(f"{CONSOLE}/topics/{name}/{path}", 403)
    await api.get(f"{CONSOLE}/topics/{name}/search", 403, q="x")
    await api.get(f"{CONSOLE}/history", 403, metric="topic_size", topic=name)


async def test_records_are_read_by_right_and_not_only_described(api: Api, site: ConsoleSite):
    await two(api, site)
    limit(site, ORDERS)
    await api.get(f"{CONSOLE}/topics/orders/records", 403)
    answer = await api.client.get(f"{CONSOLE}/topics/orders/search", params={"q": "class"})
    assert "classified" not in answer.text
    assert "authorization failed" in answer.text
    limit(site, (Operation.READ, TOPIC, "orders"))
    (found,) = (await api.get(f"{CONSOLE}/topics/orders/records"))["records"]
    assert found["value"] == {"text": "classified"}


async def test_a_group_is_reset_by_right(api: Api, site: ConsoleSite):
    await two(api, site)
    limit(site, ORDERS, (Operation.DESCRIBE, GROUP, "readers"))
    given = {"topic": "orders", "to": "latest", "dry_run": False}
    await api("POST", f"{CONSOLE}/groups/readers/reset", 403, given)
    await api("POST", f"{CONSOLE}/groups/spies/reset", 403, given)


async def test_the_parts_of_security_are_null_to_others_and_say_why(api: Api, site: ConsoleSite):
    limit(site, ORDERS)
    found = await api.get(f"{CONSOLE}/security")
    assert (found["users"], found["acls"], found["quotas"]) == (None, None, None)
    assert set(found["why"]) == {"users", "acls", "quotas"}


async def test_nothing_is_served_without_the_login_that_is_asked_for(api: Api, site: ConsoleSite):
    class Nobody:
        async def session(self, _: object) -> object:
            raise Unauthorized("log in", ["Basic"])

    site.app.state.login = Nobody()
    for path in ("/console/", "/console/index.html", f"{CONSOLE}/overview", "/"):
        await api.get(path, 401)
