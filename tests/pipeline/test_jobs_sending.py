"""Jobs that write to topics, in a real Spark: in order, and once however often they are run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pipeline.given import Given
from pipeline.test_jobs import Pair, batch, words
from pyspark.sql import DataFrame, SparkSession

from pyspark_samsa.jobs import replay, table_to_topic, topic_to_table
from pyspark_samsa.jobs.running import TROUBLE
from samsa.records import Record, build

Table = Callable[..., DataFrame]


def pairs(table: Table, log: Given, name: str) -> dict[int, list[Pair]]:
    """Of each partition, in the order of the log."""
    found: dict[int, list[Pair]] = {}
    for row in table(log, subscribe=name).orderBy("partition", "offset").collect():
        pair = row.key and bytes(row.key), row.value and bytes(row.value)
        found.setdefault(row.partition, []).append(pair)
    return found


def of_key(found: dict[int, list[Pair]], key: bytes | None) -> list[bytes | None]:
    return [value for pairs in found.values() for one, value in pairs if one == key]


@pytest.fixture
def numbers(log: Given) -> str:
    """Three keys and none, twenty records each, with times that rise by a second in each batch."""
    name = log.topic(2)
    log.fill(
        {
            (name, number): [
                batch(*((key, b"%d" % n) for key in (keys)), at=1_000 * n) for n in range(20)
            ]
            for number, keys in enumerate([(b"a", b"b"), (b"c", None)])
        }
    )
    return name


@pytest.mark.parametrize("log", ["aws"], indirect=True)  # the others are on one machine
def test_a_replay_keeps_every_record_and_the_order_of_each_key(
    log: Given, numbers: str, table: Table, capsys
):
    copy = log.topic(5)
    replayed = [numbers, copy, *words(log)]
    assert replay.main(replayed) == 0
    assert "records\t80" in capsys.readouterr().out
    found = pairs(table, log, copy)
    for key in (b"a", b"b", b"c", None):
        assert of_key(found, key) == [b"%d" % n for n in range(20)], key
    assert len(found) > 1
    assert replay.main(replayed) == 0
    assert "nothing was written" in capsys.readouterr().out
    assert pairs(table, log, copy) == found
    assert replay.main([*replayed, "--id", "on purpose"]) == 0
    assert sum(map(len, pairs(table, log, copy).values())) == 160


def test_a_replay_goes_once_into_each_topic_of_a_name(
    local_log: Given, spark: SparkSession, table: Table, capsys
):
    name, copy = local_log.topic(), local_log.topic()
    local_log.append(name, 0, batch((b"a", b"1"), (b"b", b"2")))
    replayed = [name, copy, *words(local_log), "--id", f"{name} again"]
    assert replay.main(replayed) == 0
    local_log.delete(copy)
    local_log.topic(name=copy)
    assert replay.main(replayed) == 0
    assert pairs(table, local_log, copy) == {0: [(b"a", b"1"), (b"b", b"2")]}
    assert replay.main(replayed) == 0
    assert "was done before" in capsys.readouterr().out
    assert len(pairs(table, local_log, copy)[0]) == 2


def test_a_replay_of_some_time_with_a_filter(local_log: Given, spark: SparkSession, table: Table):
    name, some = local_log.topic(2), local_log.topic(2)
    # Times that go up and down: what is too early comes after what is too late.
    mixed = [
        Record(0, 9_000, b"a", b"too late"),
        Record(1, 3_000, b"a", b"in between", (("h", b"1"),)),
        Record(2, 1_999, b"a", b"too early"),
    ]
    local_log.fill(
        {
            (name, 0): [batch((b"a", b"early"), at=1_000), build(mixed)],
            (name, 1): [batch((b"a", b"first"), (b"x", b"no a"), at=2_000)],
        }
    )
    times = ["--since", "1970-01-01T00:00:02", "--until", "1970-01-01T00:00:09"]
    kept = ["--keep-partitions", "--keep-times", "--where", "string(key) = 'a'"]
    assert replay.main([name, some, *words(local_log), *times, *kept]) == 0
    rows = table(local_log, subscribe=some, includeHeaders="true").orderBy("partition").collect()
    assert [(r.partition, bytes(r.value), r.timestamp.timestamp()) for r in rows] == [
        (0, b"in between", 3.0),
        (1, b"first", 2.0),
    ]
    assert [(h.key, bytes(h.value)) for h in rows[0].headers] == [("h", b"1")]


def test_a_table_of_a_topic_becomes_that_topic_again(
    local_log: Given, spark: SparkSession, table: Table, tmp_path: Path, capsys
):
    name, again, folder = local_log.topic(2), local_log.topic(2), str(tmp_path / "table")
    contents: Any = {
        0: [(b"a", b"%d" % n) for n in range(9)],
        1: [(None, b"x"), (b"b", None), (b"b", b"y")],
    }
    for number, each in contents.items():
        local_log.append(name, number, batch(*each))
    assert topic_to_table.main([name, folder, *words(local_log)]) == 0
    back = [folder, again, *words(local_log), "--keep-partitions"]
    assert table_to_topic.main(back) == 0
    assert "records\t12" in capsys.readouterr().out
    assert pairs(table, local_log, again) == contents
    assert table_to_topic.main(back) == 0
    assert pairs(table, local_log, again) == contents


def test_rows_of_any_table_become_json_or_a_column_of_theirs(
    local_log: Given, spark: SparkSession, table: Table, tmp_path: Path, capsys
):
    folder = str(tmp_path / "prices")
    prices = [("tea", 3, 12.5), ("tea", 1, 11.0), ("salt", 2, 0.5), ("tea", 2, 12.0)]
    spark.createDataFrame(prices, "item string, day int, price double").write.parquet(folder)
    whole, part = local_log.topic(), local_log.topic()
    ordered = [*words(local_log), "--key", "item", "--order-by", "day"]
    assert table_to_topic.main([folder, whole, *ordered]) == 0
    found = [json.loads(v or b"") for v in of_key(pairs(table, local_log, whole), b"tea")]
    assert found == [
        {"item": "tea", "day": d, "price": p} for d, p in [(1, 11.0), (2, 12.0), (3, 12.5)]
    ]
    assert table_to_topic.main([folder, part, *ordered, "--value", "price"]) == 0
    assert of_key(pairs(table, local_log, part), b"tea") == [b"11.0", b"12.0", b"12.5"]
    assert table_to_topic.main([folder, part, *words(local_log), "--key", "itme"]) == TROUBLE
    assert "no column 'itme'; did you mean 'item'?" in capsys.readouterr().err
