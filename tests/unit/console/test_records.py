"""Browsing: by offset, time and key, in the order of time across partitions, page after page."""

import json
import random
from typing import Any
from uuid import UUID

import pytest
from unit.console.given import CONSOLE, ConsoleSite, lines
from unit.http_api.given import NOW, Api
from unit.log.given import a_batch
from unit.log.transacting import transactional

from samsa.http_api.registry.schema_log import SchemaLog
from samsa.log.append import Marker
from samsa.ports import End, Partition, Topic
from samsa_broker.console import merging, shown

RECORDS = f"{CONSOLE}/topics/orders/records"


async def many(api: Api, count: int, partitions: int) -> list[tuple[int, str]]:
    """Records in random partitions, each a millisecond after the one before; with its time."""
    dice = random.Random(7)
    await api.topic(partitions=partitions)
    records = [
        {"key": f"k{n % 5}", "value": f"v{n}", "partition": dice.randrange(partitions),
         "timestamp": NOW + n}
        for n in range(count)
    ]  # fmt: skip
    await api.post("/topics/orders/records", {"records": records}, 201)
    return [(NOW + n, f"v{n}") for n in range(count)]


def onwards(answer: Any) -> str:
    return ",".join(f"{number}:{place}" for number, place in answer["next"].items())


async def all_pages(api: Api, start: str, **query: Any) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    while start:
        answer = await api.get(RECORDS, **{"from": start}, **query)
        found += [(one["timestamp"], one["value"]["text"]) for one in answer["records"]]
        start = onwards(answer) if answer["records"] else ""
    return found


@pytest.mark.parametrize("limit", [1, 7, 50, 1000])
async def test_pages_from_the_beginning_have_everything_in_the_order_of_time(api: Api, limit: int):
    written = await many(api, 60, 5)
    assert await all_pages(api, "beginning", limit=limit) == written


@pytest.mark.parametrize("limit", [1, 7, 50, 1000])
async def test_pages_from_the_end_have_everything_newest_first(api: Api, limit: int):
    written = await many(api, 60, 5)
    assert await all_pages(api, "end", limit=limit) == written[::-1]


async def test_a_page_does_not_read_more_than_its_budget_and_goes_on(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    written = await many(api, 200, 5)
    monkeypatch.setattr(merging, "MOST_READ", 1)
    monkeypatch.setattr(merging, "LEAST_BYTES", 1)
    monkeypatch.setattr(merging, "MOST_AT_ONCE", 20)
    first = await api.get(RECORDS, limit=100)
    assert 0 < len(first["records"]) < 100
    assert await all_pages(api, "beginning", limit=100) == written


async def test_a_page_does_not_show_more_than_so_many_bytes_and_goes_on(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    written = await many(api, 30, 2)
    monkeypatch.setattr(merging, "MOST_SHOWN", 20)
    first = await api.get(RECORDS, limit=100)
    assert 0 < len(first["records"]) < 10
    assert await all_pages(api, "beginning", limit=100) == written


@pytest.mark.parametrize("start", ["beginning", "end"])
async def test_a_key_finds_its_records_only(api: Api, start: str):
    written = await many(api, 100, 3)
    wanted = [each for n, each in enumerate(written) if n % 5 == 2]
    assert await all_pages(api, start, key="k2") == (wanted if start != "end" else wanted[::-1])
    assert await all_pages(api, start, key="k") == []


async def test_an_offset_or_a_time_is_where_it_begins(api: Api):
    await many(api, 20, 1)
    by_offset = await api.get(RECORDS, **{"from": "15", "partition": "0"})
    assert [one["offset"] for one in by_offset["records"]] == [15, 16, 17, 18, 19]
    by_time = await api.get(RECORDS, **{"from": f"@{NOW + 15}"})
    assert by_time["records"] == by_offset["records"]
    beyond = await api.get(RECORDS, **{"from": f"@{NOW + 100}"})
    assert beyond["records"] == []
    assert beyond["ends"] == {"0": 20}


async def test_the_end_is_not_moved_by_an_offset_outside_of_the_log(api: Api):
    await many(api, 5, 1)
    answer = await api.get(RECORDS, **{"from": str(2**62)})
    assert (answer["records"], answer["next"]) == ([], {"0": 5})


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"from": "yesterday"}, 422),
        ({"from": "-1"}, 422),
        ({"from": "@"}, 422),
        ({"from": "0:1,"}, 422),
        ({"from": "@99999999999999999999"}, 422),
        ({"partition": "-1"}, 422),
        ({"partition": "1e3"}, 422),
        ({"partition": "²"}, 422),
        ({"partition": "7"}, 404),
        ({"limit": "0"}, 422),
        ({"limit": "1001"}, 422),
        ({"format": "xml"}, 422),
    ],
)
async def test_a_wrong_question_is_refused_with_a_sentence(
    api: Api, query: dict[str, str], status: int
):
    await api.topic()
    answer = await api.get(RECORDS, status, **query)
    assert len(answer["detail"]) > 10


async def test_a_topic_that_is_not_there_is_404(api: Api):
    await api.get(f"{CONSOLE}/topics/nothing/records", 404)


