"""Encode groups and offsets as items of the table, and decode them."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from samsa.aws.items import Item, binary, key, number, string
from samsa.ports import Committed, GroupItem, Offsets

CHUNK = 32
"""Partitions of one item: their conditions must fit into one expression."""
LONG_NAME = 500
"""Bytes. A key may have 1,024, and a group's name 32,767: longer names are hashed."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition, an update or both, with the names and values of their placeholders."""

    condition: str = ""
    update: str = ""
    names: dict[str, str] = field(default_factory=dict)
    values: Item = field(default_factory=dict)

    def parameters(self) -> Item:
        given = {
            "ConditionExpression": self.condition,
            "UpdateExpression": self.update,
            "ExpressionAttributeNames": self.names,
            "ExpressionAttributeValues": self.values,
        }
        return {name: value for name, value in given.items() if value}

    def where(self, condition: str) -> "Expression":
        return replace(self, condition=condition)


def short(group_id: str) -> str:
    """The name, or its hash if it is long. The first letter tells which."""
    raw = group_id.encode()
    return f"={group_id}" if len(raw) <= LONG_NAME else f"H{hashlib.sha256(raw).hexdigest()}"


def group_pk(group_id: str) -> str:
    return f"G#{short(group_id)}"


def state_key(group_id: str) -> Item:
    return key(group_pk(group_id), "STATE")


def name_key(group_id: str) -> Item:
    return key("GROUPS", short(group_id))


def naming(group_id: str) -> Expression:
    """Counts up, so that a name is not deleted that was written again since it was read."""
    return Expression(
        "",
        "SET #name = :name ADD #edits :one",
        {"#name": "name", "#edits": "edits"},
        {":name": string(group_id), ":one": number(1)},
    )


def is_unchanged_name(item: Item | None) -> Expression:
    if item is None:
        return Expression("attribute_not_exists(pk)")
    if "edits" not in item:  # of an older version
        return Expression("attribute_not_exists(#edits)", "", {"#edits": "edits"})
    return Expression("#edits = :edits", "", {"#edits": "edits"}, {":edits": item["edits"]})


def state_item(group_id: str, group: GroupItem) -> Item:
    return {
        **state_key(group_id),
        "version": number(group.version),
        "state": {"B": group.state},
    }


def read_group(item: Item) -> GroupItem:
    return GroupItem(int(item["version"]["N"]), binary(item["state"]))


def version_is(version: int) -> Expression:
    if version == 0:
        return Expression("attribute_not_exists(pk)")
    return Expression(
        "#version = :version", "", {"#version": "version"}, {":version": number(version)}
    )


class Chunk(NamedTuple):
    """Offsets of one item, by the partition's number."""

    topic: str
    part: int
    offsets: dict[int, Committed]

    def commit(self, generation: int) -> Expression:
        sets, conditions, names = [], [], {}
        values: dict[str, Any] = {}
        for n, committed in self.offsets.items():
            names[f"#o{n}"], values[f":o{n}"] = f"o{n}", string(pack_committed(committed))
            sets.append(f"#o{n} = :o{n}")
            if generation >= 0:
                names[f"#g{n}"] = f"g{n}"
                sets.append(f"#g{n} = :g")
                conditions.append(f"(attribute_not_exists(#g{n}) OR #g{n} <= :g)")
        if generation >= 0:
            values[":g"] = number(generation)
        return Expression(" AND ".join(conditions), "SET " + ", ".join(sets), names, values)

    def removal(self, unchanged: bool) -> Expression:
        names = {f"#{kind}{n}": f"{kind}{n}" for n in self.offsets for kind in "og"}
        update = "REMOVE " + ", ".join(names)
        if not unchanged:
            return Expression("attribute_exists(pk)", update, names)
        values = {f":o{n}": string(pack_committed(seen)) for n, seen in self.offsets.items()}
        return Expression(
            " AND ".join(f"#o{n} = :o{n}" for n in self.offsets), update, names, values
        )


def chunks_of(offsets: Offsets) -> list[Chunk]:
    chunks: dict[tuple[str, int], dict[int, Committed]] = defaultdict(dict)
    for (topic, partition), committed in offsets.items():
        chunks[topic, partition // CHUNK][partition] = committed
    return [Chunk(topic, part, numbered) for (topic, part), numbered in chunks.items()]


def offset_key(group_id: str, chunk: Chunk) -> Item:
    return key(group_pk(group_id), f"O#{chunk.topic}#{chunk.part:06d}")


def has_no_offsets(item: Item) -> Expression:
    part = int(item["sk"]["S"].rpartition("#")[2])
    names = {f"#o{n}": f"o{n}" for n in range(part * CHUNK, (part + 1) * CHUNK)}
    return Expression(" AND ".join(f"attribute_not_exists({name})" for name in names), "", names)


def read_offsets(item: Item) -> Offsets:
    topic = item["sk"]["S"].removeprefix("O#").rpartition("#")[0]
    return {
        (topic, int(name[1:])): unpack_committed(value["S"])
        for name, value in item.items()
        if name.startswith("o")
    }


def expired(committed: Committed, now_ms: int) -> bool:
    return 0 < committed.expires_at <= now_ms


def pack_committed(committed: Committed) -> str:
    offset, leader_epoch, metadata, committed_at, expires_at = committed
    return f"{offset}:{leader_epoch}:{committed_at}:{expires_at}:{metadata}"


def unpack_committed(packed: str) -> Committed:
    offset, leader_epoch, committed_at, expires_at, metadata = packed.split(":", 4)
    return Committed(int(offset), int(leader_epoch), metadata, int(committed_at), int(expires_at))
