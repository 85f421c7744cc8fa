"""Records in the console: browse, show, write, copy and download them."""

import base64
import json
import re
from pathlib import Path

import pytest
from browser.conftest import OpenPage
from browser.console import Console
from playwright.async_api import Locator, Page, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")
HOSTILE = "<img src=x onerror=alert(1)> \u202eenil\u202c مرحبا 🚀"
LARGE_KEY = "k" * 32_768


def rows(page: Page) -> Locator:
    """Of records, without their details."""
    return page.locator("table.records > tbody > tr:not(.details)")


async def test_records_are_browsed_from_the_newest_on_and_more_of_them_follow(
    console: Console, page: Page, topic: str
):
    console.write(topic, *({"value": f"v{n:03}", "timestamp": 1000 + n} for n in range(120)))
    await page.goto(console.view("topics", topic, "records"))
    await expect(rows(page)).to_have_count(50)
    await expect(rows(page).first).to_contain_text("v119")
    more = page.get_by_role("button", name="Read more")
    await more.click()
    await expect(rows(page)).to_have_count(100)
    await more.click()
    await expect(rows(page)).to_have_count(120)
    await expect(rows(page).last).to_contain_text("v000")
    await expect(more).to_be_hidden()
    await expect(page.get_by_text("120 records, and no more there")).to_be_visible()


async def test_records_are_found_by_offset_by_time_and_by_key(
    console: Console, page: Page, topic: str
):
    for n in range(6):
        record = {"key": f"k{n % 2}", "value": f"v{n}", "partition": 1, "timestamp": n * 60_000}
        console.write(topic, record)
    await page.goto(console.view("topics", topic, "records"))
    read = page.get_by_role("button", name="Read", exact=True)
    await page.get_by_label("From", exact=True).select_option("offset")
    await page.get_by_label("Offset", exact=True).fill("4")
    await page.get_by_label("Partition", exact=True).fill("1")
    await read.click()
    await expect(rows(page)).to_have_count(2)
    await expect(rows(page).first).to_contain_text("v4")
    await page.get_by_label("From", exact=True).select_option("beginning")
    await page.get_by_label("Key").fill("k1")
    await read.click()
    await expect(rows(page)).to_have_count(3)
    await page.get_by_label("Key").fill("")
    await page.get_by_label("From", exact=True).select_option("time")
    await page.get_by_label("Time").fill("1970-01-01T05:35:00")
    await read.click()
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page).first).to_contain_text("v5")
    await expect(rows(page).first.get_by_role("time")).to_have_text("1970-01-01 05:35:00")
    await expect(rows(page).first.get_by_role("time")).to_have_attribute(
        "title", "1970-01-01T00:05:00.000Z, 300000 ms since 1970"
    )
    await page.reload()
    await expect(page.get_by_label("Time")).to_have_value(re.compile("^1970-01-01T05:35"))


async def test_wrong_places_are_told_and_nothing_is_asked(console: Console, page: Page, topic: str):
    await page.goto(console.view("topics", topic, "records"))
    await expect(page.get_by_text("There are no records yet")).to_be_visible()
    read = page.get_by_role("button", name="Read", exact=True)
    await page.get_by_label("Partition", exact=True).fill("first")
    await page.get_by_label("At most").fill("many")
    await page.get_by_label("From", exact=True).select_option("offset")
    await page.get_by_label("Offset", exact=True).fill("-1")
    await read.click()
    for said in ("Write all, or", "An offset is a whole number", "from 1 to 1000"):
        await expect(page.get_by_text(said)).to_be_visible()
    await expect(page.get_by_label("Partition", exact=True)).to_be_focused()
    assert "partition=" not in page.url
    await page.goto(console.view("topics", topic, "records", query="partition=7"))
    await expect(page.get_by_role("alert")).to_contain_text(re.compile("partition", re.I))
    await page.goto(console.view("topics", topic, "records", query="partition=0&from=gibberish"))
    await expect(page.get_by_role("alert").first).to_contain_text("gibberish")


async def test_what_a_record_holds_is_text_and_never_a_part_of_the_page(
    console: Console, page: Page, topic: str
):
    header = {"name": "<script>alert(2)</script>", "value": HOSTILE}
    console.write(topic, {"key": LARGE_KEY, "value": HOSTILE, "headers": [header]})
    await page.goto(console.view("topics", topic, "records"))
    await expect(rows(page).first).to_contain_text("<img src=x onerror=alert(1)>")
    await page.get_by_role("button", name="Details of").click()
    assert await page.get_by_role("region", name="Key").inner_text() == LARGE_KEY
    assert await page.get_by_role("region", name="Value").inner_text() == HOSTILE
    await expect(page.get_by_role("region", name="Headers")).to_contain_text("<script>alert(2)")
    assert await page.locator("main img, main script").count() == 0
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_bytes_are_shown_as_json_text_hex_and_base64(
    console: Console, page: Page, topic: str
):
    value = '{"id":12345678901234567890,"list":[1.10,{}]}'
    console.write(topic, {"value": value})
    await page.goto(console.view("topics", topic, "records"))
    await page.get_by_role("button", name="Details of").click()
    shown = page.get_by_role("region", name="Value")
    await expect(shown).to_have_text(
        '{\n  "id": 12345678901234567890,\n  "list": [\n    1.10,\n    {}\n  ]\n}'
    )
    choice = page.get_by_label("Show as")
    await choice.select_option("text")
    await expect(shown).to_have_text(value)
    await choice.select_option("hex")
    await expect(shown).to_contain_text("00000000  7b 22 69 64")
    await choice.select_option("base64")
    await expect(shown).to_have_text(base64.b64encode(value.encode()).decode())
    await page.reload()
    await expect(choice).to_have_value("base64")


