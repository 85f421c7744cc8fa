"""Getting around in the console: links, titles, focus, reload, the back button."""

import re

import pytest
from browser.console import Console
from playwright.async_api import Page, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")
VIEWS = ("Overview", "Topics", "Groups", "Transactions", "Security", "Cost")


async def test_the_address_of_the_broker_leads_to_the_overview(console: Console, page: Page):
    await page.goto(console.url)
    await expect(page).to_have_url(f"{console.url}/console/")
    await expect(page).to_have_title("Overview – Samsa")
    numbers = page.get_by_label("Now", exact=True)
    await expect(numbers).to_contain_text(re.compile(r"topics\d+"))
    await expect(page.get_by_role("banner")).to_contain_text("cluster")


async def test_each_view_has_its_title_and_its_heading_has_the_focus(console: Console, page: Page):
    await page.goto(console.url)
    for view in VIEWS[1:]:
        await page.get_by_role("navigation", name="Views").get_by_role("link", name=view).click()
        await expect(page).to_have_title(f"{view} – Samsa")
        await expect(page.get_by_role("heading", level=1, name=view)).to_be_focused()
        link = page.get_by_role("navigation", name="Views").get_by_role("link", name=view)
        await expect(link).to_have_attribute("aria-current", "page")


async def test_a_deep_link_is_good_after_a_reload_and_back_leads_back(
    console: Console, page: Page, topic: str
):
    await page.goto(console.view("topics"))
    await expect(page).to_have_title("Topics – Samsa")
    await page.goto(console.view("topics", topic, "configs"))
    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_have_text(f"Topic {topic}")
    await page.reload()
    await expect(page).to_have_title(f"{topic}: configs – Samsa")
    await expect(page.get_by_role("row", name=re.compile("retention.ms")).first).to_be_visible()
    await page.go_back()
    await expect(page).to_have_title("Topics – Samsa")


async def test_an_address_that_leads_nowhere_says_so(console: Console, page: Page):
    await page.goto(console.view("toString", "%"))
    await expect(page.get_by_role("heading", level=1)).to_have_text("No such page")
    await page.goto(console.view("topics", "no-such-topic"))
    await expect(page.get_by_role("alert")).to_contain_text("no-such-topic")


async def test_schemas_are_a_view_where_a_registry_answers(
    console: Console, page: Page, topic: str
):
    """Subjects, their versions, the schema."""
    for text in ('"string"', '{"type": "bytes"}'):
        console.ask("PUT", f"/config/{topic}-value", {"compatibility": "NONE"})
        console.ask("POST", f"/subjects/{topic}-value/versions", {"schema": text})
    schemas = page.get_by_role("navigation", name="Views").get_by_role("link", name="Schemas")
    await page.route(re.compile("/subjects"), lambda route: route.fulfill(status=404, json={}))
    await page.goto(console.url)
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    await expect(schemas).to_be_hidden()
    await page.unroute_all()
    await page.reload()
    await schemas.click()
    await page.get_by_role("link", name=f"{topic}-value").click()
    await expect(page.get_by_role("region", name="Schema")).to_contain_text("bytes")
    await expect(page.get_by_text("AVRO, id")).to_be_visible()


async def test_the_overview_shows_what_comes_and_goes(console: Console, page: Page, topic: str):
    await page.goto(console.url)
    written = page.get_by_label("Now", exact=True).locator("div", has_text="records written")
    console.write(topic, {"value": "x" * 1000})
    await expect(written.locator("dd")).to_have_text(re.compile(r"[1-9].* /s"))


async def test_cost_tells_a_month_here_and_elsewhere(console: Console, page: Page):
    await page.goto(console.view("cost"))
    await expect(page.get_by_role("region", name="So far")).to_be_visible()
    await expect(page.get_by_text(re.compile(r"^\$\d.* since \d{4}-"))).to_be_visible()


async def test_security_says_that_an_open_broker_is_open(console: Console, page: Page):
    await page.goto(console.view("security"))
    await expect(page.get_by_text("every client that reaches it may do everything")).to_be_visible()
