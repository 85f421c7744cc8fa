"""samsa topics: list, create, describe, change and delete them."""

import argparse
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_topics, delete_topics, describe_configs, list_offsets

from . import topic_changes
from .client import Client, ClientError, check
from .options import add_bootstrap, add_command, config_pair

LATEST, EARLIEST = -1, -2
OF_TOPIC = 1
NAME = "of the topic"
EXAMPLES = """
examples:
  samsa topics list
  samsa topics create orders --partitions 12 --config retention.ms=3600000
  samsa topics describe orders
  samsa topics alter orders --config retention.ms=86400000
  samsa topics delete orders --bootstrap kafka.example.com:9092

samsa topics ACTION --help says more about each.
"""


def add_to(commands: Any) -> None:
    topics = add_command(
        commands,
        "topics",
        brief="list, create, describe, change, delete",
        description="Topics of a broker: list, create, describe, change and delete them.",
        epilog=EXAMPLES,
    )
    actions = topics.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list", help="one line per topic", description="One line per topic: name, partitions, id."
    )
    listing.set_defaults(run=list_all)
    create = actions.add_parser(
        "create",
        help="make a topic",
        description="Make a topic. A producer that names one makes it too, unless the broker was "
        "started with --no-auto-create-topics.",
    )
    create.add_argument("name", help=NAME)
    create.add_argument(
        "--partitions", type=int, default=-1, metavar="N", help="how many (the broker's default)"
    )
    create.add_argument(
        "--config", action="append", default=[], metavar="NAME=VALUE", type=config_pair,
        help="for example retention.ms=3600000; may be repeated",
    )  # fmt: skip
    create.set_defaults(run=create_one)
    describe = actions.add_parser(
        "describe",
        help="a topic's partitions, where they start and end, and its own configs",
        description="A line per partition: its first offset, the one after its last, and how many "
        "offsets lie between; then the configs that were set for this topic.",
    )
    describe.add_argument("name", help=NAME)
    describe.set_defaults(run=describe_one)
    delete = actions.add_parser(
        "delete",
        help="delete a topic and all that is in it",
        description="Delete a topic and all that is in it, at once and without asking.",
    )
    delete.add_argument("name", help=NAME)
    delete.set_defaults(run=delete_one)
    for action in (listing, create, describe, delete, *topic_changes.add_to(actions)):
        add_bootstrap(action)


def list_all(given: argparse.Namespace) -> int:
    for topic in sorted(Client.of(given).topics(None), key=lambda t: str(t.name)):
        print(f"{topic.name}\t{len(topic.partitions)} partition(s)\t{topic.topic_id}")
    return 0


def create_one(given: argparse.Namespace) -> int:
    configs = [create_topics.CONFIG(name=name, value=value) for name, value in given.config]
    row = create_topics.REQUEST(
        topics=[
            create_topics.TOPIC(
                name=given.name,
                num_partitions=given.partitions,
                replication_factor=-1,
                configs=configs,
            )
        ]
    )
    made = Client.of(given).ask(ApiKey.CREATE_TOPICS, row).topics[0]
    check(made.error_code, made.error_message, f"topic {given.name!r}")
    print(f"created {made.name} with {made.num_partitions} partition(s)")
    return 0


def describe_one(given: argparse.Namespace) -> int:
    client = Client.of(given)
    topic = client.topic(given.name)
    numbers = sorted(partition.partition_index for partition in topic.partitions)
    starts = offsets_at(client, given.name, numbers, EARLIEST)
    ends = offsets_at(client, given.name, numbers, LATEST)
    print(f"{topic.name}\t{topic.topic_id}")
    for number in numbers:
        held = ends[number] - starts[number]
        print(f"  partition {number}\tstart {starts[number]}\tend {ends[number]}\toffsets {held}")
    for name, value in own_configs(client, given.name).items():
        print(f"  config {name}={value}")
    return 0


def own_configs(client: Client, name: str) -> dict[str, str]:
    asked = describe_configs.RESOURCE(
        resource_type=topic_changes.TOPIC, resource_name=name, configuration_keys=None
    )
    row = describe_configs.REQUEST(resources=[asked])
    told = client.ask(ApiKey.DESCRIBE_CONFIGS, row).results[0]
    check(told.error_code, told.error_message, f"topic {name!r}")
    return {one.name: one.value for one in told.configs if one.config_source == OF_TOPIC}


def delete_one(given: argparse.Namespace) -> int:
    row = delete_topics.REQUEST(
        topics=[delete_topics.TOPIC(name=given.name)], topic_names=[given.name], timeout_ms=30_000
    )
    gone = Client.of(given).ask(ApiKey.DELETE_TOPICS, row).responses[0]
    check(gone.error_code, gone.error_message, f"topic {given.name!r}")
    print(f"deleted {given.name}")
    return 0


def offsets_at(client: Client, name: str, numbers: list[int], timestamp: int) -> dict[int, int]:
    asked = [
        list_offsets.PARTITION(partition_index=number, timestamp=timestamp) for number in numbers
    ]
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=name, partitions=asked)]
    )
    answer = client.ask(ApiKey.LIST_OFFSETS, row).topics
    if not answer:
        raise ClientError(f"no offsets for {name!r}")
    found = {}
    for partition in answer[0].partitions:
        check(partition.error_code, None, f"{name}/{partition.partition_index}")
        found[partition.partition_index] = partition.offset
    return found
