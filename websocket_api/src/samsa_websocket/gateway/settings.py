"""Settings of the function, from its environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass

from samsa.access.rules import SecurityRules, rules_of
from samsa.ports import Misconfigured
from samsa.runtime.store_address import BadUrl, StoreUrl, read_remote_url
from samsa.topics.configs import retention_hours

LONGEST_GOOD_MS = 200_000
"""The ledger removes watchers that are much older."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    ledger: StoreUrl
    objects: StoreUrl
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
    access: SecurityRules | None = None
    """None: there are no ACLs, and every client that can connect may do everything."""
    schema_registry: bool = True

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "GatewaySettings":
        """Raises Misconfigured."""
        for name in ("SAMSA_LEDGER", "SAMSA_OBJECTS"):
            if not environment.get(name):
                raise Misconfigured(f"{name} is not set")
        delay = environment.get("SAMSA_GROUP_INITIAL_REBALANCE_DELAY_MS")
        return cls(
            _remote(environment["SAMSA_LEDGER"], "dynamodb"),
            _remote(environment["SAMSA_OBJECTS"], "s3"),
            environment.get("SAMSA_CONNECTIONS") or None,
            int(environment.get("SAMSA_DEFAULT_PARTITIONS") or 1),
            environment.get("SAMSA_AUTO_CREATE_TOPICS", "true").lower() != "false",
            min(int(environment.get("SAMSA_PARKED_GOOD_MS") or 120_000), LONGEST_GOOD_MS),
            int(delay) if delay else None,
            retention_hours(environment),
            rules_of(environment),
            environment.get("SAMSA_SCHEMA_REGISTRY", "on").lower() != "off",
        )


def _remote(url: str, scheme: str) -> StoreUrl:
    try:
        return read_remote_url(url, scheme)
    except BadUrl as error:
        raise Misconfigured(str(error)) from error
