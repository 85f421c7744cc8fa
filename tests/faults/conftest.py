import os
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import boto3
import pytest
from faults.cluster import Cluster, a_cluster
from functional.servers.dynamodb_local import dynamodb_local
from functional.servers.moto_server import moto_server
from functional.servers.versitygw import versitygw

ACCESS_KEY, SECRET_KEY, BUCKET = "gregor", "metamorphosis", "samsa"
names = count()


@pytest.fixture(scope="session", autouse=True)
def aws_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield


def make_bucket(endpoint: str) -> None:
    client = boto3.client("s3", endpoint_url=endpoint)
    client.create_bucket(Bucket=BUCKET)
    client.close()


@pytest.fixture(scope="session")
def dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dynamodb_local(tmp_path_factory.mktemp("dynamodb")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with versitygw(tmp_path_factory.mktemp("s3"), ACCESS_KEY, SECRET_KEY) as endpoint:
        make_bucket(endpoint)
        yield endpoint


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    with moto_server() as endpoint:
        make_bucket(endpoint)
        yield endpoint


@pytest.fixture
def seed() -> str:
    """Given again as SAMSA_FAULT_SEED, it makes the same plan; the requests may still differ."""
    seed = os.environ.get("SAMSA_FAULT_SEED") or str(random.randrange(1_000_000))
    print(f"SAMSA_FAULT_SEED={seed}")
    return seed


@pytest.fixture
def cluster(dynamodb: str, s3: str, seed: str, tmp_path: Path) -> Iterator[Cluster]:
    with a_cluster(dynamodb, s3, f"faults-{next(names)}", BUCKET, seed, tmp_path) as cluster:
        yield cluster
