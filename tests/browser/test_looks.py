"""For every eye and hand: screen readers, keys only, dark, and narrow."""

import re

import pytest
from browser.conftest import OpenPage
from browser.console import Console
from browser.test_groups import commit
from playwright.async_api import Page, expect
from support import needs

pytestmark = pytest.mark.asyncio(loop_scope="session")
SERIOUS = ("serious", "critical")
AXE = "async rules => (await axe.run({ ...rules, resultTypes: ['violations'] })).violations"
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
RULES = {"light": {}, "dark": {"runOnly": COLOURS}}
"""Colours are all that differs in the dark."""
NARROW = {"width": 360, "height": 740}
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def filled(console: Console) -> list[str]:
    """The views of a console that has something to show."""
    topic = console.create("a-" + "long." * 40 + "name", 12, retention_ms="3600000")
    header = {"name": "trace", "value": "a1b2"}
    for n in range(30):
        record = {"key": f"customer-{n}", "value": {"json": {"n": n}}, "headers": [header]}
        console.write(topic, record)
    commit(console, "readers", topic, p0=0, p1=0)
    records = ("topics", topic, "records")
    return [
        console.view("overview"),
        console.view("topics"),
        console.view("topics", topic),
        console.view("topics", topic, "configs"),
        console.view(*records),
        console.view(*records, query="mode=tail"),
        console.view(*records, query="mode=search&q=customer"),
        console.view("groups"),
        console.view("groups", "readers"),
        console.view("transactions"),
        console.view("security"),
        console.view("cost"),
    ]


async def show_all(page: Page, view: str) -> None:
    """The view with what opens in it."""
    await page.goto(view)
    await expect(page.locator(".view")).not_to_have_attribute("aria-busy", "true")
    if "/records" in view and "tail" not in view:
        await page.get_by_role("button", name="Details of").first.click()
    if await page.get_by_text("Show as table").count():
        await page.get_by_text("Show as table").first.click()


@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_axe_finds_nothing_serious_in_any_view(
    open_page: OpenPage, filled: list[str], colours: str
):
    axe = needs.axe().read_text()
    page = await open_page(color_scheme=colours)
    for view in filled:
        await show_all(page, view)
        assert await serious(page, axe, RULES[colours]) == [], view
    for view, button in ((filled[1], "Create a topic…"), (filled[4], "Write a record…")):
        await page.goto(view)
        await page.get_by_role("button", name=button).click()
        assert await serious(page, axe, RULES[colours]) == [], button


async def serious(page: Page, axe: str, rules: dict[str, object]) -> list[str]:
    await page.evaluate(axe)
    return [
        f"{each['id']}: {node['html']}"
        for each in await page.evaluate(AXE, rules)
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


async def test_no_view_is_wider_than_a_narrow_screen(open_page: OpenPage, filled: list[str]):
    page = await open_page(viewport=NARROW)
    for view in filled:
        await show_all(page, view)
        assert await page.evaluate(FITS), view


async def test_colours_follow_the_system_until_others_are_chosen_and_these_are_kept(
    console: Console, open_page: OpenPage
):
    page = await open_page(color_scheme="dark")
    await page.goto(console.url)
    assert await lightness(page) < 60
    await page.get_by_label("Colours").select_option("light")
    assert await lightness(page) > 200
    await page.reload()
    await expect(page.get_by_label("Colours")).to_have_value("light")
    assert await lightness(page) > 200


async def lightness(page: Page) -> int:
    back = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return int(re.findall(r"\d+", back)[0])


async def test_a_topic_is_created_and_written_to_by_keys_alone(
    console: Console, page: Page, new_name: str
):
    await page.goto(console.view("topics"))
    press = page.keyboard.press
    await press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    await tab_to(page, "Create a topic…")
    await press("Enter")
    await page.keyboard.type(new_name)
    await press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Topic {new_name}")
    await tab_to(page, "Records")
    await press("Enter")
    await tab_to(page, "Write a record…")
    await press("Enter")
    await page.keyboard.type("text")  # chooses it among the kinds of a key
    await press("Tab")
    await page.keyboard.type("a key")
    await tab_to(page, "Write")
    await press("Enter")
    await expect(page.get_by_role("dialog")).to_contain_text("at offset 0.")
    await press("Escape")
    await expect(page.get_by_role("button", name="Write a record…")).to_be_focused()
    await tab_to(page, "Live tail")
    await press("Enter")
    await expect(page).to_have_url(re.compile("mode=tail"))


async def tab_to(page: Page, text: str) -> None:
    """Presses Tab until that has the focus. A trap would end this."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == text:
            return
    raise AssertionError(f"no key leads to {text!r}")


async def test_a_plot_is_read_by_keys_and_as_a_table(console: Console, page: Page):
    """The hour is made up, so that it has a gap and round numbers."""
    points = [[n * 10_000, None if n in (1, 359) else n * 1000] for n in range(360)]
    series = [{"name": "connections", "points": points}]
    told = {"metric": "connections", "step_s": 10, "unit": "connections", "series": series}
    await page.route(re.compile("metric=connections"), lambda route: route.fulfill(json=told))
    await page.goto(console.url)
    plot = page.get_by_role("slider", name="Connections")
    await expect(plot).to_have_attribute("aria-valuetext", re.compile("connections: 358 k"))
    await plot.press("ArrowLeft")
    await expect(plot).to_have_attribute("aria-valuetext", re.compile("connections: 357 k"))
    await plot.press("Home")
    await plot.press("ArrowRight")
    await expect(plot).to_have_attribute("aria-valuetext", re.compile("connections: –"))
    figure = page.get_by_role("figure").filter(has=plot)
    ticks = await figure.locator(".tick.value").all_text_contents()
    assert ticks == ["0", "100 k", "200 k", "300 k", "400 k"]
    await figure.get_by_text("Show as table").click()
    await expect(figure.get_by_role("row")).to_have_count(361)
    await expect(figure.get_by_role("row").nth(1)).to_contain_text("–")
    await expect(figure.get_by_role("row").nth(2)).to_contain_text("358 k connections")
    box = await plot.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    await expect(figure.locator("figcaption .at")).to_have_text(re.compile(r"^at 0[56]:"))
