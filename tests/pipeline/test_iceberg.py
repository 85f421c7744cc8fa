"""Iceberg tables that queries append to: twice, at the same moment, and by drivers that die."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest
from pipeline.given import moment
from pipeline.rest_catalog import rest_catalog
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.table import Table
from support.stores import BUCKET

from pyspark_samsa.columns import SPARK_TYPES, arrow_schema, utc_schema
from pyspark_samsa.errors import BadOption, BadRows, SamsaError
from pyspark_samsa.iceberg import commit as committing
from pyspark_samsa.iceberg import files as data
from pyspark_samsa.iceberg.commit import MicroBatch
from pyspark_samsa.iceberg.options import read_iceberg_options
from pyspark_samsa.iceberg.sink import IcebergWriter, Written
from pyspark_samsa.iceberg.tables import partitioning, prepared

SCHEMA = pa.schema([("n", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("of", pa.string())])
NAME = "lake.orders"


def rows(*numbers: int) -> list[dict[str, Any]]:
    return [{"n": n, "at": moment(n * 3_600_000), "of": f"key {n % 3}"} for n in numbers]


class Lake:
    """A catalog in SQLite with tables in a folder, and what Spark would do to one of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        uri, warehouse = f"sqlite:///{folder}/catalog.db", (folder / "tables").as_uri()
        self.use(type="sql", uri=uri, warehouse=warehouse)

    def use(self, **properties: str) -> None:
        """A catalog with these properties."""
        self.properties = properties
        self.said = {"catalog": "lake"}
        self.said |= {f"catalog.{name}": value for name, value in properties.items()}

    @property
    def catalog(self) -> Catalog:
        return load_catalog("lake", **self.properties)

    def writer(self, schema: pa.Schema = SCHEMA, **options: str) -> IcebergWriter:
        given = read_iceberg_options({"path": NAME, **self.said, **options})
        return IcebergWriter(prepared(given, schema))

    def written(
        self, number: int, *numbers: int, query: str = "a query", tasks: int = 2, **options: str
    ) -> list[Written]:
        writer = self.writer(**options)
        shares = [rows(*numbers[task::tasks]) for task in range(tasks)]
        batch = MicroBatch(query, number)
        return [writer.written(batch, as_batches(share)) for share in shares]

    def append(self, number: int, *numbers: int, **more: Any) -> None:
        messages = self.written(number, *numbers, **more)
        self.writer().commit(messages, number)

    def table(self) -> Table:
        return self.catalog.load_table(NAME)

    def numbers(self) -> list[int]:
        return sorted(self.table().scan().to_arrow()["n"].to_pylist())

    def named(self) -> set[str]:
        """The data files that the current snapshot names."""
        return {task.file.file_path for task in self.table().scan().plan_files()}

    def there(self) -> set[str]:
        return {f"file://{path}" for path in self.folder.glob("tables/**/*.parquet")}


def as_batches(given: list[dict[str, Any]], schema: pa.Schema = SCHEMA) -> Iterator[pa.RecordBatch]:
    return iter([pa.RecordBatch.from_pylist(given, schema)] if given else [])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def test_a_batch_is_appended_and_the_table_says_how_far_the_query_is(lake: Lake):
    lake.append(0, 1, 2, 3)
    lake.append(1, 4, 5)
    assert lake.numbers() == [1, 2, 3, 4, 5]
    assert lake.table().properties["samsa.batch.a query"] == "1"
    snapshot = lake.table().current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary["samsa.query"] == "a query"
    assert snapshot.summary["samsa.batch"] == "1"


@pytest.mark.parametrize("again", [0, 1], ids=["an earlier one", "the last one"])
def test_a_batch_that_comes_again_changes_nothing_and_leaves_nothing_behind(lake: Lake, again: int):
    """As after a driver that died between its commit and Spark's own note of it."""
    lake.append(0, 1, 2)
    lake.append(1, 3)
    before = lake.table().metadata_location
    lake.append(again, 1, 2, 3, tasks=3)
    assert lake.table().metadata_location == before
    assert lake.there() == lake.named()


def test_a_batch_whose_driver_died_before_its_commit_is_there_once_when_it_comes_again(lake: Lake):
    lost = lake.written(0, 1, 2, 3)
    lake.append(0, 3, 2, 1, tasks=3)
    assert lake.numbers() == [1, 2, 3]
    orphans = {file.file.file_path for each in lost for file in each.files}
    assert lake.there() - lake.named() == orphans, "which Iceberg's own clean-up deletes"


