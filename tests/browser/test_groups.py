"""Groups and transactions in the console."""

import re
from urllib.parse import quote

import pytest
from browser.console import Console
from confluent_kafka import Consumer, Producer, TopicPartition
from playwright.async_api import Page, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")
SECONDS = 20


def commit(console: Console, group: str, topic: str, **partitions: int) -> None:
    settings = {"bootstrap.servers": console.bootstrap, "group.id": group}
    consumer = Consumer(settings)
    places = [TopicPartition(topic, int(p[1:]), offset) for p, offset in partitions.items()]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


@pytest.fixture
def group(console: Console, topic: str) -> str:
    """It has read some of two partitions."""
    for partition in (0, 1):
        console.write(topic, *({"value": f"v{n}", "partition": partition} for n in range(10)))
    name = f"readers of <b>{topic} & é"
    commit(console, name, topic, p0=4, p1=10)
    return name


async def test_a_group_is_found_with_its_lag(console: Console, page: Page, group: str, topic: str):
    group = f"{group}/../<slashes>"
    commit(console, group, topic, p0=4, p1=10)
    await page.goto(console.view("groups"))
    await page.get_by_label("Search").fill(group[-20:])
    row = page.get_by_role("row").filter(has_text=group)
    await expect(row).to_contain_text("6")
    await row.get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Group {group}")
    numbers = page.get_by_label("The group")
    await expect(numbers).to_contain_text(re.compile("lag6$"))
    await expect(page.get_by_role("region", name="Offsets")).to_contain_text("10")
    await expect(page.get_by_text("It has no members.")).to_be_visible()
    await expect(page.get_by_role("slider", name="Lag over time")).to_be_visible()


async def test_a_reset_is_shown_before_it_is_done(
    console: Console, page: Page, group: str, topic: str
):
    await page.goto(console.view("groups", group))
    await expect(page.get_by_label("The group")).to_contain_text("lag6")
    await page.get_by_role("button", name="Reset offsets…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Topic")).to_have_value(topic)
    await dialog.get_by_label("To", exact=True).select_option("shift")
    await dialog.get_by_label("Partitions").fill("0-x")
    await dialog.get_by_label("By so many records").fill("1.5")
    show = dialog.get_by_role("button", name="Show what would change")
    await show.click()
    await expect(dialog.get_by_text("Write all, or numbers")).to_be_visible()
    await dialog.get_by_label("Partitions").fill("0-1")
    await dialog.get_by_label("By so many records").fill("-2")
    await show.click()
    row = dialog.get_by_role("row", name=re.compile(topic))
    await expect(row).to_have_text([f"{topic}0428", f"{topic}11082"])
    assert lag(console, group) == 6  # nothing was done yet
    await dialog.get_by_label("Partitions").fill("0")
    await expect(row).to_have_count(0)  # what is shown no longer is what was asked
    await show.click()
    await dialog.get_by_role("button", name="Reset these offsets").click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_label("The group")).to_contain_text("lag8")
    assert lag(console, group) == 8


def lag(console: Console, group: str) -> int:
    listed = console.ask("GET", "/groups")["groups"]
    assert group in [each["group"] for each in listed]
    found: int = console.ask("GET", f"/groups/{quote(group, safe='')}")["lag"]
    return found


async def test_a_group_with_members_is_neither_reset_nor_deleted(
    console: Console, page: Page, group: str, topic: str
):
    member = Consumer(
        {"bootstrap.servers": console.bootstrap, "group.id": group, "client.id": "a <i>reader</i>"}
    )
    try:
        member.subscribe([topic])
        assert member.poll(SECONDS) is not None
        await page.goto(console.view("groups", group))
        members = page.get_by_role("region", name="Members")
        await expect(members).to_contain_text("a <i>reader</i>")
        await expect(members).to_contain_text(f"{topic} 0, 1, 2")
        await page.get_by_role("button", name="Reset offsets…").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Show what would change").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("members")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Delete the group…").click()
        await dialog.get_by_role("button", name="Delete it").click()
        await expect(dialog.get_by_role("alert")).not_to_be_empty()
        await dialog.get_by_role("button", name="Cancel").click()
    finally:
        member.close()
    await page.get_by_role("button", name="Delete the group…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    await expect(page).to_have_title("Groups – Samsa")
    assert group not in [each["group"] for each in console.ask("GET", "/groups")["groups"]]


async def test_a_transaction_that_hangs_is_aborted(
    console: Console, page: Page, topic: str, new_name: str
):
    producer = Producer({"bootstrap.servers": console.bootstrap, "transactional.id": new_name})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce(topic, b"never seen", partition=1)
    assert producer.flush(SECONDS) == 0
    await page.goto(console.view("transactions"))
    row = page.get_by_role("row", name=re.compile(new_name))
    await expect(row).to_contain_text(f"{topic}/1")
    abort = row.get_by_role("button", name=f"Abort the transaction of {new_name}")
    await abort.click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(abort).to_be_focused()
    await abort.click()
    await page.get_by_role("dialog").get_by_role("button", name="Abort it").click()
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(abort).to_be_hidden()
    await expect(row).not_to_contain_text("Ongoing")
