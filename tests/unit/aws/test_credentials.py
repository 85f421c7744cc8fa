"""Who we are to AWS, and where it is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.credentials import RefreshableCredentials
from botocore.session import get_session

from samsa.aws import credentials
from samsa.aws.credentials import Credentials, endpoint_or, region_or
from samsa.aws.presign import Presigner
from samsa.aws.s3_store import open_store
from samsa.aws.sigv4 import Keys
from samsa.ports import Misconfigured
from samsa_websocket.gateway.function import _connections_url
from samsa_websocket.shim.signing import region_in


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"]
    names += ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"]
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


async def test_a_function_finds_its_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setattr(credentials, "_find_provider", None)  # botocore is not asked
    assert await Credentials().keys() == Keys("key", "secret", "token")


async def test_a_profile_is_asked_for_its_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "credentials").write_text(
        "[work]\naws_access_key_id = key\naws_secret_access_key = secret\n"
    )
    (tmp_path / "config").write_text("[profile work]\nregion = eu-north-1\n")
    monkeypatch.setenv("AWS_PROFILE", "work")
    found = Credentials()
    assert [await found.keys() for _ in range(2)] == [Keys("key", "secret")] * 2
    assert region_or(None) == "eu-north-1"


async def test_keys_that_run_out_are_fetched_again(monkeypatch: pytest.MonkeyPatch):
    fetched: list[int] = []

    def fetch() -> dict[str, str]:
        fetched.append(1)
        life = timedelta(minutes=1 if len(fetched) == 1 else 60)
        until = (datetime.now(UTC) + life).isoformat()
        word = f"key{len(fetched)}"
        return {"access_key": word, "secret_key": "s", "token": "t", "expiry_time": until}

    provider = RefreshableCredentials.create_from_metadata(fetch(), fetch, "test")
    monkeypatch.setattr(credentials, "_find_provider", lambda _: provider)
    found = Credentials()
    assert [(await found.keys()).access_key for _ in range(3)] == ["key2"] * 3


async def test_where_nobody_has_keys_that_is_said():
    with pytest.raises(Misconfigured, match="no AWS credentials"):
        await Credentials().keys()


def test_a_region_is_given_or_in_the_environment_or_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch,
):
    with pytest.raises(Misconfigured, match="region"):
        region_or(None)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert region_or(None) == "us-east-1"
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert region_or(None) == "eu-central-1"
    assert region_or("ap-south-1") == "ap-south-1"


def test_an_endpoint_is_given_or_in_the_environment_or_the_regions_own(
    monkeypatch: pytest.MonkeyPatch,
):
    assert endpoint_or(None, "dynamodb", "eu-west-1") == "https://dynamodb.eu-west-1.amazonaws.com"
    assert endpoint_or(None, "s3", "cn-north-1") == "https://s3.cn-north-1.amazonaws.com.cn"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://all")
    assert endpoint_or(None, "dynamodb", "eu-west-1") == "http://all"
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://one")
    assert endpoint_or(None, "dynamodb", "eu-west-1") == "http://one"
    assert endpoint_or("http://mine", "dynamodb", "eu-west-1") == "http://mine"


@pytest.mark.parametrize(
    ("bucket", "endpoint", "starts"),
    [
        ("samsa", None, "https://samsa.s3.eu-west-1.amazonaws.com/pre/log/0?"),
        ("sam.sa", None, "https://s3.eu-west-1.amazonaws.com/sam.sa/pre/log/0?"),
        ("samsa", "http://127.0.0.1:7070", "http://127.0.0.1:7070/samsa/pre/log/0?"),
    ],
)
async def test_a_bucket_has_a_host_of_its_own_where_s3_gives_it_one(
    monkeypatch: pytest.MonkeyPatch, bucket: str, endpoint: str | None, starts: str
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    url = await Presigner(bucket, "pre", endpoint, "eu-west-1").get("log/0", 0, 9)
    assert url.startswith(starts)


def regions() -> dict[str, str]:
    """Every region that botocore knows, and the domain of its endpoints."""
    tables = get_session().get_component("data_loader").load_data("endpoints")
    return {name: part["dnsSuffix"] for part in tables["partitions"] for name in part["regions"]}


@pytest.mark.parametrize(("region", "domain"), regions().items())
async def test_every_region_is_reached_under_the_domain_of_its_partition(
    monkeypatch: pytest.MonkeyPatch, region: str, domain: str
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert endpoint_or(None, "dynamodb", region) == f"https://dynamodb.{region}.{domain}"
    assert region_in(f"wss://abc.execute-api.{region}.{domain}/live") == region
    url = await Presigner("bucket", "", None, region).get("log/x", 0, 9)
    assert url.startswith(f"https://bucket.s3.{region}.{domain}/log/x?")
    assert open_store("bucket", "", None, region, 1.0).config["endpoint"] == (
        f"https://s3.{region}.{domain}"
    )
    monkeypatch.setenv("AWS_REGION", region)
    told = {"domainName": "kafka.example.com", "apiId": "abc", "stage": "live"}
    assert _connections_url(told) == f"https://abc.execute-api.{region}.{domain}/live"
