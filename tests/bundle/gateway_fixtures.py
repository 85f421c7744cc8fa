"""Where gateways find their stores: DynamoDB Local, because moto loses concurrent updates, and a
real S3 server, because presigned URLs are worth nothing where nobody checks them."""

from collections.abc import Iterator

import pytest
from bundle.given_gateway import Cluster, serving_pushes
from functional.conftest import ACCESS_KEY, BUCKET, SECRET_KEY, make_bucket
from functional.servers.dynamodb_local import dynamodb_local
from functional.servers.versitygw import versitygw
from support.chain import places


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The endpoints of DynamoDB and of S3."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        folders = tmp_path_factory
        with (
            dynamodb_local(folders.mktemp("dynamodb")) as dynamodb,
            versitygw(folders.mktemp("s3"), ACCESS_KEY, SECRET_KEY) as s3,
        ):
            make_bucket(s3)
            yield dynamodb, s3


@pytest.fixture
def environment(stores: tuple[str, str]) -> dict[str, str]:
    return places(stores, BUCKET)


@pytest.fixture
def cluster(environment: dict[str, str]) -> Iterator[Cluster]:
    with serving_pushes() as pushes:
        yield Cluster(environment, pushes)
