"""What plots show: sampled every ten seconds, in bounded memory, from when somebody looks."""

import asyncio
import tracemalloc
from typing import Any
from uuid import UUID

import pytest
from unit.console.given import CONSOLE, ConsoleSite
from unit.http_api.given import Api

from samsa.ports import Topic, Unavailable
from samsa_broker.console import sampler
from samsa_broker.console.series import MOST_SERIES, POINTS, STEP_MS, History, Series
from samsa_broker.console.state import Console
from samsa_broker.console.totals import LARGEST, WATCHED_MS, Rotation, TopicTotals

HISTORY = f"{CONSOLE}/history"


async def points(api: Api, metric: str, **query: Any) -> dict[str, list[Any]]:
    """By series: the values, without what is not known before the first that is."""
    answer = await api.get(HISTORY, metric=metric, **query)
    assert (answer["metric"], answer["step_s"]) == (metric, 10)
    found = {}
    for series in answer["series"]:
        times = [time for time, _ in series["points"]]
        assert times == list(range(times[0], times[0] + POINTS * STEP_MS, STEP_MS))
        values = [value for _, value in series["points"]]
        while values and values[0] is None:
            del values[0]
        found[series["name"]] = values
    return found


async def test_rates_are_those_of_the_last_ten_seconds(api: Api, site: ConsoleSite):
    await site.round()
    site.server.stats.bytes_in += 5_000
    site.server.stats.requests[0] += 20
    await site.round()
    await site.round()
    assert await points(api, "bytes_in") == {"bytes_in": [500.0, 0.0]}
    assert await points(api, "requests") == {"requests": [2.0, 0.0]}
    site.server.stats.bytes_in += 3_000
    site.clock.now += 5_000
    rates = (await api.get(f"{CONSOLE}/overview"))["rates"]
    assert rates["bytes_in"] == pytest.approx(3_000 / 15)


async def test_records_that_came_by_any_way_are_counted(api: Api, site: ConsoleSite):
    await site.round()
    await api.topic()
    await api.write(*"abcdefghij")
    await site.round()
    assert await points(api, "records_in") == {"records_in": [1.0]}


async def test_latencies_are_counted_from_the_first_sample_on(api: Api, site: ConsoleSite):
    assert site.server.stats.latencies is None
    await site.round()
    for ms in range(1, 101):
        site.server.stats.latencies.produce.add(ms / 1000)
    await site.round()
    await site.round()
    found = await points(api, "latency")
    assert found["produce p50"] == [pytest.approx(50, rel=0.13), None]
    assert found["produce p99"] == [pytest.approx(99, rel=0.13), None]
    assert found["fetch p95"] == []


async def test_a_topic_that_is_watched_has_its_size_and_rates(api: Api, site: ConsoleSite):
    await api.topic("orders")
    await site.round()
    await api.write("x" * 1_000)
    await site.round()
    sizes = (await points(api, "topic_size", topic="orders"))["size"]
    assert sizes[0] == 0 < sizes[1]
    found = await points(api, "topic_bytes_in", topic="orders")
    assert found == {"bytes": [sizes[1] / 10], "records": [0.1]}
    assert (await points(api, "storage"))["storage"] == sizes


async def test_what_retention_takes_is_not_a_negative_rate(api: Api, site: ConsoleSite):
    await api.topic("orders")
    await api.write(*("x" * 100 for _ in range(50)))
    await site.round()
    await api.delete("/topics/orders/partitions/0/records", 200, before=50)
    await api.write("y")
    await site.round()
    rates = (await points(api, "topic_bytes_in", topic="orders"))["bytes"]
    assert rates[-1] >= 0


async def test_a_group_has_a_series_for_each_topic_or_partition(api: Api, site: ConsoleSite):
    for name in ("a", "b"):
        await api.topic(name, 2)
        await api.write("1", "2", "3", topic=name, partition=1)
    await api.post(
        "/groups/g/offsets", {"to": "earliest", "topics": [{"topic": "a"}, {"topic": "b"}]}
    )
    await site.round()
    assert await points(api, "group_lag", group="g") == {"a": [3.0], "b": [3.0]}
    by_partition = await points(api, "group_lag", group="g", partition="all")
    assert by_partition == {"a/0": [0.0], "a/1": [3.0], "b/0": [0.0], "b/1": [3.0]}


