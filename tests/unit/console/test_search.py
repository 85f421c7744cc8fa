"""A search: what it finds, and when it stops."""

import asyncio
from typing import Any

import pytest
from unit.console.given import CONSOLE, ConsoleSite, lines, streaming
from unit.http_api.given import Api

from samsa.http_api import reading
from samsa_broker.console import searching

SEARCH = "/topics/orders/search"


async def some(api: Api, partitions: int = 2) -> None:
    await api.topic(partitions=partitions)
    records = [
        {"key": f"key-{n}", "value": f"value {n}", "partition": n % partitions,
         "headers": [{"name": f"name-{n}", "value": f"header {n}"}]}
        for n in range(40)
    ]  # fmt: skip
    await api.post("/topics/orders/records", {"records": records}, 201)


def keys(told: list[Any]) -> list[str]:
    return sorted(line["record"]["key"]["text"] for line in told if "record" in line)


async def search(api: Api, **query: Any) -> tuple[list[str], Any]:
    told = await lines(api, SEARCH, **query)
    assert "progress" in told[0]
    return keys(told), told[-1]["done"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "value 7"}, ["key-7"]),
        ({"q": "key-17"}, ["key-17"]),
        ({"q": "name-31"}, ["key-31"]),
        ({"q": "header 31"}, ["key-31"]),
        ({"q": "value 7", "in": "key,headers"}, []),
        ({"q": "key-7", "in": "value"}, []),
        ({"q": "VALUE 7"}, []),
        ({"q": "^value 1[0-2]$", "regex": "1"}, ["key-10", "key-11", "key-12"]),
        ({"q": "(?i)VALUE 7", "regex": "1"}, ["key-7"]),
        ({"q": "value .*[13579]$", "regex": "1", "partition": "0"}, []),
        ({"q": ".", "regex": "0"}, []),
        ({"q": "value", "from": "18"}, ["key-36", "key-37", "key-38", "key-39"]),
        ({"q": "value", "to": "1"}, ["key-0", "key-1"]),
    ],
)
async def test_it_finds_what_is_asked_for_and_nothing_else(
    api: Api, query: dict[str, str], expected: list[str]
):
    await some(api)
    found, done = await search(api, **query)
    assert found == expected
    assert (done["found"], done["why"]) == (len(expected), "end")


async def test_it_stops_at_its_limit_and_goes_on_from_there(api: Api):
    await some(api)
    found, done = await search(api, q="value", limit=15)
    assert (len(found), done["why"]) == (15, "limit")
    at = ",".join(f"{number}:{offset}" for number, offset in done["at"].items())
    more, done = await search(api, **{"q": "value", "from": at})
    assert (len(more), done["why"]) == (25, "end")
    assert len({*found, *more}) == 40


@pytest.mark.parametrize("budget", ["MOST_BYTES", "LONGEST_S"])
async def test_it_stops_when_its_budget_is_used_up_and_says_where(
    api: Api, monkeypatch: pytest.MonkeyPatch, budget: str
):
    await some(api)
    monkeypatch.setattr(searching, budget, 1 if budget == "MOST_BYTES" else 0.0)
    _, done = await search(api, q="nothing like it")
    assert done["why"] == "budget"
    assert sum(done["at"].values()) < 40


async def test_what_retention_takes_meanwhile_is_passed_over(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    await some(api, partitions=1)
    monkeypatch.setattr(searching, "CHUNK", searching.CHUNK._replace(limit=10))
    once = iter([True])
    read = reading.read

    async def trims(topic: str, number: int, span: Any, kafka: Any) -> Any:
        if span.offset == 10 and next(once, False):
            await api.delete("/topics/orders/partitions/0/records", 200, before=30)
        return await read(topic, number, span, kafka)

    monkeypatch.setattr(reading, "read", trims)
    found, done = await search(api, q="value", partition="0")
    assert (len(found), done["why"]) == (20, "end")


@pytest.mark.parametrize(
    "query",
    [
        {"q": ""},
        {"q": "x" * 5_000},
        {"q": "(", "regex": "1"},
        {"q": r"(a)\1", "regex": "1"},
        {"q": "(?:a{1000}){1000}", "regex": "1"},
        {"q": "x", "in": "values"},
        {"q": "x", "from": "yesterday"},
        {"q": "x", "to": "-5"},
        {"q": "x", "limit": "0"},
        {},
    ],
)
async def test_a_wrong_question_is_refused(api: Api, query: dict[str, str]):
    await api.topic()
    await api.get(CONSOLE + SEARCH, 422, **query)


async def test_a_match_in_the_middle_of_a_long_value_is_found(api: Api):
    await api.topic()
    await api.write("x" * 300_000 + "needle in it" + "y" * 300_000)
    for regex in "01":
        told = await lines(api, SEARCH, q="needle in it", regex=regex)
        assert told[-1]["done"]["found"] == 1


async def test_a_search_that_is_given_up_reads_no_more(api: Api, site: ConsoleSite, monkeypatch):
    await some(api)
    reads = 0
    begun, never = asyncio.Event(), asyncio.Event()

    async def waits(*_: Any) -> Any:
        nonlocal reads
        reads += 1
        begun.set()
        await never.wait()

    monkeypatch.setattr(searching, "read_what_is_left", waits)
    async with streaming(site, SEARCH, "q=value"):
        await begun.wait()
        assert len(site.console.searches) == 1
    assert len(site.console.searches) == 0
    assert reads == 1


async def test_a_fifth_search_at_a_time_is_refused_and_a_later_one_is_not(
    api: Api, site: ConsoleSite, monkeypatch
):
    await some(api)
    never = asyncio.Event()
    read = searching.read_what_is_left
    monkeypatch.setattr(searching, "read_what_is_left", lambda *_: never.wait())
    async with (
        streaming(site, SEARCH, "q=v") as one,
        streaming(site, SEARCH, "q=v") as two,
        streaming(site, SEARCH, "q=v") as three,
        streaming(site, SEARCH, "q=v") as four,
    ):
        for each in (one, two, three, four):
            await each.line("progress")
        refused = await api.get(CONSOLE + SEARCH, 503, q="v")
        assert "at most 4 at a time" in refused["detail"]
    monkeypatch.setattr(searching, "read_what_is_left", read)
    found, _ = await search(api, q="value 7")
    assert found == ["key-7"]


async def test_a_topic_that_is_deleted_meanwhile_ends_it_with_a_sentence(
    api: Api, site: ConsoleSite, monkeypatch
):
    await some(api)
    monkeypatch.setattr(searching, "CHUNK", searching.CHUNK._replace(limit=1))
    async with streaming(site, SEARCH, "q=value&limit=1000") as stream:
        await stream.line("record")
        stream.stop_reading()
        await api.delete("/topics/orders")
        stream.go_on()
        problem = await stream.line("problem")
    assert "orders" in problem["detail"] or "deleted" in problem["detail"]
