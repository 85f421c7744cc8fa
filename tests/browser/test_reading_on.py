"""Streams in the console: the live tail, and a search that stops when it is told to."""

import re

import pytest
from browser.console import Console
from browser.test_records import rows
from playwright.async_api import Page, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_tail_shows_records_as_they_come_and_disturbs_nobody_who_reads(
    console: Console, page: Page, topic: str
):
    console.write(topic, {"value": "before"})
    async with page.expect_response(re.compile("/tail")):
        await page.goto(console.view("topics", topic, "records", query="mode=tail"))
    await expect(
        page.get_by_role("main").get_by_text("Following. No record came yet.")
    ).to_be_visible()
    console.write(topic, {"value": "first", "partition": 0})
    await expect(rows(page)).to_have_count(1)
    opened = page.get_by_role("button", name="Details of partition 0, offset")
    await opened.first.click()
    for n in range(5):
        console.write(topic, {"value": f"later {n}", "partition": 1})
    await expect(rows(page)).to_have_count(6)
    await expect(rows(page).first).to_contain_text("later 4")
    await expect(page.get_by_role("region", name="Value")).to_have_text("first")
    await expect(opened.first).to_be_focused()
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("main").get_by_text("Stopped. 6 records came.")).to_be_visible()
    console.write(topic, {"value": "not seen"})
    await page.get_by_role("button", name="Follow").click()
    await expect(
        page.get_by_role("main").get_by_text("Following. No record came yet.")
    ).to_be_visible()


async def test_the_tail_keeps_500_rows_however_many_records_come(
    console: Console, page: Page, topic: str
):
    async with page.expect_response(re.compile("/tail")):
        await page.goto(console.view("topics", topic, "records", query="mode=tail"))
    for _ in range(3):
        console.write(topic, *({"value": f"v{n}", "partition": 2} for n in range(300)))
    await expect(page.get_by_role("main").get_by_text("The newest 500 are here.")).to_be_visible()
    await expect(rows(page)).to_have_count(500)


async def test_a_search_finds_text_and_patterns_where_it_is_told_to_look(
    console: Console, page: Page, topic: str
):
    console.write(
        topic,
        {"key": "needle", "value": "hay"},
        {"value": "a Needle"},
        {"value": "a needle (7)"},
        {"value": "hay", "headers": [{"name": "needle", "value": ""}]},
    )
    await page.goto(console.view("topics", topic, "records", query="mode=search"))
    search = page.get_by_role("button", name="Search", exact=True)
    await search.click()
    await expect(page.get_by_role("main").get_by_text("Write what to search for.")).to_be_visible()
    await page.get_by_label("Search for").fill("needle")
    await search.click()
    await expect(
        page.get_by_role("main").get_by_text("Searched 4 records, to the end: found 3.")
    ).to_be_visible()
    await page.get_by_label("key", exact=True).uncheck()
    await page.get_by_label("headers").uncheck()
    await page.get_by_label("Search for").fill("[Nn]eedle( .7.)?$")
    await page.get_by_label("as a regular expression").check()
    await search.click()
    await expect(
        page.get_by_role("main").get_by_text("Searched 4 records, to the end: found 2.")
    ).to_be_visible()
    await page.reload()
    await expect(
        page.get_by_role("main").get_by_text("Searched 4 records, to the end: found 2.")
    ).to_be_visible()
    await page.get_by_label("Search for").fill("(")
    await search.click()
    await expect(page.get_by_role("alert").first).to_contain_text("regular expression")


async def test_a_search_stops_when_it_is_told_to_and_goes_on_from_there(
    console: Console, page: Page, topic: str
):
    """What the broker sends is held back after the first lines, so that the search cannot end."""
    console.write(topic, *({"value": f"needle {n}", "partition": 0} for n in range(600)))
    await page.goto(console.view("topics", topic, "records", query="mode=search"))
    await page.evaluate(HOLD_BACK)
    await page.get_by_label("Search for").fill("needle")
    await page.get_by_role("button", name="Search", exact=True).click()
    await expect(page.get_by_role("main").get_by_text("found 2.")).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await expect(
        page.get_by_role("main").get_by_text("Stopped. Found 2 until then.")
    ).to_be_visible()
    assert await page.evaluate("heldBackSignal.aborted")
    await page.evaluate("window.fetch = plainFetch")
    await page.get_by_role("button", name="Search on from there").click()
    await expect(
        page.get_by_role("main").get_by_text("so many as are shown at a time: found 500.")
    ).to_be_visible()
    await page.get_by_role("button", name="Search on from there").click()
    await expect(page.get_by_role("main").get_by_text("to the end: found 98.")).to_be_visible()
    await expect(rows(page)).to_have_count(600)


HOLD_BACK = """() => {
  window.plainFetch = window.fetch
  window.fetch = (address, options) => {
    if (!String(address).includes('/search')) return plainFetch(address, options)
    window.heldBackSignal = options.signal
    const record = offset => ({ partition: 0, offset, timestamp: 0, key: null,
      value: { text: 'needle' }, headers: [], size: 6, transactional: false, truncated: false })
    const lines = [{ record: record(0) }, { record: record(1) },
      { progress: { searched: 2, bytes: 12, of: 600, at: { 0: 2 } } }]
    const body = new ReadableStream({ start(controller) {
      const text = lines.map(line => JSON.stringify(line) + '\\n').join('')
      controller.enqueue(new TextEncoder().encode(text))
      options.signal.addEventListener('abort', () => controller.error(options.signal.reason))
    } })
    return Promise.resolve(new Response(body))
  }
}"""
