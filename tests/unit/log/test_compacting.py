"""Compaction of a log in its stores: rounds, what ends them, and what others see."""

from collections.abc import AsyncIterator, Callable

import pytest
from unit.log.compacting import HOUR, TIME, all_records, keyed
from unit.log.given import PARTITION, Given, a_log

from samsa.log.compact import Compacted
from samsa.log.compact_keys import BYTES_PER_KEY
from samsa.log.compact_plan import Compaction
from samsa.log.compact_progress import CLEANED, END
from samsa.log.layout import Batch
from samsa.ports import Buffer, Extent, Partition
from samsa.records import Codec, Record, headers, read_header

EAGER = Compaction(dirty_ratio=0, active_ms=0, tombstones_ms=HOUR)
Pair = tuple[bytes | None, bytes | None]


async def a_changelog(**limits: int) -> Given:
    given = await a_log(**limits)
    given.clock.now = TIME
    return given


async def put(given: Given, *pairs: Pair, **options: int) -> int:
    data = bytearray(keyed(0, *pairs, **options))
    batch = Batch(read_header(data), memoryview(data))
    (outcome,) = await given.log.append_once(PARTITION, [batch])
    assert outcome.refusal is None
    return outcome.offset


async def compact(given: Given, rules: Compaction = EAGER) -> Compacted | None:
    given.clock.now += 1
    return await given.log.compactor.compact(PARTITION, rules)


async def read_all(given: Given, offset: int = 0) -> list[Record]:
    found: list[Record] = []
    while (plan := await given.log.plan(PARTITION, offset, 10**6)).ranges:
        for piece in await given.log.load(plan.ranges):
            found += all_records(bytes(piece))
        offset = plan.ranges[-1].end_offset
    return found


async def state_of(given: Given) -> dict[bytes | None, tuple[int, bytes | None]]:
    """As who reads from the start has it: key → offset and value."""
    return {record.key: (record.offset, record.value) for record in await read_all(given)}


async def cleaned_to(given: Given) -> int:
    return await given.ledger.cursor(PARTITION, CLEANED)


async def test_who_reads_from_the_start_gets_the_newest_of_every_key():
    given = await a_changelog()
    for n in range(200):
        await put(given, (b"k%d" % (n % 7), b"v%d" % n), (b"once-%d" % n, b"x"), codec=n % 5)
    before = await state_of(given)
    done = await compact(given)
    assert done.finished
    assert done.after < done.before
    assert await state_of(given) == before
    assert len(await read_all(given)) == len(before) == 207
    assert await cleaned_to(given) == 400


async def test_offsets_and_their_order_stay():
    given = await a_changelog()
    for n in range(30):
        await put(given, (b"%d" % (n % 4), b"%d" % n))
    before = await read_all(given)
    await compact(given)
    after = await read_all(given)
    assert [record.offset for record in after] == [26, 27, 28, 29]
    assert after == before[-4:]
    head = await given.log.head(PARTITION)
    assert (head.log_start, head.next_offset) == (0, 30)


async def test_a_log_that_is_clean_is_left_alone():
    given = await a_changelog()
    await put(given, (b"a", b"1"), (b"a", b"2"))
    assert await compact(given)
    assert await compact(given) is None
    assert given.ledger.calls["replace_extents"] == 1


async def test_only_what_changes_is_written_again():
    given = await a_changelog()
    await put(given, (b"a", b"1"))
    await put(given, (b"b", b"1"))
    done = await compact(given)
    assert done == Compacted(0, 0, finished=True, to=2)
    assert "replace_extents" not in given.ledger.calls


async def test_a_part_must_be_dirty_before_it_is_worth_a_round():
    given = await a_changelog()
    half = EAGER._replace(dirty_ratio=0.5)
    for n in range(10):
        await put(given, (b"k%d" % n, b"x" * 500))
    assert await compact(given, half)
    for n in range(5):
        await put(given, (b"k%d" % n, b"y" * 500))
    assert await compact(given, half) is None
    for n in range(6):
        await put(given, (b"k%d" % n, b"z" * 500))
    assert await compact(given, half)
    assert len(await read_all(given)) == 10


async def test_the_newest_end_is_left_alone():
    given = await a_changelog()
    await put(given, (b"a", b"1"))
    await put(given, (b"a", b"2"))
    given.clock.now += 500
    await put(given, (b"a", b"3"))
    rules = EAGER._replace(active_ms=100)
    await compact(given, rules)
    assert [record.value for record in await read_all(given)] == [b"2", b"3"]
    assert await cleaned_to(given) == 2
    given.clock.now += 100
    await compact(given, rules)
    assert [record.value for record in await read_all(given)] == [b"3"]


