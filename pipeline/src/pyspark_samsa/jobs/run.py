"""Runs a declarative pipeline on this machine: one update of its tables, from where each of them
is.

It is `spark-pipelines run` with all that it needs: a Java, a Spark that knows the tables of the run
before, where the log is, and one folder for whatever it keeps.
"""

import argparse
import os
import secrets  # noqa: TID251  # a password for a moment, not part of anything simulated
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyspark
import yaml
from pyspark.sql import SparkSession

from pyspark_samsa.errors import SamsaError
from pyspark_samsa.jobs.arguments import job_parser, where_the_log_is
from pyspark_samsa.jobs.running import TROUBLE, run, summary
from pyspark_samsa.jobs.tables import DELTA_LOG, add_format, raise_unless
from pyspark_samsa.options import ENVIRONMENT

SPEC = "spark-pipeline.yml"
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105  # the name of a variable
FORMAT = "spark.sql.sources.default"
EXAMPLES = """\
  samsa pipeline run                          the trucks, into ./trucks
  samsa pipeline run --full-refresh gold_speeds
  samsa pipeline run --spec mine/spark-pipeline.yml --out tables/mine --format delta
"""


def parser() -> argparse.ArgumentParser:
    parser = job_parser("run", __doc__, EXAMPLES)
    parser.add_argument(
        "--spec", metavar="FILE", type=Path, default=Path("pipeline") / SPEC,
        help="of the pipeline (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("trucks"),
        help="for tables, checkpoints and the catalog (./%(default)s)",
    )  # fmt: skip
    add_format(parser)
    parser.add_argument(
        "--full-refresh", metavar="TABLE", action="append", default=[],
        help="forget this table and make it anew; may be repeated",
    )  # fmt: skip
    parser.add_argument("--full-refresh-all", action="store_true", help="make all of them anew")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    given = parser().parse_args(words)
    try:
        prepare(given)
    except SamsaError as error:
        print(f"{parser().prog}: {error}", file=sys.stderr)
        return TROUBLE
    # These come first: the user's own settings come later, and override them.
    ours = [f"--conf={name}={value}" for name, value in settings(given.out.absolute()).items()]
    return run(parser(), [*ours, *words], work)


def prepare(given: argparse.Namespace) -> None:
    """Call this before Spark starts: its workers inherit the environment."""
    for folder in sorted((given.out / "tables").glob("[!._]*/")):
        if any(folder.iterdir()):
            raise_unless(given.format, str(folder), (folder / DELTA_LOG).exists())
    given.out.mkdir(parents=True, exist_ok=True)
    for name, url in where_the_log_is(given).items():
        os.environ[ENVIRONMENT[name]] = url
    os.environ.setdefault(TOKEN, secrets.token_hex())
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def settings(out: Path) -> dict[str, str]:
    """Settings of a Spark that remembers its tables and answers `spark-pipelines`."""
    return {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.sql.artifact.isolation.enabled": "true",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"file://{out}/tables",
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={out}/catalog;create=true"
        ),
        # Otherwise Spark writes one into the current folder.
        "spark.driver.defaultJavaOptions": f"-Dderby.stream.error.file={out}/derby.log",
    }


def work(spark: SparkSession, given: argparse.Namespace) -> int:
    out = given.out.absolute()
    home, spec = given.spec.absolute().parent, out / SPEC
    spec.write_text(yaml.safe_dump(placed(load(given.spec), home, out, given.format)))
    # The command reports failures itself; a message about the session's end would only confuse.
    spark.sparkContext.setLogLevel("FATAL")
    if update(spark, spec, given):
        raise SamsaError("the update has failed: what Spark says about it is above")
    tables = sorted(names(spark) | adopted(spark, out / "tables", given.format))
    summary(pipeline=str(given.spec), **{name: spark.table(name).count() for name in tables})
    return 0


def names(spark: SparkSession) -> set[str]:
    return {row.tableName for row in spark.sql("SHOW TABLES").collect()}


def adopted(spark: SparkSession, folder: Path, form: str) -> set[str]:
    """Tables that a sink has made beside those of the pipeline get a name in the catalog too."""
    made = {path.name for path in folder.glob("[!._]*/")} - names(spark)
    for name in made:
        spark.sql(f"CREATE TABLE `{name}` USING {form} LOCATION '{folder / name}'")
    return made


def load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SamsaError(f"there is no {path}; --spec says which pipeline is meant")
    spec: dict[str, Any] = yaml.safe_load(path.read_text())
    return spec


def placed(spec: Mapping[str, Any], home: Path, out: Path, form: str) -> dict[str, Any]:
    """The same pipeline, with everything that it keeps in one folder."""
    libraries = [
        {"glob": {"include": f"{os.path.relpath(home, out)}/{entry['glob']['include']}"}}
        for entry in spec.get("libraries", [])
    ]
    configuration = {**spec.get("configuration", {}), FORMAT: form}
    return {
        **spec,
        "storage": f"file://{out}/storage",
        "libraries": libraries,
        "configuration": configuration,
    }


def update(spark: SparkSession, spec: Path, given: argparse.Namespace) -> int:
    """Run Spark's own command against the Spark that runs already. Its script `spark-pipelines`
    would start another Java only to start this."""
    tool = Path(pyspark.__file__).parent / "pipelines" / "cli.py"
    refresh = [f"--full-refresh={table}" for table in given.full_refresh]
    refresh += ["--full-refresh-all"] * given.full_refresh_all
    command = [sys.executable, str(tool), "run", "--spec", str(spec), *refresh]
    ours = {**os.environ, "SPARK_REMOTE": remote(spark)}
    return subprocess.run(command, env=ours, check=False).returncode  # noqa: S603  # its own words


def remote(spark: SparkSession) -> str:
    jvm: Any = spark._jvm
    service = getattr(jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    # By this name: only then does a client send its password without TLS.
    return f"sc://localhost:{getattr(service, 'MODULE$').localPort()}"


if __name__ == "__main__":
    sys.exit(main())