async def test_more_than_fifty_series_are_added_up_as_others(
    api: Api, site: ConsoleSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sampler, "MOST_LINES", 2)
    await api.topic(partitions=4)
    for partition in range(4):
        await api.write(*"x" * (partition + 1), partition=partition)
    await api.post("/groups/g/offsets", {"to": "earliest", "topics": [{"topic": "orders"}]})
    await site.round()
    await api.write(*"x" * 10, partition=0)
    await site.round()
    found = await points(api, "group_lag", group="g", partition="all")
    assert found == {"orders/2": [3, 3], "orders/3": [4, 4], "others": [3, 13]}
    assert list(found)[-1] == "others"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"metric": "speed"}, 422),
        ({}, 422),
        ({"metric": "topic_size"}, 422),
        ({"metric": "topic_size", "topic": "nothing"}, 404),
        ({"metric": "group_lag"}, 422),
    ],
)
async def test_a_wrong_question_is_refused(api: Api, query: dict[str, str], status: int):
    await api.get(HISTORY, status, **query)


async def test_nothing_is_looked_at_when_nobody_has_the_console_open(api: Api, site: ConsoleSite):
    await api.topic()
    await site.round()
    heads = site.ledger.calls["head"]
    site.clock.now += WATCHED_MS
    await site.console.sampler.sample()
    assert site.ledger.calls["head"] == heads
    assert (await points(api, "connections"))["connections"][-1] == 0


async def test_a_dead_topic_and_a_dead_group_are_forgotten(api: Api, site: ConsoleSite):
    await api.topic("dead")
    await api.write("x", topic="dead")
    await api.post("/groups/gone/offsets", {"to": "earliest", "topics": [{"topic": "dead"}]})
    await points(api, "topic_size", topic="dead")
    await points(api, "group_lag", group="gone")
    await site.round()
    known = len(site.console.sampler.history)
    await api.delete("/groups/gone")
    await api.delete("/topics/dead")
    await site.round()
    history = site.console.sampler.history
    assert not [
        key for key in history.keys if isinstance(key, tuple) and key[1] in ("dead", "gone")
    ]
    assert len(history) < known
    assert "dead" not in site.console.sampler.topics.seen
    assert "gone" not in site.console.sampler.groups.seen


async def test_a_store_that_does_not_answer_leaves_a_gap(
    api: Api, site: ConsoleSite, monkeypatch: pytest.MonkeyPatch
):
    await api.topic("orders")
    await site.round()

    async def down(*_: Any) -> Any:
        raise Unavailable("the ledger is down")

    with monkeypatch.context() as broken:
        broken.setattr(site.ledger, "topics", down)
        await site.round()
    await site.round()
    assert (await points(api, "topic_size", topic="orders"))["size"] == [0, None, 0]
    assert len((await points(api, "connections"))["connections"]) == 3