async def test_whatever_waited_too_long_is_cleaned_however_little_it_is():
    given = await a_changelog()
    rules = EAGER._replace(dirty_ratio=1.0, max_lag_ms=HOUR)
    await put(given, (b"a", b"1"), (b"a", b"2"))
    assert await compact(given, rules) is None
    given.clock.now = TIME + HOUR + 1
    assert await compact(given, rules)
    assert [record.value for record in await read_all(given)] == [b"2"]


@pytest.mark.parametrize("keys", [1, 3, 10, 1_000])
async def test_however_small_the_map_the_rounds_reach_the_same(keys):
    given = await a_changelog(key_map_bytes=keys * BYTES_PER_KEY)
    for n in range(40):
        await put(given, *((b"k%d" % (n * 7 % 19 + m), b"%d" % n) for m in range(3)))
    before = await state_of(given)
    rounds = 0
    while await compact(given):
        rounds += 1
    assert rounds == (1 if keys == 1_000 else rounds)
    assert await state_of(given) == before
    assert len(await read_all(given)) == len(before)
    assert await cleaned_to(given) == 120


# Tombstones


async def test_a_tombstone_goes_when_its_time_is_up_and_its_value_does_not_come_back():
    given = await a_changelog()
    await put(given, (b"a", b"1"), (b"b", b"1"))
    await put(given, (b"a", None))
    await compact(given)
    assert (await state_of(given))[b"a"] == (2, None)
    given.clock.now += HOUR
    assert await compact(given) is None  # as in Kafka: nothing new, nothing done
    await put(given, (b"c", b"1"))
    await compact(given)
    assert set(await state_of(given)) == {b"b", b"c"}


async def test_a_tombstones_time_starts_when_all_below_it_is_clean(monkeypatch):
    monkeypatch.setattr("samsa.log.compact_plan.GROUP_EXTENTS", 1)
    given = await a_changelog()
    await put(given, (b"a", b"1"), (b"a", b"2"))
    await put(given, (b"b", b"1"))
    await put(given, (b"a", None))
    swap = given.ledger.replace_extents
    tries: list[bool] = []

    async def not_at_first(*args: object) -> bool:
        tries.append(bool(tries) and await swap(*args))
        return tries[-1]

    monkeypatch.setattr(given.ledger, "replace_extents", not_at_first)
    done = await compact(given)
    assert not done.finished
    assert all(h.delete_horizon is None for h in await all_headers(given))
    assert await cleaned_to(given) == 0


async def all_headers(given: Given) -> list:
    found = []
    for extent in await given.ledger.extents(PARTITION, 0, 1000):
        data = await given.objects.get(extent.key, extent.start, extent.size)
        found += [header for _, header in headers(data)]
    return found


# Others


async def test_a_reader_anywhere_gets_something_that_ends_after_its_place():
    given = await a_changelog()
    for n in range(300):
        await put(given, (b"k%d" % (n % 50 if n < 250 else n), b"x" * 2_000), codec=Codec.NONE)
    await compact(given)
    for offset in range(300):
        plan = await given.log.plan(PARTITION, offset, 1)
        (piece,) = await given.log.load(plan.ranges)
        assert headers(bytes(piece))[-1][1].next_offset > offset
        assert plan.ranges[-1].end_offset > offset


async def test_every_offset_is_in_one_batch():
    given = await a_changelog()
    for n in range(300):
        await put(given, (b"k%d" % (n % 50), b"x"))
    await compact(given)
    bounds = [(h.base_offset, h.next_offset) for h in await all_headers(given)]
    assert [first for first, _ in bounds] == [0, *(end for _, end in bounds[:-1])]
    assert bounds[-1][1] == 300


async def test_who_planned_before_reads_what_was_there():
    given = await a_changelog()
    for n in range(5):
        await put(given, (b"a", b"%d" % n))
    plan = await given.log.plan(PARTITION, 0, 10**6)
    await compact(given)
    values = [r.value for p in await given.log.load(plan.ranges) for r in all_records(bytes(p))]
    assert values == [b"0", b"1", b"2", b"3", b"4"]


async def test_of_two_janitors_one_ends_its_round(monkeypatch):
    given = await ten_values_of_one_key()
    other = given.another()
    real = given.objects.put_stream
    others: list[Compacted | None] = []

    async def put_after_the_other(key: str, parts: AsyncIterator[Buffer]) -> None:
        monkeypatch.undo()
        others.append(await compact(other))
        await real(key, parts)

    monkeypatch.setattr(given.objects, "put_stream", put_after_the_other)
    done = await compact(given)
    assert others[0].finished
    assert not done.finished
    assert [record.value for record in await read_all(given)] == [b"9"]
    # What lost leaves nothing behind.
    (deletion,) = await given.ledger.pending_deletions(PARTITION, 10)
    assert not deletion.announced
    assert set(await given.keys()) - set(deletion.keys) == {
        extent.key for extent in await given.index()
    }