def test_a_batch_is_known_after_the_snapshot_that_told_of_it_has_expired(lake: Lake):
    lake.append(0, 1)
    lake.append(0, 2, query="another query")
    table = lake.table()
    first, last = table.metadata.snapshots
    table.maintenance.expire_snapshots().by_id(first.snapshot_id).commit()
    assert [one.snapshot_id for one in lake.table().metadata.snapshots] == [last.snapshot_id]
    lake.append(0, 1)
    assert lake.numbers() == [1, 2]


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Something happens once, after the driver has looked at the table, and before its commit; or
    after the commit, whose answer is then lost."""
    real = Table._do_commit

    def between(happens: Callable[[], None], lost: bool = False) -> None:
        def do_commit(table: Table, *change: Any, **named: Any) -> None:
            monkeypatch.setattr(Table, "_do_commit", real)
            if lost:
                real(table, *change, **named)
            happens()
            if not lost:
                real(table, *change, **named)

        monkeypatch.setattr(Table, "_do_commit", do_commit)
        monkeypatch.setattr(committing, "FIRST_WAIT_S", 0)

    return between


def test_a_batch_that_two_drivers_commit_at_the_same_moment_is_there_once(
    lake: Lake, between: Callable[..., None]
):
    one, other = lake.written(0, 1, 2), lake.written(0, 2, 1)
    between(lambda: lake.writer().commit(other, 0))
    lake.writer().commit(one, 0)
    assert lake.numbers() == [1, 2]


def test_queries_that_commit_at_the_same_moment_are_both_there(
    lake: Lake, between: Callable[..., None]
):
    one = lake.written(0, 1, 2)
    between(lambda: lake.append(0, 3, query="another query"))
    lake.writer().commit(one, 0)
    assert lake.numbers() == [1, 2, 3]
    assert {"samsa.batch.a query", "samsa.batch.another query"} <= lake.table().properties.keys()


def fail(error: Exception) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


@pytest.mark.parametrize("error", [CommitFailedException, CommitStateUnknownException])
@pytest.mark.parametrize("was_made", [True, False])
def test_a_commit_of_which_nobody_knows_whether_it_was_made_is_made_once(
    lake: Lake, between: Callable[..., None], error: type[Exception], was_made: bool
):
    messages = lake.written(0, 1, 2)
    between(fail(error("a proxy asked twice")), lost=was_made)
    lake.writer().commit(messages, 0)
    assert lake.numbers() == [1, 2]
    assert lake.there() == lake.named()


def test_files_of_a_commit_whose_answer_is_lost_stay(lake: Lake, between: Callable[..., None]):
    """Spark calls `abort` when `commit` raises, whatever has become of it."""
    writer, messages = lake.writer(), lake.written(0, 1, 2)
    between(fail(OSError("the connection was closed")), lost=True)
    with pytest.raises(OSError, match="was closed"):
        writer.commit(messages, 0)
    writer.abort(messages, 0)
    assert lake.numbers() == [1, 2]


def test_files_of_a_batch_of_which_a_task_failed_are_deleted(lake: Lake):
    messages = lake.written(0, 1, 2)
    assert len(lake.there()) == 2
    lake.writer().abort([messages[0], None, messages[1]], 0)
    assert lake.there() == set()


def test_a_table_that_others_always_change_first_is_an_error_and_nothing_is_there_twice(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    messages, waits = lake.written(0, 1), []
    monkeypatch.setattr(Table, "_do_commit", lambda *_, **__: fail(CommitFailedException("no"))())
    files = [file for each in messages for file in each.files]
    with pytest.raises(SamsaError, match="other writers committed first"):
        committing.commit(lake.catalog, NAME, messages[0].batch, files, wait=waits.append)
    assert waits[:3] == [0.1, 0.2, 0.4]
    assert max(waits) == committing.LONGEST_WAIT_S
    assert lake.numbers() == []


def test_files_of_a_partitioning_that_is_no_longer_the_table_s_are_refused(lake: Lake):
    """Their partitions would be read as those of another."""
    messages = lake.written(0, 1)
    with lake.table().update_spec() as spec:
        spec.add_field("of", "identity")
    with pytest.raises(SamsaError, match="the partitioning of the table was changed"):
        lake.writer().commit(messages, 0)
    lake.append(0, 1)
    assert lake.numbers() == [1]


def test_a_table_that_was_dropped_is_not_created_without_the_rows_before(lake: Lake):
    messages = lake.written(0, 1)
    lake.catalog.drop_table(NAME)
    writer = IcebergWriter(read_iceberg_options({"path": NAME, **lake.said}))
    with pytest.raises(SamsaError, match="was dropped while a query wrote to it"):
        writer.commit(messages, 0)


def test_two_queries_may_create_the_same_table(lake: Lake, between: Callable[..., None]):
    between(lambda: lake.append(0, 1, query="another query"))
    lake.append(0, 2)
    assert lake.numbers() == [1, 2]


@pytest.mark.parametrize(
    ("partition_by", "fields", "folders"),
    [
        ("", [], {""}),
        ("hours(at)", [("at", "hour")], {"at_hour=1970-01-01-00", "at_hour=1970-01-03-00"}),
        ("day(at), of", [("at", "day"), ("of", "identity")],
         {"at_day=1970-01-01/of=key+0", "at_day=1970-01-03/of=key+0"}),
        ("bucket(2, n)", [("n", "bucket[2]")], {"n_bucket_2=0"}),
        ("truncate(10, n)", [("n", "truncate[10]")], {"n_trunc_10=0", "n_trunc_10=40"}),
    ],
)  # fmt: skip
def test_rows_go_into_partitions_that_queries_need_not_name(
    lake: Lake, partition_by: str, fields: list[tuple[str, str]], folders: set[str]
):
    lake.append(0, 0, 48, partitionBy=partition_by, tasks=1)
    assert lake.numbers() == [0, 48]
    assert [tuple(each) for each in partitioning(lake.table())] == fields
    places = {path.rpartition("/data")[2].rpartition("/")[0].strip("/") for path in lake.there()}
    assert places == folders
    late = list(lake.table().scan(row_filter="at > '1970-01-02T00:00:00+00:00'").plan_files())
    assert len(late) == 1


@pytest.mark.parametrize(
    ("partition_by", "said"),
    [
        ("hours(att)", "partitionBy: there is no column 'att'; did you mean 'at'?"),
        ("minutes(at)", "'minutes(at)' is no transform of Iceberg's"),
        ("hours(4, at)", "'hours(4, at)' is no transform"),
        ("bucket(n)", "'bucket(n)' is no transform"),
        ("bucket(0, n)", "'bucket(0, n)' is no transform"),
        ("bucket(4, n", "is not understood; it is such as hours(timestamp)"),
        ("days(at), hours(at)", "names a column twice"),
        ("of,", "'' is not understood"),
    ],
)
def test_a_partitioning_that_cannot_be_is_refused(lake: Lake, partition_by: str, said: str):
    with pytest.raises(BadOption) as refused:
        lake.writer(partitionBy=partition_by)
    assert said in str(refused.value)
    assert not lake.catalog.table_exists(NAME)


def test_a_table_that_is_there_keeps_its_partitioning(lake: Lake):
    lake.append(0, 1, partitionBy="day(at)")
    lake.append(1, 2)
    lake.append(2, 3, partitionBy="days(at)")
    with pytest.raises(BadOption, match="is partitioned by day of at, not by hour of at"):
        lake.writer(partitionBy="hours(at)")
    assert lake.numbers() == [1, 2, 3]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (pa.schema([*SCHEMA, ("more", pa.string())]), "more"),
        (SCHEMA.set(0, pa.field("n", pa.string())), "string"),
        (SCHEMA.set(1, pa.field("at", pa.timestamp("us"))), "timestamp"),
    ],
    ids=["another column", "another type", "a time without a zone"],
)
def test_rows_that_do_not_fit_into_the_table_are_refused_before_anything_is_written(
    lake: Lake, schema: pa.Schema, said: str
):
    lake.append(0, 1)
    with pytest.raises(BadRows, match=rf"(?s)do not fit into {NAME}.*{said}"):
        lake.writer(schema)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": ""}, "'' is no name of a table"),
        ({"path": "orders"}, "'orders' is no name of a table"),
        ({"path": "tables/lake.orders"}, "is no name of a table"),
        ({"path": "lake..orders"}, "is no name of a table"),
        ({"partition": "at"}, "there is no option 'partition'; did you mean 'partitionBy'?"),
        ({"catalog.type": "sequel"}, "catalog 'lake': "),
        ({"catalog.type": "sql", "catalog.uri": ""}, "catalog 'lake': "),
    ],
)
def test_options_that_cannot_be_are_refused(lake: Lake, options: dict[str, str], said: str):
    with pytest.raises(BadOption) as refused:
        lake.writer(**options)
    assert said in str(refused.value)


def test_without_pyiceberg_it_is_said_how_to_get_it(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pyiceberg.catalog", None)
    with pytest.raises(SamsaError, match=r"pip install './pipeline\[iceberg\]'"):
        lake.writer()


def test_a_task_holds_no_more_rows_than_allowed(lake: Lake):
    lake.writer()
    batches = [next(as_batches(rows(n))) for n in range(5)]
    size = batches[0].nbytes
    found = list(data.data_files(lake.table(), iter(batches), held_bytes=2 * size))
    assert [file.record_count for file in found] == [2, 2, 1]


EVERY_TYPE = pa.schema(
    [
        *arrow_schema(list(SPARK_TYPES)),
        ("day", pa.date32()),
        ("price", pa.decimal128(10, 2)),
        ("local", pa.timestamp("us")),
        ("ratio", pa.float32()),
        ("is_new", pa.bool_()),
        ("small", pa.int16()),
        ("visits", pa.list_(pa.struct([("at", pa.timestamp("us", "Europe/Prague"))]))),
        ("counts", pa.map_(pa.string(), pa.int32())),
    ]
)
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
A_ROW = {
    "key": b"\xff\x00", "value": b"v", "topic": "orders", "partition": 3, "offset": 1 << 40,
    "timestamp": NOON, "timestampType": 0, "day": date(2026, 7, 1), "price": Decimal("12.50"),
    "headers": [{"key": "h", "value": b"\x80"}, {"key": "h", "value": None}],
    "local": NOON.replace(tzinfo=None), "ratio": 0.5, "is_new": True, "small": -3,
    "visits": [{"at": NOON}], "counts": [("a", 1)],
}  # fmt: skip
NULLS = dict.fromkeys(A_ROW)
LISTS_OF_STRUCTS = {"headers": [], "visits": []}
"""PyIceberg 0.12 reads these as empty if they are null."""


def test_values_of_every_type_are_read_by_pyiceberg_and_duckdb_as_they_were_written(lake: Lake):
    """DuckDB reads the files that the snapshot names: its extension for Iceberg is not on PyPI."""
    writer = lake.writer(utc_schema(EVERY_TYPE))
    # Spark hands times over in the zone of its session.
    at = EVERY_TYPE.get_field_index("timestamp")
    prague = EVERY_TYPE.set(at, pa.field("timestamp", pa.timestamp("us", "Europe/Prague")))
    written = writer.written(MicroBatch("q", 0), as_batches([A_ROW, NULLS], prague))
    writer.commit([written], 0)
    found = lake.table().scan().to_arrow().to_pylist()
    assert found == [A_ROW, NULLS | LISTS_OF_STRUCTS]
    with duckdb.connect() as duck:
        files = [name.removeprefix("file://") for name in lake.named()]
        found = duck.read_parquet(files).to_arrow_table().to_pylist()
    assert [in_utc(row) for row in found] == [A_ROW, NULLS]


def in_utc(value: Any) -> Any:
    """A moment is equal in every zone, but for the zone itself."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(ZoneInfo("UTC")).replace(tzinfo=UTC)
    if isinstance(value, dict):
        return {name: in_utc(each) for name, each in value.items()}
    return [in_utc(each) for each in value] if isinstance(value, list) else value


def test_a_table_may_be_in_glue_and_s3(tmp_path: Path, moto: str):
    """By a server that imitates both."""
    lake = Lake(tmp_path)
    lake.use(
        **{"type": "glue", "glue.endpoint": moto, "glue.region": "us-east-1"},
        **{"warehouse": f"s3://{BUCKET}/{uuid4()}", "s3.endpoint": moto, "s3.region": "us-east-1"},
    )
    lake.append(0, 1, 2, partitionBy="hours(at)")
    lake.append(0, 1, 2)
    lake.append(1, 3)
    assert lake.numbers() == [1, 2, 3]


def test_the_catalog_may_be_asked_over_rest(tmp_path: Path, between: Callable[..., None]):
    lake = Lake(tmp_path)
    with rest_catalog(**{name: lake.properties[name] for name in ("uri", "warehouse")}) as uri:
        lake.use(type="rest", uri=uri)
        lake.append(0, 1, 2, partitionBy="hours(at)")
        lake.append(0, 1, 2)
        one, other = lake.written(1, 3), lake.written(1, 3)
        between(lambda: lake.writer().commit(other, 1))
        lake.writer().commit(one, 1)
        assert lake.numbers() == [1, 2, 3]
