"""Commits of many at once to one partition. moto is not raced: it loses concurrent updates."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from functional.conftest import open_ledger
from functional.given import a_partition
from functional.journals import a_claim, a_journal, bytes_of, extents_of, put, words

from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.ports import Journal, Objects, Partition

RACERS, ROUNDS = 8, 12


@pytest.fixture(params=["sqlite", "dynamodb-local"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path, closing: list[Any]) -> Any:
    ledger = await open_ledger(request.param, tmp_path, request)
    closing.append(ledger)
    return ledger


def journals_of(ledger: Any, objects: Objects, count: int) -> list[Any]:
    if hasattr(ledger, "update_head"):
        return [a_journal(ledger, objects) for _ in range(count)]
    return [ObjectJournal(ledger, objects, words()) for _ in range(count)]


async def test_offsets_have_no_holes_and_no_two_owners(ledger: Any):
    partition, objects = await a_partition(ledger), MemoryObjects()
    journals = journals_of(ledger, objects, 3)
    stored: dict[int, tuple[bytes, int]] = {}

    async def write(number: int) -> None:
        for turn in range(ROUNDS):
            size = 5_000 if turn % 4 == 3 else 100 + 300 * (number % 3)
            data, offsets = f"{number} {turn} ".encode().ljust(size), number % 5 + 1
            result = await put(journals[number % 3], partition, data, offsets=offsets)
            assert result.base is not None
            assert result.base not in stored
            stored[result.base] = data, offsets

    await asyncio.gather(*map(write, range(RACERS)))
    for journal in journals:
        await journal.drain()
    found = await extents_of(ledger, partition)
    assert {extent.base: extent.offsets for extent in found} == {
        base: offsets for base, (_, offsets) in stored.items()
    }
    for extent in found:
        assert await bytes_of(extent, objects) == stored[extent.base][0]


async def test_readers_miss_nothing_while_many_append_and_settle(ledger: Any):
    partition, objects = await a_partition(ledger), MemoryObjects()
    journals = journals_of(ledger, objects, 3)
    done = False

    async def write(journal: Journal) -> None:
        for turn in range(4 * ROUNDS):
            await put(journal, partition, b"d" * (700 if turn % 2 else 50))
            await asyncio.sleep(0)  # SQLite answers without waiting

    async def settle() -> None:
        while not done:
            await journals[0].settle(partition)
            await asyncio.sleep(0)

    async def read() -> int:
        reads = 0
        while not done:
            await readable(ledger, partition)
            await asyncio.sleep(0)
            reads += 1
        return reads

    others = [asyncio.create_task(settle()), asyncio.create_task(read())]
    await asyncio.gather(*map(write, journals))
    done = True
    _, reads = await asyncio.gather(*others)
    assert reads > 5
    assert len(await extents_of(ledger, partition)) == 12 * ROUNDS
    for journal in journals:
        await journal.close()


async def readable(ledger: Any, partition: Partition) -> None:
    """Every offset below the end that the head showed is in its tail, or in the index after."""
    head = await ledger.head(partition)
    there = {entry.base for entry in head.tail}
    there |= {extent.base for extent in await ledger.extents(partition, 0, 10_000)}
    assert set(range(head.next_offset)) <= there


async def test_of_many_claims_after_one_version_exactly_one_holds(ledger: Any):
    partition = await a_partition(ledger)
    journals = journals_of(ledger, MemoryObjects(), RACERS)
    for after in range(5):
        states = [f"{after} {racer}".encode() for racer in range(RACERS)]
        results = await asyncio.gather(
            *(
                put(journal, partition, claims=[a_claim(1, state, after)])
                for journal, state in zip(journals, states, strict=True)
            )
        )
        bases = [result.base for result in results]
        assert sum(base is not None for base in bases) == 1
        assert all(result.lost == (1,) for result in results if result.base is None)
        winner = next(number for number, base in enumerate(bases) if base is not None)
        stored = await journals[0].producer(partition, 1)
        assert stored == (after + 1, states[winner], bases[winner])
    assert (await ledger.head(partition)).next_offset == 5
