"""What ACLs and quotas cost on AWS, counted where the calls leave the function."""

import subprocess
import sys

import pytest
from bundle.closed import GRETE, LOOK_MS, ClosedCluster, readable, written
from bundle.given_gateway import Client, Cluster
from bundle.limited import GRETES, LimitedCluster
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


# Quotas


@pytest.fixture
def limited(cluster: Cluster) -> LimitedCluster:
    return LimitedCluster(cluster)


def test_without_quotas_nothing_is_made_to_enforce_them(closed: ClosedCluster):
    _, grete = metered(closed)
    assert grete.gateway._kafka._quotas is None


def test_a_function_imports_nothing_of_quotas_before_there_are_some():
    code = (
        "import sys, samsa_websocket.gateway.function, samsa.handlers.k00_produce, "
        "samsa.handlers.k01_fetch, samsa.access.view; "
        "found = [name for name in sys.modules if 'rates' in name or 'throttling' in name "
        "or 'gateway.quota' in name]; "
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("entity", "limits"),
    [
        ({"user": "somebody else"}, {"producer_byte_rate": 1, "consumer_byte_rate": 1}),
        (GRETES, {"controller_mutation_rate": 1, "request_percentage": 1e-6}),
        ({"ip": "198.51.100.9"}, {"connection_creation_rate": 1}),
    ],
    ids=["of others", "of other kinds", "of addresses"],
)
def test_quotas_that_do_not_apply_to_a_request_cost_it_nothing(
    limited: LimitedCluster, entity: dict[str, str | None], limits: dict[str, float]
):
    limited.limit(entity, **limits)
    meter, grete = metered(limited)
    with meter.measuring() as spent:
        for _ in range(2):
            assert written(grete) == readable(grete) == 0
            grete.connect()
    act = spent.act
    assert (act.writes, act.head_writes, act.puts) == (2, 2, 0), "one item of each connection"
    assert grete.gateway._kafka._quotas is not None
    assert grete.gateway._kafka._quotas.usage.calls == {}


def test_a_quota_costs_a_client_one_small_update_in_each_second_of_a_function(
    limited: LimitedCluster,
):
    limited.limit(GRETES, producer_byte_rate=1e6, consumer_byte_rate=1e6)
    meter, grete = metered(limited)
    for ask in (written, readable):
        for costs in (1, 0, 0):
            if costs:
                limited.a_moment_later()
            with meter.measuring() as spent:
                assert ask(grete) == 0
            assert spent.act.writes == costs


def closed_calls(client: Client) -> dict[str, int]:
    groups = client.gateway._parts.broker.groups
    assert groups is not None
    return dict(groups.calls)
