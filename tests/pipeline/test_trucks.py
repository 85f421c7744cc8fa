"""The trucks, whole: generator, broker, `spark-pipelines run`, and every table row by row."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from pipeline import trucks
from pipeline.trucks import Chapter, Placed, placed
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from support.broker import SAMSA, Broker, samsa_up

from pyspark_samsa.jobs import plots
from samsa.cli.main import main

SPEC = Path(__file__).parents[2] / "pipeline" / "spark-pipeline.yml"
DEAD_LETTERS = "trucks-dead-letters"
START = 1_767_225_600_000
FIRST = Chapter(seed=7, start_ms=START, count=1_500)
SECOND = Chapter(seed=8, start_ms=START + 3_000_000, count=900)
CONF = {
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    "spark.python.authenticate.socketTimeout": "3m",
    "spark.sql.pipelines.execution.streamstate.pollingInterval": "1",
}
SMALL = ["--cores", "2", *(f"--conf={name}={value}" for name, value in CONF.items())]
PATIENCE_S = 280


@dataclass(frozen=True)
class World:
    broker: Broker
    data: Path
    out: Path

    def write(self, chapter: Chapter) -> None:
        words = ["demo", "trucks", "--bootstrap", self.broker.bootstrap]
        assert main([*words, *chapter.words]) == 0

    def run(self) -> str:
        """As people do, in a Spark of its own; what it says at the end."""
        words = ["--spec", SPEC, "--out", self.out, "--data", self.data, *SMALL]
        command = [str(word) for word in (SAMSA, "pipeline", "run", *words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-6_000:]
        return done.stdout

    def forget(self, records: list[Placed]) -> None:
        """As retention does: the topic no longer has these."""
        ends = {r.partition: r.offset + 1 for r in records}
        where = [TopicPartition("trucks", number, end) for number, end in ends.items()]
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        for gone in admin.delete_records(where).values():
            gone.result(60)

    def dead_letters(self) -> list[tuple]:
        consumer = Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": "none"})
        where = TopicPartition(DEAD_LETTERS, 0, 0)
        _, end = consumer.get_watermark_offsets(where, 60)
        consumer.assign([where])
        letters = []
        while len(letters) < end:
            message = consumer.poll(60)
            assert message is not None
            headers = {name: value.decode() for name, value in message.headers()}
            assert headers["topic"] == "trucks"
            origin = int(headers["partition"]), int(headers["offset"])
            letters.append((message.key(), message.value(), headers["reason"], *origin))
        consumer.close()
        return sorted(letters)


@dataclass(frozen=True)
class Tables:
    spark: SparkSession
    out: Path

    def table(self, name: str) -> DataFrame:
        """With times as milliseconds, which mean the same in every time zone."""
        table = self.spark.read.parquet(str(self.out / "tables" / name))
        times = [name for name, kind in table.dtypes if kind == "timestamp"]
        return table.withColumns({name: f.unix_millis(name) for name in times})

    def bronze(self) -> list[tuple]:
        columns = "partition", "offset", "key", "value", "timestamp"
        rows = self.table("bronze_trucks").select(*columns).collect()
        return [(p, o, bytes(k), None if v is None else bytes(v), t) for p, o, k, v, t in rows]

    def silver(self) -> list[tuple]:
        return [tuple(row) for row in self.table("silver_positions").collect()]

    def speeds(self) -> dict[tuple, tuple]:
        rows = self.table("gold_speeds").collect()
        assert len({(row.window_start, row.truck_id) for row in rows}) == len(rows)
        assert all(row.window_end - row.window_start == 300_000 for row in rows)
        return {
            (row.window_start, row.truck_id): (
                row.positions,
                pytest.approx(row.average_speed_kmh),
                row.top_speed_kmh,
            )
            for row in rows
        }

    def latest(self) -> list[tuple]:
        return [tuple(row) for row in self.table("gold_latest_positions").collect()]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("trucks")
    with samsa_up(folder) as broker:
        yield World(broker, folder / "data", folder / "out")


def test_every_table_has_the_rows_that_it_must_have_and_a_second_run_goes_on(
    world: World, spark: SparkSession, capsys: pytest.CaptureFixture[str]
):
    tables = Tables(spark, world.out)
    first, second = FIRST.told(), SECOND.told()
    records = placed([*first, *second])
    early, marks = records[: len(first)], [trucks.watermark(first), trucks.watermark(second)]

    world.write(FIRST)
    said = world.run()
    assert f"bronze trucks\t{len(first):,}" in said
    check(tables, world, early)
    counted = trucks.in_time(first, 0)
    assert tables.speeds() == trucks.speeds(counted, marks[0])

    # The first chapter is gone from the topic: a run that began anew could not know it.
    world.forget(early)
    world.write(SECOND)
    world.run()
    check(tables, world, records)
    # The story has some that come too late to count, or this would say nothing about them.
    again = trucks.in_time(second, marks[0])
    assert len(again) < sum(1 for one in second if one.position)
    assert tables.speeds() == trucks.speeds([*counted, *again], marks[1])

    draw(world, len(records), capsys)


def check(tables: Tables, world: World, records: list[Placed]) -> None:
    found = tables.bronze()
    assert len(found) == len(records)
    assert set(found) == trucks.bronze(records)
    positions = tables.silver()
    assert set(positions) == trucks.silver(records)
    assert len(set(positions)) == len(positions)
    letters = trucks.dead_letters(records)
    assert world.dead_letters() == letters
    assert len({reason for _, _, reason, _, _ in letters}) == 6
    newest = tables.latest()
    assert set(newest) == trucks.latest(records)
    assert len(newest) < len({r.told.key for r in records}), "some have left"


def draw(world: World, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The page, after one more record that the pipeline has not read."""
    world.write(Chapter(seed=9, start_ms=START + 9_000_000, count=5))
    assert plots.main(["--out", str(world.out), "--data", str(world.data)]) == 0
    page = (world.out / "plots.html").read_text()
    tiles = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert tiles["records"] == f"{count:,}"
    assert tiles["waiting"] == "5"
    assert tiles["dead letters"] == f"{len(world.dead_letters()):,}"
    assert page.count("<svg") == 1
    assert (world.out / "plots.png").read_bytes().startswith(b"\x89PNG")
    assert "plots.html" in capsys.readouterr().out
