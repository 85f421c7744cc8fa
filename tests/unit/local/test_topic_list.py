"""The SQLite ledger's list of all topics is read once, and then followed."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from samsa.local import topic_list
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Topic


def a_topic(name: str) -> Topic:
    return Topic(name, uuid4(), 1, 1, {})


class Site:
    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "ledger.db")
        self.mine = SqliteLedger(self.path)
        self.others = SqliteLedger(self.path)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    yield site
    await site.mine.close()
    await site.others.close()


async def test_what_did_not_change_is_the_same_list(site: Site):
    await site.mine.create_topic(a_topic("a"))
    assert await site.mine.topics() is await site.mine.topics()


@pytest.mark.parametrize("who", ["mine", "others"])
async def test_every_change_of_every_process_is_seen_at_once(site: Site, who: str):
    first, second, third = a_topic("b"), a_topic("c"), a_topic("a")
    writer: SqliteLedger = getattr(site, who)
    assert await site.mine.topics() == []
    for topic in (first, second, third):
        await writer.create_topic(topic)
    assert await site.mine.topics() == [third, first, second]
    wider = replace(first, partitions=3, configs={"retention.ms": "1"})
    await writer.change_topic(first, wider)
    assert await site.mine.topics() == [third, wider, second]
    await writer.delete_topic(second)
    assert await site.mine.topics() == [third, wider]
    again = a_topic("c")
    await writer.create_topic(again)
    assert await site.mine.topics() == [third, wider, again]


async def test_only_what_changed_is_read(site: Site, monkeypatch: pytest.MonkeyPatch):
    for number in range(100):
        await site.mine.create_topic(a_topic(f"t{number}"))
    await site.mine.topics()
    read: list[str] = []
    row_to_topic = topic_list.row_to_topic
    monkeypatch.setattr(
        topic_list, "row_to_topic", lambda row: (read.append(row[0]), row_to_topic(row))[1]
    )
    await site.others.create_topic(a_topic("new"))
    assert len(await site.mine.topics()) == 101
    assert read == ["new"]


async def test_who_missed_more_changes_than_are_kept_reads_everything(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    await site.mine.create_topic(a_topic("a"))
    assert len(await site.mine.topics()) == 1
    site.others._db.execute("DELETE FROM topic_changes")
    for number in range(3):
        await site.others.create_topic(a_topic(f"b{number}"))
    site.others._db.execute("DELETE FROM topic_changes WHERE name = 'b0'")
    assert [topic.name for topic in await site.mine.topics()] == ["a", "b0", "b1", "b2"]


async def test_changes_are_noted_in_bounded_number(site: Site):
    await site.mine.create_topic(a_topic("a"))
    execute = site.mine._db.execute
    execute("UPDATE sqlite_sequence SET seq = seq + 20000 WHERE name = 'topic_changes'")
    await site.mine.create_topic(a_topic("b"))
    assert execute("SELECT name FROM topic_changes").fetchall() == [("b",)]
    assert [topic.name for topic in await site.mine.topics()] == ["a", "b"]