async def test_a_mistake_of_ours_does_not_end_sampling_for_ever(
    site: ConsoleSite, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    sampling = sampler.Sampler(site.kafka, None)
    rounds = []

    async def fails() -> None:
        rounds.append(len(rounds))
        raise ZeroDivisionError

    monkeypatch.setattr(sampling, "sample", fails)
    for _ in range(2):
        sampling.start()
        running = sampling._running
        assert running is not None
        await asyncio.wait([running])
        await asyncio.sleep(0)  # its callback
    assert len(rounds) == 2
    assert "sampling for the console has failed" in caplog.text
    await sampling.close()


async def test_a_round_has_a_bound_and_the_next_one_goes_on(
    api: Api, site: ConsoleSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sampler, "PARTITIONS_A_ROUND", 4)
    for n in range(7):
        await api.topic(f"t{n}")
    seen = site.console.sampler.topics.seen
    await site.round()
    assert len(seen) == 4
    assert site.console.sampler.storage is None
    for _ in range(3):
        await site.round()
    assert len(seen) == 7
    assert site.console.sampler.storage == 0


async def test_ten_thousand_topics_do_not_take_more_memory_than_said(
    site: ConsoleSite, monkeypatch: pytest.MonkeyPatch
):
    topics = [Topic(f"topic-{n:05d}", UUID(int=n + 1), 1, 0) for n in range(10_000)]

    async def listed() -> list[Topic]:
        return topics

    async def look(topic: Topic, now_ms: int) -> TopicTotals:
        size = int(topic.id) % 997
        totals = TopicTotals(now_ms, 0, now_ms, size).after(history.topics.seen.get(topic.name))
        history.topics.seen[topic.name] = totals
        return totals

    history = site.console.sampler
    monkeypatch.setattr(site.ledger, "topics", listed)
    monkeypatch.setattr(history, "look_at_topic", look)
    monkeypatch.setattr(sampler, "PARTITIONS_A_ROUND", 20_000)
    for topic in topics[:300]:
        history.topics.watch(topic.name, site.clock.now)
    tracemalloc.start()
    for _ in range(4):
        await site.round()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(history.topics.seen) == 10_000
    assert len(history.history) <= 3 * (300 + LARGEST) + 20
    assert used < 16_000_000


def test_a_history_keeps_so_many_series_and_drops_the_oldest():
    history = History()
    for n in range(MOST_SERIES + 5):
        history.put(("topic_size", str(n)), 0, 1.0)
    assert len(history) == MOST_SERIES
    assert history.find(("topic_size", "4")) is None
    assert history.find(("topic_size", "5")) is not None


def values(series: Series, now_ms: int) -> list[float | None]:
    return [value for _, value in series.points(now_ms)]


def test_a_series_forgets_after_an_hour_and_has_gaps_where_nothing_was_put():
    series, start = Series(), 1_000 * POINTS * STEP_MS
    series.put(start, 1.0)
    series.put(start + 3 * STEP_MS, 4.0)
    assert values(series, start + 3 * STEP_MS)[-4:] == [1.0, None, None, 4.0]
    assert values(series, start + 5 * STEP_MS)[-6:] == [1.0, None, None, 4.0, None, None]
    series.put(start + POINTS * STEP_MS, 9.0)
    assert values(series, start + POINTS * STEP_MS)[2:] == [4.0, *[None] * (POINTS - 4), 9.0]
    series.put(start + 5 * POINTS * STEP_MS, 2.0)
    assert values(series, start + 5 * POINTS * STEP_MS) == [*[None] * (POINTS - 1), 2.0]


def test_a_series_begins_anew_when_the_clock_was_set_back():
    series, start = Series(), 1_000 * POINTS * STEP_MS
    series.put(start, 1.0)
    series.put(start - 7_200_000, 2.0)
    assert values(series, start - 7_200_000) == [*[None] * (POINTS - 1), 2.0]


def test_every_name_gets_its_turn_however_few_a_round_has_time_for():
    rotation = Rotation[int]()
    names = [f"n{n}" for n in range(7)]
    turns = []
    for _ in range(4):
        order = rotation.turns("all", names)
        turns += order[:2]
        rotation.ended_at("all", order[2])
    assert set(turns) == set(names)


async def test_without_a_look_inside_throughput_is_what_the_logs_have_grown_by(
    api: Api, site: ConsoleSite
):
    site.app.state.console = Console(site.served, None)
    sampling = site.app.state.console.sampler
    sampling.start = lambda: None
    await api.topic("orders")
    for _ in range(2):
        site.clock.now += 10_000
        sampling.opened_ms = site.clock.now
        await sampling.sample()
        await api.write(*("x" * 100 for _ in range(20)))
    site.clock.now += 10_000
    await sampling.sample()
    overview = await api.get(f"{CONSOLE}/overview")
    assert overview["rates"]["records_in"] == 2.0
    assert overview["rates"]["bytes_in"] > 200
    assert overview["rates"]["bytes_out"] is overview["connections"] is overview["uptime_s"] is None
    assert overview["features"]["cost"] is overview["features"]["process"] is False
    assert (await points(api, "records_in"))["records_in"] == [2.0, 2.0]
    (log,) = (await api.get(f"{CONSOLE}/topics/orders/log"))["partitions"]
    assert (log["end"], log["tail"], log["segments"]) == (40, None, None)
    await api.get(f"{CONSOLE}/cost", 404)
