"""Settings of a shim. Tests shorten times and limits."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ShimTimes:
    """In seconds. API Gateway ends a connection after 10 quiet minutes, and after 2 hours."""

    ping_after: float = 300.0
    life: float = 110 * 60.0
    open_within: float = 10.0
    answer_within: float = 30.0
    """The function has 29 s."""
    away: float = 10.0
    """How long a client waits while the cluster cannot be reached; then its connection is closed.
    Kafka clients reconnect by themselves, and log that they cannot connect."""
    failing: float = 30.0
    """How long a failing request is sent again; then the connection is closed, too."""
    first_delay: float = 0.2
    longest_delay: float = 10.0
    client_idle: float = 600.0
    """As a broker's connections.max.idle.ms."""
    client_stalls: float = 60.0
    """How long a client may stall in the middle of a request, or of an answer that it reads."""


@dataclass(frozen=True, slots=True)
class ShimLimits:
    clients: int = 2_000
    frame_bytes: int = 100 * 1024 * 1024
    memory: int = 256 * 1024 * 1024
    """For requests to the cluster, and as much again for pieces of answers to clients."""
    transfers: int = 32
    """PUTs and ranged GETs at once, over all clients."""
    requests_ahead: int = 10
    bytes_ahead: int = 8 * 1024 * 1024
    """How much is read from a client while earlier requests of it are answered: one upload, and as
    much again."""
    pieces_ahead: int = 8
    """How many pieces of one answer are fetched before the client has read the first."""


@dataclass(frozen=True, slots=True)
class ShimSettings:
    url: str
    sign: bool = True
    profile: str | None = None
    region: str | None = None
    advertise: tuple[str, int] | None = None
    """The address that clients are given; None for the address that they used."""
    linger_s: float = 0.0
    """How long a produce waits for others of its client, to be sent in one message."""
    times: ShimTimes = field(default_factory=ShimTimes)
    limits: ShimLimits = field(default_factory=ShimLimits)
