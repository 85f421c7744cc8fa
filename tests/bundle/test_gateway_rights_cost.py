"""What ACLs cost on AWS, counted where the calls leave the function."""

import pytest
from bundle.closed import GRETE, LOOK_MS, ClosedCluster, readable, written
from bundle.given_gateway import Client, Cluster
from bundle.meter import Meter

from samsa.security.kinds import Operation
from samsa_broker.cost.acts import Act, FunctionActs


@pytest.fixture
def closed(cluster: Cluster) -> ClosedCluster:
    found = ClosedCluster(cluster)
    found.allow(GRETE, Operation.ALL)
    return found


def metered(closed: ClosedCluster) -> tuple[Meter, Client]:
    """In a function that has served this client, and has looked at the ACLs just now."""
    gateway = closed.another()
    grete = closed.grete(gateway)
    assert readable(grete) == written(grete) == written(grete) == 0
    meter = Meter()
    meter.gateway(closed, gateway)
    return meter, grete


def reads(act: Act) -> float:
    return act.reads + act.head_reads


def test_a_warm_append_is_one_update_of_the_head_with_acls_too(closed: ClosedCluster):
    meter, grete = metered(closed)
    with meter.measuring() as spent:
        assert written(grete) == 0
    act = spent.act
    assert (reads(act), act.writes, act.head_writes, act.puts) == (0, 0, 1, 0)
    assert act.index_writes <= FunctionActs.PLAIN_APPEND.index_writes + 1


def test_once_a_second_a_request_looks_at_one_item_more(closed: ClosedCluster):
    _, grete = metered(closed)
    calls = closed_calls(grete)
    assert readable(grete) == readable(grete) == 0
    assert closed_calls(grete) == calls
    closed.a_moment_later(LOOK_MS)
    assert readable(grete) == 0
    assert closed_calls(grete)["security_version"] == calls.get("security_version", 0) + 1
    assert closed_calls(grete)["security"] == calls["security"]


def test_a_function_reads_all_acls_when_it_starts_and_when_they_have_changed(
    closed: ClosedCluster,
):
    _, grete = metered(closed)
    assert closed_calls(grete)["security"] == 1
    closed.allow(GRETE, Operation.READ)
    closed.a_moment_later(LOOK_MS)
    for _ in range(3):
        assert readable(grete) == 0
    assert closed_calls(grete)["security"] == 2


def test_a_connection_is_looked_up_once_by_each_function(closed: ClosedCluster):
    _, grete = metered(closed)
    grete.gateway = closed.another()
    for _ in range(3):
        assert readable(grete) == 0
    assert grete.gateway._parts.connections.calls["look_up"] == 1


def closed_calls(client: Client) -> dict[str, int]:
    groups = client.gateway._parts.broker.groups
    assert groups is not None
    return dict(groups.calls)
