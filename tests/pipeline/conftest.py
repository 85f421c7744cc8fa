"""One Spark session for all, and a log on each pair of stores."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from functional.conftest import ACCESS_KEY, BUCKET, SECRET_KEY, make_bucket
from functional.servers.dynamodb_local import dynamodb_local
from functional.servers.versitygw import versitygw
from pipeline.given import Given
from pyspark.sql import DataFrame, SparkSession
from support.connector import connector_jars
from support.tools import require_module

SMALL = {
    "spark.driver.memory": "700m",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.python.worker.faulthandler.enabled": "true",
}


@pytest.fixture(scope="session")
def spark(aws_environment: None) -> Iterator[SparkSession]:
    require_module("pyspark", "the source is read by Spark itself: pip install '.[spark]'")
    from pyspark_samsa.session import local_session

    jars = ",".join(map(str, connector_jars()))
    session = local_session("tests", 2, {**SMALL, "spark.jars": jars})
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def aws_environment() -> Iterator[None]:
    """Before Spark starts: its workers have the environment of that moment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield


@pytest.fixture(scope="session")
def local_dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dynamodb_local(tmp_path_factory.mktemp("dynamodb-local")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def versity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with versitygw(tmp_path_factory.mktemp("versitygw"), ACCESS_KEY, SECRET_KEY) as endpoint:
        make_bucket(endpoint)
        yield endpoint


@pytest.fixture(scope="module")
def local_log(tmp_path_factory: pytest.TempPathFactory) -> Given:
    folder = tmp_path_factory.mktemp("log")
    (folder / "objects").mkdir()
    return Given(f"sqlite://{folder}/ledger.db", f"file://{folder}/objects")


@pytest.fixture(scope="module", params=["local", "aws"])
def log(request: pytest.FixtureRequest, local_log: Given) -> Given:
    """On a SQLite file and a folder; and on DynamoDB and S3, by real servers of both."""
    if request.param == "local":
        return local_log
    dynamodb, s3 = (request.getfixturevalue(name) for name in ("local_dynamodb", "versity"))
    return Given(
        f"dynamodb://samsa-{uuid4()}?endpoint={dynamodb}", f"s3://{BUCKET}/{uuid4()}?endpoint={s3}"
    )


@pytest.fixture
def table(spark: SparkSession) -> Callable[..., DataFrame]:
    """A topic as a table: `table(log, subscribe="orders", columns="key,value")`."""

    def table(log: Given, **options: Any) -> DataFrame:
        return spark.read.format("samsa").options(**log.options, **options).load()

    return table


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")
