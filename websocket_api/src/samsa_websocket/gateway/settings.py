"""Settings of the function, from its environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from samsa.ports import Misconfigured
from samsa.topics.configs import retention_hours

LONGEST_GOOD_MS = 200_000
"""The ledger removes watchers that are much older."""


class StorePlace:
    """`dynamodb://table?region=…&endpoint=…`, `s3://bucket/prefix?region=…&endpoint=…`."""

    def __init__(self, url: str, scheme: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != scheme or not parts.netloc:
            raise Misconfigured(f"{url!r} is not {scheme}://NAME")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.name = parts.netloc
        self.prefix = parts.path.strip("/")
        self.region = query.get("region")
        self.endpoint = query.get("endpoint")


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    ledger: StorePlace
    objects: StorePlace
    connections: str | None = None
    """The URL of @connections, if it is not the API that the event came from."""
    default_partitions: int = 1
    auto_create_topics: bool = True
    good_ms: int = 120_000
    """How long the shim may answer an idle consumer by itself: the longest delay that a lost
    wake-up can cause."""
    initial_rebalance_delay_ms: int | None = None
    """None for Kafka's default."""
    log_retention_hours: int = 168
    """For topics without a setting of their own; -1 for ever."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "GatewaySettings":
        """Raises Misconfigured."""
        for name in ("SAMSA_LEDGER", "SAMSA_OBJECTS"):
            if not environment.get(name):
                raise Misconfigured(f"{name} is not set")
        delay = environment.get("SAMSA_GROUP_INITIAL_REBALANCE_DELAY_MS")
        return cls(
            StorePlace(environment["SAMSA_LEDGER"], "dynamodb"),
            StorePlace(environment["SAMSA_OBJECTS"], "s3"),
            environment.get("SAMSA_CONNECTIONS") or None,
            int(environment.get("SAMSA_DEFAULT_PARTITIONS") or 1),
            environment.get("SAMSA_AUTO_CREATE_TOPICS", "true").lower() != "false",
            min(int(environment.get("SAMSA_PARKED_GOOD_MS") or 120_000), LONGEST_GOOD_MS),
            int(delay) if delay else None,
            retention_hours(environment),
        )
