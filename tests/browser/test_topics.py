"""Topics in the console: create, find, change, delete."""

import re

import pytest
from browser.conftest import OpenPage
from browser.console import Console
from playwright.async_api import Page, expect
from server.process import a_samsa

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_topic_is_created_and_deleted(console: Console, page: Page, new_name: str):
    await page.goto(console.view("topics"))
    await page.get_by_role("button", name="Create a topic…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill(new_name)
    await dialog.get_by_label("Partitions").fill("4")
    await dialog.get_by_label("Other configs").fill("retention.ms=3600000")
    await dialog.get_by_role("button", name="Create").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Topic {new_name}")
    assert console.ask("GET", f"/topics/{new_name}")["partitions"] == 4
    assert console.ask("GET", f"/topics/{new_name}")["configs"] == {"retention.ms": "3600000"}
    await page.get_by_role("button", name="Delete the topic…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    await expect(page).to_have_title("Topics – Samsa")
    assert new_name not in [each["name"] for each in console.ask("GET", "/topics")["topics"]]


async def test_a_topic_that_cannot_be_created_is_told_why(console: Console, page: Page, topic: str):
    await page.goto(console.view("topics"))
    await page.get_by_role("button", name="Create a topic…").click()
    dialog = page.get_by_role("dialog")
    create = dialog.get_by_role("button", name="Create")
    await create.click()
    await expect(dialog.get_by_text("Write a name.")).to_be_visible()
    await expect(dialog.get_by_label("Name")).to_be_focused()
    await dialog.get_by_label("Name").fill("no spaces <b>")
    await dialog.get_by_label("Partitions").fill("0")
    await create.click()
    await expect(dialog.get_by_text("a whole number from 1")).to_be_visible()
    await dialog.get_by_label("Partitions").fill("")
    await create.click()
    await expect(dialog.get_by_role("alert")).to_contain_text("no spaces <b>")
    await dialog.get_by_label("Name").fill(topic)
    await create.click()
    await expect(dialog.get_by_role("alert")).to_contain_text("already exists")


async def test_partitions_are_added(console: Console, page: Page, topic: str):
    await page.goto(console.view("topics", topic))
    await expect(page.get_by_text("3 partitions", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Add partitions…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Partitions in all").fill("2")
    await dialog.get_by_role("button", name="Add").click()
    await expect(dialog.get_by_role("alert")).not_to_be_empty()
    await dialog.get_by_label("Partitions in all").fill("5")
    await dialog.get_by_role("button", name="Add").click()
    await expect(page.get_by_text("5 partitions", exact=True)).to_be_visible()


async def test_a_config_is_changed_and_set_back(console: Console, page: Page, topic: str):
    await page.goto(console.view("topics", topic, "configs"))
    row = page.get_by_role("row", name=re.compile("^retention.ms"))
    for value, shown in (("an hour", None), ("3600000", "3600000")):
        await row.get_by_role("button").click()
        await page.get_by_label("Value").fill(value)
        await page.get_by_role("dialog").get_by_role("button", name="Change", exact=True).click()
        if shown is None:
            await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(value)
            await page.keyboard.press("Escape")
    await expect(row).to_contain_text("3600000")
    assert console.ask("GET", f"/topics/{topic}")["configs"] == {"retention.ms": "3600000"}
    await row.get_by_role("button").click()
    await page.get_by_role("button", name="Back to the default").click()
    await expect(row).not_to_contain_text("3600000")
    assert console.ask("GET", f"/topics/{topic}")["configs"] == {}


async def test_a_log_shows_what_it_is_made_of(console: Console, page: Page, topic: str):
    for _ in range(3):
        console.write(topic, {"value": "x" * 1000, "partition": 1})
    await page.goto(console.view("topics", topic))
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="1", exact=True))
    await expect(row).to_contain_text("3.2")  # KB, with what a batch has beside its record
    await expect(page.get_by_text("What the log is made of")).to_be_visible()


async def test_without_topics_the_page_says_how_to_begin(
    open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory
):
    with a_samsa(tmp_path_factory.mktemp("empty"), "--http", "127.0.0.1:0") as samsa:
        page = await open_page()
        await page.goto(Console(samsa).view("topics"))
        await expect(page.get_by_text("kcat -b 127.0.0.1:9092 -t numbers -P")).to_be_visible()
        await page.goto(Console(samsa).view("groups"))
        await expect(page.get_by_text("There are no consumer groups yet")).to_be_visible()
        await page.context.close()
