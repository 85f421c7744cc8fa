"""The boto3 client, made late: importing boto3 takes half a second."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a request may take: with all its tries, less than the age of a fenced slot."""

    connect_s: float = 1.0
    read_s: float = 3.0
    tries: int = 3


def dynamodb_client(
    endpoint: str | None, region: str | None, connections: int, patience: Patience
) -> Any:
    import boto3
    from botocore.config import Config

    config = Config(
        connect_timeout=patience.connect_s,
        read_timeout=patience.read_s,
        retries={"mode": "standard", "total_max_attempts": patience.tries},
        max_pool_connections=connections,
        tcp_keepalive=True,
    )
    return boto3.client("dynamodb", endpoint_url=endpoint, region_name=region, config=config)
