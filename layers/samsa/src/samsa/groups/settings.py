"""Settings for operators. The defaults are Kafka's, except the size of a group: Kafka has no limit,
and here a group is one item of the ledger."""

from typing import NamedTuple


class GroupSettings(NamedTuple):
    initial_rebalance_delay_ms: int = 3_000
    """group.initial.rebalance.delay.ms: how long an empty group waits for more members."""
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    max_rebalance_timeout_ms: int = 86_400_000
    """Clients may ask for up to 24 days (max.poll.interval.ms of 2^31 − 1): they get this."""
    max_size: int = 2_000
    """group.max.size: members, and ids that were given to clients which have not joined yet."""
    new_member_join_timeout_ms: int = 300_000
    """How long a join that had no member id may be parked."""
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_max_size: int = 2_000
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    """The first is the default for a group whose members name none."""
    exact_sessions: bool = False
    """Whether this process gets every request of a connection, so it knows when a member is silent:
    true for `samsa up`, false for a Lambda function. See `heartbeat_coalescing`."""


DEFAULTS = GroupSettings()
