"""The stores of AWS as servers on this machine: one of each, for every test that wants it.

moto is quick to start but loses concurrent updates; DynamoDB Local is Amazon's own, and versitygw a
real S3 server. The embedded stores are ours, of `samsa local-api`. Who uses them takes a table and
a folder of its own.
"""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from support.servers.dynamodb_local import dynamodb_local
from support.servers.embedded_stores import embedded_stores
from support.servers.moto_server import moto_server
from support.servers.versitygw import versitygw

ACCESS_KEY, SECRET_KEY, BUCKET = "gregor", "metamorphosis", "samsa"


@pytest.fixture(scope="session", autouse=True)
def aws_environment() -> Iterator[None]:
    """For every test, so that none can reach an account of whoever runs it; and before Spark
    starts, whose workers have the environment of that moment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    with moto_server() as endpoint:
        make_bucket(endpoint)
        yield endpoint


@pytest.fixture(scope="session")
def local_dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dynamodb_local(tmp_path_factory.mktemp("dynamodb-local")) as endpoint:
        ask_once(endpoint)
        yield endpoint


@pytest.fixture(scope="session")
def versity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with versitygw(tmp_path_factory.mktemp("versitygw"), ACCESS_KEY, SECRET_KEY) as endpoint:
        make_bucket(endpoint)
        yield endpoint


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("embedded")
    with embedded_stores(folder, BUCKET, {ACCESS_KEY: SECRET_KEY}) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def stores(local_dynamodb: str, versity: str) -> tuple[str, str]:
    """The endpoints of DynamoDB and of S3, for gateways: with moto, presigned URLs would be worth
    nothing, because it does not check them."""
    return local_dynamodb, versity


@pytest.fixture
def environment(stores: tuple[str, str]) -> dict[str, str]:
    """What functions are told of them."""
    return places(stores)


def places(stores: tuple[str, str]) -> dict[str, str]:
    """What a function is told: a table and a folder of its own in DynamoDB and S3."""
    dynamodb, s3 = stores
    name = f"gateway-{uuid4()}"
    return {
        "SAMSA_LEDGER": f"dynamodb://{name}?region=us-east-1&endpoint={dynamodb}",
        "SAMSA_OBJECTS": f"s3://{BUCKET}/{name}?region=us-east-1&endpoint={s3}",
        # As `samsa up` has it, where Kafka would have an empty group wait for 3 s.
        "SAMSA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    }


def ask_once(endpoint: str) -> None:
    """The first answer of a new Java may take longer than a broker waits for its store."""
    import boto3

    client = boto3.client("dynamodb", endpoint_url=endpoint)
    client.list_tables()
    client.close()


def make_bucket(endpoint: str) -> None:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint)
    client.create_bucket(Bucket=BUCKET)
    client.close()
