"""A group's configs under the names of Kafka 4.3: real values for consumer groups, and Kafka's
defaults for share groups and streams groups, which are not supported. They cannot be changed."""

from collections.abc import Mapping
from typing import NamedTuple

from samsa.broker.broker import Broker

from .config_kinds import ConfigType

BOOLEAN, STRING, INT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT
SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
KAFKAS_DEFAULTS: Mapping[str, tuple[ConfigType, str]] = {
    "consumer.assignment.interval.ms": (INT, "1000"),
    HEARTBEAT: (INT, "5000"),
    SESSION: (INT, "45000"),
    "share.assignment.interval.ms": (INT, "1000"),
    "share.auto.offset.reset": (STRING, "latest"),
    "share.delivery.count.limit": (INT, "5"),
    "share.heartbeat.interval.ms": (INT, "5000"),
    "share.isolation.level": (STRING, "read_uncommitted"),
    "share.partition.max.record.locks": (INT, "2000"),
    "share.record.lock.duration.ms": (INT, "30000"),
    "share.renew.acknowledge.enable": (BOOLEAN, "true"),
    "share.session.timeout.ms": (INT, "45000"),
    "streams.assignment.interval.ms": (INT, "1000"),
    "streams.heartbeat.interval.ms": (INT, "5000"),
    "streams.initial.rebalance.delay.ms": (INT, "3000"),
    "streams.num.standby.replicas": (INT, "0"),
    "streams.session.timeout.ms": (INT, "45000"),
}
WITHOUT_A_BROKERS = (
    "share.auto.offset.reset", "share.isolation.level", "share.renew.acknowledge.enable",
)  # fmt: skip
"""Configs with a default of their own. The default of all others is a config of the broker."""


class GroupConfig(NamedTuple):
    name: str
    type: ConfigType
    value: str
    synonym: str
    """Kafka's name for the config that gives the default."""
    honoured: bool


def group_configs(broker: Broker) -> list[GroupConfig]:
    settings = broker.group_settings
    own = {
        SESSION: str(settings.consumer_session_timeout_ms),
        HEARTBEAT: str(settings.consumer_heartbeat_interval_ms),
    }
    return [
        GroupConfig(name, type_, own.get(name, default), _synonym(name), name in own)
        for name, (type_, default) in KAFKAS_DEFAULTS.items()
    ]


def _synonym(name: str) -> str:
    return name if name in WITHOUT_A_BROKERS else f"group.{name}"
