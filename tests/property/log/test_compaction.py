"""Random changelogs, in any codec and cut into appends anyhow, compacted whenever: a reader from
the start always has the newest of every key, and nothing that was never written."""

import asyncio
from dataclasses import dataclass, field, replace

from hypothesis import given as for_all
from hypothesis import strategies as st
from property.records.strategies import examples
from unit.log.given import PARTITION, Given, a_log

from samsa.log.compact import Compactor
from samsa.log.compact_keys import BYTES_PER_KEY
from samsa.log.compact_plan import Compaction
from samsa.log.compact_progress import CLEANED
from samsa.log.layout import Batch
from samsa.log.stores import Limits
from samsa.records import Codec, Record, build, headers, read_header, records

TOMBSTONES_MS = 1_000
RULES = Compaction(dirty_ratio=0, active_ms=0, tombstones_ms=TOMBSTONES_MS)

MOST_IN_A_BATCH = 8
KEYS = st.none() | st.sampled_from([b"", b"a", b"b", b"c" * 39, b"c" * 40, b"c" * 41, b"d" * 300])
VALUES = st.none() | st.binary(max_size=3) | st.just(b"v" * 500)
ROWS = st.tuples(st.integers(-1, 10**12), KEYS, VALUES)
BATCHES = st.tuples(
    st.sampled_from(list(Codec)),
    st.none() | st.just(7),
    st.lists(ROWS, min_size=1, max_size=MOST_IN_A_BATCH),
)
APPENDS = st.tuples(st.just("append"), st.lists(BATCHES, min_size=1, max_size=3))
ROUNDS = st.tuples(st.just("compact"), st.integers(1, 9), st.integers(1, TOMBSTONES_MS))
HISTORIES = st.lists(APPENDS | ROUNDS, min_size=1, max_size=12)


@dataclass
class Changelog:
    given: Given
    written: list[Record] = field(default_factory=list)
    sequence: int = 0
    horizons: dict[int, int] = field(default_factory=dict)
    """Offset of a tombstone → when it may go at the earliest."""

    async def append(self, batches: list) -> None:
        made = []
        for codec, producer, rows in batches:
            options = {}
            if producer is not None:
                options = {"producer_id": 7, "producer_epoch": 0, "base_sequence": self.sequence}
                self.sequence += len(rows)
            data = bytearray(
                build([Record(n, *row) for n, row in enumerate(rows)], codec=codec, **options)
            )
            made.append(Batch(read_header(data), memoryview(data)))
        outcomes = await self.given.log.append_once(PARTITION, made)
        for outcome, (_, _, rows) in zip(outcomes, batches, strict=True):
            assert outcome.refusal is None
            self.written += [Record(outcome.offset + n, *row) for n, row in enumerate(rows)]

    async def compact(self, keys: int, later: int) -> None:
        """As many rounds as there are, for as many keys at a time."""
        self.given.clock.now += later
        stores = replace(self.given.stores, limits=Limits(key_map_bytes=keys * BYTES_PER_KEY))
        compactor = Compactor(stores, self.given.log.reader)
        while done := await compactor.compact(PARTITION, RULES):
            assert done.finished
            await self.check()
        cleaned = await self.given.ledger.cursor(PARTITION, CLEANED)
        assert cleaned == len(self.written)
        kept = await self.stored()
        keyed = [record for record in kept if record.key is not None]
        assert len({record.key for record in keyed}) == len(keyed)
        # Without a key none stays, except for a last batch that has nothing else.
        keyless = kept[len(keyed) :]
        assert all(record.key is None for record in keyless)
        assert len(keyless) <= MOST_IN_A_BATCH
        assert not keyless or keyless[-1].offset == len(self.written) - 1

    async def stored(self) -> list[Record]:
        found, at = [], 0
        for extent in await self.given.ledger.extents(PARTITION, 0, 1_000):
            data = await self.given.objects.get(extent.key, extent.start, extent.size)
            assert extent.base == at
            for position, header in headers(data):
                assert header.base_offset == at
                found += records(data, position)
                at = header.next_offset
            assert extent.end == at
        assert at == len(self.written)
        return found

    async def check(self) -> None:
        now = self.given.clock.now
        cleaned = await self.given.ledger.cursor(PARTITION, CLEANED)
        kept = await self.stored()
        assert kept == [self.written[record.offset] for record in kept]
        assert [r.offset for r in kept] == sorted(r.offset for r in kept)
        last = {record.key: record for record in kept}
        for key, record in self.newest().items():
            may_be = [record]
            if record.value is None and record.offset < cleaned:
                horizon = self.horizons.setdefault(record.offset, now + TOMBSTONES_MS)
                # Gone, it leaves nothing behind that it had deleted.
                may_be += [None] if now >= horizon else []
            assert last.get(key) in may_be

    def newest(self) -> dict[bytes, Record]:
        return {record.key: record for record in self.written if record.key is not None}


async def play(history: list) -> None:
    log = Changelog(await a_log())
    for step, *how in history:
        await (log.append if step == "append" else log.compact)(*how)
    await log.check()


@examples(80)
@for_all(HISTORIES)
def test_a_reader_from_the_start_has_the_newest_of_every_key(history):
    asyncio.run(play(history))
