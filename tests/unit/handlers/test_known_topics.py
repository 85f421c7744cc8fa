"""What the coordinator knows of topics, and what it costs to match patterns against them."""

from collections.abc import Generator
from typing import Any
from uuid import uuid4

import pytest

from samsa.broker.work import Work, WorkLimits
from samsa.groups import patterns
from samsa.ports import Topic
from samsa.topics.known_topics import KnownTopics

PATTERN = "or.*"


class CountingWork(Work):
    """Its slices are over as soon as they begin."""

    def __init__(self) -> None:
        super().__init__(WorkLimits(slice_s=0.0))
        self.slices = 0

    def _slice(self, steps: Generator[None, None, Any]) -> Any:
        self.slices += 1
        return super()._slice(steps)


class Site:
    def __init__(self, count: int) -> None:
        self.topics = [a_topic(f"orders-{number}") for number in range(count)]
        self.work = CountingWork()
        self.known = KnownTopics(self._listed, self.work)
        self.now = 0

    async def _listed(self) -> list[Topic]:
        return list(self.topics)

    async def found(self, pattern: str = PATTERN) -> tuple[str, ...]:
        self.now += 10_000
        found = await self.known.matches([pattern], await self.known.at(self.now))
        return found[pattern]


def a_topic(name: str) -> Topic:
    return Topic(name, uuid4(), 1, 0, {})


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that a pattern was tried on."""
    names: list[str] = []
    compiled = patterns.compile_pattern

    class Counted:
        def __init__(self, pattern: str) -> None:
            self._pattern = compiled(pattern)

        def fullmatch(self, name: bytes) -> Any:
            names.append(name.decode())
            return self._pattern.fullmatch(name)

    monkeypatch.setattr(patterns, "compile_pattern", Counted)
    return names


async def test_topics_that_did_not_change_are_not_matched_again(looked_at: list[str]):
    site = Site(100)
    first = await site.found()
    assert len(looked_at) == 100
    assert await site.found() is first
    assert len(looked_at) == 100


async def test_only_topics_that_are_new_are_matched(looked_at: list[str]):
    site = Site(100)
    await site.found()
    site.topics += [a_topic("orphans"), a_topic("payments")]
    assert "orphans" in await site.found()
    assert looked_at[100:] == ["orphans", "payments"]


async def test_a_topic_that_is_gone_is_matched_no_more():
    site = Site(3)
    await site.found()
    gone = site.topics.pop().name
    assert gone not in await site.found()
    site.topics.append(a_topic(gone))
    assert gone in await site.found()


async def test_many_names_are_matched_in_slices_off_the_event_loop():
    site = Site(1_000)
    assert len(await site.found()) == 1_000
    assert site.work.slices >= 1_000 // 16


async def test_a_pattern_that_is_refused_stands_for_nothing():
    assert await Site(3).found("(") == ()


async def test_patterns_are_remembered_in_bounded_number():
    site = Site(3)
    for number in range(3 * patterns.REMEMBERED):
        await site.found(f"orders-{number}")
    assert len(site.known._matches._known) == patterns.REMEMBERED
