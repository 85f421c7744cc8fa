"""Exactly once: a driver that dies at any step, two at a time, rows that come otherwise again."""

import asyncio
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest
from pipeline.given import Given, Opened, partition_of
from pipeline.sinking import (
    LONG,
    Life,
    attempt,
    commit,
    commit_by,
    content,
    left_over,
    rows,
    staged,
)
from support.stores import BUCKET

from pyspark_samsa.errors import SamsaError
from pyspark_samsa.sink import batches, publish, staging
from pyspark_samsa.sink.commit import YEAR_MS
from pyspark_samsa.sink.turns import Turn

ROWS = 60
MANY_CALLS = 400


@pytest.fixture(params=["packs", "objects", "heads"])
def small_log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Given:
    """On each journal: two of SQLite, and that of DynamoDB and S3."""
    if request.param == "heads":
        dynamodb, s3 = request.getfixturevalue("stores")
        own = uuid4()
        return Given(
            f"dynamodb://samsa-{own}?endpoint={dynamodb}", f"s3://{BUCKET}/{own}?endpoint={s3}"
        )
    folder = tmp_path_factory.mktemp("log")
    (folder / "objects").mkdir()
    has_packs = request.param == "packs"
    return Given(f"sqlite://{folder}/ledger.db", f"file://{folder}/objects", has_packs)


