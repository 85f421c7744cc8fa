"""Client quotas: for whom they are set, which one applies to a client, and what Kafka refuses.

All connections to which the same quota applies share one rate: told apart by user, by client id or
by both, as the quota is set (ClientQuotaManager).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Self

from .principals import canonical_host

USER, CLIENT_ID, IP = "user", "client-id", "ip"
DEFAULT = None
"""As a name: every user or client id without a quota of its own."""

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
CONNECTION_CREATION_RATE = "connection_creation_rate"

CLIENT_KEYS = (
    PRODUCER_BYTE_RATE,
    CONSUMER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    CONTROLLER_MUTATION_RATE,
)
_WHOLE_NUMBERS = {
    PRODUCER_BYTE_RATE: ("a LONG", 2**63 - 1),
    CONSUMER_BYTE_RATE: ("a LONG", 2**63 - 1),
    CONNECTION_CREATION_RATE: ("an INT", 2**31 - 1),
}


class QuotaEntity(NamedTuple):
    """For whom a quota is set: pairs of a type and a name (or DEFAULT), sorted by type."""

    parts: tuple[tuple[str, str | None], ...]

    @classmethod
    def of(cls, parts: Mapping[str, str | None]) -> Self:
        return cls(tuple(sorted(parts.items())))

    def __str__(self) -> str:
        return ", ".join(f"{kind}={name or '<default>'}" for kind, name in self.parts)


Quotas = Mapping[QuotaEntity, Mapping[str, float]]


def problem_with_entity(parts: Iterable[tuple[str, str | None]]) -> str | None:
    """Why nothing can be set for it, as Kafka says it beside INVALID_REQUEST. Names of hosts are
    refused, which Kafka looks up: only addresses are taken."""
    seen: dict[str, str | None] = {}
    for kind, name in parts:
        if kind in seen:
            return f"Invalid client quota entity, duplicate entity entry {kind}"
        if kind not in (USER, CLIENT_ID, IP):
            return f"Unhandled client quota entity type: {kind}"
        if name == "":
            return f"Empty {kind} not supported"
        seen[kind] = name
    return _problem_with_types(seen)


def _problem_with_types(seen: Mapping[str, str | None]) -> str | None:
    if not seen:
        return "Invalid empty client quota entity"
    if IP not in seen:
        return None
    if len(seen) > 1:
        return (
            "Invalid quota entity combination, IP entity should"
            "not be combined with User or ClientId"
        )
    address = seen[IP]
    if address is not None and not _is_address(address):
        return f"{address} is not a valid IP or resolvable host."
    return None


def _is_address(text: str) -> bool:
    from ipaddress import ip_address  # Rare, and slow to load.

    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def problem_with_quota(entity: QuotaEntity, key: str, value: float) -> str | None:
    """Why this limit cannot be set for the entity, as Kafka says it beside INVALID_REQUEST. What is
    not a number is refused too, which Kafka stores."""
    is_for_addresses = any(kind == IP for kind, _ in entity.parts)
    if key not in ((CONNECTION_CREATION_RATE,) if is_for_addresses else CLIENT_KEYS):
        return f"Invalid configuration key {key}"
    if not value > 0:
        return f"Quota {key} must be greater than 0"
    kind, most = _WHOLE_NUMBERS.get(key, ("a DOUBLE", math.inf))
    if value > most or value == math.inf:
        return f"Proposed value for {key} is too large for {kind}."
    if key in _WHOLE_NUMBERS and value % 1 > 1e-6:
        return f"{key} cannot be a fractional value."
    return None


class Limit(NamedTuple):
    """The quota that applies to a client, and which clients share it."""

    key: str
    user: str
    """Empty: clients of all users share it."""
    client_id: str
    """Empty: all client ids share it."""
    value: float


class QuotaTable:
    """The quotas that are in force. It never changes: a change makes another one."""

    def __init__(self, quotas: Quotas) -> None:
        self._limits = {
            (key, _canonical(entity)): value
            for entity, keys in quotas.items()
            for key, value in keys.items()
        }
        self._keys = {key for key, _ in self._limits}

    @property
    def is_empty(self) -> bool:
        return not self._keys

    def has(self, key: str) -> bool:
        """Whether there is a limit with this key. If not, nothing has to be measured."""
        return key in self._keys

    def limit(self, key: str, user: str, client_id: str) -> Limit | None:
        """The most specific quota counts: of the two together, of the user, of the client id; each
        by its name before the default, and the user's name above all."""
        if key not in self._keys:
            return None
        for parts, of_user, of_client in _places(user, client_id):
            value = self._limits.get((key, QuotaEntity(parts)))
            if value is not None:
                return Limit(key, of_user, of_client, value)
        return None

    def connections_per_second(self, host: str) -> float | None:
        """For one address, by its own quota or the default."""
        for name in (canonical_host(host), DEFAULT):
            value = self._limits.get((CONNECTION_CREATION_RATE, QuotaEntity(((IP, name),))))
            if value is not None:
                return value
        return None


def _canonical(entity: QuotaEntity) -> QuotaEntity:
    return QuotaEntity(
        tuple(
            (kind, canonical_host(name) if kind == IP and name else name)
            for kind, name in entity.parts
        )
    )


_Parts = tuple[tuple[str, str | None], ...]


def _places(user: str, client_id: str) -> Iterator[tuple[_Parts, str, str]]:
    """Where a client's quota may be, in Kafka's order, with who shares it there. A client without
    an id has only what is set for users."""
    for name in (user, DEFAULT):
        if client_id:
            yield ((CLIENT_ID, client_id), (USER, name)), user, client_id
            yield ((CLIENT_ID, DEFAULT), (USER, name)), user, client_id
        yield ((USER, name),), user, ""
    if client_id:
        yield ((CLIENT_ID, client_id),), "", client_id
        yield ((CLIENT_ID, DEFAULT),), "", client_id
