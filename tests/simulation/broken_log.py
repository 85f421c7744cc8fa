"""Rules of commit, settle and read to take out, one at a time."""

from dataclasses import replace as changed
from typing import Any

from samsa.aws.journal import HeadJournal
from samsa.log.core import Log
from samsa.ports import CommitResult, Extent, Partition, Unavailable

from .rules import BROKEN, Rules, instead, replace
from .setting import Kind, Setting


def far(setting: Setting) -> Setting:
    return changed(setting, kind=Kind.HEADS)


def near(setting: Setting) -> Setting:
    return changed(setting, kind=Kind.OBJECTS)


def crowded(setting: Setting) -> Setting:
    """Many producers, few of which may stay in the head."""
    bounds = changed(setting.bounds, few_producers=0, most_producers=0, idle_producer_ms=-1)
    return changed(
        far(setting), processes=3, idempotent=4, partitions=1, grouped=0, single=0, bounds=bounds
    )


# Commit


@instead("take an unknown outcome for stored")
def take_for_stored(log: Log) -> None:
    async def commit(original: Any, partition: Partition, extent: Extent, *rest: Any) -> Any:
        try:
            return await original(partition, extent, *rest)
        except Unavailable:
            return CommitResult(await log.head(partition), extent.base)

    replace(log._stores.journal, "commit", commit)


@instead("append again what may be stored")
def append_again(log: Log) -> None:
    async def commit(original: Any, *what: Any) -> Any:
        return await log._stores.retry(original, *what)

    replace(log._stores.journal, "commit", commit)


class Unfenced:
    """Heads of which a commit only reads whether its update has happened."""

    def __init__(self, heads: Any) -> None:
        self._heads = heads

    def __getattr__(self, name: str) -> Any:
        return getattr(self._heads, "head_state" if name == "count_sweep" else name)


@instead("look for an update that may still arrive", far)
def look_unfenced(log: Log) -> None:
    journal = log._stores.journal
    assert isinstance(journal, HeadJournal)
    journal._tools = journal._tools._replace(heads=Unfenced(journal._heads))


async def not_found(*_: Any) -> None:
    """In place of `Commit._in_index`."""


BROKEN["start again without looking in the index"] = Rules(
    tune=far, patches={"samsa.aws.commit.Commit._in_index": not_found}
)


def known_for_ever(self: Any, _: Any, producer_id: int) -> bool:
    """In place of `KnownHead.has_item`."""
    return producer_id in self._items


BROKEN["believe what was in an evicted producer's item"] = Rules(
    tune=crowded, patches={"samsa.aws.known_heads.KnownHead.has_item": known_for_ever}
)


# Settle


@instead("take entries out that are not in the index", far)
def take_out_early(log: Log) -> None:
    journal = log._stores.journal
    assert isinstance(journal, HeadJournal)

    async def index(original: Any, partition: Partition, known: Any, some: Any) -> None:
        entries = list(some)
        known.settled.update((entry.id, entry.base) for entry in entries)
        await original(partition, known, entries)

    replace(journal._tidier, "_index", index)


# Read


def as_guessed(data: Any, _: int) -> Any:
    """In place of `shift_offsets`."""
    return bytearray(data)


BROKEN["read the offsets that were guessed"] = Rules(
    patches={"samsa.log.extents.shift_offsets": as_guessed}
)


@instead("look for what was planned on in the index only", far)
def pass_over_the_tail(log: Log) -> None:
    async def extents_from(original: Any, partition: Partition, offset: int, *rest: Any) -> Any:
        found = await log._stores.ledger.extents(partition, offset, 4)
        return found or await original(partition, offset, *rest)

    replace(log.reader, "extents_from", extents_from)
