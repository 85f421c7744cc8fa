"""A live tail: records as they come, for clients that read them and for those that do not."""

import asyncio
from typing import Any

import pytest
from unit.console.given import CONSOLE, ConsoleSite, streaming
from unit.http_api.given import Api

from samsa.log.layout import Batch
from samsa.ports import Partition
from samsa.records.compression import Codec
from samsa.records.header import read_header
from samsa.records.record import Record, build
from samsa_broker.console import tailing
from samsa_broker.console.state import MOST_TAILS

TAIL = "/topics/orders/tail"


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailing, "NO_WAIT_S", 0.001)


async def test_records_come_as_they_are_written_and_older_ones_do_not(api: Api, site: ConsoleSite):
    await api.topic(partitions=3)
    await api.write("old", partition=1)
    async with streaming(site, TAIL) as stream:
        await stream.line("ping")
        for number, value in enumerate(("one", "two", "three")):
            await api.write(value, partition=number)
            record = await stream.line("record")
            assert (record["partition"], record["value"]) == (number, {"text": value})
    assert stream.status == 200


async def test_one_partition_is_followed_alone(api: Api, site: ConsoleSite):
    await api.topic(partitions=2)
    async with streaming(site, TAIL, "partition=1&format=hex") as stream:
        await stream.line("ping")
        await api.write("elsewhere", partition=0)
        await api.write("hi", partition=1)
        record = await stream.line("record")
    assert (record["partition"], record["value"]) == (1, {"hex": "6869"})


async def test_a_client_that_does_not_read_skips_and_is_told_how_many(api: Api, site: ConsoleSite):
    await api.topic()
    async with streaming(site, TAIL) as stream:
        await stream.line("ping")
        stream.stop_reading()
        for n in range(6):
            await api.write(*(f"{n} {each}" for each in range(1_000)))
        stream.go_on()
        skipped = await stream.line("skipped")
        record = await stream.line("record")
        assert skipped > 3_000
        assert record["offset"] >= skipped
        while record["offset"] < 5_999:
            record = await stream.line("record")


async def test_a_tail_ends_with_its_client_and_with_the_console(api: Api, site: ConsoleSite):
    await api.topic()
    async with streaming(site, TAIL) as one:
        await one.line("ping")
        assert len(site.console.tails) == 1
    assert len(site.console.tails) == 0
    async with streaming(site, TAIL) as two:
        await two.line("ping")
        await site.console.close()
        await asyncio.wait_for(two.ended.wait(), 5)
        assert len(site.console.tails) == 0
    await api.get(CONSOLE + TAIL, 503)


async def test_one_more_than_the_most_is_refused(api: Api, site: ConsoleSite):
    await api.topic()
    never = asyncio.Event()
    running = [site.console.tails.begin(never.wait()) for _ in range(MOST_TAILS)]
    refused = await api.get(CONSOLE + TAIL, 503)
    assert f"at most {MOST_TAILS} at a time" in refused["detail"]
    running[0].cancel()
    await asyncio.wait(running[:1])
    async with streaming(site, TAIL) as stream:
        await stream.line("ping")
    never.set()


async def test_the_end_of_its_topic_is_told(api: Api, site: ConsoleSite):
    await api.topic()
    async with streaming(site, TAIL) as stream:
        await stream.line("ping")
        await api.delete("/topics/orders")
        problem = await stream.line("problem")
    assert problem["detail"]


async def test_records_that_were_deleted_before_they_were_read_do_not_end_it(
    api: Api, site: ConsoleSite
):
    await api.topic()
    async with streaming(site, TAIL) as stream:
        await stream.line("ping")
        stream.stop_reading()
        await api.write(*(f"{each}" for each in range(500)))
        await api.delete("/topics/orders/partitions/0/records", 200, before=400)
        await api.write("the last")
        stream.go_on()
        record = await stream.line("record")
        while record["offset"] < 500:
            record = await stream.line("record")
    assert record["value"] == {"text": "the last"}


async def test_records_that_unpack_to_much_come_a_few_at_a_time_and_all_of_them(
    api: Api, site: ConsoleSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tailing, "AT_ONCE", tailing.AT_ONCE._replace(max_bytes=60_000))
    await api.topic(partitions=4)
    topic = await site.kafka.topic("orders")
    polled: list[int] = []
    poll = tailing.poll

    async def counted(*asked: Any) -> Any:
        found = await poll(*asked)
        polled.append(sum(len(record.value) for each in found.values() for record in each.records))
        return found

    monkeypatch.setattr(tailing, "poll", counted)
    async with streaming(site, TAIL) as stream:
        await stream.line("ping")
        stream.stop_reading()
        for number in range(4):
            records = [Record(n, 0, None, b"x" * 50_000) for n in range(3)]
            data = memoryview(bytearray(build(records, codec=Codec.GZIP)))
            await site.broker.log.append(
                Partition(topic.id, number), Batch(read_header(data), data)
            )
        stream.go_on()
        seen = [await stream.line("record") for _ in range(12)]
    assert len({(each["partition"], each["offset"]) for each in seen}) == 12
    assert max(polled) <= 100_000
