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


def refuse_torn_answers(client: Any) -> None:
    """botocore reads an answer that was cut short as an empty one: an item as no item at all, a
    failed condition as an error without a name."""
    client.meta.events.register(
        "response-received.dynamodb", _refuse_if_torn, unique_id="samsa-torn-answers"
    )


def _refuse_if_torn(response_dict: dict[str, Any] | None, **_: Any) -> None:
    from botocore.parsers import ResponseParserError

    if response_dict is None or response_dict["status_code"] >= 500:
        return
    body = response_dict["body"]
    promised = str(response_dict["headers"].get("content-length", len(body)))
    if promised != str(len(body)) or _is_torn(response_dict["status_code"], body):
        raise ResponseParserError(f"{len(body)} bytes of {promised}")


def _is_torn(status: int, body: bytes) -> bool:
    """An error may come from someone else than DynamoDB, and be no JSON."""
    begins, ends = body.startswith(b"{"), body.endswith(b"}")
    return not (begins and ends) if status == 200 else begins != ends or not body