def after(looks: int) -> Callable[[], bool]:
    """Time that is up when it was looked at so often."""
    left = iter([False] * looks)
    return lambda: next(left, True)


async def cut_off(given: Given, looks: int) -> Compacted:
    given.clock.now += 1
    done = await given.log.compactor.compact(PARTITION, EAGER, after(looks))
    assert done is not None
    assert not done.finished
    return done


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samsa.log.compact_plan.GROUP_EXTENTS", 2)


async def ten_values_of_one_key() -> Given:
    given = await a_changelog()
    for n in range(10):
        await put(given, (b"a", b"%d" % n))
    return given


@pytest.mark.usefixtures("small_groups")
async def test_a_round_that_runs_out_of_time_goes_on_where_it_left_off():
    given = await ten_values_of_one_key()
    assert (await cut_off(given, 5 + 2)).to == 4  # five looks while the keys are noted
    assert [record.value for record in await read_all(given)] == [b"%d" % n for n in range(4, 10)]
    assert await cleaned_to(given) == 0
    swaps = given.ledger.calls["replace_extents"]
    given = given.another()
    assert (await compact(given)).finished
    assert given.ledger.calls["replace_extents"] == swaps + 3
    assert [record.value for record in await read_all(given)] == [b"9"]
    assert await cleaned_to(given) == 10
    assert await given.log.compactor.progress.at(PARTITION, 10) == 0


@pytest.mark.usefixtures("small_groups")
async def test_with_a_little_time_again_and_again_a_round_ends():
    """However large the log: what is clean below is not read again."""
    given = await a_changelog()
    for n in range(40):
        await put(given, (b"k%d" % n, b"%d" % n))
    assert (await compact(given)).finished
    for n in range(4):
        await put(given, (b"k%d" % (9 * n), b"new"))
    runs = 0
    while await cleaned_to(given) < 44:
        given.clock.now += 1
        given = given.another()
        reads = given.objects.calls["get"] + given.objects.calls["piece"]
        await given.log.compactor.compact(PARTITION, EAGER, after(2 + 3))
        assert given.objects.calls["get"] + given.objects.calls["piece"] <= reads + 12
        runs += 1
        assert runs < 20
    assert runs > 3
    assert len(await read_all(given)) == 40


@pytest.mark.usefixtures("small_groups")
async def test_a_round_to_another_end_does_not_go_on_where_one_left_off():
    """Below its place lies what was replaced since."""
    given = await a_changelog()
    for n in range(10):
        await put(given, (b"k%d" % n, b"old"))
    await cut_off(given, 5 + 3)
    await put(given, (b"k0", b"new"))
    await given.ledger.move_cursor(PARTITION, END, 11)  # as a janitor says whose round has that end
    assert (await compact(given)).finished
    assert (await state_of(given))[b"k0"] == (10, b"new")
    assert len(await read_all(given)) == 10


@pytest.mark.usefixtures("small_groups")
async def test_a_round_that_was_begun_is_due(monkeypatch):
    given = await ten_values_of_one_key()
    await cut_off(given, 5 + 2)
    assert (await compact(given, EAGER._replace(dirty_ratio=1.0))).finished


async def left_off(given: Given, *ends: int) -> dict[int, int]:
    """What is remembered of rounds to these ends."""
    progress = given.log.compactor.progress
    places = {end: await progress.at(PARTITION, end) for end in ends}
    return {end: at for end, at in places.items() if at}


def a_janitor_that_knows_of_none(given: Given, monkeypatch: pytest.MonkeyPatch) -> Given:
    """It looked for rounds that were left off before there was one."""
    other = given.another()
    progress = other.log.compactor.progress

    async def end(partition: Partition) -> int:
        monkeypatch.setattr(progress, "end", real)
        return 0

    real = progress.end
    monkeypatch.setattr(progress, "end", end)
    return other


@pytest.mark.usefixtures("small_groups")
async def test_nothing_stays_of_a_round_when_a_longer_one_is_finished(monkeypatch):
    given = await ten_values_of_one_key()
    await cut_off(given, 5 + 2)
    assert await left_off(given, 10) == {10: 4}
    await put(given, (b"a", b"10"))
    other = a_janitor_that_knows_of_none(given, monkeypatch)
    assert (await compact(other)).finished
    await put(given, (b"a", b"11"))
    assert (await compact(given)).finished
    assert await left_off(given, 10, 11, 12) == {}
    assert await given.log.compactor.progress.end(PARTITION) == 0


