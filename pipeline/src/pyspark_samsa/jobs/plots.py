"""A page of plots of the truck pipeline: records and bytes over time, how far it has read, dead
letters by their reason, and what is in the gold tables."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from pyspark_samsa.errors import SamsaError
from pyspark_samsa.jobs.arguments import job_parser, where_the_log_is
from pyspark_samsa.jobs.folders import Folder
from pyspark_samsa.jobs.progress import progress
from pyspark_samsa.jobs.running import run, summary
from pyspark_samsa.jobs.tables import PARQUET, add_format, check_format

TABLES = {
    "bronze_trucks": "key BINARY, value BINARY, partition INT, offset BIGINT, timestamp TIMESTAMP",
    "silver_positions": "truck_id STRING",
    "gold_speeds": "window_start TIMESTAMP, truck_id STRING, positions BIGINT,"
    " average_speed_kmh DOUBLE",
    "gold_latest_positions": "truck_id STRING, event_timestamp TIMESTAMP, latitude DOUBLE,"
    " longitude DOUBLE, speed_kmh DOUBLE, heading DOUBLE",
}
"""The columns that are needed of each: a Parquet table without rows has none."""
UPSERTED = ("gold_latest_positions",)
"""A sink makes it with its first row."""
EXAMPLES = """\
  samsa pipeline plots                        of ./trucks, into trucks/plots.html and .png
  samsa pipeline plots --out tables/mine --page mine.html
"""


def parser() -> argparse.ArgumentParser:
    parser = job_parser("plots", __doc__, EXAMPLES)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("trucks"),
        help="where `samsa pipeline run` has its tables (./%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--page", metavar="FILE", type=Path, help="to write; a PNG goes beside it (DIR/plots.html)"
    )
    parser.add_argument("--topic", default="trucks", metavar="NAME", help="(%(default)s)")
    parser.add_argument(
        "--dead-letters", default="trucks-dead-letters", metavar="NAME", help="(%(default)s)"
    )
    add_format(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run(parser(), argv, work)


def work(spark: SparkSession, given: argparse.Namespace) -> int:
    from pyspark_samsa.plots.drawing import close, draw, save
    from pyspark_samsa.plots.figures import gather
    from pyspark_samsa.plots.page import headlines, page

    log = where_the_log_is(given)
    tables = {name: table(spark, given.out / "tables" / name, given.format) for name in TABLES}
    with progress(spark, f"plots of {given.topic}"):
        figures = gather(spark, tables, log, given.topic, given.dead_letters)
    drawing = draw(figures)
    target: Path = given.page or given.out / "plots.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(given.topic, figures, drawing))
    save(drawing, target.with_suffix(".png"), "png")
    close(drawing)
    summary(page=str(target), picture=str(target.with_suffix(".png")), **headlines(figures))
    return 0


def table(spark: SparkSession, folder: Path, form: str) -> DataFrame:
    if not folder.exists():
        if folder.name in UPSERTED and folder.parent.exists():
            return spark.createDataFrame([], TABLES[folder.name])
        raise SamsaError(f"there is no table {folder}; `samsa pipeline run` makes it")
    check_format(Folder(spark, str(folder.absolute())), form)
    reader = spark.read.format(form)
    if form == PARQUET:
        reader = reader.schema(TABLES[folder.name])
    return reader.load(str(folder.absolute()))


if __name__ == "__main__":
    sys.exit(main())
