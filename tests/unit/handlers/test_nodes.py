"""Leaders and coordinators: chosen alike by all, spread evenly, moved as little as can be."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from time import process_time
from uuid import UUID, uuid5

import pytest

from samsa.broker.nodes import MOST_ZONES, FurtherListener, Nodes
from samsa.broker.ring import SLOTS, key_slot, ring_of
from samsa.ports import Node, Partition
from samsa.ports.bounds import MOST_NODES

TOPIC = uuid5(UUID(int=0), "letters")
HERE = ("client.used", 1)


def a_node(node_id: int, zone: str = "") -> Node:
    return Node(node_id, f"owner-{node_id}", 1, f"10.0.0.{node_id}", 9092, zone, "", 0)


def some_nodes(ids: Iterable[int], own: int | None = 0) -> Nodes:
    return Nodes([a_node(node_id) for node_id in ids], own)


def in_zones(*zones: str, own: int = 0) -> Nodes:
    return Nodes([a_node(node_id, zone) for node_id, zone in enumerate(zones)], own)


def leaders(nodes: Nodes, partitions: int = 1_000) -> list[int]:
    return [choice.leader for choice in nodes.choices(TOPIC, range(partitions))]


@pytest.mark.parametrize("count", [2, 3, 5, 10, 20])
def test_slots_are_spread_evenly(count: int):
    fair = SLOTS / count
    shares = Counter(ring_of(range(count)))
    assert len(shares) == count
    assert all(0.75 * fair < share < 1.25 * fair for share in shares.values()), shares


@pytest.mark.parametrize("count", [2, 3, 5])
def test_partitions_of_one_topic_are_spread_evenly(count: int):
    shares = Counter(leaders(some_nodes(range(count))))
    assert all(0.8 < share * count / 1_000 < 1.2 for share in shares.values()), shares


def test_only_the_partitions_of_who_left_move():
    before, after = leaders(some_nodes(range(5))), leaders(some_nodes((0, 1, 3, 4)))
    moved = [old for old, new in zip(before, after, strict=True) if old != new]
    assert moved == [2] * before.count(2)
    assert 2 not in after
    assert set(Counter(after) - Counter(before)) == {0, 1, 3, 4}, "one of them got all"


def test_only_to_who_came_partitions_move():
    before, after = leaders(some_nodes(range(4))), leaders(some_nodes(range(5)))
    gained = [new for old, new in zip(before, after, strict=True) if old != new]
    assert set(gained) == {4}
    assert 120 < len(gained) < 280


def test_whoever_knows_the_same_nodes_names_the_same_leaders():
    seen = [some_nodes(order, own) for order, own in (((0, 1, 7), 0), ((7, 0, 1), 7))]
    assert leaders(seen[0]) == leaders(seen[1])
    assert seen[0].coordinator("family") == seen[1].coordinator("family")
    assert [each.controller for each in seen] == [0, 0]


def test_processes_of_all_versions_choose_the_same():
    """Written down: a change would have old and new processes of a cluster disagree."""
    assert ring_of((0, 1, 2))[:16] == [2, 0, 0, 2, 1, 2, 1, 2, 0, 2, 1, 2, 1, 1, 2, 1]
    assert [key_slot(key) for key in ("", "family", "Grüße")] == [692, 1438, 914]


def test_groups_are_spread_over_the_nodes():
    nodes = some_nodes(range(4))
    shares = Counter(nodes.coordinator(f"group-{number}") for number in range(2_000))
    assert all(400 < shares[node] < 600 for node in range(4)), shares
    own = [name for name in map(str, range(100)) if nodes.coordinates(name)]
    assert own == [name for name in map(str, range(100)) if nodes.coordinator(name) == 0]


def test_a_node_alone_leads_everything_and_is_the_only_replica():
    for nodes, node_id in ((Nodes.alone(), 0), (some_nodes([3], own=3), 3)):
        assert nodes.only == (node_id, (node_id,))
        assert set(nodes.choices(TOPIC, range(5))) == {nodes.only}
        assert nodes.coordinator("family") == nodes.controller == node_id
        assert nodes.leads(TOPIC, 0)
        assert nodes.coordinates("family")
        assert [tuple(named) for named in nodes.named(HERE)] == [(node_id, *HERE, None)]


def test_a_client_is_told_the_address_that_it_used_and_those_of_the_others():
    assert [tuple(named) for named in in_zones("a", "", own=1).named(HERE)] == [
        (0, "10.0.0.0", 9092, "a"),
        (1, *HERE, None),
    ]


def test_a_client_of_a_further_listener_is_sent_to_that_of_another_process():
    """Both announce their first listeners; this client came by one that is two ports further."""
    nodes = some_nodes((0, 1))
    address = FurtherListener("public", 9094, 2)
    assert nodes.find(0, address)[:3] == (0, "public", 9094)
    assert nodes.find(1, address)[:3] == (1, "10.0.0.1", 9094)
    assert nodes.find(1, ("public", 9094))[:3] == (1, "10.0.0.1", 9092)


def test_who_could_not_announce_itself_names_the_others_and_lists_everything():
    nodes = some_nodes((0, 1), own=None)
    assert [named.host for named in nodes.named(HERE)] == ["10.0.0.0", "10.0.0.1"]
    assert set(leaders(nodes)) == {0, 1}
    assert nodes.leads(TOPIC, 0)
    assert nodes.leads(TOPIC, 1)
    assert all(nodes.coordinates(name) for name in map(str, range(10)))


def test_without_zones_the_leader_is_the_only_replica():
    for nodes in (some_nodes(range(3)), in_zones("a", "a", "a")):
        choices = nodes.choices(TOPIC, range(100))
        assert all(choice.replicas == (choice.leader,) for choice in choices)


def test_with_zones_each_other_zone_has_a_replica_too():
    zones = ("a", "b", "b", "", "c")
    nodes = in_zones(*zones)
    for choice in nodes.choices(TOPIC, range(200)):
        assert choice.replicas[0] == choice.leader
        found = [zones[node] for node in choice.replicas[1:]]
        assert sorted(found) == sorted({"a", "b", "c"} - {zones[choice.leader]})
    near = Counter(chain(*(choice.replicas for choice in nodes.choices(TOPIC, range(200)))))
    assert min(near[1], near[2]) > 50, "both of zone b are read from"


def partitions_led_by(nodes: Nodes, leader: int) -> list[Partition]:
    found = enumerate(nodes.choices(TOPIC, range(50)))
    return [Partition(TOPIC, number) for number, choice in found if choice.leader == leader]


def test_a_leader_sends_consumers_of_another_rack_to_a_replica_there():
    nodes = in_zones("a", "b", "b")
    for partition in partitions_led_by(nodes, 0):
        (choice,) = nodes.choices(TOPIC, range(partition.number, partition.number + 1))
        assert nodes.near("b", partition) == choice.replicas[1]


@pytest.mark.parametrize("rack", ["a", "nowhere", ""])
def test_consumers_of_this_zone_and_of_unknown_ones_are_served_here(rack: str):
    nodes = in_zones("a", "b")
    assert {nodes.near(rack, one) for one in partitions_led_by(nodes, 0)} == {None}


def test_who_does_not_lead_sends_nobody_on():
    nodes = in_zones("a", "b", "c")
    for leader in (1, 2):
        assert {nodes.near("b", one) for one in partitions_led_by(nodes, leader)} == {None}


def test_zones_beyond_the_bound_have_no_replicas():
    nodes = in_zones(*(f"zone-{number:02}" for number in range(MOST_ZONES + 5)))
    choices = nodes.choices(TOPIC, range(500))
    assert max(len(choice.replicas) for choice in choices) == MOST_ZONES + 1
    (last,) = {nodes.near(f"zone-{MOST_ZONES + 4:02}", one) for one in partitions_led_by(nodes, 0)}
    assert last is None


def test_as_many_nodes_as_there_may_be_take_less_than_a_second_to_spread():
    began = process_time()
    in_zones(*(f"zone-{number % 6}" for number in range(MOST_NODES)))
    assert process_time() - began < 1.0
