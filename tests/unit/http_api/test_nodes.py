"""One process of several, asked by HTTP: it answers for all of them."""

import pytest
from unit.http_api.given import Api, Site
from unit.http_api.test_groups import commit

from samsa.broker.nodes import Nodes
from samsa.ports import Node

GROUPS = [f"group-{number}" for number in range(8)]


@pytest.fixture
def nodes(site: Site) -> Nodes:
    found = [Node(n, f"o{n}", 1, f"10.0.0.{n}", 9092, "ab"[n], "", 0) for n in range(2)]
    site.broker.nodes = Nodes(found, 1)
    return site.broker.nodes


async def test_every_node_is_told_with_its_zone(api: Api, site: Site, nodes: Nodes):
    assert site.kafka.address is not None
    host, port = site.kafka.address
    assert (await api.get("/cluster"))["brokers"] == [
        {"id": 0, "host": "10.0.0.0", "port": 9092, "zone": "a"},
        {"id": 1, "host": host, "port": port, "zone": "b"},
    ]


async def test_groups_of_all_coordinators_are_listed(api: Api, site: Site, nodes: Nodes):
    await api.topic()
    for group in GROUPS:
        await commit(site, group, {0: 0})
    assert len({nodes.coordinator(group) for group in GROUPS}) == 2
    listed = (await api.get("/groups"))["groups"]
    assert sorted(each["group"] for each in listed) == GROUPS


async def test_the_configs_are_those_of_the_node_that_is_asked(api: Api, nodes: Nodes):
    configs = {
        each["name"]: each["value"] for each in (await api.get("/cluster/configs"))["configs"]
    }
    assert (configs["node.id"], configs["broker.rack"]) == ("1", "b")
