"""Records by HTTP: what is written is what is read, in any encoding, from anywhere."""

import asyncio
import base64
import json
from typing import Any

import pytest
from unit.http_api.given import Api, Site

from samsa.http_api.writing import RecordDraft, write
from samsa.log.layout import Batch
from samsa.records import Codec, Record, build
from samsa.records.batch import compacted_filler, seal
from samsa.records.header import HEADER_SIZE, read_header
from samsa.wire.apis import ApiKey
from samsa.wire.messages import produce

READ = "/topics/orders/partitions/0/records"
WRITE = "/topics/orders/records"
BINARY = {"content-type": "application/octet-stream"}


async def written(api: Api, **record: Any) -> Any:
    """The record as it is read, after it was written."""
    answer = await api.post(WRITE, {"records": [{"partition": 0, **record}]}, 201)
    return await api.get(f"{READ}/{answer['records'][0]['offset']}")


@pytest.mark.parametrize(
    "content",
    [
        {"text": "hello"},
        {"text": ""},
        {"text": "Grüße 🐞\n"},
        {"base64": base64.b64encode(bytes(range(256))).decode()},
        {"base64": base64.b64encode(b"a\0b").decode()},
        None,
    ],
)
async def test_what_was_written_is_read_as_it_was_given(api: Api, content: Any):
    headers = [{"name": "h", "value": content}, {"name": "h", "value": {"text": "again"}}]
    read = await written(api, key=content, value=content, headers=headers)
    assert (read["key"], read["value"], read["headers"]) == (content, content, headers)
    # And so it can be written as it was read.
    again = await written(api, **{name: read[name] for name in ("key", "value", "headers")})
    assert {**again, "offset": 0} == {**read, "offset": 0}


async def test_a_plain_string_is_text(api: Api, site: Site):
    assert (await written(api, value="hello"))["value"] == {"text": "hello"}


async def test_json_is_stored_without_spaces_and_told_as_json_to_who_asks(api: Api):
    value = {"a": [1, 2.5, None, True, "ü"], "b": {}}
    await written(api, value={"json": value})
    assert (await api.get(f"{READ}/0", encoding="json"))["value"] == {"json": value}
    text = (await api.get(f"{READ}/0"))["value"]["text"]
    assert text == '{"a":[1,2.5,null,true,"\\u00fc"],"b":{}}'
    assert (await api.get(f"{READ}/0", encoding="base64"))["value"] == {
        "base64": base64.b64encode(text.encode()).decode()
    }


@pytest.mark.parametrize(
    "stored",
    ["{", "NaN", "[1e999]", '"\\ud800"', "[" * 5000 + "]" * 5000, "9" * 5000],
)
async def test_what_json_cannot_tell_comes_as_text(api: Api, stored: str):
    await written(api, value=stored)
    for encoding in ("json", "text", "auto"):
        assert (await api.get(f"{READ}/0", encoding=encoding))["value"] == {"text": stored}


async def test_bytes_that_are_no_text_come_as_base64_whatever_was_asked_for(api: Api):
    value = {"base64": "/wA="}
    await written(api, value=value)
    for encoding in ("json", "text", "auto", "base64"):
        assert (await api.get(f"{READ}/0", encoding=encoding))["value"] == value


@pytest.mark.parametrize(
    "body",
    [
        '{"records": [{"value": {"json": NaN}}]}',
        '{"records": [{"value": {"json": 1e999}}]}',
        '{"records": [{"value": "\\ud800"}]}',
        '{"records": [{"key": {"text": "\\udfff"}}]}',
        '{"records": [{"headers": [{"name": "\\ud800"}]}]}',
        '{"records": [{"value": {"base64": "no"}}]}',
        '{"records": [{"value": {"base64": "AA==\\n"}}]}',
        '{"records": [{"value": {"text": "a", "json": 1}}]}',
        '{"records": [{"value": 7}]}',
        '{"records": [{"headers": [{"value": "nameless"}]}]}',
        '{"records": [{"timestamp": 9223372036854775808}]}',
        '{"records": [{"partition": -1}]}',
        '{"records": []}',
        '{"records": [{"value": ',
        "[]",
        "",
    ],
)
async def test_what_is_no_record_is_refused_and_nothing_is_written(api: Api, body: str):
    await api.topic()
    answer = await api.client.post(
        WRITE, content=body, headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.json()["status"]) == (422, 422)
    assert (await api.get(READ))["end"] == 0


