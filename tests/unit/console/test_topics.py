"""Topics: pages of all of them, and what the log of one is made of."""

from typing import Any
from uuid import UUID

import pytest
from unit.console.given import CONSOLE, ConsoleSite
from unit.http_api.given import Api
from unit.log.transacting import transactional

from samsa.log.merge import RoundBudget
from samsa.ports import Partition, Topic
from samsa_broker.console import topics

TOPICS = f"{CONSOLE}/topics"


async def names(api: Api, **query: Any) -> list[str]:
    return [each["name"] for each in (await api.get(TOPICS, **query))["topics"]]


async def sized(api: Api, **sizes: int) -> None:
    for name, size in sizes.items():
        await api.topic(name)
        if size:
            await api.write("x" * size, topic=name)


async def test_a_page_has_some_of_all_topics_by_name(api: Api):
    await sized(api, b=0, c=0, a=0)
    answer = await api.get(TOPICS, offset=1, limit=1)
    assert (answer["total"], [each["name"] for each in answer["topics"]]) == (3, ["b"])
    assert await names(api, order="desc") == ["c", "b", "a"]
    assert await names(api, offset=3) == []


async def test_a_search_is_for_any_part_of_a_name_in_any_case(api: Api):
    await sized(api, Orders=0, reorder=0, other=0)
    answer = await api.get(TOPICS, search="ORDER")
    assert [each["name"] for each in answer["topics"]] == ["Orders", "reorder"]
    assert answer["total"] == 2


async def test_a_row_tells_sizes_at_once_and_rates_after_a_while(api: Api, site: ConsoleSite):
    await api.topic("orders", 2, **{"cleanup.policy": "compact"})
    record = {"key": "k", "value": "x" * 100, "partition": 1}
    await api.post("/topics/orders/records", {"records": [record]}, 201)
    (row,) = (await api.get(TOPICS))["topics"]
    size = row.pop("bytes")
    assert size > 100
    del row["id"]
    assert row == {
        "name": "orders", "partitions": 2, "internal": False, "records": 1, "rate_in": None,
        "cleanup_policy": "compact",
    }  # fmt: skip
    await api.post("/topics/orders/records", {"records": [record] * 10}, 201)
    site.clock.now += 20_000
    (row,) = (await api.get(TOPICS))["topics"]
    assert row["rate_in"] == (row["bytes"] - size) / 20


async def test_the_largest_come_first_and_unknown_ones_last(
    api: Api, site: ConsoleSite, monkeypatch: pytest.MonkeyPatch
):
    await sized(api, small=10, large=1_000, middle=100)
    await site.round()
    await sized(api, unknown=5_000)
    monkeypatch.setattr(topics, "MOST_LOOKED_AT", 0)
    assert await names(api, sort="size", order="desc") == ["large", "middle", "small", "unknown"]
    assert await names(api, sort="size") == ["small", "middle", "large", "unknown"]
    assert (await api.get(TOPICS, search="unknown"))["topics"][0]["bytes"] is None


@pytest.mark.parametrize(
    "query", [{"sort": "age"}, {"order": "up"}, {"offset": "-1"}, {"limit": "0"}, {"limit": "1e9"}]
)
async def test_a_wrong_question_is_refused(api: Api, query: dict[str, str]):
    await api.get(TOPICS, 422, **query)


async def test_a_page_of_ten_thousand_topics_looks_at_its_own_only(api: Api, site: ConsoleSite):
    topics_of = [Topic(f"t{n:05d}", UUID(int=n + 1), 1, 0) for n in range(10_000)]
    for topic in topics_of[:3]:
        await site.ledger.create_topic(topic)

    async def listed() -> list[Topic]:
        return topics_of

    site.ledger.topics = listed  # type: ignore[method-assign]
    heads = site.ledger.calls["head"]
    answer = await api.get(TOPICS, limit=3)
    assert (answer["total"], len(answer["topics"])) == (10_000, 3)
    assert site.ledger.calls["head"] - heads <= 6


async def parts(api: Api, **query: Any) -> Any:
    return await api.get(f"{TOPICS}/orders/log", **query)


async def test_the_parts_of_a_log_add_up_and_a_merge_makes_segments_of_them(
    api: Api, site: ConsoleSite
):
    await api.topic(partitions=2)
    for n in range(6):
        await api.write(f"{n}")
    (first, empty) = (await parts(api))["partitions"]
    pieces = [first["tail"]["entries"], first["extents"]["count"], first["segments"]["count"]]
    assert (sum(pieces), pieces[2]) == (6, 0)
    assert (first["start"], first["end"], first["stable_end"]) == (0, 6, 6)
    assert first["oldest_ms"] == first["newest_ms"] == site.clock.now
    assert (empty["bytes"], empty["oldest_ms"]) == (0, None)
    topic = await site.kafka.topic("orders")
    site.clock.now += 600_000
    await site.broker.log.merger.merge(Partition(topic.id, 0), RoundBudget(10**9, 10**6))
    (merged, _) = (await parts(api))["partitions"]
    assert merged["segments"]["count"] == 1
    assert merged["bytes"] == await site.broker.log.retainer.size(Partition(topic.id, 0))


async def test_the_log_is_shown_by_pages_of_partitions(api: Api):
    await api.topic(partitions=5)
    answer = await parts(api, offset=3, limit=10)
    assert answer["total"] == 5
    assert [each["partition"] for each in answer["partitions"]] == [3, 4]


async def test_an_open_transaction_holds_the_stable_end(api: Api, site: ConsoleSite):
    await api.topic()
    topic = await site.kafka.topic("orders")
    await api.write("one")
    await site.broker.log.append_once(Partition(topic.id, 0), [transactional(0)])
    (found,) = (await parts(api))["partitions"]
    assert (found["end"], found["stable_end"]) == (2, 1)


async def test_how_far_a_log_is_compacted_is_told(api: Api, site: ConsoleSite):
    await api.topic(**{"cleanup.policy": "compact"})
    topic = await site.kafka.topic("orders")
    (before,) = (await parts(api))["partitions"]
    await site.ledger.move_cursor(Partition(topic.id, 0), "compacted", 7)
    (after,) = (await parts(api))["partitions"]
    assert (before["compacted_to"], after["compacted_to"]) == (None, 7)
