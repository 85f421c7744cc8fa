"""`samsa console`: the same page in a process of its own, for a cluster behind TCP."""

import re
from collections.abc import Iterator

import pytest
from browser.console import URL, Console
from browser.test_records import rows
from playwright.async_api import Page, expect
from support.broker import SAMSA
from support.servers.processes import running

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def elsewhere(console: Console, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("elsewhere") / "log"
    command = [str(SAMSA), "console", "--url", f"kafka://{console.bootstrap}"]

    def serving() -> str | None:
        found = URL.search(log.read_text())
        return found[0] if found else None

    with running([*command, "--listen", "127.0.0.1:0"], log, serving) as url:
        yield url


async def test_topics_records_and_groups_are_there_and_what_only_a_broker_knows_is_not(
    console: Console, elsewhere: str, page: Page, topic: str
):
    console.write(topic, {"key": "k", "value": "seen from elsewhere"})
    await page.goto(elsewhere)
    await expect(page.get_by_label("Now", exact=True)).to_contain_text(re.compile(r"topics\d+"))
    await expect(page.get_by_role("slider", name="Records written")).to_be_visible()
    await expect(page.get_by_role("slider", name="Connections")).to_have_count(0)
    await expect(page.get_by_role("link", name="Cost")).to_be_hidden()
    await page.goto(f"{elsewhere}/console/#/topics/{topic}")
    await expect(page.get_by_role("row", name=re.compile("^0 0 "))).to_be_visible()
    await expect(page.get_by_text("What the log is made of")).to_be_hidden()
    await page.goto(f"{elsewhere}/console/#/topics/{topic}/records")
    await expect(rows(page).first).to_contain_text("seen from elsewhere")
    await page.get_by_role("button", name="Write a record…").click()
    await page.get_by_role("dialog").get_by_label("Value", exact=True).fill("from elsewhere")
    await page.get_by_role("dialog").get_by_role("button", name="Write").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Stored in partition")
