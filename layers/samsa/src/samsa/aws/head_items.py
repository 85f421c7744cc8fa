"""Encode a partition's head as an item of the table, and decode it.

| attribute             | what                                                                   |
|-----------------------|------------------------------------------------------------------------|
| next_offset           | the base of the next commit                                            |
| log_start             | the first offset that readers may ask for                              |
| settled_to            | below it an extent counts only if a swap wrote it (`swaps.py`)         |
| watchers.{address}    | when that watch expires                                                |
| tail.{id}             | an entry, packed                                                       |
| bases.{id}            | its base: a commit sets it to the old `next_offset`                    |
| producers.{id}        | v: the version of its state; s: times and the state, packed            |
| producer_bases.{id}   | the base of the commit that stored it, set in the same way             |
| evictions             | how many times producers were evicted                                  |
| sweeps                | how many sweeps were counted: by sweepers, and by commits that fence   |
| t#{producer id}       | where the transaction begins that the producer has open                |
| aborted_to            | the offset after the last marker of an aborted transaction             |
| aborted_from          | aborted transactions whose markers are below it are forgotten          |
| a#{id}                | what was aborted by the marker that is the entry of this id, packed    |

The last four are no maps: heads that were made before there were transactions have no such map,
and DynamoDB sets nothing inside a map that is not there. An evicted producer may have a transaction
open, so `t#` is not a part of the producer's state.

DynamoDB bills each commit by the size of this item, so everything in it is packed. An entry starts
with the six numbers of `_NUMBERS`, as varints. Then come its marks and their times, each after its
length. Then come its bytes if it is inline; if it is in a window, its start there and the window's
name. The key of an object with this entry alone is not stored: it follows from the entry's id.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from samsa.aws.items import Item, binary, head_key, number
from samsa.aws.sparse_index_codec import (
    pack_marks,
    pack_times,
    put_varint,
    take_varint,
    unpack_marks,
    unpack_times,
)
from samsa.ports import Aborted, Bound, Claim, Extent, Head, Misconfigured, Partition
from samsa.ports.heads import HeadProducer, HeadState, object_key
from samsa.ports.windows import WINDOWS

_NUMBERS = 6
"""Size of its object's bytes (0: inline), offsets, guess, greatest timestamp + 1, time stored,
records + 1."""
_OPEN, _ABORTED = "t#", "a#"


def new_head(partition: Partition) -> Item:
    return {
        **head_key(partition),
        "next_offset": number(0),
        "log_start": number(0),
        "watchers": {"M": {}},
        "tail": {"M": {}},
        "bases": {"M": {}},
        "producers": {"M": {}},
        "producer_bases": {"M": {}},
        "evictions": number(0),
        "sweeps": number(0),
    }


def read_head(partition: Partition, item: Item) -> Head:
    """Raises Misconfigured if an older version wrote the item."""
    if "inflight" in item:
        raise Misconfigured(MADE_BY_OLDER)
    bases = _read_numbers(item["bases"])
    entries = [
        unpack_entry(partition, name, bases[name], binary(packed))
        for name, packed in item["tail"]["M"].items()
    ]
    return Head(
        int(item["next_offset"]["N"]),
        int(item["log_start"]["N"]),
        _read_numbers(item["watchers"]),
        int(item["settled_to"]["N"]) if "settled_to" in item else 0,
        tuple(sorted(entries)),
        read_open(item),
        int(item["aborted_to"]["N"]) if "aborted_to" in item else 0,
        tuple(sorted(_read_aborted(item, bases))),
        int(item["aborted_from"]["N"]) if "aborted_from" in item else 0,
    )


def read_open(item: Item) -> dict[int, int]:
    return {
        int(name.removeprefix(_OPEN)): int(value["N"])
        for name, value in item.items()
        if name.startswith(_OPEN)
    }


def _read_aborted(item: Item, bases: Mapping[str, int]) -> Iterator[Aborted]:
    for name, value in item.items():
        if name.startswith(_ABORTED):
            yield unpack_aborted(bases[name.removeprefix(_ABORTED)], binary(value))


MADE_BY_OLDER = (
    "the table was made by an older version of Samsa, whose log this one cannot read: read it with "
    "that version, or name another table"
)


def read_state(partition: Partition, item: Item) -> HeadState:
    return HeadState(
        read_head(partition, item),
        read_producers(item),
        int(item["evictions"]["N"]),
        int(item["sweeps"]["N"]),
        weight(item),
    )


def _read_numbers(attribute: Item) -> dict[str, int]:
    return {name: int(value["N"]) for name, value in attribute["M"].items()}


def pack_entry(entry: Extent) -> bytes:
    packed = bytearray()
    for value in (
        0 if entry.data else entry.size,
        entry.offsets,
        entry.base,
        entry.max_timestamp + 1,
        entry.stored_at,
        entry.records + 1,
    ):
        put_varint(packed, value)
    for column in (pack_marks(entry.marks), pack_times(entry.times)):
        put_varint(packed, len(column))
        packed += column
    if entry.key.startswith(WINDOWS):
        put_varint(packed, entry.start)
        packed += entry.key.removeprefix(WINDOWS).encode()
    return bytes(packed + entry.data)


def unpack_entry(partition: Partition, name: str, base: int, packed: bytes) -> Extent:
    numbers, position = [], 0
    for _ in range(_NUMBERS):
        value, position = take_varint(packed, position)
        numbers.append(value)
    size, offsets, guess, newest, stored_at, records = numbers
    columns = []
    for _ in range(2):
        length, position = take_varint(packed, position)
        columns.append(packed[position : position + length])
        position += length
    data = b"" if size else packed[position:]
    key, start = object_key(partition, name) if size else "", 0
    if size and position < len(packed):
        start, position = take_varint(packed, position)
        key = WINDOWS + packed[position:].decode()
    return Extent(
        base=base,
        offsets=offsets,
        size=size or len(data),
        max_timestamp=newest - 1,
        stored_at=stored_at,
        key=key,
        marks=unpack_marks(columns[0]),
        records=records - 1,
        start=start,
        times=unpack_times(columns[1]),
        shift=base - guess,
        data=data,
        id=name,
    )


def open_name(producer_id: int) -> str:
    return f"{_OPEN}{producer_id}"


def aborted_name(entry_id: str) -> str:
    return f"{_ABORTED}{entry_id}"


def pack_aborted(producer_id: int, first: int, stable: int) -> bytes:
    packed = bytearray()
    for value in (producer_id, first, stable):
        put_varint(packed, value)
    return bytes(packed)


def unpack_aborted(marker: int, packed: bytes) -> Aborted:
    producer_id, position = take_varint(packed, 0)
    first, position = take_varint(packed, position)
    stable, _ = take_varint(packed, position)
    return Aborted(marker, producer_id, first, stable)


def producer_attribute(claim: Claim, now_ms: int) -> Item:
    packed = bytearray()
    used_at = now_ms // 1000
    put_varint(packed, used_at)
    # Rounded up, so that it never expires early.
    put_varint(packed, max(0, -(-claim.expires_at // 1000) - used_at))
    return {"M": {"v": number(claim.after + 1), "s": {"B": bytes(packed + claim.state)}}}


def read_producers(item: Item) -> dict[int, HeadProducer]:
    bases = _read_numbers(item["producer_bases"])
    return {
        int(name): _read_producer(attribute["M"], bases[name])
        for name, attribute in item["producers"]["M"].items()
    }


def _read_producer(attribute: Item, base: int) -> HeadProducer:
    packed = binary(attribute["s"])
    used_at, position = take_varint(packed, 0)
    life, position = take_varint(packed, position)
    bound = Bound(int(attribute["v"]["N"]), packed[position:], base)
    return HeadProducer(bound, used_at * 1000, (used_at + life) * 1000)


def weight(item: Item) -> int:
    """Bytes, as DynamoDB's documentation counts them."""
    return sum(len(name.encode()) + _weight_of(value) for name, value in item.items())


def _weight_of(attribute: Item) -> int:
    ((kind, value),) = attribute.items()
    return _WEIGHTS[kind](value)


def _weight_of_map(value: Any) -> int:
    return 3 + sum(1 + len(name.encode()) + _weight_of(one) for name, one in value.items())


_WEIGHTS: dict[str, Callable[[Any], int]] = {
    "B": lambda value: len(value) * 3 // 4,  # the value is in base64
    "M": _weight_of_map,
    "N": lambda value: len(value) // 2 + 2,
    "S": lambda value: len(value.encode()),
}
