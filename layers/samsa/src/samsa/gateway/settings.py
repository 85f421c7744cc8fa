"""What the function is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from samsa.handlers.configs import retention_hours
from samsa.ports import Misconfigured

LONGEST_GOOD_MS = 200_000
"""The ledger forgets watchers that are much older."""


class Place:
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
class Settings:
    ledger: Place
    objects: Place
    connections: str | None = None
    """Where @connections is, if not where the event says that it came from."""
    default_partitions: int = 1
    auto_create_topics: bool = True
    good_ms: int = 120_000
    """How long the shim may answer an idle consumer by itself: what a lost wake-up can cost."""
    initial_rebalance_delay_ms: int | None = None
    """None for Kafka's default."""
    log_retention_hours: int = 168
    """Of topics that do not say it themselves; -1 for ever."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Settings":
        """Raises Misconfigured."""
        for name in ("SAMSA_LEDGER", "SAMSA_OBJECTS"):
            if not environment.get(name):
                raise Misconfigured(f"{name} is not set")
        delay = environment.get("SAMSA_GROUP_INITIAL_REBALANCE_DELAY_MS")
        return cls(
            Place(environment["SAMSA_LEDGER"], "dynamodb"),
            Place(environment["SAMSA_OBJECTS"], "s3"),
            environment.get("SAMSA_CONNECTIONS") or None,
            int(environment.get("SAMSA_DEFAULT_PARTITIONS") or 1),
            environment.get("SAMSA_AUTO_CREATE_TOPICS", "true").lower() != "false",
            min(int(environment.get("SAMSA_PARKED_GOOD_MS") or 120_000), LONGEST_GOOD_MS),
            int(delay) if delay else None,
            retention_hours(environment),
        )
