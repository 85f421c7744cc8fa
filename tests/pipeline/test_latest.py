"""The latest of every key: late, out of order, twice, deleted, and a driver that dies anywhere."""

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.dataset
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline.given import moment
from pyarrow.fs import FileSystem
from pyspark.sql import SparkSession
from support.stores import BUCKET

from pyspark_samsa.errors import BadOption, BadRows, SamsaError
from pyspark_samsa.latest.delta import DeltaRows
from pyspark_samsa.latest.files import ParquetFiles
from pyspark_samsa.latest.options import read_latest_options
from pyspark_samsa.latest.sink import LatestWriter, StagedFile

FORMS = ["parquet", "delta"]
FIELDS = "`Truck Id` STRING, at TIMESTAMP, speed DOUBLE, offset BIGINT, left BOOLEAN"
COLUMNS = ["Truck Id", "at", "speed", "offset", "left"]
SCHEMA = pa.schema(
    [
        ("Truck Id", pa.string()),
        # Spark hands times over in the zone of its session.
        ("at", pa.timestamp("us", "Europe/Prague")),
        ("speed", pa.float64()),
        ("offset", pa.int64()),
        ("left", pa.bool_()),
    ]
)


class Change(NamedTuple):
    key: str
    at: int
    offset: int
    left: bool = False

    @property
    def row(self) -> dict:
        speed = None if self.left else self.offset / 8
        values = self.key, moment(self.at), speed, self.offset, self.left
        return dict(zip(COLUMNS, values, strict=True))


class Latest:
    """A table, and what Spark would do to it."""

    def __init__(self, where: Path | str, form: str = "parquet", **more: str) -> None:
        self.url, self.form = where if isinstance(where, str) else where.as_uri(), form
        said = {"path": self.url, "format": form, "keys": "Truck Id"}
        said |= {"sequenceBy": "at, offset", "deleteColumn": "left", **more}
        self.said = said
        self.writer = LatestWriter(read_latest_options(said, COLUMNS))

    def stage(self, changes: list[Change], tasks: int = 2) -> list[StagedFile]:
        shares = [[one.row for one in changes[task::tasks]] for task in range(tasks)]
        return [
            self.writer.write(iter([pa.RecordBatch.from_pylist(rows, SCHEMA)] if rows else []))
            for rows in shares
        ]

    def write(self, changes: list[Change]) -> None:
        self.writer.commit(self.stage(changes), 0)

    def rows(self) -> list[tuple]:
        if self.form == "delta":
            table = DeltaTable(self.url).to_pyarrow_table()
        else:
            system, folder = FileSystem.from_uri(self.url)
            table = pa.dataset.dataset(folder, filesystem=system, format="parquet").to_table()
        assert table.column_names == COLUMNS[:-1]
        return sorted(tuple(row.values()) for row in table.to_pylist())

    def files(self) -> dict[str, int]:
        """Of the table, with what changes when a file is replaced."""
        _, folder = FileSystem.from_uri(self.url)
        return {path.name: path.stat().st_ino for path in Path(folder).glob("*.parquet")}


def truth(changes: list[Change]) -> list[tuple]:
    newest: dict[str, Change] = {}
    for one in sorted(changes, key=lambda one: (one.at, one.offset)):
        newest[one.key] = one
    return sorted(tuple(one.row.values())[:-1] for one in newest.values() if not one.left)


