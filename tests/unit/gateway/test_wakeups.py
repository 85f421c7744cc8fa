"""How much one event pushes, and to which connections; how requests are parked."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from samsa.ports import Appended, CannotWait, GroupKey, Partition, Topic
from samsa_websocket.envelope import Wake, decode
from samsa_websocket.gateway.request_scope import RequestScope
from samsa_websocket.gateway.wakeups import ParkingWakeups, PushedWakeups
from samsa_websocket.pushes.pushing import WOKEN_AT_ONCE, watch_name

PARTITION = Partition(uuid4(), 0)


class Ledger:
    """Remembers who was forgotten."""

    def __init__(self) -> None:
        self.forgotten: set[str] = set()

    async def forget_watchers(self, _: Partition, watchers: dict[str, int]) -> None:
        self.forgotten |= set(watchers)


class Connections:
    def __init__(self, hangs: bool = False) -> None:
        self.pushed: list[str] = []
        self.texts: list[str] = []
        self.hangs = hangs

    async def post(self, connection_id: str, text: str) -> None:
        self.pushed.append(connection_id)
        self.texts.append(text)
        if self.hangs:
            await asyncio.Event().wait()


def given() -> tuple[Any, Ledger]:
    ledger = Ledger()
    return PushedWakeups(ledger), ledger  # type: ignore[arg-type]


async def test_of_a_crowd_one_event_wakes_a_part_and_the_rest_stays_to_be_woken_by_the_next():
    pushing, ledger = given()
    crowd = {f"c{number}": 7 for number in range(2 * WOKEN_AT_ONCE)}
    connections = Connections()
    pushing.wake(PARTITION, crowd)
    pushing.wake(GroupKey("family"), crowd)
    await pushing.flush(connections)
    assert len(connections.pushed) == WOKEN_AT_ONCE
    assert ledger.forgotten == set(connections.pushed)
    left = {name: 7 for name in crowd if name not in ledger.forgotten}
    pushing.wake(PARTITION, left)
    await pushing.flush(connections)
    assert sorted(connections.pushed) == sorted(crowd)


async def test_a_connection_that_takes_no_push_does_not_hold_up_the_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("samsa_websocket.pushes.pushing.WAKING_S", 0.01)
    pushing, _ = given()
    connections = Connections(hangs=True)
    pushing.wake(PARTITION, {"stuck": 7})
    async with asyncio.timeout(10):
        await pushing.flush(connections)
    assert connections.pushed == ["stuck"]
    assert not pushing.pending


async def test_a_crowd_is_not_sent_records_that_would_fill_the_memory():
    pushing, _ = given()
    pushing.pushes.topic_of = lambda topic_id: Topic("letters", topic_id, 1, 0)
    appended = Appended(0, 1, 0, [bytes(64 * 1024)])
    for crowd, told in ((100, 1), (200, 0)):
        connections = Connections()
        pushing.wake(PARTITION, {f"c{number}": 7 for number in range(crowd)}, appended)
        await pushing.flush(connections)
        wakes = [decode(text) for text in connections.texts]
        assert len(wakes) == crowd
        assert {len(wake.news) for wake in wakes if isinstance(wake, Wake)} == {told}


async def test_a_request_that_changes_its_own_group_is_not_pushed_to():
    pushing, _ = given()
    connections = Connections()
    pushing.wake(GroupKey("family"), ["asks", "waits"])
    pushing.wake(PARTITION, {"asks": 7})
    await pushing.flush(connections, "asks")
    wakes = {
        to: decode(text) for to, text in zip(connections.pushed, connections.texts, strict=True)
    }
    assert wakes == {
        "waits": Wake((watch_name(GroupKey("family")),)),
        "asks": Wake((watch_name(PARTITION),)),
    }


async def test_two_requests_at_the_same_time_are_parked_each_for_itself():
    scopes = [RequestScope("one", 1, waited_ms=100), RequestScope("two", 2)]
    others = [Partition(uuid4(), number) for number in range(2)]
    one, two = map(ParkingWakeups, scopes)
    with one.subscribe(others[:1]) as first, two.subscribe(others[1:]) as second:
        for waiting in (first, second):
            with pytest.raises(CannotWait):
                await waiting.wait(500)
    assert [scope.parking and scope.parking.wait_ms for scope in scopes] == [400, 500]
    assert [scope.parking and scope.parking.awaited for scope in scopes] == [
        (others[0],),
        (others[1],),
    ]
