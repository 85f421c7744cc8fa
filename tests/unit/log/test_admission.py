"""Idempotent producers against a whole log: one process or two, retries, and what is forgotten."""

import asyncio
from collections.abc import Callable
from unittest.mock import patch

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log, sequenced

from samsa.log.admit import EXCUSED_MS, Outcome, Refusal
from samsa.ports import CommitResult, Unavailable


async def send(given: Given, *firsts: int, epoch: int = 0) -> list[Outcome]:
    """Each in a commit of its own."""
    return [(await given.append(sequenced(first, epoch=epoch)))[0] for first in firsts]


def offsets(outcomes: list[Outcome]) -> list[int]:
    return [outcome.offset for outcome in outcomes]


def refusals(outcomes: list[Outcome]) -> list[Refusal | None]:
    return [outcome.refusal for outcome in outcomes]


async def fail(given: Given, *firsts: int, stored: bool = False) -> None:
    """The store is down; or it is the answer that does not come."""
    commit = given.journal.commit

    async def unavailable(*what) -> None:
        if stored:
            await commit(*what)
        raise Unavailable("down")

    with patch.object(given.journal, "commit", unavailable), pytest.raises(Unavailable):
        await given.append(*(sequenced(first) for first in firsts))


# Retries


async def test_a_retry_gets_the_offset_of_the_first_time():
    given = await a_log()
    await send(given, 0, 1, 2)
    for process in (given, given.another()):
        assert offsets(await send(process, 0, 1, 2)) == [0, 1, 2]
    assert await given.values() == [b"0", b"1", b"2"]


async def test_a_retry_of_one_of_several_in_a_commit_gets_its_own_offset():
    given = await a_log()
    await given.append(a_batch(b"before"))
    first = await given.append(
        sequenced(0, 2), a_batch(b"x"), sequenced(2), sequenced(0, producer_id=8), sequenced(3)
    )
    assert offsets(first) == [1, 3, 4, 5, 6]
    for process in (given, given.another()):
        again = [*await process.append(sequenced(0, 2)), *await send(process, 2, 3)]
        assert offsets(again) == [1, 4, 6]


@pytest.mark.parametrize("guess", [0, 1, 2])
async def test_a_retry_gets_its_offset_although_another_was_guessed(guess: int):
    given = await a_log()
    for value in (b"a", b"b", b"c"):
        await given.append(a_batch(value))
    first = await given.append(sequenced(0), sequenced(1), guess=guess)
    assert offsets(first) == [3, 4]
    for process in (given, given.another()):
        assert offsets(await send(process, 0, 1)) == [3, 4]


async def test_a_retry_of_what_aged_out_since_gets_the_offset_of_the_first_time():
    given = await a_log()
    await send(given, 0)
    await given.log.retainer.delete_before(PARTITION, 1)
    other = given.another()
    assert offsets(await send(other, 0, 1)) == [0, 1]


async def test_a_retry_of_what_was_stored_although_its_answer_was_lost_is_a_duplicate():
    given = await a_log()
    await fail(given, 0, 1, stored=True)
    assert offsets(await send(given, 0, 1, 2)) == [0, 1, 2]
    assert await given.values() == [b"0", b"1", b"2"]


async def test_the_same_batch_twice_in_one_commit_is_stored_once():
    given = await a_log()
    assert refusals(await given.append(sequenced(0), sequenced(0))) == [None, Refusal.TRY_AGAIN]
    assert offsets(await send(given, 0)) == [0]
    assert await given.values() == [b"0"]


# Refusals


async def test_a_gap_is_out_of_order_where_the_producer_was_served():
    given = await a_log()
    await send(given, 0)
    assert refusals(await send(given, 2)) == [Refusal.OUT_OF_ORDER]


async def test_a_gap_between_two_of_one_commit_refuses_what_follows_it_only():
    given = await a_log()
    await send(given, 0)
    outcomes = await given.append(sequenced(1), sequenced(3), a_batch(b"other"))
    assert refusals(outcomes) == [None, Refusal.OUT_OF_ORDER, None]
    assert await given.values() == [b"0", b"1", b"other"]


async def test_a_stranger_s_gap_may_be_a_failure_elsewhere():
    given = await a_log()
    await send(given, 0)
    other = given.another()
    assert refusals(await send(other, 2)) == [Refusal.TRY_AGAIN]
    given.clock.now += EXCUSED_MS
    assert refusals(await send(other, 2)) == [Refusal.OUT_OF_ORDER]
    assert refusals(await send(other, 1, 2)) == [None, None]


