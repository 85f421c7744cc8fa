"""Who lives: by what is seen to change, whatever any wall clock says."""

import pytest

from samsa.ports import Node
from samsa_broker.server.roster import RENEW_S, TTL_MS, TTL_S, Roster

NOW_MS = 1_700_000_000_000
HOUR_MS = 3_600_000


def a_node(node_id: int = 0, version: int = 1, renewed_at: int = NOW_MS) -> Node:
    return Node(node_id, f"owner-{node_id}", version, "10.0.0.1", 9092, "", "", renewed_at)


class Watch:
    """A roster, and a clock that only goes on."""

    def __init__(self) -> None:
        self.roster = Roster()
        self.now_s = 0.0

    def see(self, *nodes: Node, after: float = 0.0, now_ms: int = NOW_MS) -> list[int]:
        self.now_s += after
        self.roster.see(nodes, now_ms, self.now_s)
        return sorted(node.id for node in self.roster.alive(self.now_s))


def test_who_renews_lives():
    watch = Watch()
    for version in range(1, 20):
        assert watch.see(a_node(version=version), after=RENEW_S) == [0]


def test_who_does_not_renew_is_gone_when_its_time_is_over():
    watch = Watch()
    node = a_node()
    assert watch.see(node) == [0]
    assert watch.see(node, after=TTL_S - 0.1) == [0]
    assert watch.see(node, after=0.2) == []
    assert watch.roster.has_gone(node, watch.now_s)


def test_two_lost_renewals_do_no_harm():
    watch = Watch()
    watch.see(a_node(version=1))
    assert watch.see(a_node(version=2), after=3 * RENEW_S) == [0]


def test_what_was_renewed_long_ago_is_not_alive_at_first_sight():
    watch = Watch()
    assert watch.see(a_node(renewed_at=NOW_MS - TTL_MS)) == []


def test_at_first_sight_only_what_is_left_of_the_time_counts():
    watch = Watch()
    node = a_node(renewed_at=NOW_MS - 9_000)
    assert watch.see(node) == [0]
    assert watch.see(node, after=1.5) == []


@pytest.mark.parametrize("off_ms", [-HOUR_MS, -TTL_MS, TTL_MS, HOUR_MS])
def test_a_clock_that_is_wrong_hides_a_process_until_its_next_renewal(off_ms: int):
    watch = Watch()
    assert watch.see(a_node(version=1, renewed_at=NOW_MS + off_ms)) == []
    renewed = a_node(version=2, renewed_at=NOW_MS + off_ms + 3_000)
    assert watch.see(renewed, after=RENEW_S) == [0]


@pytest.mark.parametrize("off_ms", [-HOUR_MS, -5_000, 5_000, HOUR_MS])
def test_a_clock_that_is_set_while_we_watch_changes_nothing(off_ms: int):
    watch = Watch()
    watch.see(a_node(version=1))
    assert watch.see(a_node(version=2), after=RENEW_S, now_ms=NOW_MS + off_ms) == [0]
    assert watch.see(a_node(version=2), after=TTL_S, now_ms=NOW_MS + off_ms) == []


def test_a_dead_process_whose_clock_was_ahead_is_gone_in_time():
    watch = Watch()
    node = a_node(renewed_at=NOW_MS + TTL_MS - 1)
    assert watch.see(node) == [0]
    assert watch.see(node, after=TTL_S, now_ms=NOW_MS) == []


def test_who_is_not_alive_at_first_sight_has_not_gone_before_it_was_watched():
    watch = Watch()
    node = a_node(renewed_at=0)
    watch.see(node)
    assert not watch.roster.has_gone(node, watch.now_s)
    watch.see(node, after=TTL_S)
    assert watch.roster.has_gone(node, watch.now_s)


def test_nobody_dies_while_the_ledger_does_not_answer():
    watch = Watch()
    node = a_node()
    watch.see(node)
    watch.roster.miss()
    assert [one.id for one in watch.roster.alive(watch.now_s + 1)] == [0]
    assert watch.see(node, after=10 * TTL_S) == [0], "it had no chance to renew"
    assert watch.see(node, after=TTL_S) == []


def test_who_left_is_gone_at_once_and_may_come_back():
    watch = Watch()
    assert watch.see(a_node(0), a_node(1)) == [0, 1]
    assert watch.see(a_node(1)) == [1]
    assert watch.see(a_node(0), a_node(1)) == [0, 1]
