"""Wherever the bytes of an append are, and whatever offsets they carry, they are read alike.

They may be in an object or in the ledger; their entry in the index, in the head's tail, or in both;
and the offsets in them are those that the writer guessed.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from unit.log.compacting import TIME, all_records
from unit.log.given import PARTITION, a_batch
from unit.log.tailed import Tailed, a_tailed_log, keep_in_the_ledger

from samsa.local.folder import FolderObjects
from samsa.local.memory import MemoryObjects
from samsa.log.compact_plan import Compaction
from samsa.log.layout import Batch
from samsa.log.read import OutOfRange
from samsa.log.retain import Retention
from samsa.log.times import Found
from samsa.ports import Appended, FileRange
from samsa.ports.joining import MARK_EVERY
from samsa.records import Record, build, headers, read_header

BASES = (0, 4, 10, 30)
END = 31
LARGE = MARK_EVERY // 3
KEYS = 6


class Places(NamedTuple):
    inline: tuple[int, ...] = ()
    """The bases of what is kept in the ledger."""
    tail: tuple[int, ...] = ()
    both: bool = False
    """What is in the tail is in the index too."""
    is_shifted: bool = True
    remote: bool = False
    folder: bool = False


PLACES = {
    "right offsets": Places(is_shifted=False),
    "objects": Places(),
    "objects far away": Places(remote=True),
    "files": Places(folder=True),
    "ledger": Places(inline=BASES),
    "ledger, with right offsets": Places(inline=BASES, is_shifted=False),
    "some in the ledger": Places(inline=(4, 30)),
    "tail": Places(tail=BASES),
    "tail with gaps": Places(tail=(0, 10)),
    "end of the tail, in the ledger": Places(inline=(30,), tail=(10, 30)),
    "ledger, tail with gaps": Places(inline=BASES, tail=(4, 30)),
    "tail and index": Places(inline=(4,), tail=(4, 10, 30), both=True),
}


def numbered(first: int, records: int = 2, size: int = 1) -> Batch:
    """Records that say which offset they will have."""
    made = [
        Record(
            n, TIME + first + n, b"k%d" % ((first + n) % KEYS), b"%d" % (first + n) + b"." * size
        )
        for n in range(records)
    ]
    data = bytearray(build(made))
    return Batch(read_header(data), memoryview(data))


async def a_log_in(places: Places, folder: Path) -> Tailed:
    """[0, 4), [4, 10), [10, 30) with marks, and [30, 31), in batches of two records."""
    given = await a_tailed_log(sweep_grace_ms=1_000)
    if places.folder:
        given.objects = FolderObjects(str(folder))  # type: ignore[assignment]
        given = given.another()
    given.clock.now = TIME
    for base, end in zip(BASES, (*BASES[1:], END), strict=True):
        size = LARGE if base == 10 else 1
        batches = [numbered(at, min(2, end - at), size) for at in range(base, end, 2)]
        guess = base // 2 if places.is_shifted else base
        outcomes = await given.append(*batches, guess=guess)
        assert [outcome.offset for outcome in outcomes] == [*range(base, end, 2)]
    assert [e.shift > 0 for e in await given.index()] == [False, *[places.is_shifted] * 3]
    await keep_in_the_ledger(given, *places.inline)
    await given.ledger.unsettle(*places.tail)
    if places.both:
        for entry in given.ledger.tail:
            await given.ledger.index(PARTITION, entry)
    return given


@pytest.fixture(params=PLACES.values(), ids=PLACES.keys())
async def given(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Tailed]:
    monkeypatch.setattr(MemoryObjects, "remote", request.param.remote)
    given = await a_log_in(request.param, tmp_path)
    yield given
    await given.objects.close()


async def read(given: Tailed, offset: int, max_bytes: int = 10**6) -> list[tuple[int, int]]:
    """As a consumer reads that goes on where its answer ended: offsets, and what records say."""
    found: list[tuple[int, int]] = []
    while (plan := await given.log.plan(PARTITION, offset, max_bytes)).ranges:
        pieces = await given.log.load(plan.ranges)
        sizes = [len(piece) for piece in pieces]
        assert sizes == [one.length for one in plan.ranges]
        batches = b"".join(p.read() if isinstance(p, FileRange) else p for p in pieces)
        placed = headers(batches)
        assert placed[0][1].base_offset <= offset < placed[0][1].next_offset
        assert len(batches) <= max_bytes or len(placed) == 1
        offset = placed[-1][1].next_offset
        assert offset == plan.ranges[-1].end_offset
        found += [(r.offset, int((r.value or b"").rstrip(b"."))) for r in all_records(batches)]
    return found


def alike(offsets: range | list[int]) -> list[tuple[int, int]]:
    return [(offset, offset) for offset in offsets]


@pytest.mark.parametrize("max_bytes", [1, 200, 30_000, 10**6])
async def test_a_reader_may_begin_anywhere_and_be_cut_anywhere(given: Tailed, max_bytes: int):
    for offset in range(END):
        assert await read(given, offset, max_bytes) == alike(range(offset - offset % 2, END))
    assert await read(given, END) == []


async def test_every_record_is_found_by_its_time(given: Tailed):
    times = given.log.times
    for offset in range(END):
        assert await times.at(PARTITION, TIME + offset) == Found(offset, TIME + offset)
    assert await times.at(PARTITION, TIME + END) is None
    assert await times.newest(PARTITION) == Found(END - 1, TIME + END - 1)


async def test_a_merged_segment_carries_the_right_offsets(given: Tailed):
    await given.journal.settle(PARTITION)
    assert await given.log.merger.copy(PARTITION, await given.index())
    (segment,) = await given.index()
    assert (segment.base, segment.end, segment.shift, segment.data) == (0, END, 0, b"")
    stored = bytes(await given.objects.get(segment.key))
    assert [r.offset for r in all_records(stored)] == [*range(END)]
    assert len(stored) == segment.size
    for offset in range(END):
        assert await read(given, offset, 200) == alike(range(offset - offset % 2, END))
        found = await given.log.times.at(PARTITION, TIME + offset)
        assert found == Found(offset, TIME + offset)


async def test_a_compacted_segment_carries_the_right_offsets(given: Tailed):
    rules = Compaction(dirty_ratio=0, active_ms=0, max_lag_ms=1)
    given.clock.now += 60_000
    done = await given.log.compactor.compact(PARTITION, rules)
    assert done is not None
    assert done.finished
    assert await read(given, 0) == alike([*range(END - KEYS, END)])
    assert {(e.shift, e.data) for e in await given.index()} == {(0, b"")}


async def test_records_are_deleted_from_inside(given: Tailed):
    for start in (1, 3, 4, 5, 11, 29, 30):
        assert await given.log.retainer.delete_before(PARTITION, start) == start
        with pytest.raises(OutOfRange):
            await given.log.plan(PARTITION, start - 1, 100)
        assert await read(given, start) == alike(range(start - start % 2, END))
        assert await given.log.times.at(PARTITION, 0) == Found(start, TIME + start)
        assert await given.log.times.newest(PARTITION) == Found(END - 1, TIME + END - 1)


async def test_what_is_below_the_start_goes_and_what_the_start_is_in_stays(given: Tailed):
    await given.log.retainer.delete_before(PARTITION, 11)
    await given.journal.settle(PARTITION)
    for _ in range(3):
        await given.log.retainer.retain(PARTITION, Retention())
        given.clock.now += 1_000
    assert [extent.base for extent in await given.index()] == [10, 30]
    assert len(await given.keys()) == len([e for e in await given.index() if e.key])
    assert await read(given, 11) == alike(range(10, END))


async def test_the_newest_is_found_above_the_start(given: Tailed):
    await given.append(_stamped(TIME + 99, TIME + 5, TIME + 50), guess=0)
    await given.ledger.unsettle(END)
    await given.append(_stamped(TIME + 50, TIME + 4), guess=0)
    assert await given.log.times.newest(PARTITION) == Found(END, TIME + 99)
    await given.log.retainer.delete_before(PARTITION, END + 1)
    assert await given.log.times.newest(PARTITION) == Found(END + 2, TIME + 50)
    await given.log.retainer.delete_before(PARTITION, END + 3)
    assert await given.log.times.newest(PARTITION) == Found(END + 3, TIME + 50)


def _stamped(*timestamps: int) -> Batch:
    data = bytearray(build([Record(n, stamp, None, b"v") for n, stamp in enumerate(timestamps)]))
    return Batch(read_header(data), memoryview(data))


async def test_all_is_counted_once(given: Tailed):
    indexed = {e.base: e for e in (*await given.index(), *given.ledger.tail)}.values()
    size = sum(extent.size for extent in indexed)
    assert await given.log.retainer.size(PARTITION) == size
    census = await given.log.janitor.look(PARTITION)
    assert (census.size, census.objects) == (size, len([e for e in indexed if e.key]))


async def test_retention_by_size_goes_from_extent_to_extent(given: Tailed):
    size = await given.log.retainer.size(PARTITION)
    first = min((*await given.index(), *given.ledger.tail)).size
    rules = Retention(max_bytes=size - first)
    assert await given.log.retainer.retain(PARTITION, rules) == BASES[1]
    assert await read(given, BASES[1]) == alike(range(BASES[1], END))


async def test_retention_by_time_goes_from_extent_to_extent(given: Tailed):
    given.clock.now = TIME + 1_000
    rules = Retention(max_age_ms=1_000 - BASES[2])
    assert await given.log.retainer.retain(PARTITION, rules) == BASES[2]
    assert await read(given, BASES[2]) == alike(range(BASES[2], END))


async def test_what_wakes_a_reader_carries_the_offsets_that_were_decided(given: Tailed):
    await given.ledger.watch(PARTITION, "somebody", given.clock.now + 1_000)
    woken: list[tuple[int, int, list[int]]] = []

    def wake(_: object, watchers: object, appended: Appended) -> None:
        bases = [read_header(part).base_offset for part in appended.parts]
        woken.append((appended.base, appended.end, bases))

    given.stores.wakeups.wake = wake  # type: ignore[method-assign]
    await given.append(a_batch(b"a", b"b"), a_batch(b"c"), guess=3)
    assert woken == [(END, END + 3, [END, END + 2])]
