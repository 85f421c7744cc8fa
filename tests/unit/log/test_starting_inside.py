"""A reader that starts anywhere gets the batch that holds its offset first, and none before it."""

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.records import headers


async def with_batches(batches: int, size: int, records: int = 3) -> Given:
    """One append of batches of so many bytes, and another."""
    given = await a_log()
    made = [a_batch(*(b"x" * (size // records) for _ in range(records))) for _ in range(batches)]
    await given.log.append_once(PARTITION, made)
    await given.log.append_once(PARTITION, [a_batch(b"last")])
    return given


async def first_batch(given: Given, offset: int, max_bytes: int) -> tuple[int, int]:
    plan = await given.log.plan(PARTITION, offset, max_bytes)
    piece = (await given.log.load(plan.ranges))[0]
    header = headers(bytes(piece))[0][1]
    return header.base_offset, header.next_offset


@pytest.mark.parametrize("size", [60, 5_000, 40_000])
@pytest.mark.parametrize("max_bytes", [1, 50_000, 10**7])
async def test_the_first_batch_holds_the_offset(size, max_bytes):
    given = await with_batches(20, size)
    for offset in range(61):
        base = offset - offset % 3
        expected = (base, base + 3) if offset < 60 else (60, 61)
        assert await first_batch(given, offset, max_bytes) == expected


async def test_who_reads_on_where_it_stopped_costs_no_look_into_the_object():
    given = await with_batches(20, 40_000)
    before = given.objects.calls["get"]
    offset = 0
    while (plan := await given.log.plan(PARTITION, offset, 50_000)).ranges:
        offset = plan.ranges[-1].end_offset
    assert offset == 61
    assert given.objects.calls["get"] == before
