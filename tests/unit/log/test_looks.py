"""How much of the index a read looks at: not much more than it needs, in few looks."""

from unittest.mock import patch

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger

APPENDS = 60
VALUE = bytes(10_000)


@pytest.fixture
async def given() -> Given:
    given = await a_log()
    for _ in range(APPENDS):
        await given.log.append(PARTITION, a_batch(VALUE))
    return given


async def looks(given: Given, far: bool, appends: int) -> list[int]:
    """How many entries each look finds, when as much as `appends` hold is read."""
    extents, found = SqliteLedger.extents, []

    async def counted(*args):
        entries = await extents(*args)
        found.append(len(entries))
        return entries

    size = appends * len(a_batch(VALUE).data)
    with (
        patch.object(MemoryObjects, "remote", far),
        patch.object(SqliteLedger, "extents", counted),
    ):
        plan = await given.log.plan(PARTITION, 0, size)
    assert plan.size == size
    return found


async def test_a_small_read_near_by_looks_at_little(given: Given):
    assert await looks(given, far=False, appends=1) == [2]


async def test_a_large_read_near_by_looks_once_more_at_what_it_needs(given: Given):
    assert await looks(given, far=False, appends=40) == [2, 39]


async def test_a_read_far_away_looks_at_more_at_once(given: Given):
    assert await looks(given, far=True, appends=8) == [16]
