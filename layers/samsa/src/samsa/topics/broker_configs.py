"""A node's configs under Kafka's names: real values where there is one here, and Kafka's defaults
for the rest. Clients cannot change them."""

from collections.abc import Mapping
from typing import NamedTuple

from samsa.broker.broker import Broker
from samsa.broker.nodes import NamedNode

from .config_kinds import INT32_MAX, INT64_MAX, ConfigType
from .resources import Source

BOOLEAN, STRING, INT, LONG, LIST = (
    ConfigType.BOOLEAN,
    ConfigType.STRING,
    ConfigType.INT,
    ConfigType.LONG,
    ConfigType.LIST,
)
LOG_DIR = "objects"
"""All stored data counts as one directory."""
DEFAULTS: Mapping[str, tuple[ConfigType, str | None]] = {
    "advertised.listeners": (LIST, None),
    "auto.create.topics.enable": (BOOLEAN, "true"),
    "auto.leader.rebalance.enable": (BOOLEAN, "true"),
    "broker.id": (INT, "-1"),
    "broker.rack": (STRING, None),
    "compression.gzip.level": (INT, "-1"),
    "compression.lz4.level": (INT, "9"),
    "compression.type": (STRING, "producer"),
    "compression.zstd.level": (INT, "3"),
    "connections.max.reauth.ms": (LONG, "0"),
    "default.replication.factor": (INT, "1"),
    "delete.topic.enable": (BOOLEAN, "true"),
    "fetch.max.bytes": (INT, "57671680"),
    "group.consumer.assignors": (LIST, "uniform,range"),
    "group.consumer.heartbeat.interval.ms": (INT, "5000"),
    "group.consumer.max.size": (INT, str(INT32_MAX)),
    "group.consumer.session.timeout.ms": (INT, "45000"),
    "group.initial.rebalance.delay.ms": (INT, "3000"),
    "group.max.session.timeout.ms": (INT, "1800000"),
    "group.max.size": (INT, str(INT32_MAX)),
    "group.min.session.timeout.ms": (INT, "6000"),
    "listeners": (LIST, None),
    "log.cleaner.delete.retention.ms": (LONG, "86400000"),
    "log.cleaner.enable": (BOOLEAN, "true"),
    "log.cleanup.policy": (LIST, "delete"),
    "log.dirs": (LIST, None),
    "log.flush.interval.messages": (LONG, str(INT64_MAX)),
    "log.flush.interval.ms": (LONG, None),
    "log.message.timestamp.after.max.ms": (LONG, "3600000"),
    "log.message.timestamp.before.max.ms": (LONG, str(INT64_MAX)),
    "log.message.timestamp.type": (STRING, "CreateTime"),
    "log.retention.bytes": (LONG, "-1"),
    "log.retention.hours": (INT, "168"),
    "log.retention.minutes": (INT, None),
    "log.retention.ms": (LONG, None),
    "log.roll.hours": (INT, "168"),
    "log.roll.ms": (LONG, None),
    "log.segment.bytes": (INT, "1073741824"),
    "message.max.bytes": (INT, "1048588"),
    "min.insync.replicas": (INT, "1"),
    "node.id": (INT, None),
    "num.partitions": (INT, "1"),
    "offset.metadata.max.bytes": (INT, "4096"),
    "offsets.retention.minutes": (INT, "10080"),
    "process.roles": (LIST, None),
    "producer.id.expiration.ms": (INT, "86400000"),
    "transaction.max.timeout.ms": (INT, "900000"),
    "transactional.id.expiration.ms": (INT, "604800000"),
    "unclean.leader.election.enable": (BOOLEAN, "false"),
}


class BrokerConfig(NamedTuple):
    name: str
    type: ConfigType
    value: str | None
    source: Source
    default: str | None


def broker_configs(node: NamedNode, broker: Broker) -> list[BrokerConfig]:
    """For another process, the settings of this one: all processes should be started alike."""
    own = _own(node, broker)
    found = []
    for name, (type_, default) in DEFAULTS.items():
        value = own.get(name, default)
        source = Source.DEFAULT if value == default else Source.BROKER
        found.append(BrokerConfig(name, type_, value, source, default))
    return found


def _own(node: NamedNode, broker: Broker) -> dict[str, str | None]:
    """The configs that have a real value here."""
    listener = f"PLAINTEXT://{node.host}:{node.port}"
    rules = broker.rules
    groups = broker.group_settings
    return {
        "advertised.listeners": listener,
        "auto.create.topics.enable": str(rules.auto_create_topics).lower(),
        "broker.id": str(node.id),
        "broker.rack": node.rack,
        "connections.max.reauth.ms": str(rules.connections_max_reauth_ms),
        "fetch.max.bytes": str(rules.max_fetch_bytes),
        "group.consumer.heartbeat.interval.ms": str(groups.consumer_heartbeat_interval_ms),
        "group.consumer.max.size": str(groups.consumer_max_size),
        "group.consumer.session.timeout.ms": str(groups.consumer_session_timeout_ms),
        "group.initial.rebalance.delay.ms": str(groups.initial_rebalance_delay_ms),
        "group.max.session.timeout.ms": str(groups.max_session_timeout_ms),
        "group.max.size": str(groups.max_size),
        "group.min.session.timeout.ms": str(groups.min_session_timeout_ms),
        "listeners": listener,
        "log.dirs": LOG_DIR,
        "log.retention.hours": str(rules.log_retention_hours),
        "node.id": str(node.id),
        "num.partitions": str(rules.default_partitions),
        "offset.metadata.max.bytes": str(rules.offset_metadata_max_bytes),
        "offsets.retention.minutes": str(rules.offsets_retention_ms // 60_000),
        "process.roles": "broker,controller",
        "producer.id.expiration.ms": str(broker.stores.limits.producer_expiry_ms),
        "transaction.max.timeout.ms": str(rules.transaction_max_timeout_ms),
        "transactional.id.expiration.ms": str(rules.transactional_id_expiration_ms),
    }
