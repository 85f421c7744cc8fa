"""The console with 10,000 topics, and a topic with 1,000 partitions."""

import re
from collections.abc import Iterator

import pytest
from browser.console import Console
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.async_api import Page, expect
from server.process import a_samsa

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOPICS, AT_ONCE, PARTITIONS = 10_000, 1_000, 1_000
SECONDS = 60


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with a_samsa(tmp_path_factory.mktemp("crowded"), "--http", "127.0.0.1:0") as samsa:
        console = Console(samsa)
        admin = AdminClient({"bootstrap.servers": console.bootstrap})
        for first in range(0, TOPICS, AT_ONCE):
            some = [NewTopic(f"topic-{n:05}", 1) for n in range(first, first + AT_ONCE)]
            for made in admin.create_topics(some, request_timeout=SECONDS).values():
                made.result(SECONDS)
        console.create("wide", PARTITIONS)
        yield console


async def test_topics_are_paged_sorted_and_found(crowded: Console, page: Page):
    await page.goto(crowded.view("topics"))
    main = page.get_by_role("main")
    await expect(main.get_by_text("1–50 of 10,001 topics")).to_be_visible()
    await page.get_by_role("button", name="Next page").click()
    await expect(main.get_by_text("51–100 of 10,001 topics")).to_be_visible()
    await expect(page.get_by_role("link", name="topic-00050")).to_be_visible()
    crowded.write("topic-07777", {"value": "x" * 10_000})
    await page.get_by_label("Search").fill("7777")
    await expect(main.get_by_text("1 topic", exact=True)).to_be_visible()
    await expect(page.get_by_role("row").nth(1)).to_contain_text("10.1 KB")
    await page.get_by_label("Search").fill("")
    await page.get_by_role("button", name="size").click()
    await expect(page.get_by_role("row").nth(1)).to_contain_text("topic-07777")
    await expect(page.get_by_role("columnheader", name="size")).to_have_attribute(
        "aria-sort", "descending"
    )
    await page.get_by_label("Search").fill("777")
    await expect(page).to_have_url(re.compile("search=777&sort=size&order=desc"))


async def test_partitions_are_paged(crowded: Console, page: Page):
    await page.goto(crowded.view("topics", "wide"))
    main = page.get_by_role("main")
    await expect(main.get_by_text("1–100 of 1,000 partitions")).to_be_visible()
    await page.get_by_role("button", name="Next page").click()
    await expect(page.get_by_role("link", name="199")).to_be_visible()
    crowded.write("wide", {"value": "in the last one", "partition": PARTITIONS - 1})
    await page.goto(crowded.view("topics", "wide", "records"))
    await expect(page.get_by_text("in the last one")).to_be_visible()
