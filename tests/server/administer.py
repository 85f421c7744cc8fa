"""What an administrator asks a broker for, in short."""

from typing import Any

from server.peer import Peer

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    alter_configs,
    create_partitions,
    create_topics,
    delete_records,
    describe_configs,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    incremental_alter_configs,
)

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = range(4)
Told = tuple[ErrorCode, str | None]


def dotted(name: str) -> str:
    return name.replace("_", ".")


def try_to_create(
    peer: Peer, name: str, version: int = 7, dry_run: bool = False, **more: Any
) -> Any:
    asked = create_topics.TOPIC(
        name=name, **{"num_partitions": -1, "replication_factor": -1, **more}
    )
    row = create_topics.REQUEST(topics=[asked], validate_only=dry_run)
    return peer.ask(ApiKey.CREATE_TOPICS, version, row).topics[0]


def assignments(*replicas: list[int]) -> list[Any]:
    return [
        create_topics.ASSIGNMENT(partition_index=number, broker_ids=nodes)
        for number, nodes in enumerate(replicas)
    ]


def widen(
    peer: Peer,
    topic: str,
    count: int,
    replicas: list[list[int]] | None = None,
    dry_run: bool = False,
    version: int = 3,
) -> Told:
    wanted = None
    if replicas is not None:
        wanted = [create_partitions.ASSIGNMENT(broker_ids=nodes) for nodes in replicas]
    asked = create_partitions.TOPIC(name=topic, count=count, assignments=wanted)
    row = create_partitions.REQUEST(topics=[asked], timeout_ms=10_000, validate_only=dry_run)
    (told,) = peer.ask(ApiKey.CREATE_PARTITIONS, version, row).results
    return ErrorCode(told.error_code), told.error_message


def configs_of(
    peer: Peer,
    name: str,
    *keys: str,
    kind: int = TOPIC,
    version: int = 4,
    synonyms: bool = False,
    documentation: bool = False,
) -> Any:
    """One resource's result."""
    asked = describe_configs.RESOURCE(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    row = describe_configs.REQUEST(
        resources=[asked], include_synonyms=synonyms, include_documentation=documentation
    )
    return peer.ask(ApiKey.DESCRIBE_CONFIGS, version, row).results[0]


def config(peer: Peer, topic: str, key: str, **more: Any) -> Any:
    (found,) = configs_of(peer, topic, key, **more).configs
    return found


def own_configs(peer: Peer, topic: str) -> dict[str, str]:
    """What the topic has of its own."""
    found = configs_of(peer, topic).configs
    return {one.name: one.value for one in found if one.config_source == 1}


def replace_configs(
    peer: Peer,
    topic: str,
    dry_run: bool = False,
    kind: int = TOPIC,
    version: int = 2,
    **values: Any,
) -> Told:
    asked = alter_configs.RESOURCE(
        resource_type=kind,
        resource_name=topic,
        configs=[alter_configs.CONFIG(name=dotted(n), value=v) for n, v in values.items()],
    )
    row = alter_configs.REQUEST(resources=[asked], validate_only=dry_run)
    told = peer.ask(ApiKey.ALTER_CONFIGS, version, row).responses[0]
    return ErrorCode(told.error_code), told.error_message


def change(name: str, value: str | None, operation: int = SET) -> Any:
    return incremental_alter_configs.CONFIG(name=name, value=value, config_operation=operation)


def changes(*made: Any, topic: str, kind: int = TOPIC) -> Any:
    return incremental_alter_configs.RESOURCE(
        resource_type=kind, resource_name=topic, configs=list(made)
    )


def ask_for_changes(
    peer: Peer, *resources: Any, dry_run: bool = False, version: int = 1
) -> list[Told]:
    row = incremental_alter_configs.REQUEST(resources=list(resources), validate_only=dry_run)
    told = peer.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, version, row).responses
    return [(ErrorCode(one.error_code), one.error_message) for one in told]


def change_configs(peer: Peer, topic: str, *made: Any, **more: Any) -> Told:
    (told,) = ask_for_changes(peer, changes(*made, topic=topic), **more)
    return told


def set_configs(peer: Peer, topic: str, **values: str) -> None:
    made = [change(dotted(name), value) for name, value in values.items()]
    assert change_configs(peer, topic, *made) == (ErrorCode.NONE, None)


def delete_before(
    peer: Peer,
    topic: str,
    offset: int,
    partition: int = 0,
    version: int = 2,
    timeout_ms: int = 10_000,
) -> tuple[ErrorCode, int]:
    asked = delete_records.PARTITION(partition_index=partition, offset=offset)
    row = delete_records.REQUEST(
        topics=[delete_records.TOPIC(name=topic, partitions=[asked])], timeout_ms=timeout_ms
    )
    told = peer.ask(ApiKey.DELETE_RECORDS, version, row).topics[0].partitions[0]
    return ErrorCode(told.error_code), told.low_watermark


def pages(peer: Peer, *names: str, limit: int = 2_000, cursor: Any = None) -> Any:
    row = describe_topic_partitions.REQUEST(
        topics=[describe_topic_partitions.TOPIC(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor,
    )
    return peer.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, row)


def log_dir(peer: Peer, asked: dict[str, list[int]] | None, version: int = 5) -> Any:
    topics = None
    if asked is not None:
        topics = [
            describe_log_dirs.TOPIC(topic=name, partitions=numbers)
            for name, numbers in asked.items()
        ]
    answer = peer.ask(ApiKey.DESCRIBE_LOG_DIRS, version, describe_log_dirs.REQUEST(topics=topics))
    assert answer.error_code == ErrorCode.NONE
    (directory,) = answer.results
    return directory


def sizes(peer: Peer, asked: dict[str, list[int]] | None) -> dict[tuple[str, int], int]:
    return {
        (topic.name, one.partition_index): one.partition_size
        for topic in log_dir(peer, asked).topics
        for one in topic.partitions
    }


def producers_of(peer: Peer, topic: str, partition: int = 0) -> Any:
    asked = describe_producers.TOPIC(name=topic, partition_indexes=[partition])
    answer = peer.ask(ApiKey.DESCRIBE_PRODUCERS, 0, describe_producers.REQUEST(topics=[asked]))
    return answer.topics[0].partitions[0]
