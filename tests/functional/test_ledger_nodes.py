"""How processes announce themselves, on every ledger."""

from typing import Any

import pytest
from functional.test_ledger_races import Track, track  # noqa: F401

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.nodes import FORGOTTEN_AFTER_S, node_key
from samsa.ports import Ledger, Node
from samsa.ports.bounds import LONGEST_HOST, LONGEST_ZONE, MOST_NODES

NOW = 1_700_000_000_000
RACERS = 24


def a_node(node_id: int = 0, owner: str = "gregor", version: int = 1, **more: Any) -> Node:
    fields = {"host": "10.0.0.1", "port": 9092, "zone": "a", "machine": "", "renewed_at": NOW}
    return Node(node_id, owner, version, **{**fields, **more})


async def test_nobody_has_announced_itself_at_first(ledger: Ledger):
    assert await ledger.nodes() == []


async def test_nodes_come_back_whole_and_in_order(ledger: Ledger):
    nodes = [
        a_node(2, zone="", host="2001:db8::1"),
        a_node(0, machine="boot/4026531840"),
        a_node(11, "grete", host="kafka.example.com"),
    ]
    for node in nodes:
        assert await ledger.put_node(node, None)
    assert await ledger.nodes() == sorted(nodes)


async def test_an_id_that_is_taken_is_not_given_twice(ledger: Ledger):
    first = a_node(owner="gregor")
    assert await ledger.put_node(first, None)
    assert not await ledger.put_node(a_node(owner="grete"), None)
    assert await ledger.nodes() == [first]


async def test_a_renewal_counts_on_and_moves_the_time(ledger: Ledger):
    first, second = a_node(), a_node(version=2, renewed_at=NOW + 3_000)
    await ledger.put_node(first, None)
    assert await ledger.put_node(second, first)
    assert await ledger.nodes() == [second]


async def test_a_put_that_succeeded_may_be_repeated(ledger: Ledger):
    first, second = a_node(), a_node(version=2)
    for _ in range(2):
        assert await ledger.put_node(first, None)
    for _ in range(2):
        assert await ledger.put_node(second, first)
    assert await ledger.nodes() == [second]


async def test_the_id_of_a_dead_process_is_taken_by_who_saw_it_last(ledger: Ledger):
    dead, heir = a_node(owner="gregor", version=7), a_node(owner="grete", version=8)
    await ledger.put_node(dead, None)
    assert await ledger.put_node(heir, dead)
    assert not await ledger.put_node(a_node(owner="gregor", version=8), dead), "it is too late"
    assert await ledger.nodes() == [heir]


async def test_an_item_that_was_made_anew_is_not_taken_for_the_old_one(ledger: Ledger):
    old, new = a_node(owner="gregor"), a_node(owner="grete")
    await ledger.put_node(old, None)
    await ledger.remove_node(old)
    await ledger.put_node(new, None)
    assert not await ledger.put_node(a_node(owner="samsa", version=2), old)
    assert await ledger.nodes() == [new]


async def test_what_is_gone_cannot_be_renewed_and_can_be_taken_again(ledger: Ledger):
    first = a_node()
    assert not await ledger.put_node(a_node(version=2), first)
    assert await ledger.nodes() == []
    assert await ledger.put_node(a_node(version=3), None)


async def test_a_process_removes_its_item_and_nobody_elses(ledger: Ledger):
    first, other = a_node(0), a_node(1, "grete")
    await ledger.put_node(first, None)
    await ledger.put_node(other, None)
    await ledger.remove_node(first._replace(version=9))
    await ledger.remove_node(first)
    await ledger.remove_node(a_node(1, "gregor"))
    assert await ledger.nodes() == [other]


async def test_of_many_who_want_an_id_exactly_one_gets_it(track: Track):  # noqa: F811
    wanted = [a_node(owner=f"process-{number}") for number in range(RACERS)]
    won = await track.race([("put_node", node, None) for node in wanted])
    (winner,) = [node for node, got in zip(wanted, won, strict=True) if got]
    assert await track.ledger.nodes() == [winner]
    heirs = [a_node(owner=f"heir-{number}", version=2) for number in range(RACERS)]
    won = await track.race([("put_node", node, winner) for node in heirs])
    (heir,) = [node for node, got in zip(heirs, won, strict=True) if got]
    assert await track.ledger.nodes() == [heir]


async def test_as_many_nodes_as_there_may_be_are_listed_with_the_longest_names(ledger: Ledger):
    host, zone = "h" * LONGEST_HOST, "\N{GRINNING FACE}" * LONGEST_ZONE
    nodes = [
        a_node(number, "o" * 40, 2**40, host=host, zone=zone, port=65_535, machine="m" * 100)
        for number in range(MOST_NODES)
    ]
    for node in nodes:
        assert await ledger.put_node(node, None)
    assert await ledger.nodes() == nodes


@pytest.mark.parametrize("ledger", ["dynamodb-local"], indirect=True)
async def test_dynamodb_forgets_by_itself_whom_nobody_renews(ledger: DynamoLedger):
    await ledger.put_node(a_node(5), None)
    item = await ledger.table.get(node_key(5))
    assert item is not None
    assert int(item["expires"]["N"]) == NOW // 1000 + FORGOTTEN_AFTER_S
