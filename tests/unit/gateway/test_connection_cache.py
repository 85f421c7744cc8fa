"""What a process remembers of connections only saves a look, and is bounded."""

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from samsa.ports import Partition
from samsa_websocket.gateway.connection_cache import REMEMBERED, WATCHES_REMEMBERED, ConnectionCache


class Connections:
    def __init__(self) -> None:
        self.written: list[int] = []

    async def watches(self, _: str, partitions: Iterable[Partition]) -> None:
        self.written.append(len(set(partitions)))


def given() -> tuple[Any, Connections]:
    connections = Connections()
    return ConnectionCache(connections), connections  # type: ignore[arg-type]


def some(count: int) -> set[Partition]:
    topic = uuid4()
    return {Partition(topic, number) for number in range(count)}


async def test_a_consumer_that_watches_the_same_again_costs_nothing_more():
    cache, connections = given()
    watched = some(WATCHES_REMEMBERED)
    for _ in range(3):
        await cache.watches("one", watched)
    assert connections.written == [WATCHES_REMEMBERED]


async def test_what_a_process_remembers_of_watches_is_bounded():
    cache, connections = given()
    for _ in range(5):
        await cache.watches("one", some(WATCHES_REMEMBERED - 1))
        await cache.watches("other", some(10 * WATCHES_REMEMBERED))
    assert len(connections.written) == 10
    assert [len(each) for each in cache._watched.values()] == [WATCHES_REMEMBERED - 1]
    for number in range(REMEMBERED + 10):
        await cache.watches(f"c{number}", some(1))
    assert len(cache._watched) == REMEMBERED