@pytest.mark.usefixtures("small_groups")
async def test_of_rounds_that_are_left_off_only_the_last_is_remembered(monkeypatch):
    given = await ten_values_of_one_key()
    await cut_off(given, 5 + 2)
    await put(given, (b"a", b"10"))
    other = a_janitor_that_knows_of_none(given, monkeypatch)
    given.clock.now += 1
    await other.log.compactor.compact(PARTITION, EAGER, after(5 + 3))
    assert list(await left_off(given, 10, 11)) == [11]
    assert (await compact(given)).finished
    assert await left_off(given, 10, 11) == {}
    assert [record.value for record in await read_all(given)] == [b"10"]


@pytest.mark.usefixtures("small_groups")
async def test_nothing_stays_of_a_round_that_retention_has_passed():
    """As when a topic is compacted, then not, and then is again."""
    given = await ten_values_of_one_key()
    await cut_off(given, 5 + 2)
    await given.log.retainer.delete_before(PARTITION, 10)
    await put(given, (b"a", b"10"))
    await compact(given)
    assert await left_off(given, 10, 11) == {}
    assert await given.log.compactor.progress.end(PARTITION) == 0


async def test_a_round_notes_no_more_than_can_be_read_in_a_while(monkeypatch):
    monkeypatch.setattr("samsa.log.compact_plan.NOTED_BYTES", 1_000)
    given = await a_changelog()
    for n in range(10):
        await put(given, (b"a", b"%d" % n * 300))
    ends = []
    while await compact(given):
        ends.append(await cleaned_to(given))
    assert ends == [3, 6, 9, 10]
    assert [record.offset for record in await read_all(given)] == [9]


async def test_what_retention_takes_meanwhile_ends_the_round(monkeypatch):
    given = await ten_values_of_one_key()
    real = given.ledger.producers

    async def after_retention(*args: int) -> dict:
        await given.log.retainer.delete_before(PARTITION, 5)
        return await real(*args)

    monkeypatch.setattr(given.ledger, "producers", after_retention)
    done = await compact(given)
    assert done is not None
    assert [record.value for record in await read_all(given, 5)][-1] == b"9"
    monkeypatch.undo()
    await compact(given)
    assert [record.value for record in await read_all(given, 5)] == [b"9"]


async def test_a_start_inside_a_batch_stays_there():
    given = await a_changelog()
    await put(given, *((b"a", b"%d" % n) for n in range(10)))
    await put(given, (b"b", b"1"))
    await given.log.retainer.delete_before(PARTITION, 4)
    await compact(given)
    assert (await given.log.head(PARTITION)).log_start == 4
    assert [record.value for record in await read_all(given, 4)] == [b"9", b"1"]


PRODUCER = {"producer_id": 7, "producer_epoch": 0}


async def test_a_retry_is_recognised_after_its_records_are_gone():
    given = await a_changelog()
    for n in range(8):
        await put(given, (b"a", b"%d" % n), base_sequence=n, **PRODUCER)
    await put(given, (b"a", b"last"))
    await compact(given)
    assert [record.value for record in await read_all(given)] == [b"last"]
    given = given.another()  # it has seen nothing of the producer
    assert await put(given, (b"a", b"7"), base_sequence=7, **PRODUCER) == 7
    assert await put(given, (b"a", b"8"), base_sequence=8, **PRODUCER) == 9
    kept = [h.base_sequence for h in await all_headers(given) if h.producer_id == 7]
    assert kept == [3, 4, 5, 6, 7, 8]  # the five that are asked about, and what came after


async def test_time_look_ups_find_what_stays():
    given = await a_changelog()
    await put(given, (b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"c", b"4"))
    await put(given, (b"c", b"5"))
    await compact(given)
    assert (await given.log.times.at(PARTITION, TIME)).offset == 1
    assert (await given.log.times.newest(PARTITION)) == (2, TIME + 2)


async def test_an_index_entry_says_what_it_holds():
    given = await a_changelog()
    for n in range(10):
        await put(given, (b"%d" % (n % 2), b"x" * n))
    stored_at = given.clock.now
    await compact(given)
    (extent,) = await given.ledger.extents(PARTITION, 0, 10)
    assert isinstance(extent, Extent)
    assert (extent.base, extent.offsets, extent.records) == (0, 10, 2)
    assert extent.stored_at == stored_at
