"""The overview, transactions, security and cost."""

from typing import Any

import pytest
from unit.console.given import CONSOLE, ConsoleSite
from unit.http_api.given import Api

from samsa.wire.apis import ApiKey
from samsa.wire.messages import add_partitions_to_txn, alter_client_quotas, init_producer_id
from samsa_broker.console.costs import prices, so_far
from samsa_broker.console.inside import LEDGER_READS, Calls
from samsa_broker.server.latency import Histogram, percentile_ms

TRANSACTIONS = f"{CONSOLE}/transactions"


async def ongoing(api: Api, site: ConsoleSite, name: str = "tx") -> None:
    await api.topic()
    row: Any = init_producer_id.REQUEST(transactional_id=name, transaction_timeout_ms=60_000)
    made = await site.kafka.ask(ApiKey.INIT_PRODUCER_ID, row)
    topic = add_partitions_to_txn.TOPIC(name="orders", partitions=[0])
    row = add_partitions_to_txn.REQUEST(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=made.producer_id,
        v3_and_below_producer_epoch=made.producer_epoch,
        v3_and_below_topics=[topic],
    )
    answer = await site.kafka.ask(ApiKey.ADD_PARTITIONS_TO_TXN, row, 3)
    assert answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0


async def test_an_open_transaction_is_listed_and_can_be_aborted_once(api: Api, site: ConsoleSite):
    await ongoing(api, site)
    (row,) = (await api.get(TRANSACTIONS))["transactions"]
    assert (row["transactional_id"], row["state"], row["timeout_ms"]) == ("tx", "Ongoing", 60_000)
    assert row["started_ms"] == site.clock.now
    assert row["partitions"] == [{"topic": "orders", "partition": 0}]
    assert (await api.get(f"{CONSOLE}/overview"))["open_transactions"] == 1
    await api("POST", f"{TRANSACTIONS}/tx/abort")
    (row,) = (await api.get(TRANSACTIONS))["transactions"]
    assert (row["started_ms"], row["partitions"]) == (None, [])
    refused = await api("POST", f"{TRANSACTIONS}/tx/abort", 409)
    assert "no ongoing transaction" in refused["detail"]


async def test_a_transactional_id_may_have_any_name(api: Api, site: ConsoleSite):
    await ongoing(api, site, "a/b/abort 🙂")
    (row,) = (await api.get(TRANSACTIONS))["transactions"]
    assert row["transactional_id"] == "a/b/abort 🙂"
    await api("POST", f"{TRANSACTIONS}/a%2Fb%2Fabort%20%F0%9F%99%82/abort")


async def test_a_transactional_id_that_is_not_known_is_404(api: Api):
    await api("POST", f"{TRANSACTIONS}/nobody/abort", 404)


async def test_without_security_there_are_quotas_and_no_acls(api: Api, site: ConsoleSite):
    entity = [alter_client_quotas.ENTITY(entity_type="user", entity_name=None)]
    ops = [alter_client_quotas.OP(key="producer_byte_rate", value=1000.0, remove=False)]
    row = alter_client_quotas.REQUEST(entries=[alter_client_quotas.ENTRY(entity=entity, ops=ops)])
    await site.kafka.ask(ApiKey.ALTER_CLIENT_QUOTAS, row)
    found = await api.get(f"{CONSOLE}/security")
    assert (found["enabled"], found["users"], found["acls"]) == (False, [], None)
    assert found["quotas"] == [{"entity": {"user": None}, "values": {"producer_byte_rate": 1000.0}}]
    assert "disabled" in found["why"]["acls"]


async def test_a_month_is_that_of_the_last_ten_minutes(api: Api, site: ConsoleSite):
    before = await api.get(f"{CONSOLE}/cost")
    assert set(before["month"].values()) == {None}
    await api.topic()
    await site.round()
    for _ in range(3):
        await api.write(*"x" * 100)
        site.server.stats.bytes_in += 100 * 1_000
        await site.round()
    found = await api.get(f"{CONSOLE}/cost")
    assert found["rates"]["messages_per_s"] == pytest.approx(10)
    assert found["rates"]["bytes_per_message"] == pytest.approx(1_000)
    assert set(found["month"]) == {"functions", "processes", "msk_serverless", "kafka_ec2"}
    assert found["month"]["functions"] > 0
    assert found["so_far"]["dollars"] == pytest.approx(
        sum(line["dollars"] for line in found["so_far"]["lines"])
    )


async def test_what_this_process_has_called_is_billed(api: Api, site: ConsoleSite):
    def count(found: Any, what: str) -> float:
        return next(line["count"] for line in found["so_far"]["lines"] if line["what"] == what)

    await api.topic()
    before = await api.get(f"{CONSOLE}/cost")
    await api.write("x" * 100)
    after = await api.get(f"{CONSOLE}/cost")
    assert count(after, "DynamoDB writes") > count(before, "DynamoDB writes")
    assert count(after, "S3 puts and lists") == count(before, "S3 puts and lists") + 1


def test_the_bill_is_that_of_the_price_list():
    calls = Calls(3600.0, 2_000_000, 4_000_000, 1_000, 10_000, 2**30, 0)
    bill = {line["what"]: round(line["dollars"], 6) for line in so_far(calls, 0, prices())}
    assert bill == {
        "DynamoDB writes": 1.25, "DynamoDB reads": 0.5, "S3 puts and lists": 0.005,
        "S3 gets": 0.004, "S3 GB months": 0.0, "GB between zones": 0.02, "machine hours": 0.0816,
    }  # fmt: skip


async def test_every_call_of_a_ledger_that_counts_as_a_read_is_one_there_is(
    api: Api, site: ConsoleSite
):
    known = {name for store in (site.ledger, site.groups) for name in dir(store)}
    elsewhere = {"head_state", "producer_item", "tail", "next_offset", "producer"}
    assert LEDGER_READS - known <= elsewhere


@pytest.mark.parametrize("ms", [0.003, 0.4, 1.0, 7.3, 250.0, 12_000.0])
def test_a_percentile_is_right_within_an_eighth(ms: float):
    histogram = Histogram()
    for _ in range(100):
        histogram.add(ms / 1000)
    counts = histogram.take()
    assert percentile_ms(counts, 0.5) == pytest.approx(ms, rel=0.13, abs=0.001)
    assert percentile_ms(histogram.take(), 0.5) is None


def test_percentiles_are_of_all_that_was_counted():
    histogram = Histogram()
    for ms in [1] * 90 + [100] * 9 + [1000]:
        histogram.add(ms / 1000)
    counts = histogram.take()
    found = [percentile_ms(counts, share) for share in (0.5, 0.95, 0.999)]
    assert found == [pytest.approx(ms, rel=0.13) for ms in (1, 100, 1000)]