def story(seed: int, count: int, trucks: int = 25) -> list[Change]:
    """Out of order, with times that are the same, and trucks that leave and return."""
    chance = Random(seed)
    return [
        Change(f"truck {chance.randrange(trucks)}", chance.randrange(30), n, chance.random() < 0.2)
        for n in chance.sample(range(10_000), count)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_whatever_comes_late_the_newest_stays(tmp_path: Path, form: str):
    latest = Latest(tmp_path / "t", form)
    told = [story(seed, 40) for seed in range(4)]
    for number, changes in enumerate(told):
        latest.write(changes)
        so_far = list(itertools.chain(*told[: number + 1]))
        assert latest.rows() == truth(so_far)
    assert 0 < len(latest.rows()) < len({one.key for one in itertools.chain(*told)})


@pytest.mark.parametrize("form", FORMS)
def test_a_deletion_is_remembered_until_something_newer_comes(tmp_path: Path, form: str):
    latest = Latest(tmp_path / "t", form)
    latest.write([Change("a", 1, 1), Change("b", 1, 2)])
    latest.write([Change("a", 5, 3, left=True)])
    assert latest.rows() == truth([Change("b", 1, 2)])
    latest.write([Change("a", 4, 9)])
    assert latest.rows() == truth([Change("b", 1, 2)])
    latest.write([Change("c", 7, 4, left=True)])  # of somebody unknown
    latest.write([Change("c", 6, 5)])
    assert latest.rows() == truth([Change("b", 1, 2)])
    latest.write([Change("a", 5, 4), Change("b", 0, 9, left=True)])
    assert latest.rows() == truth([Change("b", 1, 2), Change("a", 5, 4)])


@settings(max_examples=60)
@given(
    changes=st.lists(
        st.builds(
            Change, st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 50), st.booleans()
        ),
        unique_by=lambda one: (one.key, one.at, one.offset),
        max_size=12,
    ),
    cuts=st.lists(st.integers(0, 12), max_size=3),
)
def test_in_whatever_batches_it_comes_the_table_is_the_same(tmp_path_factory, changes, cuts):
    latest = Latest(tmp_path_factory.mktemp("latest") / "t", buckets="2")
    ends = [0, *sorted(cuts), len(changes)]
    for start, end in itertools.pairwise(ends):
        latest.write(changes[start:end])
    if any(latest.files()):
        assert latest.rows() == truth(changes)
    else:
        assert not changes


class Died(Exception):
    pass


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """From now on, this many changes to a store are made, and then none."""
    left = itertools.repeat(True)

    def mortal(change: Callable) -> Callable:
        def call(*args):
            if not next(left):
                raise Died
            return change(*args)

        return call

    for owner, name in [(ParquetFiles, "write"), (ParquetFiles, "remove"), (DeltaRows, "merge")]:
        monkeypatch.setattr(owner, name, mortal(getattr(owner, name)))

    def die_after(calls: int) -> None:
        nonlocal left
        left = itertools.chain(itertools.repeat(True, calls), itertools.repeat(False))

    return die_after


@pytest.mark.parametrize("form", FORMS)
def test_a_driver_may_die_anywhere_and_do_its_batch_again(
    tmp_path: Path, form: str, dying: Callable[[int], None]
):
    """Its rows come in other tasks and in another order then; and later ones build on it."""
    first, second, third = story(1, 30), story(2, 30), story(3, 30)
    for calls in itertools.count():
        latest = Latest(tmp_path / str(calls), form, buckets="4")
        dying(1_000)
        latest.write(first)
        dying(calls)
        try:
            latest.write(second)
            lived = True
        except Died:
            lived = False
        dying(1_000)
        latest.writer.commit(latest.stage(second[::-1], tasks=3), 1)
        assert latest.rows() == truth([*first, *second])
        latest.write(third)
        assert latest.rows() == truth([*first, *second, *third])
        if lived:
            break
    assert calls > 5


def test_a_change_of_three_trucks_touches_their_files_alone(tmp_path: Path):
    latest = Latest(tmp_path / "t", buckets="64")
    trucks = [Change(f"truck {n}", 10, n) for n in range(200)]
    latest.write(trucks)
    before = latest.files()
    assert len(before) > 50
    moved = [Change(f"truck {n}", 20, 1_000 + n) for n in (3, 77, 151)]
    late = [Change(f"truck {n}", 5, 2_000 + n) for n in (4, 78, 152)]
    latest.write([*moved, *late])
    after = latest.files()
    assert sum(after[name] != before[name] for name in before) == 3
    assert after.keys() == before.keys()
    assert latest.rows() == truth([*trucks, *moved])


def test_delta_is_merged_row_by_row(tmp_path: Path):
    latest = Latest(tmp_path / "t", "delta")
    latest.write([Change(f"truck {n}", 10, n) for n in range(50)])
    latest.write(
        [Change("truck 3", 20, 90), Change("truck 4", 20, 91, left=True), Change("x", 1, 1)]
    )
    last = DeltaTable(latest.url).history(1)[0]
    told = {name: last["operationMetrics"][f"num_{name}"] for name in (
        "source_rows", "target_rows_updated", "target_rows_deleted", "target_rows_inserted"
    )}  # fmt: skip
    assert last["operation"] == "MERGE"
    assert list(map(int, told.values())) == [3, 1, 1, 1]


