"""The trucks, whole: generator, broker, `spark-pipelines run`, and every table row by row."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pipeline import trucks
from pipeline.conftest import SHORT_LIVED
from pipeline.trucks import Chapter, Placed, placed
from pipeline.updating_driver import ENDED
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from support.broker import Broker, samsa_up
from support.needs import delta_lake

from pyspark_samsa.jobs import plots
from samsa_broker.cli.main import main

PIPELINE = Path(__file__).parents[2] / "pipeline"
START = 1_767_225_600_000
FIRST = Chapter(seed=7, start_ms=START, count=1_500)
SECOND = Chapter(seed=8, start_ms=START + 3_000_000, count=900)
THIRD = Chapter(seed=10, start_ms=START + 4_800_000, count=4, bad=0, late=0, gone=0)
"""A few trucks move on."""
UNREAD = Chapter(seed=9, start_ms=START + 9_000_000, count=5)
CONF = {
    **SHORT_LIVED,
    "spark.python.authenticate.socketTimeout": "3m",
    "spark.sql.pipelines.execution.streamstate.pollingInterval": "1",
}
PATIENCE_S = 900
FORMS = "parquet", "delta"
LATEST = "gold_latest_positions"


@dataclass(frozen=True)
class World:
    broker: Broker
    folder: Path
    updating: subprocess.Popen[str]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def out(self, form: str) -> Path:
        return self.folder / form

    def write(self, chapter: Chapter) -> None:
        words = ["demo", "trucks", "--bootstrap", self.broker.bootstrap]
        assert main([*words, *chapter.words]) == 0

    def run(self, form: str) -> str:
        """An update of all tables in this format; what it says at the end."""
        words = ["--spec", self.spec(form), "--out", self.out(form), "--data", self.data]
        conf = {**CONF, "spark.jars": ",".join(map(str, sorted(delta_lake().glob("*.jar"))))}
        words += ["--format", form, "--cores", 2]
        words += [f"--conf={name}={value}" for name, value in conf.items()]
        talking = self.updating
        assert talking.stdin is not None
        assert talking.stdout is not None
        print(json.dumps([str(word) for word in words]), file=talking.stdin, flush=True)
        said = ""
        for line in talking.stdout:
            if line.startswith(ENDED):
                assert line == f"{ENDED}0\n", said[-6_000:]
                return said
            said += line
        raise AssertionError(said[-6_000:])

    def spec(self, form: str) -> Path:
        """The pipeline as it is, but for the topic of its dead letters, and small."""
        spec = yaml.safe_load((PIPELINE / "spark-pipeline.yml").read_text())
        spec["configuration"]["spark.sql.shuffle.partitions"] = "2"
        spec["configuration"]["spark.samsa.trucks.deadLetters"] = dead_letters(form)
        home = self.folder / f"{form}-spec"
        home.mkdir(exist_ok=True)
        where = os.path.relpath(PIPELINE / "transformations", home)
        spec["libraries"] = [{"glob": {"include": f"{where}/**"}}]
        (home / "spark-pipeline.yml").write_text(yaml.safe_dump(spec))
        return home / "spark-pipeline.yml"

    def forget(self, records: list[Placed]) -> None:
        """As retention does: the topic no longer has these."""
        ends = {r.partition: r.offset + 1 for r in records}
        where = [TopicPartition("trucks", number, end) for number, end in ends.items()]
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        for gone in admin.delete_records(where).values():
            gone.result(60)

    def dead_letters(self, form: str) -> list[tuple]:
        consumer = Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": "none"})
        where = TopicPartition(dead_letters(form), 0, 0)
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


def dead_letters(form: str) -> str:
    """Two pipelines over one topic: each has its own."""
    return f"dead-letters-{form}"


@dataclass(frozen=True)
class Tables:
    spark: SparkSession
    out: Path
    form: str

    def table(self, name: str) -> DataFrame:
        """With times as milliseconds, which mean the same in every time zone."""
        table = self.spark.read.format(self.form).load(str(self.out / "tables" / name))
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
        return [tuple(row) for row in self.table(LATEST).collect()]

    def files_of_latest(self) -> dict[str, int]:
        """With what changes when a file is replaced."""
        files = (self.out / "tables" / LATEST).glob("*.parquet")
        return {path.name: path.stat().st_ino for path in files}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("trucks")
    # The story is of long ago: nobody shall clear it away by its age.
    with samsa_up(folder, "--upkeep-interval", "86400") as broker, updating() as process:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for made in admin.create_topics(
            [NewTopic(dead_letters(form), 1) for form in FORMS]
        ).values():
            made.result(60)
        yield World(broker, folder, process)


@contextmanager
def updating() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(Path(__file__).with_name("updating_driver.py"))]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Without more to do it ends by itself; in the middle of something that hangs it does not."""
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@pytest.mark.long
@pytest.mark.timeout(PATIENCE_S)
def test_every_table_has_the_rows_that_it_must_have_and_the_next_run_goes_on(
    world: World, spark: SparkSession, capsys: pytest.CaptureFixture[str]
):
    """In Parquet three runs, in Delta two."""
    parquet = Tables(spark, world.out("parquet"), "parquet")
    delta = Tables(spark, world.out("delta"), "delta")
    first, second, third = FIRST.told(), SECOND.told(), THIRD.told()
    records = placed([*first, *second, *third])
    early, later = records[: len(first)], records[: len(first) + len(second)]

    world.write(FIRST)
    counted, mark = trucks.in_time(first, 0), trucks.watermark(first)
    assert f"bronze trucks\t{len(first):,}" in world.run("parquet")
    check(parquet, world, early)
    assert parquet.speeds() == trucks.speeds(counted, mark)
    # What must be in Delta's tables is looked at once, at the end.
    assert f"bronze trucks\t{len(first):,}" in world.run("delta")

    # The first chapter is gone from the topic: a run that began anew could not know it.
    world.forget(early)
    world.write(SECOND)
    world.run("parquet")
    check(parquet, world, later)
    # The story has some that come too late to count, or this would say nothing about them.
    again = trucks.in_time(second, mark)
    assert len(again) < sum(1 for one in second if one.position)
    assert parquet.speeds() == trucks.speeds([*counted, *again], trucks.watermark(second))

    world.write(THIRD)
    files = parquet.files_of_latest()
    world.run("parquet")
    assert sorted(parquet.latest()) == sorted(trucks.latest(records))
    assert changed(files, parquet.files_of_latest()) == len({one.key for one in third}) < len(files)
    draw(world, len(records), capsys)

    world.run("delta")
    records = placed([*first, *second, *third, *UNREAD.told()])
    check(delta, world, records)
    again = trucks.in_time([*second, *third, *UNREAD.told()], mark)
    assert delta.speeds() == trucks.speeds([*counted, *again], trucks.watermark(UNREAD.told()))


