"""What is missing is said in one sentence, with the next step."""

import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from support.stores import BUCKET

from samsa.aws import probing
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.probing import NO_TABLE, StoreAddress, probe_bucket, probe_table
from samsa.ports import Misconfigured


@pytest.fixture
def silent_endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Somebody listens there, and says nothing."""
    monkeypatch.setattr(probing, "WITHIN_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


async def test_a_local_dynamodb_need_not_have_the_table_yet(local_dynamodb: str):
    await probe_table(StoreAddress(f"samsa-{uuid4()}", endpoint=local_dynamodb))


async def test_a_table_that_an_account_does_not_have_is_named(
    local_dynamodb: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_ENDPOINT_URL", local_dynamodb)  # which is no endpoint of the URL's
    with pytest.raises(Misconfigured, match=r"no DynamoDB table 'nobodys' in us-east-1.*deploy"):
        await probe_table(StoreAddress("nobodys"))
    ledger = DynamoLedger("somebodys", local_dynamodb)
    await ledger.create_table()
    await ledger.close()
    await probe_table(StoreAddress("somebodys"))


async def test_a_bucket_that_is_there_is_found(versity: str):
    await probe_bucket(StoreAddress(BUCKET, "some/folder", versity))


async def test_a_bucket_that_is_not_there_is_named_with_the_command_that_makes_it(versity: str):
    with pytest.raises(Misconfigured, match=r"no bucket 'nobodys'.*aws s3 mb s3://nobodys"):
        await probe_bucket(StoreAddress("nobodys", endpoint=versity))


async def test_keys_that_s3_does_not_take_are_refused_as_such(
    versity: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "stranger")
    with pytest.raises(Misconfigured, match="credentials may not use the bucket 'samsa'"):
        await probe_bucket(StoreAddress(BUCKET, endpoint=versity))


@pytest.mark.parametrize(("probe", "name"), [(probe_table, "DynamoDB"), (probe_bucket, "S3")])
async def test_where_nobody_listens_that_is_said(probe, name, dead_endpoint: str):
    with pytest.raises(Misconfigured, match=f"no {name} answers at {dead_endpoint}.*Start one"):
        await probe(StoreAddress("samsa", endpoint=dead_endpoint))


@pytest.mark.parametrize(("probe", "name"), [(probe_table, "DynamoDB"), (probe_bucket, "S3")])
async def test_where_nobody_answers_that_is_said(probe, name, silent_endpoint: str):
    with pytest.raises(Misconfigured, match=f"no {name} answers at .*"):
        await probe(StoreAddress("samsa", endpoint=silent_endpoint))


async def test_what_is_no_dynamodb_is_told_from_one_without_the_table(versity: str):
    with pytest.raises(Misconfigured) as refused:
        await probe_table(StoreAddress("samsa", endpoint=versity))
    assert NO_TABLE not in str(refused.value)
    assert versity in str(refused.value)


@pytest.mark.parametrize("probe", [probe_table, probe_bucket])
async def test_missing_credentials_are_said_before_a_store_is_asked(
    probe, no_credentials: None, dead_endpoint: str
):
    with pytest.raises(Misconfigured, match=r"^there are no AWS credentials; set AWS_PROFILE"):
        await probe(StoreAddress("samsa", endpoint=dead_endpoint))


@pytest.mark.parametrize("probe", [probe_table, probe_bucket])
@pytest.mark.parametrize("endpoint", ["127.0.0.1:8000", "ftp://x", "http://", "http://x:99999"])
async def test_an_endpoint_that_is_no_url_is_shown_what_one_looks_like(probe, endpoint: str):
    with pytest.raises(Misconfigured, match="is no URL; one is http://127"):
        await probe(StoreAddress("samsa", endpoint=endpoint))
