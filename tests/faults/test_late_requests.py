"""A request that arrives after its sender gave up, and asked again with success."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from functional.given import a_partition, an_extent

from samsa.aws.dynamodb import DynamoLedger
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Ledger, Partition


@pytest.fixture(params=["sqlite", "dynamodb"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    if request.param == "sqlite":
        ledger: Ledger = SqliteLedger(str(tmp_path / "ledger.db"))
    else:
        ledger = DynamoLedger(f"late-{uuid4()}", request.getfixturevalue("moto"))
        await ledger.create_table()
    yield ledger
    await ledger.close()


async def open_again(ledger: Ledger, partition: Partition) -> None:
    """One token, two slots: the first closed, the second opened by a reserve that came late."""
    await ledger.reserve(partition, "token", 3)
    await ledger.confirm(partition, "token", an_extent(0, 3))
    head = await ledger.reserve(partition, "token", 3)
    assert head.inflight == {"token": 3}


async def test_a_late_confirm_does_not_close_the_slot_that_has_its_token_now(ledger: Ledger):
    partition = await a_partition(ledger)
    await open_again(ledger, partition)
    late = await ledger.confirm(partition, "token", an_extent(0, 3))
    assert not late.was_open
    assert late.head.inflight == {"token": 3}


async def test_the_slot_that_has_a_token_now_is_closed_by_its_own_confirm(ledger: Ledger):
    partition = await a_partition(ledger)
    await open_again(ledger, partition)
    closed = await ledger.confirm(partition, "token", an_extent(3, 3))
    assert closed.was_open
    assert closed.head.visible_end == 6