def changed(before: dict[str, int], after: dict[str, int]) -> int:
    assert before.keys() <= after.keys()
    return sum(before.get(name) != number for name, number in after.items())


def check(tables: Tables, world: World, records: list[Placed]) -> None:
    found = tables.bronze()
    assert len(found) == len(records)
    assert set(found) == trucks.bronze(records)
    positions = tables.silver()
    assert set(positions) == trucks.silver(records)
    assert len(set(positions)) == len(positions)
    letters = trucks.dead_letters(records)
    assert world.dead_letters(tables.form) == letters
    assert len({reason for _, _, reason, _, _ in letters}) == 6
    newest = tables.latest()
    assert sorted(newest) == sorted(trucks.latest(records))
    assert len(newest) < len({r.told.key for r in records}), "some have left"


def draw(world: World, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The page, after some more records that the pipeline has not read."""
    world.write(UNREAD)
    out = world.out("parquet")
    words = ["--out", str(out), "--data", str(world.data)]
    assert plots.main([*words, "--dead-letters", dead_letters("parquet")]) == 0
    page = (out / "plots.html").read_text()
    tiles = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert tiles["records"] == f"{count:,}"
    assert tiles["waiting"] == "5"
    assert tiles["dead letters"] == f"{len(world.dead_letters('parquet')):,}"
    assert page.count("<svg") == 1
    assert (out / "plots.png").read_bytes().startswith(b"\x89PNG")
    assert "plots.html" in capsys.readouterr().out