async def one_value(api: Api, value: Any, form: str = "auto") -> Any:
    await api.topic()
    await api.post("/topics/orders/records", {"records": [{"value": value}]}, 201)
    answer = await api.get(RECORDS, format=form)
    return answer["records"][0]


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        ("hello", "auto", {"text": "hello"}),
        ({"json": {"a": [1]}}, "auto", {"json": {"a": [1]}}),
        ({"json": 12}, "auto", {"text": "12"}),
        ({"json": 12}, "json", {"json": 12}),
        ("{not json", "auto", {"text": "{not json"}),
        ("[" * 100_000, "json", {"text": "[" * 65_536}),
        ({"base64": "AP8="}, "auto", {"hex": "00ff"}),
        ({"base64": "AP8="}, "text", {"hex": "00ff"}),
        ({"base64": "AP8="}, "base64", {"base64": "AP8="}),
        ("hi", "hex", {"hex": "6869"}),
        (None, "auto", None),
    ],
)
async def test_bytes_come_in_the_form_that_was_asked_for_or_the_next_best(
    api: Api, value: Any, form: str, expected: Any
):
    assert (await one_value(api, value, form))["value"] == expected


@pytest.mark.parametrize("form", ["auto", "text", "hex", "base64", "json"])
async def test_a_long_value_is_cut_and_says_so(api: Api, form: str):
    found = await one_value(api, "ä" * 40_000, form)
    assert (found["truncated"], found["size"]) == (True, 80_000)
    ((_, text),) = found["value"].items()
    assert len(text) <= 2 * shown.MOST_BYTES


async def test_a_cut_is_not_within_a_character(api: Api):
    found = await one_value(api, "a" + "ä" * 40_000)
    assert found["value"] == {"text": "a" + "ä" * 32_767}


async def test_headers_and_keys_come_too_and_long_ones_are_cut(api: Api):
    await api.topic()
    headers = [{"name": "h", "value": {"base64": "AA=="}}, {"name": "none", "value": None}]
    record = {"key": "k" * 70_000, "value": "v", "headers": headers}
    await api.post("/topics/orders/records", {"records": [record]}, 201)
    (found,) = (await api.get(RECORDS))["records"]
    assert found["headers"] == [
        {"name": "h", "value": {"hex": "00"}},
        {"name": "none", "value": None},
    ]
    assert (len(found["key"]["text"]), found["truncated"]) == (shown.MOST_BYTES, True)


async def test_aborted_and_open_transactions_are_left_out_and_committed_ones_marked(
    api: Api, site: ConsoleSite
):
    where = Partition(UUID(int=5), 0)
    await site.ledger.create_topic(Topic("orders", where.topic_id, 1, 0))
    log = site.broker.log
    await log.append_once(where, [transactional(0)])
    await log.mark(where, Marker(7, 0, 1, End.ABORT))
    await log.append_once(where, [a_batch(b"plain"), transactional(1, serial=2)])
    await log.mark(where, Marker(7, 0, 2, End.COMMIT))
    await log.append_once(where, [transactional(2, serial=3), a_batch(b"behind it")])
    for start in ("beginning", "end"):
        answer = await api.get(RECORDS, **{"from": start})
        found = [(one["offset"], one["transactional"]) for one in answer["records"]]
        assert sorted(found) == [(2, False), (3, True)]
        assert answer["ends"] == {"0": 5}


async def test_what_follows_a_schema_is_shown_as_the_schema_says(api: Api):
    await api.topic()
    schema = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "double"}]}
    new = {"schema": json.dumps(schema)}
    schema_id = (await api.post("/subjects/orders-value/versions", new))["id"]
    record = {"value": {"avro": {"total": 12.5}}, "partition": 0}
    await api.post("/topics/orders/records", {"records": [record]}, 201)
    await api.write("\0\0\0\0\x63no such schema", "plain")
    shown = [{"json": {"total": 12.5}, "schema_id": schema_id}]
    found = [one["value"] for one in (await api.get(RECORDS))["records"]]
    assert found[:1] == shown
    assert "schema_id" not in found[1]
    assert found[2] == {"text": "plain"}
    search = await lines(api, "/topics/orders/search", q="(?s).", regex=1)
    assert [one["record"]["value"] for one in search if "record" in one][:1] == shown
    as_bytes = await api.get(RECORDS, format="base64")
    assert "base64" in as_bytes["records"][0]["value"]
    assert (await api.get(f"{CONSOLE}/overview"))["features"]["schemas"]


async def test_unknown_schemas_are_looked_for_once_in_an_answer(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    await api.topic()
    await api.write(*(f"\0\0\0\0{chr(n)}unknown" for n in range(1, 50)))
    looks = []
    caught_up = SchemaLog.caught_up

    async def counted(log: SchemaLog) -> Any:
        looks.append(log)
        return await caught_up(log)

    monkeypatch.setattr(SchemaLog, "caught_up", counted)
    assert len((await api.get(RECORDS))["records"]) == 49
    assert len(looks) == 1
