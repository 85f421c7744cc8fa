"""Idempotent producers against a whole log: one process or two, retries, and what is forgotten."""

import asyncio

import pytest
from unit.log.given import PARTITION, Given, a_log, sequenced

from samsa.log.admit import EXCUSED_MS, Outcome, Refusal
from samsa.ports import Unavailable


async def send(given: Given, *firsts: int, epoch: int = 0) -> list[Outcome]:
    """Each in a slot of its own."""
    return [
        (await given.log.append_once(PARTITION, [sequenced(first, epoch=epoch)]))[0]
        for first in firsts
    ]


async def crash_before_the_put(given: Given, *firsts: int) -> None:
    """Bound, never written, still open."""
    put = given.objects.put_if_absent

    async def never(*args: object) -> bool:
        await asyncio.Event().wait()
        return False

    given.objects.put_if_absent = never
    work = given.another().log.append_once(PARTITION, [sequenced(first) for first in firsts])
    task = asyncio.create_task(work)
    await asyncio.sleep(0.01)
    task.cancel()
    given.objects.put_if_absent = put


async def fence(given: Given) -> None:
    given.clock.now += given.limits.fence_after_ms
    await given.log.head(PARTITION)


async def test_a_retry_gets_the_offset_of_the_first_time():
    given = await a_log()
    await send(given, 0, 1, 2)
    for process in (given, given.another()):
        assert [outcome.offset for outcome in await send(process, 0, 1, 2)] == [0, 1, 2]
    assert await given.values() == [b"0", b"1", b"2"]


async def test_a_gap_is_out_of_order_where_the_producer_was_served():
    given = await a_log()
    await send(given, 0)
    assert (await send(given, 2))[0].refusal is Refusal.OUT_OF_ORDER


async def test_a_stranger_s_gap_may_be_a_failure_elsewhere():
    given = await a_log()
    await send(given, 0)
    other = given.another()
    assert (await send(other, 2))[0].refusal is Refusal.TRY_AGAIN
    given.clock.now += EXCUSED_MS
    assert (await send(other, 2))[0].refusal is Refusal.OUT_OF_ORDER
    assert [outcome.refusal for outcome in await send(other, 1, 2)] == [None, None]


async def test_a_producer_may_go_on_at_another_process():
    given = await a_log()
    await send(given, 0, 1)
    await send(given.another(), 2, 3)
    await send(given, 4)
    assert await given.values() == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_batch_whose_slot_is_open_is_asked_for_again_later():
    given = await a_log()
    await crash_before_the_put(given, 0)
    assert (await send(given, 0))[0].refusal is Refusal.TRY_AGAIN


async def test_nothing_overtakes_a_batch_that_may_still_fail():
    given = await a_log()
    await crash_before_the_put(given, 0)
    assert (await send(given, 1))[0].refusal is Refusal.TRY_AGAIN
    await fence(given)
    assert (await send(given, 1))[0].refusal is Refusal.TRY_AGAIN


async def test_a_batch_whose_slot_was_fenced_is_bound_again():
    given = await a_log()
    await crash_before_the_put(given, 0)
    await fence(given)
    assert (await send(given, 0))[0].offset == 1
    assert await given.values() == [b"0"]


async def test_of_two_batches_in_a_fenced_slot_the_first_comes_first():
    given = await a_log()
    await crash_before_the_put(given, 0, 1)
    await fence(given)
    assert (await send(given, 1))[0].refusal is Refusal.TRY_AGAIN
    assert [outcome.refusal for outcome in await send(given, 0, 1)] == [None, None]
    assert await given.values() == [b"0", b"1"]


async def test_what_aged_out_last_is_unknown():
    given = await a_log()
    await send(given, 0)
    await given.ledger.advance_start(PARTITION, 1)
    other = given.another()
    assert (await send(other, 0))[0].refusal is Refusal.UNKNOWN_PRODUCER
    assert (await send(other, 1))[0].refusal is Refusal.UNKNOWN_PRODUCER


async def test_what_aged_out_and_was_followed_is_known_to_be_stored():
    given = await a_log()
    await send(given, 0, 1)
    await given.ledger.advance_start(PARTITION, 1)
    assert (await send(given.another(), 0))[0].offset == 0


async def test_a_key_that_was_swept_and_filled_since_proves_nothing():
    given = await a_log()
    await send(given, 0)
    other = given.another()
    get = given.objects.get

    async def sweep_first(key: str, *where: int) -> object:
        await given.ledger.advance_start(PARTITION, 1)
        await given.objects.delete([key])
        await given.log.fencer.fence(PARTITION, "1.0.slow", 0)
        return await get(key, *where)

    given.objects.get = sweep_first
    assert (await send(other, 0))[0].refusal is Refusal.UNKNOWN_PRODUCER


async def test_a_new_epoch_in_the_same_group_waits_for_the_old():
    given = await a_log()
    batches = [sequenced(0), sequenced(0, epoch=1), sequenced(0, producer_id=8)]
    old, new, other = await asyncio.gather(*(given.log.append(PARTITION, b) for b in batches))
    assert (old.refusal, new.refusal, other.refusal) == (None, Refusal.TRY_AGAIN, None)
    assert (await send(given, 0, epoch=1))[0].refusal is None
    assert (await send(given, 1))[0].refusal is Refusal.STALE_EPOCH


async def test_after_a_failure_here_what_follows_is_too_early_and_not_out_of_order():
    given = await a_log(attempts=1)
    reserve = given.ledger.reserve

    async def unavailable(*args: object) -> None:
        raise Unavailable("down")

    given.ledger.reserve = unavailable
    with pytest.raises(Unavailable):
        await send(given, 0)
    given.ledger.reserve = reserve
    assert [outcome.refusal for outcome in await send(given, 1, 2)] == [Refusal.TRY_AGAIN] * 2
    assert [outcome.refusal for outcome in await send(given, 0, 1)] == [None, None]


async def test_behind_a_batch_whose_slot_is_open_nothing_is_called_out_of_order():
    given = await a_log()
    await crash_before_the_put(given, 0)
    again = [outcome.refusal for outcome in await send(given, 0, 1, 2)]
    assert again == [Refusal.TRY_AGAIN] * 3
    await fence(given)
    assert [outcome.refusal for outcome in await send(given, 0, 1, 2)] == [None] * 3


async def test_a_gap_long_after_a_failure_is_the_client_s_own():
    given = await a_log()
    await crash_before_the_put(given, 0)
    assert (await send(given, 0))[0].refusal is Refusal.TRY_AGAIN
    given.clock.now += EXCUSED_MS
    assert (await send(given, 2))[0].refusal is Refusal.OUT_OF_ORDER


async def test_a_producer_that_stays_costs_no_reads():
    given = await a_log()
    await send(given, 0)
    given.ledger.calls.clear()
    await send(given, *range(1, 6))
    assert dict(given.ledger.calls) == {"reserve": 5, "bind": 5, "confirm": 5}