def test_the_number_of_files_is_the_table_s_own(tmp_path: Path):
    changes = story(5, 40)
    Latest(tmp_path / "t", buckets="3").write(changes[:20])
    other = Latest(tmp_path / "t", buckets="7")
    other.write(changes[20:])
    assert other.rows() == truth(changes)
    assert len(other.files()) == 3


@pytest.mark.parametrize(("form", "other"), [FORMS, FORMS[::-1]])
def test_a_table_in_one_format_does_not_go_on_in_another(tmp_path: Path, form: str, other: str):
    """Its readers would not see the rows before."""
    latest = Latest(tmp_path / "t", form)
    latest.write([Change("a", 1, 1)])
    with pytest.raises(BadOption, match=f"another format than {other}"):
        Latest(tmp_path / "t", other).write([Change("b", 1, 2)])
    latest.write([Change("b", 1, 2)])
    assert latest.rows() == truth([Change("a", 1, 1), Change("b", 1, 2)])


def test_what_was_staged_for_nothing_goes_with_the_next_batch(tmp_path: Path):
    latest = Latest(tmp_path / "t")
    latest.writer.abort(latest.stage([Change("a", 1, 1)]), 0)
    assert not (tmp_path / "t" / "_staged").exists()
    latest.stage([Change("a", 9, 9)])  # by a copy of a task that lost
    latest.write([Change("a", 2, 2)])
    assert latest.rows() == truth([Change("a", 2, 2)])
    hidden = {path.name for path in (tmp_path / "t").iterdir() if path.name.startswith("_")}
    assert hidden == set()


def test_a_batch_whose_files_are_gone_is_not_taken_for_done(tmp_path: Path):
    latest = Latest(tmp_path / "t")
    staged = latest.stage([Change("a", 1, 1)])
    latest.writer.abort([], 0)
    with pytest.raises(SamsaError, match="does another query write to the same table"):
        latest.writer.commit(staged, 0)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"keys": "truck_id"}, "keys: there is no column 'truck_id'; did you mean 'Truck Id'?"),
        ({"keys": " "}, "keys: no column is named"),
        ({"sequenceBy": "at,ofset"}, "sequenceBy: there is no column 'ofset'; did you mean"),
        ({"deleteColumn": "gone"}, "deleteColumn: there is no column 'gone'"),
        ({"format": "orc"}, "format: 'orc' is not one of parquet, delta"),
        ({"bucket": "3"}, "there is no option 'bucket'; did you mean 'buckets'?"),
        ({"path": ""}, "path: it says where the table is"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, change: dict[str, str], why: str):
    with pytest.raises(BadOption) as refused:
        Latest(tmp_path / "t", **change)
    assert why in str(refused.value)


def test_a_row_without_a_key_is_refused(tmp_path: Path):
    latest = Latest(tmp_path / "t")
    with pytest.raises(BadRows, match="whose Truck Id is null"):
        latest.write([Change(None, 1, 1)])


def test_a_stream_ends_in_a_table_though_its_driver_forgets_a_commit(
    spark: SparkSession, tmp_path: Path
):
    """By Spark itself, which then writes the last batch again."""
    latest, told = Latest(tmp_path / "t"), [story(7, 30), story(8, 30), story(9, 30)]
    checkpoint, schema = tmp_path / "checkpoint", spark.createDataFrame([], FIELDS).schema

    def write(number: int) -> None:
        rows = [one.row for one in told[number]]
        spark.createDataFrame(rows, schema).coalesce(2).write.parquet(
            str(tmp_path / f"in/{number}")
        )
        changes = spark.readStream.schema(schema).parquet(f"{tmp_path}/in/*")
        query = changes.writeStream.format("samsa_latest").options(**latest.said)
        query = query.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        query.start().awaitTermination()

    for number in range(2):
        write(number)
        assert latest.rows() == truth([*told[0], *told[1] * number])
    for name in ("1", ".1.crc"):
        (checkpoint / "commits" / name).unlink()
    write(2)
    assert (checkpoint / "commits" / "2").exists()
    assert latest.rows() == truth([*told[0], *told[1], *told[2]])


def test_a_table_may_be_in_s3(versity: str):
    """By a real server of it; renames there are copies."""
    host = versity.removeprefix("http://")
    url = f"s3://{BUCKET}/latest-{uuid4()}?endpoint_override={host}&scheme=http&region=us-east-1"
    latest = Latest(url)
    told = story(6, 60)
    latest.write(told[:40])
    latest.write(told[40:])
    assert latest.rows() == truth(told)
