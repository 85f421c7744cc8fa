"""What functions tell each other about quotas, in DynamoDB."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from functional.conftest import open_ledger
from support.servers.faults import FaultyProxy, dynamodb_error, lose_the_answer

from samsa.aws.client import Patience
from samsa.aws.dynamodb import DynamoLedger
from samsa.ports import Unavailable
from samsa.security.quotas import CONTROLLER_MUTATION_RATE, PRODUCER_BYTE_RATE, Limit
from samsa.security.shared_rates import BURST_MS, debt_ms
from samsa_websocket.gateway.quota_usage import MOST_WINDOWS, QuotaUsage, _key

NOW_S = 1_800_000_000
NOW_MS = NOW_S * 1000
ALICE = Limit(PRODUCER_BYTE_RATE, "alice", "", 1000)


@pytest.fixture(params=["dynamodb-moto", "dynamodb-local"])
async def usage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[QuotaUsage]:
    ledger = await open_ledger(request.param, tmp_path, request)
    assert isinstance(ledger, DynamoLedger)
    yield QuotaUsage(ledger.table)
    await ledger.close()


async def item(usage: QuotaUsage, limit: Limit = ALICE) -> dict[str, Any]:
    return await usage.table.get(_key(limit)) or {}


async def test_totals_of_all_are_added_up_and_come_back(usage: QuotaUsage):
    assert await usage.add(ALICE, {NOW_S: 5}, NOW_S) == {NOW_S: 5}
    totals = await usage.add(ALICE, {NOW_S: 7, NOW_S - 1: 1}, NOW_S)
    assert totals == {NOW_S: 12, NOW_S - 1: 1}
    assert await usage.add(ALICE, {NOW_S + 1: -2}, NOW_S + 1) == {**totals, NOW_S + 1: -2}


async def test_each_limit_has_an_item_of_its_own(usage: QuotaUsage):
    for limit in (
        ALICE,
        ALICE._replace(client_id="alice", user=""),
        ALICE._replace(key="consumer_byte_rate"),
        ALICE._replace(user="ali", client_id="ce"),
        ALICE._replace(user='alice", "'),
    ):
        assert await usage.add(limit, {NOW_S: 1}, NOW_S) == {NOW_S: 1}
    assert await usage.add(ALICE._replace(value=5), {NOW_S: 1}, NOW_S) == {NOW_S: 2}


@pytest.mark.parametrize("name", ["", "x" * 32_000, "ключ\0💥\u202e", "a#b", '"]'], ids=ascii)
async def test_any_client_id_has_an_item(usage: QuotaUsage, name: str):
    limit = ALICE._replace(user="", client_id=name)
    assert await usage.add(limit, {NOW_S: 1}, NOW_S) == {NOW_S: 1}
    assert await usage.take(limit._replace(key=CONTROLLER_MUTATION_RATE), 1, NOW_MS) == NOW_MS + 1


async def test_an_item_stays_small_whatever_clocks_and_idle_times_do(usage: QuotaUsage):
    dice, now_s = random.Random(3), NOW_S
    for _ in range(120):
        now_s += dice.choice([0, 1, 1, 1, 2, 5, 12, 30, 100_000, -1, -7, -100_000])
        await usage.add(ALICE, {now_s - dice.randrange(11): 1, now_s: 1}, now_s)
        found = [name for name in await item(usage) if name.startswith("w")]
        assert len(found) <= MOST_WINDOWS
        assert f"w{now_s}" in found
    assert MOST_WINDOWS <= 14


async def test_an_item_in_steady_use_costs_one_update_each_time(usage: QuotaUsage):
    for second in range(40):
        await usage.add(ALICE, {NOW_S + second: 1}, NOW_S + second)
    assert usage.table.requests["UpdateItem"] == 40


async def test_items_expire(usage: QuotaUsage):
    await usage.add(ALICE, {NOW_S: 5}, NOW_S)
    assert (await item(usage))["expires"] == {"N": str(NOW_S + 3600)}
    mutations = ALICE._replace(key=CONTROLLER_MUTATION_RATE)
    await usage.take(mutations, 5_000, NOW_MS)
    assert int((await item(usage, mutations))["expires"]["N"]) > NOW_S


async def test_what_was_taken_from_a_bucket_at_one_time_is_all_taken(usage: QuotaUsage):
    debt = debt_ms(10, 1)
    taken = await asyncio.gather(
        *(usage.take(ALICE, debt, NOW_MS) for _ in range(4)), return_exceptions=True
    )
    done = [each for each in taken if isinstance(each, int)]
    assert all(isinstance(each, int | Unavailable) for each in taken)
    assert max(done) == await usage.full_at(ALICE) == NOW_MS + len(done) * debt


async def test_a_bucket_is_full_in_the_end_and_one_of_a_wrong_clock_is_full(usage: QuotaUsage):
    assert await usage.full_at(ALICE) == 0
    assert await usage.take(ALICE, 5_000, NOW_MS) == NOW_MS + 5_000
    assert await usage.take(ALICE, 5_000, NOW_MS + 60_000) == NOW_MS + 65_000
    far_ms = NOW_MS + 10 * 365 * 86_400_000
    assert await usage.take(ALICE, 5_000, far_ms) == far_ms + 5_000
    assert await usage.take(ALICE, BURST_MS, NOW_MS) == NOW_MS + BURST_MS


async def test_what_may_have_been_added_is_not_added_again(moto: str, proxy: FaultyProxy):
    ledger = DynamoLedger(f"faults-{uuid4()}", proxy.url, patience=Patience(tries=3))
    await ledger.create_table()
    usage = QuotaUsage(ledger.table)
    proxy.faults = [lose_the_answer]
    with pytest.raises(Unavailable):
        await usage.add(ALICE, {NOW_S: 5}, NOW_S)
    proxy.faults = [dynamodb_error("ThrottlingException")]
    assert await usage.add(ALICE, {NOW_S: 7}, NOW_S) == {NOW_S: 12}
    await ledger.close()