async def test_a_producer_that_nobody_knows_and_that_does_not_begin_is_unknown():
    given = await a_log()
    assert refusals(await send(given, 5)) == [Refusal.UNKNOWN_PRODUCER]
    assert refusals(await send(given, 0)) == [None]


async def test_a_new_epoch_in_the_same_group_waits_for_the_old():
    given = await a_log()
    batches = [sequenced(0), sequenced(0, epoch=1), sequenced(0, producer_id=8)]
    old, new, other = await asyncio.gather(*(given.log.append(PARTITION, b) for b in batches))
    assert (old.refusal, new.refusal, other.refusal) == (None, Refusal.TRY_AGAIN, None)
    assert refusals(await send(given, 0, epoch=1)) == [None]
    assert refusals(await send(given, 1)) == [Refusal.STALE_EPOCH]
    assert refusals(await send(given.another(), 1)) == [Refusal.STALE_EPOCH]


async def test_what_is_refused_alone_is_not_committed():
    given = await a_log()
    await send(given, 0)
    commits = given.journal.calls["commit"]
    await send(given, 0, 5)
    assert given.journal.calls["commit"] == commits


# Failures


async def test_after_a_failure_here_what_follows_is_too_early_and_not_out_of_order():
    given = await a_log()
    await fail(given, 0)
    assert refusals(await send(given, 1, 2)) == [Refusal.TRY_AGAIN] * 2
    assert refusals(await send(given, 0, 1)) == [None, None]


async def test_a_gap_long_after_a_failure_is_the_client_s_own():
    given = await a_log()
    await send(given, 0)
    await fail(given, 1)
    given.clock.now += EXCUSED_MS - 1
    assert refusals(await send(given, 2)) == [Refusal.TRY_AGAIN]
    given.clock.now += 1
    assert refusals(await send(given, 2)) == [Refusal.OUT_OF_ORDER]


async def test_once_a_producer_is_served_again_its_gaps_are_not_excused():
    given = await a_log()
    await fail(given, 0)
    await send(given, 0)
    assert refusals(await send(given, 2)) == [Refusal.OUT_OF_ORDER]


# Several processes


async def test_a_producer_may_go_on_at_another_process():
    given = await a_log()
    await send(given, 0, 1)
    await send(given.another(), 2, 3)
    await send(given, 4)
    assert await given.values() == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_retry_at_a_process_that_knows_less_is_stored_once():
    given = await a_log()
    await send(given, 0)
    await send(given.another(), 1)
    assert offsets(await send(given, 1)) == [1]
    assert await given.values() == [b"0", b"1"]


async def test_of_a_commit_whose_claim_is_lost_the_others_are_stored_once():
    given = await a_log()
    await given.append(sequenced(0), sequenced(0, producer_id=8))
    await send(given.another(), 1)
    again = await given.append(sequenced(1), a_batch(b"x"), sequenced(1, producer_id=8))
    assert offsets(again) == [2, 3, 4]
    assert await given.values() == [b"0", b"0", b"1", b"x", b"1"]


async def test_a_claim_that_is_lost_starts_again_with_what_the_winner_stored():
    given = await a_log()
    await send(given, 0)
    other = given.another()
    await send(other, 0)
    real = given.journal.producer

    async def overtaken(*who: object) -> object:
        bound = await real(*who)
        with patch.object(given.journal, "producer", real):
            await send(other, 1)
        return bound

    late = given.another()
    with patch.object(late.journal, "producer", overtaken):
        assert offsets(await send(late, 1)) == [1]
    assert await given.values() == [b"0", b"1"]


async def test_who_loses_every_time_is_told_to_try_again_and_its_gaps_are_excused():
    given = await a_log(attempts=3)
    tries: list[int] = []

    async def lose(partition, extent, parts, claims, lingers) -> CommitResult:
        tries.append(len(claims))
        return CommitResult(await given.log.head(partition), None, (7,))

    with patch.object(given.journal, "commit", lose):
        assert refusals(await given.append(sequenced(0))) == [Refusal.TRY_AGAIN]
    assert tries == [1, 1, 1]
    assert refusals(await send(given, 1)) == [Refusal.TRY_AGAIN]
    assert await given.values() == []


# Costs


async def reads(given: Given, work: Callable[[], object]) -> int:
    before = given.ledger.calls["producer"]
    await work()
    return given.ledger.calls["producer"] - before


async def test_a_producer_that_stays_costs_no_reads():
    given = await a_log()
    await send(given, 0)
    assert await reads(given, lambda: send(given, *range(1, 6))) == 0
    assert await reads(given, lambda: send(given.another(), 6)) == 1
