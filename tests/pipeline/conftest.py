"""One Spark session for all, and a log on each pair of stores."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pipeline.given import Given
from pyspark.sql import DataFrame, SparkSession
from support.needs import delta_lake, spark_connector
from support.stores import BUCKET
from support.tools import require_module

SMALL = {
    "spark.driver.memory": "700m",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.python.worker.faulthandler.enabled": "true",
}

SHORT_LIVED = {
    **SMALL,
    # Plans that run once are not worth compiling.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""Of a Spark that a test starts for itself, most of whose time is the start."""


@pytest.fixture(scope="session")
def spark(
    aws_environment: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    require_module("pyspark", "the source is read by Spark itself: pip install ./pipeline")
    from pyspark_samsa.jobs.delta import delta_conf
    from pyspark_samsa.session import local_session

    jars = ",".join(
        str(jar) for need in (spark_connector, delta_lake) for jar in sorted(need().glob("*.jar"))
    )
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    own = {**SMALL, "spark.jars": jars, "spark.sql.warehouse.dir": warehouse}
    session = local_session("tests", 2, delta_conf(own))
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def local_log(tmp_path_factory: pytest.TempPathFactory) -> Given:
    folder = tmp_path_factory.mktemp("log")
    (folder / "objects").mkdir()
    return Given(f"sqlite://{folder}/ledger.db", f"file://{folder}/objects")


@pytest.fixture(scope="module")
def aws_log(stores: tuple[str, str]) -> Given:
    """On DynamoDB and S3, by real servers of both."""
    dynamodb, s3 = stores
    return Given(
        f"dynamodb://samsa-{uuid4()}?endpoint={dynamodb}", f"s3://{BUCKET}/{uuid4()}?endpoint={s3}"
    )


@pytest.fixture(scope="module", params=["local", "aws"])
def log(request: pytest.FixtureRequest) -> Given:
    """On a SQLite file and a folder; and on DynamoDB and S3."""
    found: Given = request.getfixturevalue(f"{request.param}_log")
    return found


@pytest.fixture
def table(spark: SparkSession) -> Callable[..., DataFrame]:
    """A topic as a table: `table(log, subscribe="orders", columns="key,value")`."""

    def table(log: Given, **options: Any) -> DataFrame:
        return spark.read.format("samsa").options(**log.options, **options).load()

    return table


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")
