"""Encode the ledger's items for the table, and decode them.

| pk                 | sk                 | what                                        |
|--------------------|--------------------|---------------------------------------------|
| P#{id}#{partition} | HEAD               | a partition's head (head_items.py)          |
| P#{id}#{partition} | E#{last offset}    | an extent                                   |
| P#{id}#{partition} | A#{marker}         | an aborted transaction (aborted.py)         |
| P#{id}#{partition} | B#{producer id}    | the state of an evicted producer            |
| P#{id}#{partition} | C#{name}           | where some work on the partition left off   |
| P#{id}#{partition} | D#{name}           | a pending deletion: objects to be deleted   |
| TOPICS             | N#{name}           | a topic                                     |
| TOPICS             | I#{id}             | its name                                    |
| DOOMED             | {id}               | a deleted topic that still has items        |
| CLUSTER            | ID                 | the cluster's id, and the table's format    |
| CLUSTER            | PRODUCERS          | the next producer id                        |
| NODES              | {node id}          | a process that announced itself (nodes.py)  |
| SECURITY           | {kind}#{name}      | access control (dynamodb_security.py)       |

The key of an extent is its *last* offset, so that one range query from any offset begins with the
extent that contains it.

Below a head's `settled_to` an extent counts only if it has `settled`, which means that a swap wrote
it (`swaps.py`). So if an entry is indexed after it was merged, its item is ignored.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, TypeAlias
from uuid import UUID

from samsa.aws.sparse_index_codec import pack_marks, pack_times, unpack_marks, unpack_times
from samsa.ports import Bound, Extent, Partition, PendingDeletion, Topic

Item: TypeAlias = dict[str, Any]
"""Attributes, each a {type: value} as in DynamoDB's protocol."""

LAST_EXTENT = "E#" + "9" * 20


def number(value: int) -> Item:
    return {"N": str(value)}


def string(value: str) -> Item:
    return {"S": value}


def binary(attribute: Item) -> bytes:
    """The bytes of an attribute that was written as {"B": bytes}: DynamoDB returns base64."""
    return b64decode(attribute["B"])


def key(pk: str, sk: str) -> Item:
    return {"pk": string(pk), "sk": string(sk)}


def key_of(item: Item) -> Item:
    return {"pk": item["pk"], "sk": item["sk"]}


def partition_pk(partition: Partition) -> str:
    return f"P#{partition.topic_id}#{partition.number}"


def head_key(partition: Partition) -> Item:
    return key(partition_pk(partition), "HEAD")


def extent_sk(last_offset: int) -> str:
    return f"E#{max(last_offset, 0):020d}"


def extent_item(partition: Partition, extent: Extent) -> Item:
    item = {
        **key(partition_pk(partition), extent_sk(extent.end - 1)),
        "base": number(extent.base),
        "offsets": number(extent.offsets),
        "size": number(extent.size),
        "max_timestamp": number(extent.max_timestamp),
        "stored_at": number(extent.stored_at),
        "object": string(extent.key),
        "records": number(extent.records),
    }
    if extent.marks:
        item["marks"] = {"B": pack_marks(extent.marks)}
    if extent.start:
        item["start"] = number(extent.start)
    if extent.times:
        item["times"] = {"B": pack_times(extent.times)}
    if extent.shift:
        item["shift"] = number(extent.shift)
    if extent.data:
        item["data"] = {"B": extent.data}
    if extent.id:
        item["id"] = string(extent.id)
    return item


def read_extent(item: Item) -> Extent:
    return Extent(
        base=int(item["base"]["N"]),
        offsets=int(item["offsets"]["N"]),
        size=int(item["size"]["N"]),
        max_timestamp=int(item["max_timestamp"]["N"]),
        stored_at=int(item["stored_at"]["N"]),
        key=item["object"]["S"],
        marks=unpack_marks(binary(item["marks"])) if "marks" in item else (),
        records=int(item["records"]["N"]),
        start=int(item["start"]["N"]) if "start" in item else 0,
        times=unpack_times(binary(item["times"])) if "times" in item else (),
        shift=int(item["shift"]["N"]) if "shift" in item else 0,
        data=binary(item["data"]) if "data" in item else b"",
        id=item["id"]["S"] if "id" in item else "",
    )


def deletion_key(partition: Partition, name: str) -> Item:
    return key(partition_pk(partition), f"D#{name}")


def deletion_item(partition: Partition, deletion: PendingDeletion) -> Item:
    return {
        **deletion_key(partition, deletion.name),
        "base": number(deletion.base),
        "until": number(deletion.end),
        "objects": {"L": [string(one) for one in deletion.keys]},
        "since": number(deletion.since),
        "announced": {"BOOL": deletion.announced},
    }


def read_deletion(item: Item) -> PendingDeletion:
    return PendingDeletion(
        name=item["sk"]["S"].removeprefix("D#"),
        base=int(item["base"]["N"]),
        end=int(item["until"]["N"]),
        keys=tuple(one["S"] for one in item["objects"]["L"]),
        since=int(item["since"]["N"]),
        announced=item["announced"]["BOOL"],
    )


def cursor_key(partition: Partition, name: str) -> Item:
    return key(partition_pk(partition), f"C#{name}")


def producer_key(partition: Partition, producer_id: int) -> Item:
    return key(partition_pk(partition), f"B#{producer_id}")


def producer_item(partition: Partition, producer_id: int, bound: Bound, expires_at_ms: int) -> Item:
    return {
        **producer_key(partition, producer_id),
        "version": number(bound.version),
        "state": {"B": bound.state},
        "base": number(bound.base),
        # DynamoDB's TTL counts in seconds. Rounded up, so that it never expires early.
        "expires": number(-(-expires_at_ms // 1000)),
    }


def read_producer(item: Item) -> Bound:
    return Bound(int(item["version"]["N"]), binary(item["state"]), int(item["base"]["N"]))


def read_producer_id(item: Item) -> int:
    return int(item["sk"]["S"].removeprefix("B#"))


def name_key(name: str) -> Item:
    return key("TOPICS", f"N#{name}")


def id_key(topic_id: UUID) -> Item:
    return key("TOPICS", f"I#{topic_id}")


def doom_key(topic_id: UUID) -> Item:
    return key("DOOMED", str(topic_id))


def topic_attributes(topic: Topic) -> Item:
    return {
        "name": string(topic.name),
        "id": string(str(topic.id)),
        "partitions": number(topic.partitions),
        "created_at": number(topic.created_at),
        "configs": {"M": {name: string(value) for name, value in topic.configs.items()}},
    }


def read_topic(item: Item) -> Topic:
    return Topic(
        name=item["name"]["S"],
        id=UUID(item["id"]["S"]),
        partitions=int(item["partitions"]["N"]),
        created_at=int(item["created_at"]["N"]),
        configs=_read_strings(item["configs"]),
    )


def _read_strings(attribute: Mapping[str, Any]) -> dict[str, str]:
    return {name: value["S"] for name, value in attribute["M"].items()}
