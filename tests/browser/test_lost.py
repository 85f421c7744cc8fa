"""The console when things fail: a broker that stops, a request that fails, a hidden page."""

import re
from collections.abc import Iterator

import pytest
from browser.console import Console
from browser.test_records import rows
from playwright.async_api import Page, expect
from server.process import Samsa, a_samsa

pytestmark = pytest.mark.asyncio(loop_scope="session")
HIDE = """isHidden => {
  Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}"""


@pytest.fixture
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    """A broker that the test may stop."""
    with a_samsa(tmp_path_factory.mktemp("mortal"), "--http", "127.0.0.1:0") as samsa:
        yield samsa


async def test_the_page_goes_on_by_itself_when_a_broker_that_was_lost_is_back(
    mortal: Samsa, page: Page
):
    console = Console(mortal)
    console.create("orders")
    async with page.expect_response(re.compile("/tail")):
        await page.goto(console.view("topics", "orders", "records", query="mode=tail"))
    console.write("orders", {"value": "before"})
    await expect(rows(page)).to_have_count(1)
    await page.get_by_label("Partition", exact=True).fill("half-typ")
    mortal.stop()
    banner = page.get_by_text(re.compile("not reachable since .*, trying again"))
    await expect(banner).to_be_visible()
    await expect(rows(page)).to_have_count(1)
    async with page.expect_response(re.compile("/tail")):
        mortal.again("--http", console.url.removeprefix("http://"))
    await expect(banner).to_be_hidden()
    await expect(page.get_by_label("Partition", exact=True)).to_have_value("half-typ")
    await expect(page.get_by_label("Partition", exact=True)).to_be_focused()
    console.write("orders", {"value": "after"})
    await expect(rows(page).first).to_contain_text("after")


async def test_a_request_that_fails_does_not_stop_the_others(
    console: Console, page: Page, topic: str
):
    refusal = {"detail": "the store is <slow>", "next_step": "Ask again."}
    await page.route(
        re.compile("metric=(storage|latency)"),
        lambda route: route.fulfill(status=503, json=refusal),
    )
    await page.goto(console.url)
    alert = page.get_by_role("alert").filter(has_text="the store is <slow>")
    await expect(alert).to_have_count(3)
    await expect(alert.first).to_contain_text("Ask again.")
    await expect(page.get_by_label("Now", exact=True)).to_contain_text("connections")
    await expect(page.get_by_role("slider", name="Records written")).to_be_visible()
    await page.unroute_all()
    await page.evaluate(HIDE, True)
    await page.evaluate(HIDE, False)  # it asks at once when it is seen again
    await expect(alert).to_have_count(0)


async def test_a_hidden_page_asks_for_nothing(console: Console, page: Page):
    await page.clock.install()
    await page.goto(console.view("groups"))
    await expect(page.get_by_role("status").filter(has_text="group")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.evaluate(HIDE, True)
    await page.clock.fast_forward(120_000)
    assert asked == []
    async with page.expect_request(re.compile("/groups")):
        await page.evaluate(HIDE, False)


async def test_a_form_keeps_what_was_typed_while_the_page_asks_anew(
    console: Console, page: Page, topic: str
):
    await page.clock.install()
    await page.goto(console.view("topics"))
    await page.get_by_role("button", name="Create a topic…").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("half-typ")
    await expect(page.get_by_role("link", name=topic, exact=True)).to_be_visible()
    console.create(f"{topic}-later")
    async with page.expect_response(re.compile("/console/api/topics")):
        await page.clock.fast_forward(60_000)
    await page.keyboard.type("ed")
    await expect(page.get_by_role("dialog").get_by_label("Name")).to_have_value("half-typed")