async def test_json_nested_without_end_is_refused(api: Api):
    body = '{"records": [{"value": {"json": ' + "[" * 90_000 + "]" * 90_000 + "}}]}"
    answer = await api.client.post(
        WRITE, content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert answer.json()["next_step"]


async def test_a_body_that_is_not_called_json_is_not_taken_for_it(api: Api):
    """Or any page in a browser could write here."""
    body = json.dumps({"records": [{"value": "hello"}]})
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = await api.client.post(WRITE, content=body, headers={"content-type": kind})
        assert answer.status_code == 415
        answer = await api.client.post(
            f"{WRITE}/binary", content=body, headers={"content-type": kind}
        )
        assert answer.status_code == 415
    assert (await api.get("/topics"))["topics"] == []


async def test_one_record_is_written_and_read_as_it_is(api: Api):
    value = bytes(range(256))
    params = {"key": "k", "header": ["trace:a:b", "empty:"], "partition": 0, "timestamp": 5}
    answer = await api.client.post(f"{WRITE}/binary", content=value, headers=BINARY, params=params)
    assert (answer.status_code, answer.json()["offset"]) == (201, 0)
    read = await api.client.get(f"{READ}/0/value")
    assert (read.content, read.headers["content-type"]) == (value, BINARY["content-type"])
    assert (read.headers["kafka-offset"], read.headers["kafka-timestamp"]) == ("0", "5")
    told = await api.get(f"{READ}/0")
    assert (told["key"], told["timestamp"]) == ({"text": "k"}, 5)
    assert told["headers"] == [
        {"name": "trace", "value": {"text": "a:b"}},
        {"name": "empty", "value": {"text": ""}},
    ]
    params = {"key_base64": "/w=="}
    await api.client.post(f"{WRITE}/binary", content=b"", headers=BINARY, params=params)
    assert (await api.get(f"{READ}/1"))["key"] == {"base64": "/w=="}
    assert (await api.client.get(f"{READ}/1/value")).content == b""


async def test_a_tombstone_has_no_value_to_read(api: Api):
    await written(api, key="gone")
    answer = await api.client.get(f"{READ}/0/value")
    assert (answer.status_code, answer.content) == (204, b"")


async def test_a_record_has_the_time_that_it_is_given_or_the_brokers(api: Api, site: Site):
    assert (await written(api, value="a", timestamp=17))["timestamp"] == 17
    assert (await written(api, value="a"))["timestamp"] == site.clock.now


async def test_records_are_read_from_an_offset_a_time_or_the_end(api: Api):
    await api.topic()
    records = [{"value": str(n), "timestamp": 1000 + n} for n in range(10)]
    await api.post(WRITE, {"records": records[:5]}, 201)
    await api.post(WRITE, {"records": records[5:]}, 201)

    async def offsets(**asked: Any) -> list[int]:
        return [each["offset"] for each in (await api.get(READ, **asked))["records"]]

    assert await offsets() == list(range(10))
    assert await offsets(offset=7) == [7, 8, 9]
    assert await offsets(timestamp=1003) == list(range(3, 10))
    assert await offsets(timestamp=5000) == []
    assert await offsets(last=2) == [8, 9]
    assert await offsets(last=99) == list(range(10))
    assert await offsets(offset=10) == []
    await api.get(READ, 422, offset=1, last=1)


async def test_who_reads_on_gets_every_record_once(api: Api):
    await api.topic()
    await api.write(*(str(n) for n in range(7)))
    await api.write(*(str(n) for n in range(7, 10)))
    found: list[str] = []
    offset = 0
    while offset < 10:
        page = await api.get(READ, offset=offset, limit=3)
        assert 1 <= len(page["records"]) <= 3
        found += [each["value"]["text"] for each in page["records"]]
        offset = page["next_offset"]
    assert found == [str(n) for n in range(10)]
    assert (page["start"], page["end"]) == (0, 10)


async def test_who_waits_at_the_end_is_answered_by_the_next_record(api: Api, site: Site):
    await api.topic()
    waiting = asyncio.create_task(api.get(READ, wait_ms=20_000))
    while not site.stores.wakeups.waiting:  # noqa: ASYNC110 - nobody tells when somebody waits
        await asyncio.sleep(0)
    await api.write("at last")
    assert [each["value"]["text"] for each in (await waiting)["records"]] == ["at last"]
    site.served.may_wait = (
        False  # as in a function: the clock stands still, so it would wait for ever
    )
    assert (await api.get(READ, offset=1, wait_ms=20_000))["records"] == []


async def test_max_bytes_cuts_but_one_record_always_comes(api: Api):
    await api.topic()
    await api.write(*["x" * 100] * 5)
    assert len((await api.get(READ, max_bytes=250))["records"]) == 2
    page = await api.get(READ, max_bytes=1)
    assert (len(page["records"]), page["next_offset"]) == (1, 1)


async def test_offsets_outside_of_the_log_are_416_and_holes_in_it_404(api: Api, site: Site):
    await api.topic()
    await api.write("one", "two", "three")
    problem = await api.get(READ, 416, offset=4)
    assert problem["kafka_error"] == "OFFSET_OUT_OF_RANGE"
    assert "[0, 3)" in problem["detail"]
    await api.get(f"{READ}/4", 416)
    await api.get(f"{READ}/4/value", 416)
    await api.get(f"{READ}/3", 404)
    await api.delete(READ, 200, before=1)
    await api.get(READ, 416, offset=0)


async def test_filler_is_passed_over(api: Api, site: Site):
    """What compaction leaves of a batch: it takes offsets and holds no records."""
    await api.topic()
    await api.write("one")
    partition = await site.kafka.partition("orders", 0)
    empty = bytearray(compacted_filler(1, 3))
    await site.broker.log.append(partition, Batch(read_header(empty), memoryview(empty)))
    assert (await api.get(READ, offset=1))["next_offset"] == 4
    await api.write("two")
    for most in (1, 1000):  # of which the first is spent on the filler alone
        page = await api.get(READ, offset=1, max_bytes=most)
        assert [each["offset"] for each in page["records"]] == [4]
    await api.get(f"{READ}/2", 404)


async def test_compressed_batches_of_other_producers_are_read(api: Api, site: Site):
    await api.topic()
    for codec in Codec:
        data = bytearray(build([Record(0, 1, b"k", codec.name.encode() * 50)], codec=codec))
        entry = produce.PARTITION(index=0, records=memoryview(data))
        row = produce.REQUEST(
            acks=-1,
            timeout_ms=1000,
            topic_data=[produce.TOPIC(name="orders", partition_data=[entry])],
        )
        await site.kafka.ask(ApiKey.PRODUCE, row, 12)
    found = [each["value"]["text"] for each in (await api.get(READ))["records"]]
    assert found == [codec.name * 50 for codec in Codec]


async def test_what_is_garbled_in_the_log_is_a_problem_and_no_crash(api: Api, site: Site):
    """Older versions stored what producers sent without looking inside."""
    await api.topic()
    data = bytearray(build([Record(0, 1, b"k", b"v")]))
    data[-5:] = b"\xff" * 5
    sealed = bytearray(seal(read_header(data), bytes(data[HEADER_SIZE:])))
    partition = await site.kafka.partition("orders", 0)
    await site.broker.log.append(partition, Batch(read_header(sealed), memoryview(sealed)))
    assert (await api.get(READ, 422))["kafka_error"] == "INVALID_RECORD"


async def test_a_batch_above_the_topics_limit_is_413(api: Api):
    await api.topic(**{"max.message.bytes": "200"})
    problem = await api.post(WRITE, {"records": [{"value": "x" * 300}]}, 413)
    assert problem["kafka_error"] == "MESSAGE_TOO_LARGE"
    assert "max.message.bytes=200" in problem["detail"]


async def test_a_body_above_all_limits_is_413_whether_or_not_it_says_so(api: Api):
    async def chunks() -> Any:
        for _ in range(17):
            yield b"x" * 1024 * 1024

    for content in (b"x" * (17 * 1024 * 1024), chunks()):
        answer = await api.client.post(f"{WRITE}/binary", content=content, headers=BINARY)
        assert (answer.status_code, answer.json()["status"]) == (413, 413)
    assert (await api.get("/topics"))["topics"] == []


async def test_some_partitions_may_take_their_records_while_others_do_not(api: Api):
    await api.topic(partitions=2)
    records = [{"value": "a", "partition": 1}, {"value": "b", "partition": 7}]
    told = (await api.post(WRITE, {"records": records}, 207))["records"]
    assert (told[0]["offset"], told[0]["problem"]) == (0, None)
    assert (told[1]["offset"], told[1]["problem"]["status"]) == (None, 404)
    assert told[1]["problem"]["kafka_error"] == "UNKNOWN_TOPIC_OR_PARTITION"
    await api.post(WRITE, {"records": records[1:]}, 404)


async def test_records_of_a_partition_keep_their_order(api: Api):
    await api.topic(partitions=2)
    records = [{"value": str(n), "partition": n % 2} for n in range(20)]
    told = (await api.post(WRITE, {"records": records}, 201))["records"]
    assert [(each["partition"], each["offset"]) for each in told] == [
        (n % 2, n // 2) for n in range(20)
    ]


async def test_without_a_key_records_of_one_request_stay_together_and_requests_spread(site: Site):
    topic = await site.broker.catalog.create("orders", 4, {})
    used = []
    for _ in range(30):
        places = await write(topic, [RecordDraft(None, b"v")] * 3, site.kafka)
        assert len({place.partition for place in places}) == 1
        used.append(places[0].partition)
    assert set(used) == {0, 1, 2, 3}


async def test_topics_are_made_by_the_first_record_unless_the_broker_does_not(api: Api, site: Site):
    await api.post(WRITE, {"records": [{"value": "hello"}]}, 201)
    assert (await api.get("/topics/orders"))["partitions"] == 1
    site.broker.catalog._rules = site.broker.catalog._rules._replace(auto_create=False)
    problem = await api.post("/topics/others/records", {"records": [{"value": "hello"}]}, 404)
    assert problem["kafka_error"] == "UNKNOWN_TOPIC_OR_PARTITION"
