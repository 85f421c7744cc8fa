"""Encode transactions and pending offsets as items of the table, and decode them."""

from collections.abc import Mapping
from typing import NamedTuple

from samsa.aws.group_items import Expression, group_pk, pack_committed, short, unpack_committed
from samsa.aws.items import Item, binary, key, number, string
from samsa.ports import Offsets, TransactionItem
from samsa.ports.bounds import MOST_PENDING_BYTES, pending_weight

_OFFSET = "o#"


def transaction_key(transactional_id: str) -> Item:
    return key(f"T#{short(transactional_id)}", "STATE")


def transaction_item(transactional_id: str, item: TransactionItem) -> Item:
    return {
        **transaction_key(transactional_id),
        "version": number(item.version),
        "producer": number(item.producer_id),
        "state": {"B": item.state},
    }


def read_transaction(item: Item) -> TransactionItem:
    return TransactionItem(
        int(item["version"]["N"]), int(item["producer"]["N"]), binary(item["state"])
    )


def read_producer_ids(item: Item) -> list[int]:
    """The present one, and the one before it if it had another."""
    return [int(item[name]["N"]) for name in ("producer", "previous") if name in item]


def next_state(item: TransactionItem, after: int) -> Expression:
    """Holds if the producer id is the same."""
    return Expression(
        "#version = :after AND #producer = :producer",
        "SET #version = :version, #state = :state",
        {"#version": "version", "#state": "state", "#producer": "producer"},
        {
            ":after": number(after),
            ":version": number(item.version),
            ":state": {"B": item.state},
            ":producer": number(item.producer_id),
        },
    )


def next_producer(item: TransactionItem, old: TransactionItem) -> Expression:
    changed = next_state(item, old.version)
    return Expression(
        "#version = :after",
        f"{changed.update}, #producer = :producer, #previous = :previous",
        {**changed.names, "#previous": "previous"},
        {**changed.values, ":previous": number(old.producer_id)},
    )


def transaction_name_key(transactional_id: str) -> Item:
    return key("TRANSACTIONS", short(transactional_id))


def transaction_name_item(transactional_id: str) -> Item:
    return {**transaction_name_key(transactional_id), "name": string(transactional_id)}


def pointer_key(producer_id: int) -> Item:
    return key(f"TP#{producer_id}", "NAME")


def pointer_item(producer_id: int, transactional_id: str) -> Item:
    return {**pointer_key(producer_id), "name": string(transactional_id)}


class PendingOfProducer(NamedTuple):
    """The offsets and transaction serials that a group keeps for one producer."""

    serial: int = 0
    """Of the transaction that the offsets wait for; 0: none."""
    ended: int = 0
    """The serial of the last transaction that ended here; 0: none did."""
    edits: int = 0
    """Counts the changes of the item."""
    weight: int = 0
    """Of all offsets that were added, also of those that others have replaced since."""
    is_named: bool = False
    """Whether the group's name was written: before the first offsets are."""
    offsets: Offsets = {}  # noqa: RUF012  (a tuple's default, which is never changed)

    def holding(self, serial: int, offsets: Offsets) -> "PendingOfProducer":
        weight = pending_weight(offsets)
        return self._replace(
            serial=serial, edits=self.edits + 1, weight=weight, is_named=True, offsets=offsets
        )

    def after(self, serial: int) -> "PendingOfProducer":
        """Once that transaction has ended. Only a later one may still have offsets here."""
        ended = self._replace(ended=serial, edits=self.edits + 1)
        return ended if self.serial > serial else ended._replace(serial=0, offsets={})


def pending_key(group_id: str, producer_id: int) -> Item:
    return key(group_pk(group_id), f"P#{producer_id}")


def read_pending_producer(item: Item) -> int:
    return int(item["sk"]["S"].removeprefix("P#"))


def read_pending(item: Mapping[str, Item]) -> PendingOfProducer:
    def read(name: str) -> int:
        return int(item[name]["N"]) if name in item else 0

    return PendingOfProducer(
        read("serial"),
        read("ended"),
        read("edits"),
        read("weight"),
        "named" in item,
        {
            _where(name): unpack_committed(value["S"])
            for name, value in item.items()
            if name.startswith(_OFFSET)
        },
    )


def pending_item(its_key: Item, pending: PendingOfProducer, expires_at_ms: int) -> Item:
    """It expires only if no offsets wait in it."""
    item = {**its_key, "edits": number(pending.edits), **_packed(pending.offsets)}
    if pending.is_named:
        item["named"] = {"BOOL": True}
    if pending.ended:
        item["ended"] = number(pending.ended)
    if pending.serial:
        item |= {"serial": number(pending.serial), "weight": number(pending.weight)}
    else:
        item["expires"] = number(-(-expires_at_ms // 1000))
    return item


def is_unchanged(pending: PendingOfProducer) -> Expression:
    if not pending.edits:
        return Expression("attribute_not_exists(pk)")
    return Expression("#edits = :edits", "", {"#edits": "edits"}, {":edits": number(pending.edits)})


def adding(serial: int, offsets: Offsets) -> Expression:
    """Add offsets to those of the same transaction, or to none. Holds if there is room, and the
    group's name was written."""
    names = {
        f"#{name}": name for name in ("serial", "ended", "edits", "weight", "named", "expires")
    }
    weight = pending_weight(offsets)
    values = {
        ":serial": number(serial),
        ":one": number(1),
        ":weight": number(weight),
        ":room": number(MOST_PENDING_BYTES - weight),
    }
    sets = ["#serial = :serial"]
    for n, (name, value) in enumerate(_packed(offsets).items()):
        names[f"#o{n}"], values[f":o{n}"] = name, value
        sets.append(f"#o{n} = :o{n}")
    return Expression(
        "attribute_exists(#named)"
        " AND (attribute_not_exists(#ended) OR #ended < :serial)"
        " AND (attribute_not_exists(#serial) OR #serial = :serial)"
        " AND (attribute_not_exists(#weight) OR #weight <= :room)",
        f"SET {', '.join(sets)} REMOVE #expires ADD #edits :one, #weight :weight",
        names,
        values,
    )


def _packed(offsets: Offsets) -> Item:
    return {
        f"{_OFFSET}{topic}#{partition}": string(pack_committed(committed))
        for (topic, partition), committed in offsets.items()
    }


def _where(name: str) -> tuple[str, int]:
    topic, _, partition = name.removeprefix(_OFFSET).rpartition("#")
    return topic, int(partition)