@pytest.fixture(autouse=True)
def many_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few dozen rows are several objects, and more batches than the log remembers. Some of their
    commits are in a head and some in objects, and entries are settled in between."""
    monkeypatch.setattr(staging, "OBJECT_BYTES", 4_500)
    monkeypatch.setattr(staging, "BATCH_BYTES", 1_300)
    monkeypatch.setattr(batches, "SMALL", 800)
    monkeypatch.setattr(batches, "TOGETHER", 1_600)
    monkeypatch.setattr(publish, "PAUSE_S", 0.001)


def a_turn(number: int = 0) -> Turn:
    return Turn(str(uuid4()), number)


def written_once(log: Given, topic: str, marks: str, count: int = ROWS) -> str:
    """Who wrote: exactly one of them, and each of its rows once."""
    values = Counter(value for _, value in content(log, topic))
    for mark in marks:
        if values == Counter(row["value"] for row in rows(mark, count)):
            return mark
    raise AssertionError(f"neither of {marks}: {sorted(values.items())}")


@pytest.mark.parametrize("with_last", [False, True], ids=["before the call", "after the call"])
def test_a_driver_may_die_at_any_call_and_come_back_with_its_rows_otherwise(
    small_log: Given, with_last: bool
):
    """The second time, rows go to other partitions, in another order, from other tasks. Whose rows
    are in the log is decided by who put the plan; they are there once."""
    winners = []
    for calls in range(1, MANY_CALLS):
        topic, turn = small_log.topic(2), a_turn()
        first = staged(small_log, turn, topic, rows("a", ROWS, lambda n: n % 2))

        async def die(opened: Opened, calls=calls, turn=turn, first=first) -> None:
            await commit_by(opened, turn, first, Life(calls, with_last))

        lived = attempt(small_log, die)
        other = rows("b", ROWS, lambda n: 0 if n < 10 else 1)[::-1]
        second = staged(small_log, turn, topic, other[:20], other[20:])
        commit(small_log, turn, second)
        winners.append(written_once(small_log, topic, "ab"))
        commit(small_log, turn, staged(small_log, turn, topic, rows("c", ROWS)))
        assert written_once(small_log, topic, "ab") == winners[-1]
        if lived:
            break
    assert lived
    assert len(winners) > 15
    assert winners == sorted(winners, key="ba".index), "from the plan on it is the first one's"
    assert set(winners) == ({"a"} if with_last else {"a", "b"})
    places = {"ledger" if extent.data else "object" for extent in small_log.extents(topic, 0)}
    assert places == ({"ledger", "object"} if is_remote(small_log) else {"object"})


def is_remote(log: Given) -> bool:
    return log.ledger.startswith("dynamodb:")


@pytest.mark.parametrize("seed", range(6))
def test_two_drivers_at_once_write_what_one_of_them_staged(small_log: Given, seed: int):
    topic, turn = small_log.topic(2), a_turn()
    first = staged(small_log, turn, topic, rows("a", ROWS, lambda n: n % 2))
    second = staged(small_log, turn, topic, rows("b", ROWS)[::-1])

    async def both(opened: Opened) -> None:
        await asyncio.gather(
            commit_by(opened, turn, first, Life(LONG, seed=seed)),
            commit_by(opened, turn, second, Life(LONG, seed=~seed)),
        )

    small_log.do(both)
    written_once(small_log, topic, "ab")


def test_an_earlier_driver_that_wakes_up_late_changes_nothing(small_log: Given):
    topic, turn = small_log.topic(2), a_turn()
    late = staged(small_log, turn, topic, rows("late", ROWS))
    for number in range(3):
        message = staged(small_log, turn._replace(number=number), topic, rows("a", 5))
        commit(small_log, turn._replace(number=number), message)
    before = content(small_log, topic)
    commit(small_log, turn, late)
    assert content(small_log, topic) == before


def test_a_copy_of_a_task_leaves_nothing(small_log: Given):
    """Speculation: Spark takes one message of two, and nobody tells the other task."""
    topic, turn = small_log.topic(1), a_turn()
    taken = staged(small_log, turn, topic, rows("a", ROWS))
    staged(small_log, turn, topic, rows("a", ROWS))
    commit(small_log, turn, taken)
    assert written_once(small_log, topic, "a") == "a"
    kept = [key for key in left_over(small_log) if turn.writer in key]
    assert sorted(key.rpartition("/")[2] for key in kept) == ["done", "plan"]


def test_turn_after_turn_keeps_order_and_producer_and_no_more_than_two_objects(
    small_log: Given,
):
    topic, turn = small_log.topic(1), a_turn()
    for number in range(4):
        this = turn._replace(number=number)
        commit(small_log, this, staged(small_log, this, topic, rows(f"turn {number}", 20)))
    expected = [row["value"] for number in range(4) for row in rows(f"turn {number}", 20)]
    assert [value for _, value in content(small_log, topic)] == expected
    assert len([key for key in left_over(small_log) if turn.writer in key]) == 2
    assert producers_of(small_log, topic) == 1


def producers_of(log: Given, topic: str) -> int:
    async def count(opened: Opened) -> int:
        partition = await partition_of(opened, topic, 0)
        return len(await opened.stores.ledger.producers(partition, 0))

    return log.do(count)


def test_two_writers_of_one_topic_know_nothing_of_each_other(small_log: Given):
    topic = small_log.topic(2)
    for mark, turn in (("a", a_turn()), ("b", a_turn())):
        commit(small_log, turn, staged(small_log, turn, topic, rows(mark, ROWS)))
    values = Counter(value for _, value in content(small_log, topic))
    assert values == Counter(row["value"] for mark in "ab" for row in rows(mark, ROWS))


@pytest.mark.parametrize("calls", [6, 14, LONG])
def test_retention_that_passes_what_a_query_wrote_takes_nothing_from_its_next_turn(
    small_log: Given, calls: int
):
    """It has passed all that the query ever wrote, before its next turn and, where that one dies,
    in the middle of it."""
    topic, turn = small_log.topic(1), a_turn()
    commit(small_log, turn, staged(small_log, turn, topic, rows("old", ROWS)))
    end = len(content(small_log, topic))
    small_log.trim(topic, 0, end)
    turn = turn._replace(number=1)
    message = staged(small_log, turn, topic, rows("a", ROWS))

    async def die(opened: Opened) -> None:
        await commit_by(opened, turn, message, Life(calls))

    attempt(small_log, die)
    gone = [value for _, value in content(small_log, topic)]
    small_log.trim(topic, 0, end + len(gone))
    commit(small_log, turn, message)
    commit(small_log, turn, message)
    after = [value for _, value in content(small_log, topic)]
    assert gone + after == [row["value"] for row in rows("a", ROWS)]
    assert producers_of(small_log, topic) == 1


def forget_producers(log: Given, topic: str) -> None:
    """As if nobody had heard of them for years."""

    async def forget(opened: Opened) -> None:
        ledger: Any = opened.stores.ledger
        partition = await partition_of(opened, topic, 0)
        if is_remote(log):
            # Without items of their own, which DynamoDB has deleted by then.
            await ledger.evict(partition, (await ledger.head_state(partition)).producers)
        else:
            await ledger.forget_producers(opened.stores.clock.now_ms() + 2 * YEAR_MS)
        assert await ledger.producers(partition, 0) == {}

    log.do(forget)


def test_a_producer_that_the_log_has_forgotten_is_followed_by_another(small_log: Given):
    """The turn in which that is found out may be begun and not finished, at any call."""
    lived = False
    for calls in range(1, MANY_CALLS):
        topic, turn = small_log.topic(1), a_turn()
        commit(small_log, turn, staged(small_log, turn, topic, rows("old", ROWS)))
        forget_producers(small_log, topic)
        turn = turn._replace(number=1)
        message = staged(small_log, turn, topic, rows("a", ROWS))

        async def die(opened: Opened, calls=calls, turn=turn, message=message) -> None:
            await commit_by(opened, turn, message, Life(calls))

        lived = attempt(small_log, die)
        commit(small_log, turn, message)
        values = [value for _, value in content(small_log, topic)]
        assert values == [row["value"] for mark in ("old", "a") for row in rows(mark, ROWS)]
        assert producers_of(small_log, topic) == 1
        if lived:
            break
    assert lived
    assert calls > 10


def test_what_is_lost_of_a_turn_is_no_secret(small_log: Given):
    """Somebody deletes staged objects by hand while the query is down."""
    topic, turn = small_log.topic(1), a_turn()
    message = staged(small_log, turn, topic, rows("a", ROWS))

    async def lose(opened: Opened) -> None:
        await opened.stores.objects.delete([message.pieces[-1].key])

    small_log.do(lose)
    with pytest.raises(SamsaError, match="is gone: what it held is lost"):
        commit(small_log, turn, message)


def test_a_topic_that_was_made_again_gets_what_is_left_of_the_turn(small_log: Given):
    topic, turn = small_log.topic(1), a_turn()
    message = staged(small_log, turn, topic, rows("a", ROWS))
    small_log.delete(topic)
    with pytest.raises(SamsaError, match="there is no topic"):
        commit(small_log, turn, message)
    small_log.topic(1, topic)
    commit(small_log, turn, message)
    assert written_once(small_log, topic, "a") == "a"
