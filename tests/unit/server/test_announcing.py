"""Announcing: ids that stay, lists that survive a broken ledger, and no work while alone."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from samsa.broker.nodes import Nodes
from samsa.ports import Node, Unavailable
from samsa.ports.bounds import LONGEST_HOST, MOST_NODES
from samsa_broker.server import announcing
from samsa_broker.server.announced_address import AnnouncedAddress, announced_place, machine_id
from samsa_broker.server.announcing import Announcer
from samsa_broker.server.roster import LONG_GONE_MS, RENEW_S, TTL_S

NOW_MS = 1_700_000_000_000
LOAD_BALANCER = AnnouncedAddress("kafka.example.com", 9092, "")


class Shared:
    """A ledger that holds nodes, may fail, and lets a rival in before a put."""

    def __init__(self) -> None:
        self.items: dict[int, Node] = {}
        self.broken: Exception | None = None
        self.before_put: Callable[[], None] = lambda: None
        self.calls: list[str] = []
        self.now_s = 0.0

    async def nodes(self) -> list[Node]:
        self._called("nodes")
        return sorted(self.items.values())

    async def put_node(self, node: Node, after: Node | None) -> bool:
        self._called("put_node")
        self.before_put()
        if self.items.get(node.id) != after:
            return False
        self.items[node.id] = node
        return True

    async def remove_node(self, node: Node) -> None:
        self._called("remove_node")
        if node.id in self.items and self.items[node.id].owner == node.owner:
            del self.items[node.id]

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.broken is not None:
            raise self.broken


class Process(Announcer):
    """An announcer whose clocks the test turns."""

    def __init__(
        self, ledger: Shared, number: int, place: AnnouncedAddress | None = None, **more: Any
    ) -> None:
        self.ledger = ledger
        self.off_ms = 0
        clock = SimpleNamespace(now_ms=lambda: NOW_MS + round(ledger.now_s * 1000) + self.off_ms)
        stores = SimpleNamespace(ledger=ledger, clock=clock, nonce=lambda: f"process-{number}")
        self.broker: Any = SimpleNamespace(stores=stores, nodes=Nodes.alone())
        zone = more.pop("zone", "")
        where = place or AnnouncedAddress(f"10.0.0.{number}", 9092, "")
        super().__init__(self.broker, where, zone, **{"is_remote": True, **more})

    def _now_s(self) -> float:
        return self.ledger.now_s

    @property
    def own(self) -> int | None:
        return self.broker.nodes.own

    @property
    def ids(self) -> tuple[int, ...]:
        return self.broker.nodes.ids


async def pass_time(ledger: Shared, seconds: float, *living: Process) -> None:
    until = ledger.now_s + seconds
    while ledger.now_s < until:
        ledger.now_s += RENEW_S
        for process in living:
            await process.look()


async def looked(ledger: Shared, *numbers: int, **more: Any) -> list[Process]:
    processes = [Process(ledger, number, **more) for number in numbers]
    for process in processes * 2:
        await process.look()
    return processes


async def test_the_first_is_node_0_and_the_next_get_the_next_ids():
    processes = await looked(Shared(), 5, 6, 7)
    assert [process.own for process in processes] == [0, 1, 2]
    assert {process.ids for process in processes} == {(0, 1, 2)}


async def test_who_dies_is_named_no_more_after_its_time_and_its_id_is_given_again():
    ledger = Shared()
    first, second = await looked(ledger, 1, 2)
    await pass_time(ledger, TTL_S - RENEW_S, second)
    assert second.ids == (0, 1)
    await pass_time(ledger, 2 * RENEW_S, second)
    assert (second.ids, second.own) == ((1,), 1)
    (third,) = await looked(ledger, 3)
    assert third.own == 2, "it has not watched for long enough to know that node 0 is gone"
    await pass_time(ledger, LONG_GONE_MS / 1000, second)
    (fourth,) = await looked(ledger, 4)
    assert fourth.own == 0
    assert await first.look() is None
    assert first.own not in (fourth.own, second.own), "it was only asleep: it takes another id"


async def test_a_process_that_is_started_again_where_it_was_has_its_old_id():
    ledger = Shared()
    _, second = await looked(ledger, 1, 2)
    again = Process(ledger, 9, AnnouncedAddress("10.0.0.1", 9092, ""))
    await again.look()
    assert again.own == 0
    await pass_time(ledger, RENEW_S, second)
    assert second.ids == (0, 1)


async def test_processes_with_one_address_are_one_node():
    ledger = Shared()
    processes = await looked(ledger, 1, 2, 3, place=LOAD_BALANCER)
    await pass_time(ledger, 2 * TTL_S, *processes)
    assert {(process.ids, process.own) for process in processes} == {((0,), 0)}
    await processes[0].leave()
    await pass_time(ledger, RENEW_S, *processes[1:])
    assert {(process.ids, process.own) for process in processes[1:]} == {((0,), 0)}


async def test_two_items_with_one_address_are_named_once():
    ledger = Shared()
    (process,) = await looked(ledger, 1, place=LOAD_BALANCER)
    ledger.items[5] = ledger.items[0]._replace(id=5, owner="somebody")
    await process.look()
    assert process.ids == (0,)


async def test_who_leaves_is_named_no_more_from_the_next_look_on():
    ledger = Shared()
    first, second = await looked(ledger, 1, 2)
    await first.leave()
    await second.look()
    assert (second.ids, list(ledger.items)) == ((1,), [1])


async def test_two_that_want_one_id_at_the_same_time_get_two():
    ledger = Shared()
    first, second = Process(ledger, 1), Process(ledger, 2)
    rival = Node(0, "process-1", 1, "10.0.0.1", 9092, "", "", NOW_MS)

    def be_faster() -> None:
        ledger.items.setdefault(0, rival)

    ledger.before_put = be_faster
    await second.look()
    assert second.own == 1
    await first.look()
    assert first.own == 0


async def test_a_broken_ledger_leaves_the_last_list_and_nobody_dies():
    ledger = Shared()
    first, second = await looked(ledger, 1, 2)
    ledger.broken = Unavailable("it is down")
    for _ in range(20):
        ledger.now_s += RENEW_S
        await first._safely(first.look())
        await second._safely(second.look())
    assert (first.ids, first.failures) == ((0, 1), 20)
    ledger.broken = None
    for process in (first, second):
        await process.look()
        assert process.ids == (0, 1)


async def test_who_cannot_write_still_sees_who_comes_and_goes():
    ledger = Shared()
    first, _ = await looked(ledger, 1, 2)

    def fail() -> None:
        raise Unavailable("throttled")

    ledger.before_put = fail
    ledger.items[7] = ledger.items[1]._replace(id=7, host="10.0.0.7", owner="newcomer")
    for _ in range(5):
        ledger.now_s += RENEW_S
        await first._safely(first.look())
        ledger.items[7] = ledger.items[7]._replace(version=ledger.items[7].version + 1)
    assert (first.ids, first.own, first.failures) == ((0, 7), 0, 5)


@pytest.mark.parametrize("broken", [Unavailable("down"), KeyError("what nobody named")])
async def test_a_process_starts_though_the_ledger_fails_and_is_announced_later(broken: Exception):
    ledger = Shared()
    ledger.broken = broken
    process = Process(ledger, 1)
    announcing_soon = pytest.MonkeyPatch()
    with announcing_soon.context() as patch:
        patch.setattr(announcing, "SOON_S", 0.01)
        await process.start()
        assert (process.ids, process.own) == ((0,), 0)
        await asyncio.sleep(0.05)
        assert process.failures > 1, "the task ended"
        ledger.broken = None
        await asyncio.sleep(0.05)
    assert list(ledger.items) == [0]
    await process.leave()
    assert not ledger.items


async def test_a_ledger_that_hangs_holds_up_neither_start_nor_end(monkeypatch: Any):
    ledger = Shared()
    process = Process(ledger, 1)
    await process.look()
    monkeypatch.setattr(announcing, "PATIENCE_S", 0.05)

    async def hang(*_: object) -> list[Node]:
        await asyncio.sleep(60)
        return []

    ledger.nodes = ledger.remove_node = hang  # type: ignore[method-assign, assignment]
    async with asyncio.timeout(2):
        await process.start()
        await process.leave()
    assert process.failures >= 2


@pytest.mark.parametrize("most", [20, pytest.param(MOST_NODES, marks=pytest.mark.thorough)])
async def test_more_processes_than_can_be_named_serve_without_a_name(
    most: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(announcing, "MOST_NODES", most)
    ledger = Shared()
    await looked(ledger, *range(most))
    assert len(ledger.items) == most
    (late,) = await looked(ledger, most)
    assert late.own is None
    assert late.ids == tuple(range(most))
    assert len(ledger.items) == most


async def test_a_host_that_is_too_long_is_not_announced():
    ledger = Shared()
    (process,) = await looked(ledger, 1, place=AnnouncedAddress("h" * (LONGEST_HOST + 1), 9092, ""))
    assert not ledger.items
    assert process.ids == (0,)


@pytest.mark.parametrize("off_ms", [-3_600_000, 3_600_000])
async def test_a_process_with_a_wrong_clock_is_named_and_keeps_its_id(off_ms: int):
    ledger = Shared()
    first, second = Process(ledger, 1), Process(ledger, 2)
    first.off_ms = off_ms
    for process in (first, second):
        await process.look()
    await pass_time(ledger, 2 * RENEW_S, first, second)
    assert first.ids == second.ids
    assert len(first.ids) == 2
    kept = first.own, second.own
    await pass_time(ledger, 3 * TTL_S, first, second)
    assert (first.own, second.own) == kept


async def test_a_clock_that_is_set_while_processes_run_changes_nothing():
    ledger = Shared()
    first, second = await looked(ledger, 1, 2)
    for off_ms in (3_600_000, -3_600_000, 0):
        first.off_ms = off_ms
        await pass_time(ledger, RENEW_S, first, second)
        assert (first.ids, second.ids, first.own, second.own) == ((0, 1), (0, 1), 0, 1)


async def test_on_one_machine_nothing_is_renewed_while_nobody_else_is_there():
    ledger = Shared()
    (first,) = await looked(ledger, 1, is_remote=False)
    await pass_time(ledger, 10 * TTL_S, first)
    assert ledger.items[0].version == 1
    second = Process(ledger, 2, is_remote=False)
    await second.look()
    assert second.own == 1, "node 0 has not renewed for long, but nobody knows that it is gone"
    await pass_time(ledger, RENEW_S, first, second)
    await second.look()
    assert (first.ids, second.ids) == ((0, 1), (0, 1))
    await pass_time(ledger, 2 * TTL_S, first)
    version = ledger.items[0].version
    await pass_time(ledger, 2 * TTL_S, first)
    assert (first.ids, ledger.items[0].version) == ((0,), version), "the other is gone again"


async def test_while_alone_the_ledger_is_not_asked(monkeypatch: Any):
    monkeypatch.setattr(announcing, "SOON_S", 0.005)
    ledger, alone = Shared(), True
    process = Process(ledger, 1, is_remote=False, is_alone=lambda: alone)
    await process.start()
    calls = list(ledger.calls)
    await asyncio.sleep(0.05)
    assert ledger.calls == calls
    alone = False
    await asyncio.sleep(0.05)
    assert len(ledger.calls) > len(calls)
    await process.leave()


async def test_the_first_on_a_file_clears_away_whoever_died_there():
    ledger = Shared()
    await looked(ledger, 1, 2, 3)
    fresh = Process(ledger, 9, is_remote=False)
    await fresh.start(is_first=True)
    await fresh.leave()
    assert (fresh.own, fresh.ids) == (0, (0,))


async def test_loopback_addresses_are_named_on_their_own_machine_only():
    ledger = Shared()
    places = [
        AnnouncedAddress("127.0.0.1", 9092, "here"),
        AnnouncedAddress("127.0.0.1", 9093, "here"),
        AnnouncedAddress("127.0.0.1", 9093, "elsewhere"),
        AnnouncedAddress("10.0.0.7", 9092, ""),
    ]
    processes = [Process(ledger, number, place) for number, place in enumerate(places)]
    for process in processes * 2:
        await process.look()
    assert [process.ids for process in processes] == [(0, 1, 3), (0, 1, 3), (2, 3), (3,)]


async def test_a_process_announces_what_it_advertises_or_where_it_listens():
    listens = ("127.0.0.1", 4711)
    assert await announced_place(("kafka.example.com", 9092), listens) == LOAD_BALANCER
    assert await announced_place(None, listens) == (*listens, machine_id())
    assert await announced_place(("localhost", 1), listens) == ("localhost", 1, machine_id())
    assert await announced_place(None, ("10.1.2.3", 9092)) == ("10.1.2.3", 9092, "")
    host, port, _ = await announced_place(None, ("0.0.0.0", 9092))
    assert (host, port) != ("0.0.0.0", 9092)
