"""Opens the S3 store: endpoint, credentials, timeouts and retries."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from obstore.store import S3Store

from samsa.aws.credentials import endpoint_or, region_or

if TYPE_CHECKING:
    from obstore.store import S3Config

AWS_KEYS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
"""obstore reads these by itself; all other credentials (profiles, SSO, …) come from boto3."""


def open_store(
    bucket: str, prefix: str, endpoint: str | None, region: str | None, timeout_s: float
) -> S3Store:
    region = region_or(region, endpoint)
    # Always set: obstore's default is a name under amazonaws.com, also in China's regions.
    endpoint = endpoint_or(endpoint, "s3", region)
    config: S3Config = {"endpoint": endpoint, "region": region}
    return S3Store(
        bucket,
        prefix=prefix or None,
        config=config,
        client_options={
            "timeout": timedelta(seconds=timeout_s),
            "connect_timeout": timedelta(seconds=min(2.0, timeout_s)),
            "allow_http": endpoint.startswith("http://"),
        },
        retry_config={
            "max_retries": 4,
            "retry_timeout": timedelta(seconds=timeout_s),
            "backoff": {"max_backoff": timedelta(seconds=1)},
        },
        credential_provider=boto3_credentials(),
    )


def boto3_credentials() -> Callable[[], Any] | None:
    if any(name in os.environ for name in AWS_KEYS):
        return None
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        return None
    try:
        return Boto3CredentialProvider()
    except ValueError:
        # boto3 has none either: obstore asks the metadata service of the machine.
        return None
