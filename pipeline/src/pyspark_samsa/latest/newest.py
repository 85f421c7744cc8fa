"""Finds the newest row of each key: pure, on Arrow tables."""

from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

GONE = "_gone"
"""A column of changes, and not of tables: whether the key has been deleted."""
_NUMBER = "_number"


class Order(NamedTuple):
    keys: tuple[str, ...]
    sequence: tuple[str, ...]
    """From the most significant column to the least."""

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys((*self.keys, *self.sequence)))


def newest(changes: Iterable[pa.Table], order: Order) -> pa.Table:
    """One row for each key, in the order of the keys. Of two that are equally new, the one that is
    given later."""
    rows = pa.concat_tables(changes, promote_options="default")
    rows = rows.sort_by([(name, "ascending") for name in order.sequence])
    numbered = rows.select(order.keys).append_column(
        _NUMBER, pa.array(range(len(rows)), pa.int64())
    )
    last = numbered.group_by(list(order.keys)).aggregate([(_NUMBER, "max")])
    found = rows.take(last[f"{_NUMBER}_max"])
    return found.sort_by([(name, "ascending") for name in order.keys]).combine_chunks()


def among(rows: pa.Table, keys: pa.Table, order: Order) -> pa.Table:
    """Those rows whose keys are among these."""
    names = list(order.keys)
    return rows.join(keys.select(names), names, join_type="left semi")


def living(rows: pa.Table) -> pa.Table:
    """The rows without deletions, as a table has them."""
    return rows.filter(pc.invert(rows[GONE])).drop_columns(GONE)


def deleted(rows: pa.Table, order: Order) -> pa.Table:
    """What has to be remembered of deletions."""
    return rows.filter(rows[GONE]).select([*order.columns, GONE])


def all_alive(rows: pa.Table) -> pa.Table:
    return rows.append_column(GONE, pa.repeat(pa.scalar(False), len(rows)))


def by_bucket(rows: pa.Table, order: Order, count: int) -> dict[int, pa.Table]:
    """Rows by bucket. A key is always in the same bucket, on every machine."""
    numbers: dict[int, list[int]] = {}
    keys = zip(*(rows[name].to_pylist() for name in order.keys), strict=True)
    for number, key in enumerate(keys):
        numbers.setdefault(crc32(repr(key).encode()) % count, []).append(number)
    return {bucket: rows.take(found) for bucket, found in sorted(numbers.items())}
