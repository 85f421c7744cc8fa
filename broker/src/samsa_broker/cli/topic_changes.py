"""samsa topics alter, add-partitions, delete-records: change an existing topic."""

import argparse
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_partitions, delete_records, incremental_alter_configs

from .client import Client, ClientError, check
from .options import add_command, config_pair

TOPIC = 2
SET, DELETE = 0, 1
UP_TO_THE_END = -1
TIMEOUT_MS = 30_000

ALTER_EXAMPLES = """
examples:
  samsa topics alter orders --config retention.ms=3600000 --config max.message.bytes=5000000
  samsa topics alter orders --delete-config retention.ms        back to the broker's default
"""
DELETE_EXAMPLES = """
examples:
  samsa topics delete-records orders --all                        of every partition
  samsa topics delete-records orders --partition 2 --before 500   offsets 0 to 499 of partition 2
"""


def add_to(actions: Any) -> list[argparse.ArgumentParser]:
    return [_add_alter(actions), _add_widen(actions), _add_delete(actions)]


def _add_alter(actions: Any) -> argparse.ArgumentParser:
    alter = add_command(
        actions,
        "alter",
        brief="set or delete configs of a topic",
        description="Set configs of a topic, or let the broker's defaults hold again. Every "
        "process honours it within a second.",
        epilog=ALTER_EXAMPLES,
    )
    alter.add_argument("name", help="of the topic")
    alter.add_argument(
        "--config", action="append", default=[], metavar="NAME=VALUE", type=config_pair,
        help="set a config; may be repeated",
    )  # fmt: skip
    alter.add_argument(
        "--delete-config", action="append", default=[], metavar="NAME",
        help="go back to the default of a config; may be repeated",
    )  # fmt: skip
    alter.set_defaults(run=alter_one)
    return alter


def _add_widen(actions: Any) -> argparse.ArgumentParser:
    widen: argparse.ArgumentParser = actions.add_parser(
        "add-partitions",
        help="give a topic more partitions",
        description="Give a topic more partitions. Records stay where they are, "
        "so keys may find another partition than before.",
    )
    widen.add_argument("name", help="of the topic")
    widen.add_argument("total", type=int, help="the new number of partitions, in all")
    widen.set_defaults(run=add_partitions)
    return widen


def _add_delete(actions: Any) -> argparse.ArgumentParser:
    delete = add_command(
        actions,
        "delete-records",
        brief="delete records from the start of a topic's partitions",
        description="Delete the oldest records of a topic. Offsets stay as they are: the log "
        "starts later.",
        epilog=DELETE_EXAMPLES,
    )
    delete.add_argument("name", help="of the topic")
    delete.add_argument("--partition", type=int, metavar="N", help="only of this partition (all)")
    how_far = delete.add_mutually_exclusive_group(required=True)
    how_far.add_argument("--before", type=int, metavar="OFFSET", help="the first offset that stays")
    how_far.add_argument("--all", action="store_true", help="all records that there are now")
    delete.set_defaults(run=delete_all_before)
    return delete


def alter_one(given: argparse.Namespace) -> int:
    changes = [(name, SET, value) for name, value in given.config]
    changes += [(name, DELETE, None) for name in given.delete_config]
    if not changes:
        raise ClientError("nothing to change: give --config NAME=VALUE or --delete-config NAME")
    resource = incremental_alter_configs.RESOURCE(
        resource_type=TOPIC,
        resource_name=given.name,
        configs=[
            incremental_alter_configs.CONFIG(name=name, config_operation=operation, value=value)
            for name, operation, value in changes
        ],
    )
    row = incremental_alter_configs.REQUEST(resources=[resource])
    told = Client.of(given).ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, row).responses[0]
    check(told.error_code, told.error_message, f"topic {given.name!r}")
    print(f"altered {given.name}")
    return 0


def add_partitions(given: argparse.Namespace) -> int:
    asked = create_partitions.TOPIC(name=given.name, count=given.total, assignments=None)
    row = create_partitions.REQUEST(topics=[asked], timeout_ms=TIMEOUT_MS)
    told = Client.of(given).ask(ApiKey.CREATE_PARTITIONS, row).results[0]
    check(told.error_code, told.error_message, f"topic {given.name!r}")
    print(f"{given.name} has {given.total} partition(s)")
    return 0


def delete_all_before(given: argparse.Namespace) -> int:
    client = Client.of(given)
    numbers = [given.partition]
    if given.partition is None:
        topic = client.topic(given.name)
        numbers = sorted(partition.partition_index for partition in topic.partitions)
    offset = UP_TO_THE_END if given.all else given.before
    asked = [delete_records.PARTITION(partition_index=n, offset=offset) for n in numbers]
    row = delete_records.REQUEST(
        topics=[delete_records.TOPIC(name=given.name, partitions=asked)], timeout_ms=TIMEOUT_MS
    )
    told = client.ask(ApiKey.DELETE_RECORDS, row).topics[0].partitions
    for one in sorted(told, key=lambda one: int(one.partition_index)):
        check(one.error_code, None, f"{given.name}/{one.partition_index}")
        print(f"{given.name} partition {one.partition_index} starts at {one.low_watermark}")
    return 0