async def test_what_a_schema_describes_is_shown_as_the_broker_decodes_it(
    console: Console, page: Page, topic: str
):
    schema = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
    new = {"schema": json.dumps(schema)}
    console.ask("POST", f"/subjects/{topic}-value/versions", new)
    console.write(topic, {"value": {"avro": {"id": 1_234_567_890_123_456_789}}})
    await page.goto(console.view("topics", topic, "records"))
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page)).not_to_contain_text("1234567890123456789")
    await page.get_by_label("Show as").select_option("by schema")
    await expect(rows(page)).to_contain_text('{"id":1234567890123456789}')


async def test_a_record_is_written_and_a_copy_of_it_with_other_bytes(
    console: Console, page: Page, topic: str
):
    await page.goto(console.view("topics", topic, "records"))
    await page.get_by_role("button", name="Write a record…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Key", exact=True).fill("customer-7")
    await dialog.get_by_label("Value is").select_option("json")
    await dialog.get_by_label("Value", exact=True).fill('{"total": 12')
    await dialog.get_by_role("button", name="Write").click()
    await expect(dialog.get_by_text("This is no JSON.")).to_be_visible()
    await dialog.get_by_label("Value", exact=True).fill('{"total": 12}')
    await dialog.get_by_role("button", name="Add a header").click()
    await dialog.get_by_label("Name of header 1").fill("trace")
    await dialog.get_by_label("Value of header 1").fill("a1b2")
    await dialog.get_by_label("Partition").fill("2")
    await dialog.get_by_role("button", name="Write").click()
    await expect(dialog.get_by_text("Stored in partition 2 at offset 0.")).to_be_visible()
    await dialog.get_by_role("link", name="0").click()
    await page.get_by_role("button", name="Details of").click()
    await page.get_by_role("button", name="Write a copy…").click()
    await expect(dialog.get_by_label("Key", exact=True)).to_have_value("customer-7")
    await dialog.get_by_label("Value is").select_option("base64")
    await dialog.get_by_label("Value", exact=True).fill("/wA=")
    await dialog.get_by_role("button", name="Write").click()
    await expect(dialog.get_by_text("at offset 1.")).to_be_visible()
    found = console.ask("GET", f"/topics/{topic}/partitions/2/records")["records"]
    assert [each["value"] for each in found] == [{"text": '{"total": 12}'}, {"base64": "/wA="}]
    assert all(each["headers"] == [{"name": "trace", "value": {"text": "a1b2"}}] for each in found)


async def test_a_copy_has_the_same_bytes(console: Console, page: Page, topic: str):
    record = {
        "key": {"base64": ""},
        "value": {"base64": "/wA="},
        "headers": [{"name": "n", "value": {"base64": "/w=="}}, {"name": "null", "value": None}],
        "partition": 1,
    }
    console.write(topic, record)
    await page.goto(console.view("topics", topic, "records"))
    await page.get_by_role("button", name="Details of").click()
    await page.get_by_role("button", name="Write a copy…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Write").click()
    await expect(page.get_by_role("dialog").get_by_text("at offset 1.")).to_be_visible()
    path = f"/topics/{topic}/partitions/1/records?encoding=base64"
    first, copy = console.ask("GET", path)["records"]
    assert [copy[part] for part in ("key", "value", "headers")] == [
        first[part] for part in ("key", "value", "headers")
    ]
    assert (first["key"], first["headers"][1]["value"]) == ({"base64": ""}, None)


async def test_records_are_downloaded_and_copied(
    console: Console, open_page: OpenPage, topic: str, tmp_path: Path
):
    page = await open_page(permissions=["clipboard-read", "clipboard-write"])
    large = "x" * 100_000
    console.write(topic, {"key": "k", "value": large, "timestamp": 7, "partition": 0})
    await page.goto(console.view("topics", topic, "records"))
    await page.get_by_role("button", name="Details of").click()
    await expect(page.get_by_text("This record is longer than what is shown")).to_be_visible()
    async with page.expect_download() as whole:
        await page.get_by_role("link", name="Download the value").click()
    await (await whole.value).save_as(tmp_path / "value")
    assert (tmp_path / "value").read_text() == large
    async with page.expect_download() as listed:
        await page.get_by_role("button", name="Download these records").click()
    await (await listed.value).save_as(tmp_path / "records")
    line = json.loads((tmp_path / "records").read_text())
    assert (line["key"], line["timestamp"], line["truncated"]) == ({"text": "k"}, 7, True)
    await page.get_by_role("button", name="Copy the record as JSON").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = json.loads(await page.evaluate("navigator.clipboard.readText()"))
    assert copied == line
